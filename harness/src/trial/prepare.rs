//! From a plan to something that can boot: the series is applied, kernels and programs are built.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ktrial_db::{Db, NewTrial, NewVariant, PatchText, TrialId};
use ktrial_patches::Patch;
use ktrial_patches::apply::Applied;
use ktrial_patches::catalogue::{Series, System};
use serde_json::json;

use super::host::Host;
use super::{KernelOf, Plan, PlannedVariant, identical};
use crate::fault::{Fault, OrHost, Result};
use crate::guest::{Guest, Placement, Programs};
use crate::hash::{hash16, sha256_of_file};
use crate::home::Home;
use crate::kernel::{Builder, Config, Kernel, Toolchain};
use crate::machine::audit::kernel_options::swamping;
use crate::machine::exclusive::Exclusive;
use crate::progress::Progress;
use crate::series::{self, record};
use crate::terminal::{complain, plain};
use crate::timestamp::unix_ms;
use crate::tree::Tree;
use crate::{machine, vm};

/// What the user wants tried.
pub struct Wanted<'a> {
    /// The source tree.
    pub tree: &'a Tree,
    /// The series.
    pub series: &'a Series,
    /// The kernel configuration.
    pub config: &'a Config,
    /// What to do.
    pub plan: Plan,
    /// The seed that orders and perturbs; drawn if none.
    pub seed: Option<u64>,
    /// As it was typed, for the record.
    pub command_line: String,
    /// Jobs for `make`.
    pub jobs: usize,
    /// How long its boots may take together, in milliseconds; no more are begun after that.
    pub budget_ms: Option<u64>,
}

/// A trial that is ready to boot.
pub struct Prepared {
    /// What to do.
    pub plan: Plan,
    /// Hash of everything that decides what is measured; an interrupted trial is found by it.
    pub plan_key: String,
    /// The kernels.
    pub kernels: BTreeMap<KernelOf, Kernel>,
    /// The agent and the workloads.
    pub programs: Programs,
    /// The plugin that counts instructions, where they are to be counted.
    pub counter: Option<PathBuf>,
    /// What this machine is, and where its guests lie on it.
    pub host: Host,
    /// How long its boots may take together, in milliseconds.
    pub budget_ms: Option<u64>,
    applied: record::Applied,
    #[allow(dead_code, reason = "held for its drop")]
    right: Option<Exclusive>,
    seed: Option<u64>,
    title: String,
    command_line: String,
    machine: ktrial_db::Machine,
    tree: ktrial_db::Tree,
    series: ktrial_db::Series,
}

/// Applies the series and builds what is missing in the cache.
///
/// # Errors
/// A user fault if the tree lacks what the series needs; a patch fault if the series does not
/// apply; a kernel fault if a kernel does not build; a host fault if a tool is missing.
pub fn prepare(home: &Home, mut wanted: Wanted<'_>, progress: &Progress) -> Result<Prepared> {
    let (tree, series) = (wanted.tree, wanted.series);
    let qemu = vm::version(home)?;
    vm::check_turns(&qemu, wanted.plan.clock, wanted.plan.shape.cpus)?;
    let counter = wanted.plan.count.then(|| vm::counter::plugin(&qemu));
    let counter = counter.transpose()?;
    // Before anything is built: a compiler beside it would be in another one's figures.
    let (placement, right) = Placement::claim(&wanted.plan.shape, wanted.plan.clock, progress)?;
    let outcome = series::apply_to(tree, series)?;
    progress.say(&series::summary(&series.name, &outcome));
    // Not for --quiet to hide.
    for line in series::loud(&outcome) {
        complain(&plain(&line));
    }
    let programs = Programs::build(home)?;
    wanted.plan.programs = programs.hash();
    let toolchain = Toolchain::find(home)?;
    let builder = Builder {
        home,
        tree,
        config: wanted.config,
        toolchain: &toolchain,
        jobs: wanted.jobs,
        progress,
    };
    let base = Applied {
        tree: tree.tree_of(tree.base)?,
        commit: tree.base,
        patches: Vec::new(),
    };
    let mut kernels = BTreeMap::new();
    for (which, name, variant) in [
        (KernelOf::Base, "base", &base),
        (KernelOf::Patched, "patched", &outcome.applied),
    ] {
        let kernel = builder.build(name, variant)?;
        for option in &kernel.refused_options {
            progress.say(&format!("the tree of {name} does not take {option}"));
        }
        kernels.insert(which, kernel);
    }
    let machine = machine::describe(&qemu)?;
    let mut host = Host::now(placement, wanted.plan.clock)?;
    for (which, kernel) in &kernels {
        let swamping = swamping(tree.system.unwrap_or(System::Linux), &kernel.options()?);
        host.swamping.insert(which.name().to_owned(), swamping);
    }
    let mut plan_key = plan_key(&wanted, &kernels, &machine, &programs, &host)?;
    if let Some(plugin) = &counter {
        let hash = sha256_of_file(plugin).or_host(|| format!("read {}", plugin.display()))?;
        plan_key = hash16([plan_key, hash]);
    }
    Ok(Prepared {
        plan_key,
        counter,
        host,
        programs,
        kernels,
        applied: record::Applied::of(&outcome),
        right,
        budget_ms: wanted.budget_ms,
        seed: wanted.seed,
        title: format!("{} on {}", series.name, tree.title()),
        command_line: wanted.command_line,
        machine,
        tree: tree_record(tree)?,
        series: series_record(series, &outcome.patches),
        plan: wanted.plan,
    })
}

impl Prepared {
    /// The kernel that a variant boots.
    ///
    /// # Errors
    /// A host fault if it was not prepared.
    pub(super) fn kernel(&self, variant: &PlannedVariant) -> Result<&Kernel> {
        let kernel = self.kernels.get(&variant.kernel);
        kernel.ok_or_else(|| Fault::host(format!("the kernel of {} is gone", variant.name)))
    }

    /// Stores the trial before its first boot.
    pub(super) fn begin(&self, db: &mut Db) -> Result<TrialId> {
        let machine = db.put_machine(&self.machine)?;
        let tree = db.put_tree(&self.tree)?;
        let series = db.put_series(&self.series)?;
        let mut kernels = BTreeMap::new();
        for (which, kernel) in &self.kernels {
            kernels.insert(*which, db.put_kernel(&kernel_record(kernel))?);
        }
        let left_out = identical::left_out(&self.plan, &self.kernels);
        let variants = self.plan.variants.iter().zip(left_out).zip(0..).map(
            |((variant, left_out), position)| {
                let patched = variant.kernel == KernelOf::Patched;
                Ok(NewVariant {
                    name: variant.name.clone(),
                    position,
                    series: patched.then_some(series),
                    kernel: kernels.get(&variant.kernel).copied(),
                    settings_json: to_json(&variant.settings)?,
                    applied_json: if patched {
                        to_json(&self.applied)?
                    } else {
                        "{}".into()
                    },
                    left_out,
                })
            },
        );
        let plan = &self.plan;
        Ok(db.begin_trial(&NewTrial {
            plan_key: self.plan_key.clone(),
            machine,
            tree,
            title: self.title.clone(),
            seed: self.seed.unwrap_or_else(rand::random),
            rounds: plan.looks.first().copied().unwrap_or(1),
            margin: plan.margin,
            clock: plan.clock.name().into(),
            accelerator: plan.clock.accelerator().name().into(),
            shape_json: to_json(&plan.shape)?,
            plan_json: to_json(plan)?,
            host_json: to_json(&self.host)?,
            command_line: self.command_line.clone(),
            ktrial_version: env!("CARGO_PKG_VERSION").into(),
            started_at: unix_ms(),
            variants: variants.collect::<Result<_>>()?,
        })?)
    }
}

/// Two runs with this key measure the same thing on the same machine.
fn plan_key(
    wanted: &Wanted<'_>,
    kernels: &BTreeMap<KernelOf, Kernel>,
    machine: &ktrial_db::Machine,
    programs: &Programs,
    host: &Host,
) -> Result<String> {
    let hashes: Vec<&str> = kernels.values().map(|k| k.hash.as_str()).collect();
    let guest = Guest {
        shape: &wanted.plan.shape,
        pins: host.placement.pins.as_ref(),
        clock: wanted.plan.clock,
        programs,
    };
    // How a boot of one fixed seed would be started: command lines, devices, perturbation.
    let launch = guest.launch(PathBuf::from("kernel"), &[], 0)?;
    // What is claimed, and what is watched for afterwards, decides nothing of what is measured.
    let plan = Plan {
        claims: Vec::new(),
        watch: Vec::new(),
        ..wanted.plan.clone()
    };
    let facts = json!([
        to_json(&plan)?,
        hashes,
        machine.key,
        machine.facts_json,
        machine.os_release,
        wanted.seed,
        wanted.series.name,
        vm::fingerprint(&launch),
        to_json(&host.placement.pins)?,
        to_json(&host.settings)?,
        env!("CARGO_PKG_VERSION")
    ])
    .to_string();
    Ok(hash16([facts]))
}

fn tree_record(tree: &Tree) -> Result<ktrial_db::Tree> {
    Ok(ktrial_db::Tree {
        key: format!("{}-{}", tree.key, tree.base),
        system: tree
            .system
            .map_or_else(String::new, |system| system.to_string()),
        name: tree.name.clone(),
        source: tree.source.display().to_string(),
        version: tree.version.clone(),
        base_commit: tree.base.to_string(),
        base_tree: tree.tree_of(tree.base)?.to_string(),
    })
}

fn series_record(series: &Series, patches: &[Patch]) -> ktrial_db::Series {
    let patches: Vec<PatchText> = patches
        .iter()
        .map(|patch| PatchText {
            name: patch.name.clone(),
            text: String::from_utf8_lossy(&patch.source).into_owned(),
        })
        .collect();
    // Done and undone are two series of the same texts.
    let turned = series.reverse.then_some("reverse");
    let texts = patches.iter().map(|patch| patch.text.as_str());
    let name = series.name.as_str();
    ktrial_db::Series {
        key: hash16([name].into_iter().chain(texts).chain(turned)),
        name: series.name.clone(),
        title: series.title.clone(),
        source: series.source.clone().unwrap_or_default(),
        patches,
    }
}

fn kernel_record(kernel: &Kernel) -> ktrial_db::Kernel {
    ktrial_db::Kernel {
        hash: kernel.hash.clone(),
        tree_oid: kernel.tree.clone(),
        commit_oid: kernel.commit.clone(),
        config_hash: kernel.config.clone(),
        toolchain: kernel.toolchain.clone(),
        built_at: kernel.built_at,
        build_ms: kernel.build_ms,
        size_bytes: kernel.size,
        release: kernel.release.clone(),
        image_sha256: Some(kernel.image_sha256.clone()),
    }
}

pub(super) fn to_json(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(value).or_host(|| "write JSON".into())
}
