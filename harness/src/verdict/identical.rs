//! What is said of variants that are their base to the bit, and were not booted for it.

use std::fmt::Write;

use ktrial_db::{Db, Trial, Variant};

use crate::fault::Result;

/// Hex digits of a hash that are shown; the report has all of them.
const DIGITS: usize = 16;

/// Whether nothing of the trial was to be booted.
pub fn is_all_left_out(trial: &Trial) -> bool {
    trial.variants.iter().all(|variant| variant.left_out)
}

/// The trial as it was booted: without the variants that were left out.
pub fn booted(trial: &Trial) -> Trial {
    let variants = trial.variants.iter().filter(|variant| !variant.left_out);
    Trial {
        variants: variants.cloned().collect(),
        ..trial.clone()
    }
}

/// A line for each variant that was left out, and what to look at; empty where there is none.
///
/// # Errors
/// A host fault if the database can't be read.
pub fn render(db: &Db, trial: &Trial) -> Result<String> {
    let mut text = String::new();
    let Some((base, others)) = trial.variants.split_first() else {
        return Ok(text);
    };
    let so = match is_all_left_out(trial) {
        true => "nothing to measure",
        false => "left out",
    };
    let mut has_patches = false;
    for variant in others.iter().filter(|variant| variant.left_out) {
        let _ = writeln!(
            text,
            "{} is bit-identical to {}{}: {so}; --aa runs it anyway",
            variant.name,
            base.name,
            image(db, variant)?
        );
        has_patches |= patches(db, variant)? > 0;
    }
    if has_patches {
        text.push_str(
            "  should it differ? see that the config builds what the patch changes (--config)\n",
        );
    }
    Ok(text)
}

fn image(db: &Db, variant: &Variant) -> Result<String> {
    let kernel = variant.kernel.map(|id| db.kernel(id)).transpose()?;
    let image = kernel.flatten().and_then(|kernel| kernel.image_sha256);
    let shown = image.and_then(|image| Some(format!(" (sha256 {})", image.get(..DIGITS)?)));
    Ok(shown.unwrap_or_default())
}

fn patches(db: &Db, variant: &Variant) -> Result<usize> {
    let series = variant.series.map(|id| db.series(id)).transpose()?;
    Ok(series.flatten().map_or(0, |series| series.patches.len()))
}

#[cfg(test)]
mod tests {
    use ktrial_db::{Kernel, Machine, NewTrial, NewVariant, PatchText, Series, Tree};
    use ktrial_patches::catalogue;

    use super::*;
    use crate::verdict::outcome;

    const IMAGE: &str = "84903c712d097d5b4bdd0481205d252b7c301d7df1e3f031ff686af744fc46dc";

    /// A trial of these variants, each with its name and whether it is left out, all of one image.
    fn trial(variants: &[(&str, bool)], patches: usize) -> (Db, Trial) {
        let mut db = Db::in_memory().unwrap();
        let text = || "x".to_owned();
        let kernel = db.put_kernel(&Kernel {
            hash: text(),
            tree_oid: text(),
            commit_oid: text(),
            config_hash: text(),
            toolchain: text(),
            built_at: 0,
            build_ms: 0,
            size_bytes: 0,
            release: text(),
            image_sha256: Some(IMAGE.into()),
        });
        let kernel = kernel.unwrap();
        let patch = |_| PatchText {
            name: text(),
            text: text(),
        };
        let series = Series {
            key: text(),
            name: text(),
            title: text(),
            source: text(),
            patches: (0..patches).map(patch).collect(),
        };
        let series = db.put_series(&series).unwrap();
        let machine = Machine {
            key: text(),
            hostname: text(),
            cpu_model: text(),
            cpus: 2,
            memory_bytes: 0,
            os_release: text(),
            facts_json: "{}".into(),
        };
        let tree = Tree {
            key: text(),
            system: "linux".into(),
            name: text(),
            source: text(),
            version: text(),
            base_commit: text(),
            base_tree: text(),
        };
        let variant = |(&(name, left_out), position): (&(&str, bool), u32)| NewVariant {
            name: name.into(),
            position,
            series: (position > 0).then_some(series),
            kernel: Some(kernel),
            settings_json: "{}".into(),
            applied_json: "{}".into(),
            left_out,
        };
        let plan = NewTrial {
            plan_key: text(),
            machine: db.put_machine(&machine).unwrap(),
            tree: db.put_tree(&tree).unwrap(),
            title: text(),
            seed: 1,
            rounds: 5,
            margin: 0.01,
            clock: "virtual".into(),
            accelerator: "tcg".into(),
            shape_json: "{}".into(),
            plan_json: "{}".into(),
            host_json: "{}".into(),
            command_line: text(),
            ktrial_version: text(),
            started_at: 0,
            variants: variants.iter().zip(0..).map(variant).collect(),
        };
        let id = db.begin_trial(&plan).unwrap();
        let trial = db.trial(id).unwrap().unwrap();
        (db, trial)
    }

    #[test]
    fn what_is_left_out_is_named_with_its_image() {
        let (db, all) = trial(&[("base", true), ("patched", true)], 0);
        assert!(is_all_left_out(&all));
        assert_eq!(
            render(&db, &all).unwrap(),
            "patched is bit-identical to base (sha256 84903c712d097d5b): nothing to measure; --aa \
             runs it anyway\n"
        );
        let variants = [("base", false), ("patched", true), ("flag", false)];
        let (db, some) = trial(&variants, 1);
        assert!(!is_all_left_out(&some));
        let said = render(&db, &some).unwrap();
        let line =
            "patched is bit-identical to base (sha256 84903c712d097d5b): left out; --aa runs";
        assert!(said.starts_with(line), "{said}");
        assert!(
            said.contains("the config builds what the patch changes"),
            "{said}"
        );
        let names: Vec<String> = booted(&some).variants.into_iter().map(|v| v.name).collect();
        assert_eq!(names, ["base", "flag"]);
        let (db, none) = trial(&[("base", false), ("patched", false)], 1);
        assert_eq!(render(&db, &none).unwrap(), "");
    }

    #[test]
    fn a_control_that_expects_no_change_is_met_by_construction_and_another_is_not() {
        let (_, all) = trial(&[("base", true), ("patched", true)], 1);
        let held = |series: &str| {
            let series = catalogue::find(series).unwrap();
            outcome::hold(&series.expectations, &all, &[], &[])
        };
        let met = held("linux-control-wording");
        assert_eq!(met.len(), 2);
        assert!(
            met.iter()
                .all(|one| one.met && one.expected.contains("by construction"))
        );
        assert_eq!(outcome::control_exit_code(&met), outcome::FINE);
        // It expects fd-churn to regress and exec not to.
        let missed = held("linux-fd-linear-scan");
        let missed: Vec<bool> = missed.iter().map(|one| one.met).collect();
        assert_eq!(missed, [false, true]);
    }
}
