//! `series.toml`: its form, and the checks that the form alone can't make.

mod claims;
mod patches;

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use toml::Spanned;

use super::model::{Expectation, Kernel, System, Value, Variant, Verdict, Workload, is_within};
use super::{MANIFEST, Series, SeriesError};
use claims::ClaimEntry;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    title: String,
    #[serde(default)]
    description: String,
    system: Option<System>,
    applies_to: Option<String>,
    source: Option<String>,
    licence: Option<String>,
    needs: Option<String>,
    patches: Vec<Spanned<toml::Value>>,
    #[serde(default)]
    reverse: bool,
    aa: Option<Spanned<bool>>,
    #[serde(default, rename = "claim")]
    claims: Vec<ClaimEntry>,
    #[serde(default, rename = "workload")]
    workloads: Vec<WorkloadEntry>,
    #[serde(default, rename = "variant")]
    variants: Vec<VariantEntry>,
    #[serde(default, rename = "expect")]
    expectations: Vec<ExpectEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkloadEntry {
    name: Spanned<String>,
    #[serde(default)]
    parameters: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VariantEntry {
    name: Spanned<String>,
    kernel: Kernel,
    #[serde(default)]
    set: BTreeMap<Spanned<String>, Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectEntry {
    variant: Spanned<String>,
    workload: Spanned<String>,
    #[serde(default)]
    parameters: BTreeMap<String, Value>,
    metric: Spanned<String>,
    verdict: Spanned<OneOrMore>,
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected one or a list of improved, regressed, unchanged, inconclusive, unsupported"
)]
enum OneOrMore {
    One(Verdict),
    More(Vec<Verdict>),
}

/// Reads a series from its files. `place` is its folder as shown in messages.
pub(super) fn load(
    name: &str,
    place: &str,
    file: impl Fn(&str) -> Result<Vec<u8>, SeriesError>,
) -> Result<Series, SeriesError> {
    let path = format!("{place}/{MANIFEST}");
    let bytes = file(MANIFEST)?;
    let text = String::from_utf8_lossy(&bytes);
    let source = Source { path, text: &text };
    let manifest: Manifest =
        toml::from_str(&text).map_err(|error| source.error(error.span(), error.message()))?;
    let (steps, left_out) = patches::steps(&source, &manifest.patches, file)?;
    let aa = aa(&source, manifest.aa, steps.is_empty())?;
    let workloads = workloads(&source, manifest.workloads)?;
    let variants = variants(&source, manifest.variants, &workloads)?;
    let known = Known {
        source: &source,
        workloads: &workloads,
        variants: &variants,
    };
    let claims = claims::claims(&known, manifest.claims)?;
    let expectations = expectations(&known, manifest.expectations)?;
    Ok(Series {
        name: name.to_owned(),
        title: manifest.title,
        description: manifest.description.trim().to_owned(),
        system: manifest.system,
        applies_to: manifest.applies_to,
        source: manifest.source,
        licence: manifest.licence,
        steps,
        reverse: manifest.reverse,
        aa,
        needs: manifest.needs,
        claims,
        left_out,
        workloads,
        variants,
        expectations,
    })
}

/// The text of the manifest, to name lines in it.
struct Source<'a> {
    path: String,
    text: &'a str,
}

impl Source<'_> {
    fn error(&self, span: Option<std::ops::Range<usize>>, message: &str) -> SeriesError {
        let start = span.map_or(0, |span| span.start);
        let before = self.text.as_bytes().get(..start).unwrap_or_default();
        SeriesError::Manifest {
            file: self.path.clone(),
            line: 1 + before.iter().filter(|&&b| b == b'\n').count(),
            message: message.trim().replace('\n', "; "),
        }
    }

    fn wrong<T>(&self, value: &Spanned<T>, message: &str) -> SeriesError {
        self.error(Some(value.span()), message)
    }
}

/// Names of workloads, parameters, variants and metrics: they end up in file
/// names, command lines and reports.
fn is_name(name: &str) -> bool {
    let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    !name.is_empty() && name.len() <= 64 && name.bytes().all(fits)
}

const NAME: &str = "expected a name of letters, digits, `-` and `_`, 64 at most";

/// Whether the series says that it is A/A.
fn aa(source: &Source, entry: Option<Spanned<bool>>, is_empty: bool) -> Result<bool, SeriesError> {
    match entry {
        Some(entry) if *entry.get_ref() && !is_empty => Err(source.wrong(
            &entry,
            "expected `aa` only with `patches = []`; `ktrial trial --aa` boots what is identical",
        )),
        entry => Ok(entry.is_some_and(Spanned::into_inner)),
    }
}

fn workloads(source: &Source, entries: Vec<WorkloadEntry>) -> Result<Vec<Workload>, SeriesError> {
    let mut workloads: Vec<Workload> = Vec::new();
    for entry in entries {
        if !is_name(entry.name.get_ref()) || !entry.parameters.keys().all(|key| is_name(key)) {
            return Err(source.wrong(&entry.name, NAME));
        }
        let workload = Workload {
            name: entry.name.get_ref().clone(),
            parameters: entry.parameters,
        };
        if workloads.contains(&workload) {
            return Err(source.wrong(&entry.name, "this workload stands here twice"));
        }
        workloads.push(workload);
    }
    Ok(workloads)
}

fn variants(
    source: &Source,
    entries: Vec<VariantEntry>,
    workloads: &[Workload],
) -> Result<Vec<Variant>, SeriesError> {
    let mut taken: BTreeSet<String> = ["base", "patched"].map(str::to_owned).into();
    let mut variants = Vec::new();
    for entry in entries {
        let name = entry.name.get_ref();
        if !is_name(name) {
            return Err(source.wrong(&entry.name, NAME));
        }
        if !taken.insert(name.clone()) {
            let message = format!("expected a new name: there is a variant `{name}` already");
            return Err(source.wrong(&entry.name, &message));
        }
        let mut set = BTreeMap::new();
        for (key, value) in entry.set {
            let parts = key.get_ref().split_once('.');
            let known = |name: &str| workloads.iter().any(|workload| workload.name == name);
            match parts.filter(|(workload, parameter)| known(workload) && is_name(parameter)) {
                Some((workload, parameter)) => {
                    set.insert((workload.to_owned(), parameter.to_owned()), value);
                }
                None => {
                    let message = "expected \"workload.parameter\" with a workload of this series";
                    return Err(source.wrong(&key, message));
                }
            }
        }
        variants.push(Variant {
            name: name.clone(),
            kernel: entry.kernel,
            set,
        });
    }
    Ok(variants)
}

/// What the rest of a manifest can refer to.
struct Known<'a> {
    source: &'a Source<'a>,
    workloads: &'a [Workload],
    variants: &'a [Variant],
}

impl Known<'_> {
    fn variant(&self, name: &Spanned<String>) -> Result<String, SeriesError> {
        let wanted = name.get_ref();
        if wanted == "patched" || self.variants.iter().any(|known| known.name == *wanted) {
            return Ok(wanted.clone());
        }
        let message = "expected `patched` or a variant of this series";
        Err(self.source.wrong(name, message))
    }

    fn workload(
        &self,
        name: &Spanned<String>,
        parameters: &BTreeMap<String, Value>,
    ) -> Result<String, SeriesError> {
        let wanted = name.get_ref();
        let meant =
            |known: &Workload| known.name == *wanted && is_within(parameters, &known.parameters);
        if self.workloads.iter().any(meant) {
            return Ok(wanted.clone());
        }
        let message = "expected a workload of this series, at parameters that it lists";
        Err(self.source.wrong(name, message))
    }

    fn metric(&self, name: &Spanned<String>) -> Result<String, SeriesError> {
        match is_name(name.get_ref()) {
            true => Ok(name.get_ref().clone()),
            false => Err(self.source.wrong(name, NAME)),
        }
    }
}

fn expectations(known: &Known, entries: Vec<ExpectEntry>) -> Result<Vec<Expectation>, SeriesError> {
    let mut expectations = Vec::new();
    for entry in entries {
        let variant = known.variant(&entry.variant)?;
        let workload = known.workload(&entry.workload, &entry.parameters)?;
        let metric = known.metric(&entry.metric)?;
        let verdicts = match entry.verdict.get_ref() {
            OneOrMore::One(one) => vec![*one],
            OneOrMore::More(more) => more.clone(),
        };
        if verdicts.is_empty() {
            let message = "expected one verdict at least";
            return Err(known.source.wrong(&entry.verdict, message));
        }
        expectations.push(Expectation {
            variant,
            workload,
            parameters: entry.parameters,
            metric,
            verdicts,
        });
    }
    Ok(expectations)
}
