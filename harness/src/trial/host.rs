//! What the machine was when a trial began; stored with it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::fault::Result;
use crate::guest::Placement;
use crate::machine::audit::kernel_options::Swamping;
use crate::machine::audit::{Audit, audit};
use crate::machine::files::Files;
use crate::machine::hwloc;
use crate::machine::identity::Identity;
use crate::machine::known::{self, Match};
use crate::machine::topology::Topology;
use crate::terminal::folded;
use crate::vm::Clock;

/// What of the machine a trial's figures may depend on, and what its report shows. What an earlier
/// ktrial did not store is empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Host {
    /// Who it is.
    pub identity: Identity,
    /// What it is made of.
    pub topology: Topology,
    /// The known machines that it is, or is like.
    pub known: Vec<Match>,
    /// What on it makes noise.
    pub audit: Audit,
    /// How it was set, by what; only where figures depend on it, which they don't in virtual time.
    pub settings: BTreeMap<String, String>,
    /// Where guests lay on it.
    pub placement: Placement,
    /// By kernel, `base` first: options of its that swamp what a patch does.
    pub swamping: BTreeMap<String, Vec<Swamping>>,
}

impl Host {
    /// This machine now, for guests that lie on it like that.
    ///
    /// # Errors
    /// A host fault if it can't be read.
    pub fn now(placement: Placement, clock: Clock) -> Result<Host> {
        let identity = Identity::here();
        let topology = hwloc::here()?;
        let audit = audit(&Files::here());
        Ok(Host {
            known: known::matching(&topology, Some(&identity))?,
            settings: match clock {
                Clock::Virtual => BTreeMap::new(),
                Clock::Real | Clock::Emulated => audit.settings(),
            },
            identity,
            topology,
            audit,
            placement,
            swamping: BTreeMap::new(),
        })
    }

    /// What of the machine is set otherwise now; nothing in virtual time, where it is no matter.
    pub fn set_otherwise_now(&self) -> Option<String> {
        match self.settings.is_empty() {
            true => None,
            false => self.set_otherwise(&audit(&Files::here()).settings()),
        }
    }

    /// What of the machine is set otherwise in `now`, in words.
    pub fn set_otherwise(&self, now: &BTreeMap<String, String>) -> Option<String> {
        let names: BTreeSet<&String> = self.settings.keys().chain(now.keys()).collect();
        let word = |of: &BTreeMap<String, String>, name: &String| {
            of.get(name).map_or("unknown", String::as_str).to_owned()
        };
        let others: Vec<String> = names
            .into_iter()
            .map(|name| (name, word(&self.settings, name), word(now, name)))
            .filter(|(_, before, now)| before != now)
            .map(|(name, before, now)| format!("{name}: {now} (at first: {before})"))
            .collect();
        (!others.is_empty()).then(|| format!("set otherwise: {}", others.join("; ")))
    }

    /// What of it a reader of verdicts has to know, for the terminal; none if there is nothing.
    pub fn render(&self) -> String {
        let mut text = String::new();
        let mut line = |said: String| {
            let _ = writeln!(text, "{}", folded(&said));
        };
        self.options_that_swamp().for_each(&mut line);
        for note in &self.placement.notes {
            line(format!("guests: {note}"));
        }
        // In virtual time nothing of it reaches the figures.
        let noisy = self.audit.noisy().filter(|_| !self.settings.is_empty());
        let noisy: Vec<&str> = noisy.map(|finding| finding.name.as_str()).collect();
        if !noisy.is_empty() {
            let names = noisy.join(", ");
            line(format!(
                "noise on this machine: {names} (`ktrial machine` says what each does)"
            ));
        }
        match text.is_empty() {
            true => text,
            false => format!("\n{text}"),
        }
    }

    /// `the kernel of base has CONFIG_KASAN: …`, for each option that swamps what a patch does.
    pub fn options_that_swamp(&self) -> impl Iterator<Item = String> {
        let kernels = self.swamping.iter();
        let each = kernels.flat_map(|(kernel, all)| all.iter().map(move |one| (kernel, one)));
        each.map(|(kernel, Swamping { option, effect })| {
            format!("the kernel of {kernel} has {option}: {effect}")
        })
    }

    /// What a trial stored; nothing where that can't be read.
    pub fn stored(json: &str) -> Host {
        serde_json::from_str(json).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;
    use crate::machine::audit::{Finding, State};

    fn noisy() -> Audit {
        let finding = |name: &str, state| Finding {
            name: name.into(),
            state,
            found: "found".into(),
            effect: "it disturbs".into(),
            mend: None,
            lasting: true,
        };
        Audit {
            findings: vec![
                finding("boost", State::Noisy),
                finding("swap", State::Quiet),
                finding("governor", State::Noisy),
            ],
        }
    }

    #[test]
    fn noise_options_and_notes_are_said_and_silence_is_nothing() {
        assert_eq!(Host::default().render(), "");
        let debug = Swamping {
            option: "CONFIG_KASAN".into(),
            effect: "slows down two to four times".into(),
        };
        let host = Host {
            audit: noisy(),
            settings: noisy().settings(),
            placement: Placement {
                pins: None,
                notes: vec!["4 vCPUs share 2 CPUs: nothing is pinned".into()],
            },
            swamping: [("base".to_owned(), vec![debug])].into(),
            ..Host::default()
        };
        assert_eq!(
            host.render(),
            "\nthe kernel of base has CONFIG_KASAN: slows down two to four times\n\
             guests: 4 vCPUs share 2 CPUs: nothing is pinned\n\
             noise on this machine: boost, governor (`ktrial machine` says what each does)\n"
        );
        // In virtual time the machine's settings are none of the trial's.
        let unseen = Host {
            audit: noisy(),
            ..Host::default()
        };
        assert_eq!(unseen.render(), "");
    }

    #[test]
    fn what_is_set_otherwise_than_at_first_is_said() {
        let settings = |all: &[(&str, &str)]| -> BTreeMap<String, String> {
            let all = all.iter();
            all.map(|(name, found)| ((*name).to_owned(), (*found).to_owned()))
                .collect()
        };
        let host = Host {
            settings: settings(&[("boost", "off"), ("SMT", "on")]),
            ..Host::default()
        };
        assert_eq!(host.set_otherwise(&host.settings), None);
        let later = settings(&[("boost", "on"), ("SMT", "on"), ("KSM", "off")]);
        assert_eq!(
            host.set_otherwise(&later).unwrap(),
            "set otherwise: KSM: off (at first: unknown); boost: on (at first: off)"
        );
        assert_eq!(Host::default().set_otherwise_now(), None);
        let here = Host::now(Placement::default(), Clock::Real).unwrap();
        assert_eq!(here.set_otherwise_now(), None);
    }

    #[test]
    fn what_is_stored_is_read_again_and_what_is_not_is_empty() {
        let host = Host::now(Placement::default(), Clock::Emulated).unwrap();
        let json = serde_json::to_string(&host).unwrap();
        assert_eq!(Host::stored(&json), host);
        assert!(!host.settings.is_empty() && host.settings.keys().all(|name| !name.is_empty()));
        assert_eq!(Host::stored("{}"), Host::default());
        assert_eq!(Host::stored("no JSON"), Host::default());
        let unseen = Host::now(Placement::default(), Clock::Virtual).unwrap();
        assert!(unseen.settings.is_empty());
    }
}
