//! Variants that are their base to the bit: whatever was measured would be noise.

use std::collections::BTreeMap;

use super::{KernelOf, Plan};
use crate::kernel::Kernel;

/// For each variant of the plan, whether it is left out: its image is the base's to the bit and
/// each run has the same settings. The base is left out where nothing remains to compare it with.
pub(super) fn left_out(plan: &Plan, kernels: &BTreeMap<KernelOf, Kernel>) -> Vec<bool> {
    let mut left_out = vec![false; plan.variants.len()];
    let Some((base, others)) = plan.variants.split_first().filter(|_| !plan.aa) else {
        return left_out;
    };
    let image = |which: KernelOf| kernels.get(&which).map(|kernel| &kernel.image_sha256);
    for (variant, left_out) in others.iter().zip(&mut left_out[1..]) {
        let same_image = variant.kernel == base.kernel
            || image(variant.kernel).is_some() && image(variant.kernel) == image(base.kernel);
        let mut runs = plan.runs.iter();
        *left_out = same_image && runs.all(|run| variant.settings(run) == base.settings(run));
    }
    left_out[0] = !others.is_empty() && left_out[1..].iter().all(|&left_out| left_out);
    left_out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guest::Shape;
    use crate::trial::{PlannedVariant, Run};
    use crate::vm::Clock;

    fn kernel(image: &str) -> Kernel {
        let card = serde_json::json!({
            "hash": "", "tree": "", "commit": "", "config": "", "toolchain": "", "release": "",
            "image": "", "built_at": 0, "build_ms": 0, "size": 0, "refused_options": [],
        });
        let mut kernel: Kernel = serde_json::from_value(card).unwrap();
        kernel.image_sha256 = image.into();
        kernel
    }

    fn kernels(patched: &str) -> BTreeMap<KernelOf, Kernel> {
        [
            (KernelOf::Base, kernel("aa")),
            (KernelOf::Patched, kernel(patched)),
        ]
        .into()
    }

    /// `base`, `patched`, and `flag`, which sets that flag in fd-churn.
    fn plan(flag: Option<&str>) -> Plan {
        let variant = |name: &str, kernel| PlannedVariant {
            name: name.into(),
            kernel,
            settings: BTreeMap::new(),
        };
        let mut variants = vec![
            variant("base", KernelOf::Base),
            variant("patched", KernelOf::Patched),
        ];
        if let Some(flag) = flag {
            let set = [(flag.to_owned(), "true".to_owned())].into();
            variants.push(PlannedVariant {
                settings: [("fd-churn".to_owned(), set)].into(),
                ..variant("flag", KernelOf::Patched)
            });
        }
        Plan {
            variants,
            runs: vec![
                Run::parse("exec", 50, 1).unwrap(),
                Run::parse("fd-churn:grow", 50, 1).unwrap(),
            ],
            looks: vec![5],
            margin: 0.01,
            margins: BTreeMap::new(),
            clock: Clock::Virtual,
            shape: Shape::plain(1, 512).unwrap(),
            count: false,
            watch: Vec::new(),
            aa: false,
            programs: String::new(),
            claims: Vec::new(),
        }
    }

    #[test]
    fn only_what_is_the_base_to_the_bit_is_left_out_and_the_base_with_the_last() {
        assert_eq!(left_out(&plan(None), &kernels("bb")), [false, false]);
        assert_eq!(left_out(&plan(None), &kernels("aa")), [true, true]);
        let flag = plan(Some("fastalloc"));
        assert_eq!(left_out(&flag, &kernels("aa")), [false, true, false]);
        // What the run sets anyhow is no difference.
        assert_eq!(left_out(&plan(Some("grow")), &kernels("aa")), [true; 3]);
        // Nor is what no run reads.
        let mut exec_only = flag.clone();
        exec_only.runs.truncate(1);
        assert_eq!(left_out(&exec_only, &kernels("aa")), [true; 3]);
    }

    #[test]
    fn an_aa_trial_boots_it_all_the_same() {
        let aa = Plan {
            aa: true,
            ..plan(None)
        };
        assert_eq!(left_out(&aa, &kernels("aa")), [false, false]);
    }
}
