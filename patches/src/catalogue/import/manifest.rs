//! `series.toml`, written.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::catalogue::{
    Claim, ClaimClock, ClaimKind, ClaimTest, Expectation, Kernel, Series, System, Value, Variant,
    Verdict, Workload,
};
use crate::history::Reference;

/// A step as the reader of manifests takes it.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum StepEntry {
    Plain(String),
    File(FileEntry),
    Commits(BTreeMap<&'static str, String>),
}

/// A file that is read with options.
#[derive(Serialize)]
pub(super) struct FileEntry {
    pub file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strip: Option<usize>,
    #[serde(skip_serializing_if = "is_off")]
    pub reverse: bool,
}

fn is_off(flag: &bool) -> bool {
    !flag
}

impl StepEntry {
    pub(super) fn bundle(name: String) -> StepEntry {
        StepEntry::Commits([("bundle", name)].into())
    }
}

impl From<&[Reference]> for StepEntry {
    fn from(references: &[Reference]) -> StepEntry {
        let named = references.iter().map(|reference| match reference {
            Reference::Commit(name) => ("commit", name.clone()),
            Reference::Range(range) => ("range", range.clone()),
            Reference::Subject(subject) => ("subject", subject.clone()),
            Reference::Svn(revision) => ("svn", format!("r{revision}")),
            Reference::Review(review) => ("review", review.clone()),
            Reference::Bundle { name, .. } => ("bundle", name.clone()),
        });
        StepEntry::Commits(named.collect())
    }
}

#[derive(Serialize)]
struct Manifest<'a> {
    title: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    system: Option<System>,
    applies_to: Option<&'a String>,
    source: Option<&'a String>,
    licence: Option<&'a String>,
    needs: Option<&'a String>,
    #[serde(skip_serializing_if = "is_off")]
    reverse: bool,
    #[serde(skip_serializing_if = "is_off")]
    aa: bool,
    patches: Vec<StepEntry>,
    #[serde(rename = "claim", skip_serializing_if = "Vec::is_empty")]
    claims: Vec<ClaimEntry<'a>>,
    #[serde(rename = "workload", skip_serializing_if = "Vec::is_empty")]
    workloads: Vec<WorkloadEntry<'a>>,
    #[serde(rename = "variant", skip_serializing_if = "Vec::is_empty")]
    variants: Vec<VariantEntry<'a>>,
    #[serde(rename = "expect", skip_serializing_if = "Vec::is_empty")]
    expectations: Vec<ExpectEntry<'a>>,
}

/// The text of a manifest for the series with these steps.
pub(super) fn text(series: &Series, patches: Vec<StepEntry>) -> Result<String, toml::ser::Error> {
    toml::to_string_pretty(&Manifest {
        title: &series.title,
        description: &series.description,
        system: series.system,
        applies_to: series.applies_to.as_ref(),
        source: series.source.as_ref(),
        licence: series.licence.as_ref(),
        needs: series.needs.as_ref(),
        reverse: series.reverse,
        aa: series.aa,
        patches,
        claims: series.claims.iter().map(ClaimEntry::from).collect(),
        workloads: series.workloads.iter().map(WorkloadEntry::from).collect(),
        variants: series.variants.iter().map(VariantEntry::from).collect(),
        expectations: series.expectations.iter().map(ExpectEntry::from).collect(),
    })
}

#[derive(Serialize)]
struct ClaimEntry<'a> {
    metric: &'a str,
    unit: Option<&'a String>,
    machine: &'a str,
    #[serde(rename = "known-machine")]
    known_machine: Option<&'a String>,
    before: Option<f64>,
    after: Option<f64>,
    change: Option<String>,
    quote: &'a str,
    source: &'a str,
    test: Option<TestEntry<'a>>,
}

#[derive(Serialize)]
struct TestEntry<'a> {
    kind: ClaimKind,
    variant: &'a str,
    workload: &'a str,
    parameters: &'a BTreeMap<String, Value>,
    metric: &'a str,
    cpus: Option<u32>,
    clock: Option<ClaimClock>,
}

impl<'a> From<&'a ClaimTest> for TestEntry<'a> {
    fn from(test: &'a ClaimTest) -> TestEntry<'a> {
        TestEntry {
            kind: test.kind,
            variant: &test.variant,
            workload: &test.workload,
            parameters: &test.parameters,
            metric: &test.metric,
            cpus: test.cpus,
            clock: test.clock,
        }
    }
}

impl<'a> From<&'a Claim> for ClaimEntry<'a> {
    fn from(claim: &'a Claim) -> ClaimEntry<'a> {
        let change = match (claim.change_percent, claim.change_percent_to) {
            (Some(from), Some(to)) => Some(format!("{from:+} to {to:+} %")),
            (Some(change), None) => Some(format!("{change:+} %")),
            (None, _) => None,
        };
        ClaimEntry {
            metric: &claim.metric,
            unit: claim.unit.as_ref(),
            machine: &claim.machine,
            known_machine: claim.known_machine.as_ref(),
            before: claim.before,
            after: claim.after,
            change,
            quote: &claim.quote,
            source: &claim.source,
            test: claim.test.as_ref().map(TestEntry::from),
        }
    }
}

#[derive(Serialize)]
struct WorkloadEntry<'a> {
    name: &'a str,
    parameters: &'a BTreeMap<String, Value>,
}

impl<'a> From<&'a Workload> for WorkloadEntry<'a> {
    fn from(workload: &'a Workload) -> WorkloadEntry<'a> {
        WorkloadEntry {
            name: &workload.name,
            parameters: &workload.parameters,
        }
    }
}

#[derive(Serialize)]
struct VariantEntry<'a> {
    name: &'a str,
    kernel: Kernel,
    set: BTreeMap<String, &'a Value>,
}

impl<'a> From<&'a Variant> for VariantEntry<'a> {
    fn from(variant: &'a Variant) -> VariantEntry<'a> {
        let set = variant.set.iter();
        VariantEntry {
            name: &variant.name,
            kernel: variant.kernel,
            set: set
                .map(|((workload, parameter), value)| (format!("{workload}.{parameter}"), value))
                .collect(),
        }
    }
}

#[derive(Serialize)]
struct ExpectEntry<'a> {
    variant: &'a str,
    workload: &'a str,
    parameters: &'a BTreeMap<String, Value>,
    metric: &'a str,
    verdict: &'a [Verdict],
}

impl<'a> From<&'a Expectation> for ExpectEntry<'a> {
    fn from(expectation: &'a Expectation) -> ExpectEntry<'a> {
        ExpectEntry {
            variant: &expectation.variant,
            workload: &expectation.workload,
            parameters: &expectation.parameters,
            metric: &expectation.metric,
            verdict: &expectation.verdicts,
        }
    }
}
