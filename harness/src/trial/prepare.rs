//! From a plan to something that can boot: the series is applied, kernels and programs are built.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ktrial_db::{Db, NewTrial, NewVariant, PatchText, TrialId};
use ktrial_patches::Patch;
use ktrial_patches::apply::{Applied, apply};
use ktrial_patches::catalogue::Series;
use serde_json::{Value, json};

use super::{KernelOf, Plan};
use crate::fault::{At, Fault, OrHost, Result};
use crate::guest::{Guest, Programs};
use crate::hash::hash16;
use crate::home::Home;
use crate::kernel::{Builder, Config, Kernel, Toolchain};
use crate::progress::Progress;
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
    applied: Applied,
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
/// A patch fault if the series does not apply; a kernel fault if a kernel does not build; a host
/// fault if a tool is missing.
pub fn prepare(home: &Home, wanted: Wanted<'_>, progress: &Progress) -> Result<Prepared> {
    let (tree, series) = (wanted.tree, wanted.series);
    let qemu = vm::version(home)?;
    let applied = apply_series(tree, series)?;
    progress.say(&applied_line(series, &applied));
    let programs = Programs::build(home)?;
    let toolchain = Toolchain::find(home)?;
    let builder = Builder {
        home,
        tree,
        config: wanted.config,
        toolchain: &toolchain,
        jobs: wanted.jobs,
        progress,
    };
    let base = apply(&tree.repository, tree.base, &[]).map_err(|e| apply_fault(&e))?;
    let mut kernels = BTreeMap::new();
    for (which, name, variant) in [
        (KernelOf::Base, "base", &base),
        (KernelOf::Patched, "patched", &applied),
    ] {
        let kernel = builder.build(name, variant)?;
        for option in &kernel.refused_options {
            progress.say(&format!("the tree of {name} does not take {option}"));
        }
        kernels.insert(which, kernel);
    }
    let machine = machine::describe(&qemu)?;
    let plan_key = plan_key(&wanted, &kernels, &machine, &programs)?;
    Ok(Prepared {
        plan_key,
        programs,
        kernels,
        applied,
        seed: wanted.seed,
        title: format!("{} on {} {}", series.name, tree.name, tree.version),
        command_line: wanted.command_line,
        machine,
        tree: tree_record(tree)?,
        series: series_record(series, &patches_of(tree, series)?),
        plan: wanted.plan,
    })
}

/// Applies a series to the base of a tree.
///
/// # Errors
/// A patch fault with the hunk if it does not apply.
pub fn apply_series(tree: &Tree, series: &Series) -> Result<Applied> {
    let patches = patches_of(tree, series)?;
    apply(&tree.repository, tree.base, &patches).map_err(|e| apply_fault(&e))
}

/// The patches of a series, its commits looked up in the tree.
fn patches_of(tree: &Tree, series: &Series) -> Result<Vec<Patch>> {
    let patches = series.patches(&tree.repository, tree.base);
    patches.map_err(|e| Fault::new(At::Patch, e.to_string()))
}

fn apply_fault(error: &ktrial_patches::apply::ApplyError) -> Fault {
    let text = error.to_string();
    let (what, evidence) = text.split_once('\n').unwrap_or((&text, ""));
    if error.is_patch_fault() {
        Fault::new(At::Patch, what)
            .showing(evidence)
            .next("bring the patch up to this tree, or give --tree the one that it was made for")
    } else {
        Fault::host(what).showing(evidence)
    }
}

/// How a series applied, in one line.
pub fn applied_line(series: &Series, applied: &Applied) -> String {
    let hunks = || {
        applied
            .patches
            .iter()
            .flat_map(|p| &p.files)
            .flat_map(|f| &f.hunks)
    };
    let offset = hunks().filter(|h| h.offset != 0).count();
    let fuzzy = hunks().filter(|h| h.fuzz != 0).count();
    let how = match (offset, fuzzy) {
        (0, 0) => "exactly".to_owned(),
        (o, 0) => format!("{o} with an offset"),
        (o, f) => format!("{o} with an offset, {f} with fuzz"),
    };
    match applied.patches.len() {
        0 => format!(
            "{}: no patches, both variants are the same kernel",
            series.name
        ),
        n => format!(
            "{} applies: {n} patch(es), {} hunk(s), {how}",
            series.name,
            hunks().count()
        ),
    }
}

impl Prepared {
    /// Stores the trial before its first boot.
    pub(super) fn begin(&self, db: &mut Db) -> Result<TrialId> {
        let machine = db.put_machine(&self.machine)?;
        let tree = db.put_tree(&self.tree)?;
        let series = db.put_series(&self.series)?;
        let mut kernels = BTreeMap::new();
        for (which, kernel) in &self.kernels {
            kernels.insert(*which, db.put_kernel(&kernel_record(kernel))?);
        }
        let variants = self
            .plan
            .variants
            .iter()
            .zip(0..)
            .map(|(variant, position)| {
                let patched = variant.kernel == KernelOf::Patched;
                Ok(NewVariant {
                    name: variant.name.clone(),
                    position,
                    series: patched.then_some(series),
                    kernel: kernels.get(&variant.kernel).copied(),
                    settings_json: to_json(&variant.settings)?,
                    applied_json: if patched {
                        applied_json(&self.applied).to_string()
                    } else {
                        "{}".into()
                    },
                })
            });
        let plan = &self.plan;
        Ok(db.begin_trial(&NewTrial {
            plan_key: self.plan_key.clone(),
            machine,
            tree,
            title: self.title.clone(),
            seed: self.seed.unwrap_or_else(rand::random),
            rounds: plan.rounds,
            margin: plan.margin,
            clock: plan.clock.name().into(),
            accelerator: plan.clock.accelerator().name().into(),
            shape_json: to_json(&plan.shape)?,
            plan_json: to_json(plan)?,
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
) -> Result<String> {
    let hashes: Vec<&str> = kernels.values().map(|k| k.hash.as_str()).collect();
    let guest = Guest {
        shape: wanted.plan.shape,
        clock: wanted.plan.clock,
        programs,
    };
    // How a boot of one fixed seed would be started: command lines, devices, perturbation.
    let launch = guest.launch(PathBuf::from("kernel"), &[], 0)?;
    let facts = json!([
        to_json(&wanted.plan)?,
        hashes,
        machine.key,
        machine.facts_json,
        machine.os_release,
        wanted.seed,
        wanted.series.name,
        vm::fingerprint(&launch),
        env!("CARGO_PKG_VERSION")
    ])
    .to_string();
    let programs = programs.iter().flat_map(|(name, b)| [name.as_bytes(), b]);
    Ok(hash16([facts.as_bytes()].into_iter().chain(programs)))
}

fn tree_record(tree: &Tree) -> Result<ktrial_db::Tree> {
    Ok(ktrial_db::Tree {
        key: format!("{}-{}", tree.key, tree.base),
        system: tree.system.name().into(),
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
    let texts = patches.iter().map(|patch| &patch.text);
    ktrial_db::Series {
        key: hash16([&series.name].into_iter().chain(texts)),
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
    }
}

fn applied_json(applied: &Applied) -> Value {
    let hunk = |h: &ktrial_patches::apply::AppliedHunk| json!({"line": h.line, "offset": h.offset, "fuzz": h.fuzz});
    let patches: Vec<Value> = applied
        .patches
        .iter()
        .map(|patch| {
            let files: Vec<Value> = patch
                .files
                .iter()
                .map(|f| json!({"path": f.path, "hunks": f.hunks.iter().map(hunk).collect::<Vec<_>>()}))
                .collect();
            json!({"name": patch.name, "files": files})
        })
        .collect();
    json!({ "patches": patches })
}

fn to_json(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(value).or_host(|| "write JSON".into())
}
