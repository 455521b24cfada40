//! An audit for people.

use std::fmt::Write;

use super::{Audit, Finding, State};
use crate::terminal::{folded, plain};

pub(super) fn render(audit: &Audit) -> String {
    let mut text = String::new();
    for finding in audit.noisy() {
        noisy(&mut text, finding);
    }
    for (label, state) in [("unknown", State::Unknown), ("absent", State::Absent)] {
        let said = audit
            .in_state(state)
            .map(|finding| format!("{} ({})", finding.name, plain(&finding.found)));
        line(&mut text, label, said.collect());
    }
    let quiet = audit.in_state(State::Quiet);
    line(
        &mut text,
        "quiet",
        quiet.map(|finding| finding.name.clone()).collect(),
    );
    text
}

fn noisy(text: &mut String, finding: &Finding) {
    let mut line = |said: &str| {
        let _ = writeln!(text, "{}", folded(said));
    };
    line(&format!(
        "noisy: {}: {}",
        finding.name,
        plain(&finding.found)
    ));
    line(&format!("    {}", finding.effect));
    if let Some(command) = &finding.mend {
        // To be copied: not folded.
        let _ = writeln!(text, "    # {}", plain(command));
    }
}

fn line(text: &mut String, label: &str, said: Vec<String>) {
    if !said.is_empty() {
        let said = format!("{label}: {}", said.join(", "));
        let _ = writeln!(text, "{}", folded(&said));
    }
}
