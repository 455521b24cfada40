//! Clocks: what a guest's time means.

use serde::{Deserialize, Serialize};

use super::Accelerator;

/// What a guest's time means. Values of two clocks are never compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Clock {
    /// KVM: the machine's own time.
    Real,
    /// TCG with `-icount`: time is instructions executed. It repeats to the digit and knows no
    /// parallelism, so it says nothing about scaling.
    Virtual,
    /// TCG in wall time: for looking only.
    Emulated,
}

impl Clock {
    /// The word used in the database and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Clock::Real => "real",
            Clock::Virtual => "virtual",
            Clock::Emulated => "emulated",
        }
    }

    /// The accelerator that gives this clock.
    pub fn accelerator(self) -> Accelerator {
        match self {
            Clock::Real => Accelerator::Kvm,
            Clock::Virtual | Clock::Emulated => Accelerator::Tcg,
        }
    }

    /// Whether this machine may answer a guest that runs: in virtual time an answer comes when it
    /// comes, and no boot would be like another.
    pub fn may_be_answered(self) -> bool {
        self != Clock::Virtual
    }

    /// Whether its processors can have dies: an AMD model of QEMU's has none, and with an emulated
    /// Intel model QEMU 10.0 ends itself as soon as the guest asks for them (encode_topo_cpuid1f).
    pub fn has_dies(self) -> bool {
        self == Clock::Real
    }

    /// Whether guests can run side by side without disturbing each other's time.
    pub fn runs_side_by_side(self) -> bool {
        self == Clock::Virtual
    }
}
