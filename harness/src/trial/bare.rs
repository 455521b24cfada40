//! Measuring the kernel that runs now, without a guest: for machines that are booted into each kernel
//! by other means. A boot of the machine is a boot of the trial, and counts once.

mod sample;

use ktrial_db::{Boot, Db, NewArtifact, NewBoot, NewTrial, NewVariant, Trial, TrialId, Variant};
use serde_json::json;

use super::host::Host;
use super::lanes;
use super::prepare::to_json;
use super::record::{self, FAILED_JOB, JobReport};
use super::rounds::stored;
use super::{KernelOf, Plan, PlannedVariant};
use crate::fault::{Fault, Result};
use crate::guest::perturb::boot_seed;
use crate::guest::{Placement, Programs};
use crate::hash::hash16;
use crate::home::Home;
use crate::machine;
use crate::machine::exclusive::Exclusive;
use crate::machine::files::Files;
use crate::machine::hwloc;
use crate::machine::load::Load;
use crate::machine::places::Places;
use crate::progress::Progress;
use crate::timestamp::unix_ms;
use crate::verdict::remarks::DISTURBED;

pub use sample::{Sampled, sample};

/// The accelerator of what runs on the machine itself, as the database has it.
pub const BARE: &str = "no guest";

/// What is to be measured.
pub struct Wanted {
    /// What the trial is called; boots of one name and one plan belong together.
    pub name: String,
    /// What the running kernel is called in it.
    pub variant: String,
    /// What runs; its variants are those that come.
    pub plan: Plan,
    /// As it was typed, for the record.
    pub command_line: String,
}

/// Measures this boot of the machine, and stores it with the trial of that name.
///
/// # Errors
/// A user fault if this boot was measured for it before; a host fault if the programs can't be built
/// or run; a guest fault if a workload fails, after it was stored; an interrupt.
pub fn measure(
    home: &Home,
    db: &mut Db,
    mut wanted: Wanted,
    files: &Files,
    progress: &Progress,
) -> Result<TrialId> {
    let programs = Programs::build(home)?;
    wanted.plan.programs = programs.hash();
    let _right = Exclusive::wait(progress)?;
    let boot_id = boot_id(files)?;
    let host = Host::now(Placement::default(), wanted.plan.clock)?;
    let id = begin(db, &wanted, &host, files)?;
    let trial = stored(db, id)?;
    // It parts no trial, as it would part one with a guest: the kernel that is measured sets much of
    // it, and has another word for it.
    let set_otherwise = Host::stored(&trial.host_json).set_otherwise(&host.settings);
    let variant = this_variant(db, &trial, &wanted.variant, files)?;
    let boots = db.boots(id)?;
    let place = Place::after(&boots, &trial, &variant, &boot_id)?;
    db.extend_trial(id, trial.rounds.max(place.round + 1))?;
    let kernel = planned(&wanted.variant);
    let seed = boot_seed(trial.seed, place.round, variant.position);
    let places = Places::of(&hwloc::here()?.usable());
    let jobs = lanes::jobs(&wanted.plan.runs, &kernel, seed, &places)?;
    for attempt in place.attempt.. {
        let started_at = unix_ms();
        let sampled = sample(home, &programs, &jobs, seed)?;
        let first = attempt == place.attempt;
        let disturbed = sampled.load.as_ref().and_then(Load::disturbance);
        let again = first && !place.disturbed_before && disturbed.is_some();
        let reports = JobReport::all(&sampled.frames, wanted.plan.runs.len());
        let failed = record::failed_job(&wanted.variant, &wanted.plan.runs, &reports);
        let outcome = match &failed {
            Some(_) => FAILED_JOB,
            None if again => DISTURBED,
            None => "ok",
        };
        let remark = disturbed.as_ref().map(|why| format!("disturbed: {why}"));
        let fault = failed.as_ref().map(|fault| fault.what.clone());
        let all = fault.into_iter().chain(remark).chain(set_otherwise.clone());
        let detail = Some(all.collect::<Vec<_>>().join("; ")).filter(|all| !all.is_empty());
        let samples = record::samples(db, &wanted.plan, &wanted.plan.runs, &kernel, &reports)?;
        record::store(
            db,
            &NewBoot {
                trial: id,
                variant: variant.id,
                round: place.round,
                position: 0,
                attempt,
                seed,
                perturbation_json: json!({ "boot_id": boot_id }).to_string(),
                outcome: outcome.to_owned(),
                detail,
                started_at,
                ended_at: unix_ms(),
                guest_boot_ns: None,
                samples,
                artifacts: artifacts(&sampled, &host)?,
            },
        )?;
        match (failed, disturbed) {
            (Some(fault), _) => return Err(fault),
            (None, Some(why)) if again => {
                progress.say(&format!("disturbed, and done again: {why}"))
            }
            _ => break,
        }
    }
    Ok(id)
}

fn artifacts(sampled: &Sampled, host: &Host) -> Result<Vec<NewArtifact>> {
    let load = sampled.load.as_ref().map(to_json).transpose()?;
    let load = load.map(|json| ("load", json));
    let both = load.into_iter().chain([("host", to_json(host)?)]);
    let artifact = |(kind, json): (&str, String)| NewArtifact {
        kind: kind.into(),
        bytes: json.into_bytes(),
    };
    Ok(both.map(artifact).collect())
}

/// Tells one boot of the machine from the next.
fn boot_id(files: &Files) -> Result<String> {
    let id = files.value("proc/sys/kernel/random/boot_id");
    id.ok_or_else(|| Fault::host("this system does not tell one boot from the next (boot_id)"))
}

/// Which boot of its variant this is.
struct Place {
    round: u32,
    attempt: u32,
    /// Whether an earlier attempt was disturbed: one is enough.
    disturbed_before: bool,
}

impl Place {
    fn after(boots: &[Boot], trial: &Trial, variant: &Variant, boot_id: &str) -> Result<Place> {
        let this = json!({ "boot_id": boot_id }).to_string();
        let counted = |boot: &&Boot| boot.outcome == "ok";
        if let Some(boot) = boots
            .iter()
            .filter(counted)
            .find(|b| b.perturbation_json == this)
        {
            let name = trial.variants.iter().find(|v| v.id == boot.variant);
            let name = name.map_or("?", |variant| &variant.name);
            return Err(Fault::user(format!(
                "this boot of the machine is already in trial {} ({}), as boot {} of {name}",
                trial.id,
                trial.title,
                boot.round + 1
            ))
            .next("reboot and measure again: more of one boot does not narrow anything; --look only shows"));
        }
        let own = || boots.iter().filter(|boot| boot.variant == variant.id);
        let round = u32::try_from(own().filter(counted).count()).unwrap_or(u32::MAX);
        let tried = || own().filter(|boot| boot.round == round);
        Ok(Place {
            round,
            attempt: tried().map(|boot| boot.attempt + 1).max().unwrap_or(0),
            disturbed_before: tried().any(|boot| boot.outcome == DISTURBED),
        })
    }
}

/// The trial of that name and plan; begun if there is none.
fn begin(db: &mut Db, wanted: &Wanted, host: &Host, files: &Files) -> Result<TrialId> {
    let machine = machine::describe("")?;
    let plan_json = to_json(&wanted.plan)?;
    // Not its memory, of which each kernel has another opinion.
    let mut plan = wanted.plan.clone();
    plan.shape.memory_mib = 0;
    let plan_key = hash16([
        "no guest",
        &wanted.name,
        &to_json(&plan)?,
        &machine.hostname,
        &machine.cpu_model,
        env!("CARGO_PKG_VERSION"),
    ]);
    if let Some(id) = db.unfinished_trial(&plan_key)? {
        return Ok(id);
    }
    let machine_id = db.put_machine(&machine)?;
    let tree = db.put_tree(&ktrial_db::Tree {
        key: "running".into(),
        system: "linux".into(),
        name: "kernels that ran".into(),
        source: machine.hostname.clone(),
        version: String::new(),
        base_commit: String::new(),
        base_tree: String::new(),
    })?;
    let variant = new_variant(db, &wanted.variant, 0, &running_kernel(files)?)?;
    Ok(db.begin_trial(&NewTrial {
        plan_key,
        machine: machine_id,
        tree,
        title: wanted.name.clone(),
        seed: rand::random(),
        rounds: 1,
        margin: wanted.plan.margin,
        clock: wanted.plan.clock.name().into(),
        accelerator: BARE.into(),
        shape_json: to_json(&wanted.plan.shape)?,
        plan_json,
        host_json: to_json(host)?,
        command_line: wanted.command_line.clone(),
        ktrial_version: env!("CARGO_PKG_VERSION").into(),
        started_at: unix_ms(),
        variants: vec![variant],
    })?)
}

/// The variant of that name, which is the running kernel; added to the trial if it is not there.
fn this_variant(db: &mut Db, trial: &Trial, name: &str, files: &Files) -> Result<Variant> {
    let running = running_kernel(files)?;
    let known = |trial: &Trial| trial.variants.iter().find(|v| v.name == name).cloned();
    if let Some(variant) = known(trial) {
        let kernel = variant
            .kernel
            .map(|id| db.kernel(id))
            .transpose()?
            .flatten();
        return match kernel {
            Some(kernel) if kernel.hash != running.hash => Err(Fault::user(format!(
                "{name} is {} in trial {}, and this is {}",
                kernel.release, trial.id, running.release
            ))
            .next("give this kernel another name by --as")),
            _ => Ok(variant),
        };
    }
    let position = u32::try_from(trial.variants.len()).unwrap_or(u32::MAX);
    let variant = new_variant(db, name, position, &running)?;
    db.add_variant(trial.id, &variant)?;
    known(&stored(db, trial.id)?).ok_or_else(|| Fault::host("the database lost a variant"))
}

fn new_variant(
    db: &mut Db,
    name: &str,
    position: u32,
    running: &ktrial_db::Kernel,
) -> Result<NewVariant> {
    let kernel = db.put_kernel(running)?;
    Ok(NewVariant {
        name: name.to_owned(),
        position,
        series: None,
        kernel: Some(kernel),
        settings_json: "{}".into(),
        applied_json: "{}".into(),
        left_out: false,
    })
}

fn planned(name: &str) -> PlannedVariant {
    PlannedVariant {
        name: name.to_owned(),
        kernel: KernelOf::Base,
        settings: Default::default(),
    }
}

/// The kernel that runs: `/proc/version` names its build, and tells two of one release apart.
fn running_kernel(files: &Files) -> Result<ktrial_db::Kernel> {
    let version = files.value("proc/version");
    let version =
        version.ok_or_else(|| Fault::host("this system does not say what kernel it runs"))?;
    let release = files.value("proc/sys/kernel/osrelease").unwrap_or_default();
    let config = files.text(&format!("boot/config-{release}"));
    let toolchain = version
        .split_once("(gcc")
        .map(|(_, rest)| format!("gcc{rest}"));
    let toolchain = toolchain.and_then(|words| Some(words.split_once(')')?.0.to_owned()));
    Ok(ktrial_db::Kernel {
        hash: hash16([&version]),
        tree_oid: String::new(),
        commit_oid: String::new(),
        config_hash: config.map(|text| hash16([text])).unwrap_or_default(),
        toolchain: toolchain.unwrap_or_default(),
        built_at: 0,
        build_ms: 0,
        size_bytes: 0,
        release,
        image_sha256: None,
    })
}
