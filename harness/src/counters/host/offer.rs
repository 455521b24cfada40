//! What a source offers on this machine, found by trying.

use super::counters::Counters;
use super::events::Event;

/// What a source offers.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// The events that open, without the source's word.
    pub open: Vec<&'static str>,
    /// Those that don't, together by reason.
    pub absent: Vec<(String, Vec<&'static str>)>,
}

impl Offer {
    /// Tries every event on this very thread.
    pub fn of(events: &'static [Event]) -> Offer {
        let counters = Counters::open(&[nix::unistd::gettid().as_raw()], events.iter());
        let mut offer = Offer {
            open: counters.names().map(event).collect(),
            absent: Vec::new(),
        };
        // In the order of the table.
        for name in events.iter().map(|event| event.name) {
            let Some(reason) = counters.absent.get(name) else {
                continue;
            };
            match offer.absent.iter_mut().find(|(why, _)| why == reason) {
                Some((_, names)) => names.push(event(name)),
                None => offer.absent.push((reason.clone(), vec![event(name)])),
            }
        }
        offer
    }

    /// One line for people; an error where nothing is offered.
    ///
    /// # Errors
    /// That line, with the reasons alone where they are all the same.
    pub fn words(&self) -> std::result::Result<String, String> {
        match (self.open.as_slice(), self.absent.as_slice()) {
            ([], [(reason, _)]) => Err(format!("none: {reason}")),
            ([], _) => Err(self.lacks()),
            (open, []) => Ok(open.join(", ")),
            (open, _) => Ok(format!("{}; {}", open.join(", "), self.lacks())),
        }
    }

    fn lacks(&self) -> String {
        let lack = |(why, names): &(String, Vec<&str>)| format!("no {}: {why}", names.join(", "));
        self.absent.iter().map(lack).collect::<Vec<_>>().join("; ")
    }
}

fn event(metric: &'static str) -> &'static str {
    metric.split_once('.').map_or(metric, |(_, event)| event)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_said_once_for_all_its_events() {
        let offer = |open: &[&'static str], absent: &[(&str, &[&'static str])]| Offer {
            open: open.to_vec(),
            absent: absent
                .iter()
                .map(|(why, names)| ((*why).to_owned(), names.to_vec()))
                .collect(),
        };
        assert_eq!(
            offer(&[], &[("no PMU", &["cycles", "branches"])]).words(),
            Err("none: no PMU".into())
        );
        assert_eq!(
            offer(&["cycles"], &[("no such event", &["l1d", "llc"])]).words(),
            Ok("cycles; no l1d, llc: no such event".into())
        );
        assert_eq!(offer(&["a", "b"], &[]).words(), Ok("a, b".into()));
    }
}
