//! Flame graphs of what was seen: of the base, of the variant, and of their difference.
//!
//! Each is an SVG file of its own, with the script of `inferno` in it: in a browser it can be zoomed
//! and searched, from a file system too. Equal stacks give equal bytes.

use std::collections::BTreeMap;

use inferno::flamegraph::color::{Color, PaletteMap, parse_hex_color};
use inferno::flamegraph::{Options, TextTruncateDirection, from_lines};
use ktrial_db::TrialId;

use super::USER;
use super::observed::Pair;
use super::shares::shares;
use super::stacks::Stacks;
use crate::fault::{OrHost, Result};
use crate::terminal::{self, grouped};

/// What a flame graph shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shows {
    /// Where the base spent its time, or waited.
    Base,
    /// The same of the variant.
    Variant,
    /// Where the variant spends more or less than the base.
    Difference,
}

impl Shows {
    /// Part of a file's name.
    pub fn word(self) -> &'static str {
        match self {
            Shows::Base => "base",
            Shows::Variant => "variant",
            Shows::Difference => "difference",
        }
    }
}

/// One flame graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    /// What it shows.
    pub shows: Shows,
    /// Kernel and workload.
    pub title: String,
    /// Event and numbers.
    pub subtitle: String,
    /// The file.
    pub svg: String,
}

impl Drawing {
    /// The name of its file: of the `number`th pair of a trial.
    pub fn file(&self, trial: TrialId, number: usize) -> String {
        format!("trial-{trial}-flame-{number}-{}.svg", self.shows.word())
    }
}

/// All flame graphs of a pair: the difference first, where both sides were seen.
///
/// # Errors
/// A host fault from the drawing, which the tests rule out.
pub fn drawings(pair: &Pair) -> Result<Vec<Drawing>> {
    let mut drawings = Vec::new();
    drawings.extend(difference(pair)?);
    let sides = [Shows::Base, Shows::Variant].into_iter().zip(0..);
    for (shows, side) in sides {
        let stacks = pair.sides[side].as_ref();
        if let Some(stacks) = stacks.filter(|stacks| stacks.total() > 0) {
            drawings.push(alone(pair, stacks, shows, &pair.names[side])?);
        }
    }
    Ok(drawings)
}

fn alone(pair: &Pair, stacks: &Stacks, shows: Shows, name: &str) -> Result<Drawing> {
    let mut subtitle = format!(
        "{}: {} {}",
        pair.event,
        grouped(&stacks.total().to_string()),
        pair.unit
    );
    if stacks.operations > 0 {
        subtitle += &format!(" in {} operations", grouped(&stacks.operations.to_string()));
    }
    if stacks.lost > 0 {
        subtitle += &format!(", {} stacks lost", grouped(&stacks.lost.to_string()));
    }
    let weights = stacks.stacks.iter();
    let weights = weights.map(|(stack, weight)| (stack.as_str(), weight.to_string()));
    let drawn = Drawn {
        title: format!("{name}: {}", pair.what()),
        subtitle,
        unit: &pair.unit,
    };
    drawn.of(shows, weights.collect())
}

/// The variant's shape, coloured by what each function itself costs more than in the base. None
/// where one of the two saw nothing: there is nothing to set against it.
fn difference(pair: &Pair) -> Result<Option<Drawing>> {
    let Some([base, variant]) = pair.both() else {
        return Ok(None);
    };
    let totals = [base, variant].map(|stacks| stacks.total() as f64);
    if totals.contains(&0.0) {
        return Ok(None);
    }
    let (per, factors) = common(totals, pair.operations());
    let sure = Sure::of(pair);
    let mut weights: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
    for (side, stacks) in [base, variant].into_iter().enumerate() {
        for (stack, weight) in &stacks.stacks {
            let weight = (*weight as f64 * factors[side]).round().min(MOST);
            weights.entry(stack).or_default()[side] = weight as u64;
        }
    }
    // Operations that no guest can have done leave nothing of its samples.
    if weights.values().all(|[_, variant]| *variant == 0) {
        return Ok(None);
    }
    let unit = format!("{} in {per}", pair.unit);
    let drawn = Drawn {
        title: format!(
            "{} against {}: {}",
            pair.names[1],
            pair.names[0],
            pair.what()
        ),
        subtitle: format!(
            "{}, {unit}: red is what a function itself costs more{}, blue what it saves; what is gone \
             has no width",
            pair.event,
            sure.words()
        ),
        unit: &unit,
    };
    let columns = weights.into_iter().map(|(stack, [base, variant])| {
        let base = if sure.is_known(stack) { base } else { variant };
        (stack, format!("{base} {variant}"))
    });
    drawn.of(Shows::Difference, columns.collect()).map(Some)
}

/// The functions whose difference is more than chance may do, and is coloured: a graph of equal
/// kernels has no colours.
struct Sure(Option<Vec<String>>);

impl Sure {
    /// Waits for locks are all coloured: they are seen one by one, and not sampled.
    fn of(pair: &Pair) -> Sure {
        let shares = shares(pair);
        Sure(shares.map(|shares| {
            let known = shares.lines.into_iter().filter(|line| line.cost.is_some());
            known.map(|line| line.name).collect()
        }))
    }

    fn is_known(&self, stack: &str) -> bool {
        let leaf = stack.rsplit(';').next().unwrap_or(stack);
        self.0
            .as_ref()
            .is_none_or(|known| known.iter().any(|name| name == leaf))
    }

    fn words(&self) -> &'static str {
        match self.0 {
            Some(_) => " (beyond chance)",
            None => "",
        }
    }
}

/// The largest weight that is drawn: a hundred times it is still far from the end of an i64.
const MOST: f64 = 9e15;

/// Both sides in one unit, as whole numbers that are large enough for rounding not to show: so many
/// operations, or shares where operations are unknown. Its name, and a factor for each side.
fn common(totals: [f64; 2], operations: Option<[f64; 2]>) -> (String, [f64; 2]) {
    const ENOUGH: f64 = 1e6;
    let Some(operations) = operations else {
        return ("a million".into(), totals.map(|total| ENOUGH / total));
    };
    let each = totals[1] / operations[1];
    let powers = (0..16).map(|power| 10_u64.pow(power));
    let of = powers
        .clone()
        .find(|of| each * *of as f64 >= ENOUGH)
        .unwrap_or(10_u64.pow(15));
    let name = match of {
        1 => "an operation".into(),
        of => format!("{} operations", grouped(&of.to_string())),
    };
    (name, operations.map(|done| of as f64 / done))
}

/// What stands above a flame graph.
struct Drawn<'a> {
    title: String,
    subtitle: String,
    unit: &'a str,
}

impl Drawn<'_> {
    fn of(self, shows: Shows, mut weights: Vec<(&str, String)>) -> Result<Drawing> {
        // By frames and not by letters: `find_bit.part.0` must not part `find_bit` from what it
        // calls. Last first: so are lines taken that are not to be sorted.
        weights.sort_by(|(a, _), (b, _)| b.split(';').cmp(a.split(';')));
        let stacks = weights.iter().map(|(stack, _)| *stack);
        let mut palette = palette(stacks);
        let lines: Vec<String> = weights
            .iter()
            .map(|(stack, columns)| {
                let frames: Vec<String> = stack.split(';').map(unambiguous).collect();
                format!("{} {columns}", frames.join(";"))
            })
            .collect();
        let mut options = self.options();
        // What did not change is nearly white, and would be nothing on white.
        if shows == Shows::Difference
            && let Ok(edge) = "#c9cbc4".parse()
        {
            options.stroke_color = edge;
        }
        options.palette_map = Some(&mut palette);
        let mut svg = Vec::new();
        from_lines(&mut options, lines.iter().map(String::as_str), &mut svg)
            .or_host(|| format!("draw {}", self.title))?;
        Ok(Drawing {
            shows,
            svg: styled(&String::from_utf8_lossy(&svg)),
            title: self.title,
            subtitle: self.subtitle,
        })
    }

    fn options(&self) -> Options<'static> {
        let mut options = Options::default();
        options.title = terminal::headline(&self.title);
        options.subtitle = Some(terminal::headline(&self.subtitle));
        options.count_name = self.unit.to_owned();
        options.name_type = String::new();
        options.flame_chart = true;
        options.deterministic = true;
        // Half a pixel of the usual 1200.
        options.min_width = 0.04;
        options.font_width = 0.61;
        options.text_truncate_direction = TextTruncateDirection::Right;
        options.bgcolors = "#fcfcfa".parse().ok();
        if let Some(ink) = parse_hex_color("#1b1d20") {
            options.uicolor = ink;
        }
        if let Ok(found) = "#bf9cf0".parse() {
            options.search_color = found;
        }
        options
    }
}

/// A name that `inferno` takes as one: behind a blank it looks for a number, and what begins with
/// `# ` it leaves out.
fn unambiguous(frame: &str) -> String {
    let is_number = |word: &str| word.chars().all(|c| c.is_ascii_digit() || c == '.');
    match frame.rsplit_once(' ') {
        Some((_, last)) if is_number(last) || frame.starts_with('#') => {
            frame.replace(' ', "\u{a0}")
        }
        _ => frame.to_owned(),
    }
}

/// A colour for each function, the same in every graph: calm, and light enough for black letters.
/// Locks and user space, which are no functions of the kernel, have their own.
fn palette<'a>(stacks: impl Iterator<Item = &'a str>) -> PaletteMap {
    const KERNEL: [(u8, u8, u8); 8] = [
        (244, 205, 150),
        (238, 184, 126),
        (247, 217, 172),
        (233, 170, 114),
        (241, 194, 138),
        (236, 203, 140),
        (240, 178, 130),
        (246, 210, 160),
    ];
    const ALL: (u8, u8, u8) = (222, 223, 217);
    const IN_USER: (u8, u8, u8) = (176, 204, 198);
    const LOCK: (u8, u8, u8) = (205, 184, 240);
    let mut palette = PaletteMap::default();
    let mut put = |name: &str, (r, g, b)| palette.insert(name, Color { r, g, b });
    put("", ALL);
    for frame in stacks.flat_map(|stack| stack.split(';')) {
        let color = match frame {
            USER => IN_USER,
            lock if lock.starts_with('[') => LOCK,
            function => {
                let sum = function
                    .bytes()
                    .fold(0_usize, |sum, byte| sum * 31 % 65_521 + usize::from(byte));
                KERNEL[sum % KERNEL.len()]
            }
        };
        put(&unambiguous(frame), color);
    }
    palette
}

/// With the report's colours, in the dark too; its own are made for white alone.
fn styled(svg: &str) -> String {
    const STYLE: &str = "\
#title { font-size: 15px; font-weight: 600; }
#subtitle { fill: #5a6069; }
#search { opacity: .7; }
@media (prefers-color-scheme: dark) {
  rect[fill=\"url(#background)\"] { fill: #15171a; }
  #title, #details, #unzoom, #search, #matched { fill: #e3e4e2; }
  #subtitle { fill: #9ca4ae; }
}
</style>";
    svg.replacen("</style>", STYLE, 1)
}

#[cfg(test)]
mod tests;
