//! `ktrial series`: the catalogue, and series of one's own.

use std::path::{Path, PathBuf};

use clap::{Subcommand, ValueEnum};
use ktrial_patches::Patch;
use ktrial_patches::catalogue::{self, Claim, Series, System};

use super::{Context, print};
use crate::fault::{At, Fault, Result};
use crate::series::{self, Importing};
use crate::terminal::{folded, headline, shell_line};
use crate::timestamp::day;
use crate::tree::{Tree, check_bootable};
use crate::verdict::{claims, outcome};

/// The commands of `ktrial series`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Every series of the catalogue, and whether it can be tried on the trees at hand
    List {
        /// A tree to say that of, beside those of earlier trials; may be repeated
        #[arg(long = "tree", value_name = "PATH")]
        trees: Vec<PathBuf>,
    },
    /// One series: where it comes from, its patches, what its author claims, what it should show
    Show {
        /// Its name, folder or patch file, or - for standard input
        series: String,
    },
    /// Does it apply to this tree, and how: hunk by hunk, with all that had to be mended
    Check {
        /// Its name, folder or patch file, or - for standard input
        series: String,
        /// The source: a git checkout, a tarball or a folder
        #[arg(long, value_name = "PATH")]
        tree: PathBuf,
        /// The base, where the tree is a git checkout [default: HEAD]
        #[arg(long)]
        revision: Option<String>,
        /// Look for the newest commit in the base's history on which it applies
        #[arg(long)]
        find_base: bool,
        /// Commits to look at
        #[arg(
            long,
            value_name = "N",
            requires = "find_base",
            default_value_t = 10_000
        )]
        limit: usize,
    },
    /// Make a folder with a series.toml of a mail, an mbox, a diff, a bundle or a folder of patches
    Import {
        /// The file or folder, or - for standard input
        from: String,
        /// The series' name [default: that of the file, or words of its subject]
        #[arg(long)]
        name: Option<String>,
        /// The folder to make [default: NAME, here]
        #[arg(long, value_name = "FOLDER")]
        to: Option<PathBuf>,
        /// The system of its tree, which patches do not say
        #[arg(long, value_enum)]
        system: Option<SystemChoice>,
    },
}

/// How `--system` is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SystemChoice {
    /// Linux
    Linux,
    /// FreeBSD
    Freebsd,
    /// DragonFly BSD
    Dragonfly,
}

impl From<SystemChoice> for System {
    fn from(choice: SystemChoice) -> System {
        match choice {
            SystemChoice::Linux => System::Linux,
            SystemChoice::Freebsd => System::FreeBsd,
            SystemChoice::Dragonfly => System::DragonFly,
        }
    }
}

pub(super) fn run(context: &Context, command: &Command) -> Result<u8> {
    match command {
        Command::List { trees } => list(context, trees),
        Command::Show { series } => show(&series::open(series)?),
        Command::Check {
            series,
            tree,
            revision,
            find_base,
            limit,
        } => {
            let series = series::open(series)?;
            let tree = Tree::open(&context.home, tree, revision.as_deref())?;
            if let Some(note) = series::foreign(&tree, &series) {
                context.progress.say(&note);
            }
            match find_base {
                true => base(&tree, &series, *limit),
                false => check(&tree, &series),
            }
        }
        Command::Import {
            from,
            name,
            to,
            system,
        } => {
            let wanted = Importing {
                name: name.as_deref(),
                to: to.as_deref(),
                system: system.map(System::from),
            };
            import(from, &wanted)
        }
    }
}

fn check(tree: &Tree, series: &Series) -> Result<u8> {
    let outcome = series::apply_to(tree, series)?;
    print(&format!("{}\n", series::summary(&series.name, &outcome)))?;
    print(&series::full(series, &outcome))?;
    Ok(0)
}

/// The newest commit on which a series applies.
fn base(tree: &Tree, series: &Series, limit: usize) -> Result<u8> {
    let Some((base, outcome)) = series::find_base(tree, series, limit)? else {
        let commits = series::commits(tree, limit);
        print(&format!(
            "applies to none of the {commits} commits looked at\n"
        ))?;
        if commits == limit {
            print("next: --limit looks at more, --revision begins elsewhere\n")?;
        }
        if let Some(newer) = series::newer_elsewhere(tree) {
            let here = shell_line(["--revision", &newer]);
            print(&format!(
                "looked only at what the base reaches; {newer} is newer: {here} looks there\n"
            ))?;
        }
        return Ok(At::Patch.exit_code());
    };
    let (commit, date) = (base.commit.id, day(base.commit.date));
    let back = match base.behind {
        1 => "1 commit back".to_owned(),
        behind => format!("{behind} commits back"),
    };
    let subject = base.commit.subject;
    print(&format!(
        "applies to {commit} ({date}, {back}): {subject}\n"
    ))?;
    print(&series::full(series, &outcome))?;
    Ok(0)
}

fn import(from: &str, wanted: &Importing) -> Result<u8> {
    let series = series::open(from)?;
    let read = series::read_mends(series.own_patches());
    let left_out = series::left_out(&series);
    let bundled = series::bundled(&series)?;
    let bundled = bundled.into_iter().map(|commit| format!("  {commit}"));
    let made = series::import(series, wanted)?;
    let folder = shown_folder(&made.folder);
    let title = headline(&made.series.title);
    print(&format!(
        "made {folder}: {title}
"
    ))?;
    let patches = made.series.own_patches();
    let patches = patches.map(|patch| format!("  {}", with_subject(patch)));
    for line in series::listed(patches.collect()).into_iter().chain(bundled) {
        print(&format!(
            "{line}
"
        ))?;
    }
    for line in read {
        print(&format!("mended: {line}\n"))?;
    }
    for line in left_out {
        print(&format!("{line}\n"))?;
    }
    print(&format!(
        "next:\n  ktrial series check {folder} --tree TREE\n"
    ))?;
    let bootable = made
        .series
        .system
        .is_some_and(|s| check_bootable(s).is_ok());
    let last = if bootable { "trial" } else { "apply" };
    print(&format!("  ktrial {last} {folder} --tree TREE\n"))?;
    Ok(0)
}

/// A patch with what it says of itself, where that is more than its name.
fn with_subject(patch: &Patch) -> String {
    match patch.header.subject == patch.name {
        true => patch.name.clone(),
        false => format!("{}  {}", patch.name, headline(&patch.header.title())),
    }
}

/// As it is to be typed: a bare name would be one of the catalogue.
fn shown_folder(folder: &Path) -> String {
    match folder.components().count() {
        1 if folder.is_relative() => shell_line([Path::new(".").join(folder)]),
        _ => shell_line([folder]),
    }
}

fn list(context: &Context, paths: &[PathBuf]) -> Result<u8> {
    let all = catalogue::list().map_err(|e| Fault::host(e.to_string()))?;
    let trees = trees(context, paths)?;
    for series in all {
        let system = series.system.map_or_else(|| "?".into(), |s| s.to_string());
        let version = series.applies_to.as_deref().unwrap_or_default();
        let mut lines = vec![
            format!("{:<30} {}", series.name, series.title),
            format!("    for {system} {version}"),
        ];
        lines.extend(
            series
                .needs
                .iter()
                .map(|needs| format!("    needs {needs}")),
        );
        for tree in &trees {
            lines.push(format!("    {}", series::fit(tree, &series)));
        }
        for line in lines {
            print(&format!("{}\n", folded(line.trim_end())))?;
        }
    }
    Ok(0)
}

/// The trees named, and those of earlier trials that are still there.
fn trees(context: &Context, paths: &[PathBuf]) -> Result<Vec<Tree>> {
    let mut trees: Vec<Tree> = Vec::new();
    for path in paths {
        trees.push(Tree::open(&context.home, path, None)?);
    }
    // No database, no trees; nothing is made for a list.
    if !context.home.database().exists() {
        return Ok(trees);
    }
    for record in context.database()?.trees()? {
        if trees
            .iter()
            .any(|tree| tree.source == Path::new(&record.source))
        {
            continue;
        }
        match Tree::of_record(&context.home, &record) {
            Ok(tree) => trees.extend(tree),
            // It was a tree at that time; that is none of this command's business.
            Err(fault) => context
                .progress
                .say(&format!("{}: {}", record.name, fault.what)),
        }
    }
    Ok(trees)
}

fn show(series: &Series) -> Result<u8> {
    let bundled = series::bundled(series)?;
    print(&shown(series, &bundled))?;
    Ok(0)
}

fn shown(series: &Series, bundled: &[String]) -> String {
    let mut lines = vec![format!("{}: {}", series.name, headline(&series.title))];
    if !series.description.is_empty() {
        lines.push(String::new());
        let of_it = series.description.lines().map(str::to_owned);
        lines.extend(series::listed(of_it.collect()));
    }
    lines.push(String::new());
    let system = series.system.map(|system| system.to_string());
    for (name, value) in [
        ("system", &system),
        ("made for", &series.applies_to),
        ("needs", &series.needs),
        ("source", &series.source),
        ("licence", &series.licence),
    ] {
        lines.extend(value.iter().map(|value| format!("{name}: {value}")));
    }
    if series.aa {
        lines.push("A/A: its kernel is booted against itself".into());
    }
    if series.reverse {
        lines.push("reversed: its patches are undone, last one first".into());
    }
    let own = series.own_patches();
    let own = own.map(|patch| format!("patch: {}", with_subject(patch)));
    lines.extend(series::listed(own.collect()));
    let references = series.references().map(series::described);
    lines.extend(references.map(|what| format!("of the tree: {what}")));
    lines.extend(bundled.iter().map(|commit| format!("  {commit}")));
    lines.extend(
        series::read_mends(series.own_patches())
            .iter()
            .map(|m| format!("mended: {m}")),
    );
    lines.extend(series::left_out(series));
    for workload in &series.workloads {
        let pairs = workload.parameters.iter();
        let pairs: Vec<String> = pairs.map(|(k, v)| format!("{k}={v}")).collect();
        lines.push(format!("workload: {} {}", workload.name, pairs.join(" ")));
    }
    for variant in &series.variants {
        let settings = variant.set.iter();
        let settings: Vec<String> = settings
            .map(|((workload, parameter), value)| format!("{workload}.{parameter}={value}"))
            .collect();
        lines.push(format!("variant: {} {}", variant.name, settings.join(" ")));
    }
    let expected = series.expectations.iter();
    lines.extend(expected.map(|one| format!("expects: {}", outcome::expected(one))));
    lines.extend(series.claims.iter().flat_map(claim));
    lines.into_iter().map(|line| line + "\n").collect()
}

/// A claim as a block of its own.
fn claim(claim: &Claim) -> Vec<String> {
    let mut lines = vec![String::new(), format!("claim: {}", claim.metric)];
    lines.push(format!("  {}", claims::figures(claim)));
    let known = claim.known_machine.iter();
    let known: String = known.map(|name| format!(", which is {name}")).collect();
    lines.push(format!("  on {}{known}", claim.machine));
    lines.push(format!("  \"{}\"", claim.quote));
    lines.push(format!("  from {}", claim.source));
    if let Some(test) = &claim.test {
        let cpus = test.cpus.map(|cpus| format!(", {cpus} CPUs"));
        let clock = test.clock.map(|clock| format!(", {clock} time"));
        let of = [cpus, clock].into_iter().flatten().collect::<String>();
        lines.push(format!("  held against {}{of}", claims::tested_by(test)));
    }
    lines
}

#[cfg(test)]
mod tests {
    use ktrial_patches::catalogue::Step;
    use ktrial_patches::history::Reference;

    use super::*;

    #[test]
    fn a_series_shows_what_it_needs_and_each_claim_with_its_source() {
        let mut series = catalogue::find("linux-control-same").unwrap();
        series.reverse = true;
        series.needs = Some("a history to v4.4".into());
        series.steps = vec![Step::Commits(vec![Reference::Review("D9586".into())])];
        series.claims = vec![Claim {
            metric: "buildkernel wall time".into(),
            unit: Some("s".into()),
            machine: "an EC2 instance".into(),
            known_machine: Some("x1.32xlarge".into()),
            before: Some(200.5),
            after: None,
            change_percent: Some(-7.5),
            change_percent_to: None,
            quote: "about 7.5% less".into(),
            source: "r313756".into(),
            test: None,
        }];
        let text = shown(&series, &["8cdef6cbcc73  kern: count again".to_owned()]);
        for part in [
            "needs: a history to v4.4\n",
            "reversed: its patches are undone, last one first\n",
            "of the tree: the commits of review D9586\n  8cdef6cbcc73  kern: count again\n",
            "\nclaim: buildkernel wall time\n  before 200.5 s, change -7.5 %\n  \
             on an EC2 instance, which is x1.32xlarge\n  \"about 7.5% less\"\n  from r313756\n",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn a_folder_is_shown_as_it_can_be_typed() {
        assert_eq!(shown_folder(Path::new("x")), "./x");
        assert_eq!(shown_folder(Path::new("a b/x")), "'a b/x'");
        assert_eq!(shown_folder(Path::new("/x")), "/x");
    }
}
