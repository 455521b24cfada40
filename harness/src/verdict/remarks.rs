//! What is to be said of the boots of a trial as such: which were disturbed, and what else was noted
//! of those that count.

use std::fmt::Write;

use ktrial_db::{Boot, VariantId};

use crate::terminal::folded;

/// The outcome of a boot that ran well, was disturbed, and was made again: it does not count.
pub const DISTURBED: &str = "disturbed";

/// Boots that are named one by one; of more, only how many there are.
const NAMED: usize = 4;

/// Lines for the terminal; none if there is nothing to say. `name` names a variant.
pub fn render<'a>(boots: &[Boot], name: impl Fn(VariantId) -> &'a str) -> String {
    let mut text = String::new();
    let again = boots
        .iter()
        .filter(|boot| boot.outcome == DISTURBED)
        .count();
    if again > 0 {
        let boots = if again == 1 { "boot was" } else { "boots were" };
        let _ = writeln!(
            text,
            "{again} {boots} disturbed and made again; what was measured in it is kept, and not judged"
        );
    }
    let remarked: Vec<(&Boot, &String)> = boots
        .iter()
        .filter(|boot| boot.outcome == "ok")
        .filter_map(|boot| Some((boot, boot.detail.as_ref()?)))
        .collect();
    for (boot, detail) in remarked.iter().take(NAMED) {
        let line = format!(
            "boot {} of {}: {detail}",
            boot.round + 1,
            name(boot.variant)
        );
        let _ = writeln!(text, "{}", folded(&line));
    }
    if remarked.len() > NAMED {
        let more = remarked.len() - NAMED;
        let _ = writeln!(text, "and {more} more boots with remarks: see the report");
    }
    match text.is_empty() {
        true => text,
        false => format!("\n{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktrial_db::{BootId, TrialId};

    fn boot(round: u32, outcome: &str, detail: Option<&str>) -> Boot {
        Boot {
            id: BootId(1),
            trial: TrialId(1),
            variant: VariantId(1),
            round,
            position: 0,
            attempt: 0,
            seed: 1,
            perturbation_json: "{}".into(),
            outcome: outcome.into(),
            detail: detail.map(str::to_owned),
            started_at: 0,
            ended_at: 1,
            guest_boot_ns: None,
        }
    }

    #[test]
    fn quiet_boots_say_nothing_and_disturbed_ones_are_counted_and_named() {
        let name = |_| "base";
        assert_eq!(render(&[boot(0, "ok", None)], name), "");
        let boots = [
            boot(0, "disturbed", Some("disturbed: others took 20 %")),
            boot(0, "ok", None),
            boot(1, "ok", Some("disturbed: others took 9 %")),
            boot(2, "panic", Some("it panicked")),
        ];
        assert_eq!(
            render(&boots, name),
            "\n1 boot was disturbed and made again; what was measured in it is kept, and not judged\n\
             boot 2 of base: disturbed: others took 9 %\n"
        );
        let many: Vec<Boot> = (0..9)
            .map(|n| boot(n, "ok", Some("1 kernel warnings")))
            .collect();
        assert!(render(&many, name).ends_with("and 5 more boots with remarks: see the report\n"));
    }
}
