//! What a machine is called: its processor, its firmware, what it runs on, and what its kernel does
//! against the faults of its processor. Read from files alone; what they do not say is unknown.

mod platform;
mod text;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::files::Files;

pub use platform::{Cloud, Platform};
pub use text::lines;

/// What a machine says that it is. None is unknown, everywhere.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Identity {
    /// Its processor; the first one's, where they differ.
    pub processor: Processor,
    /// Who made the machine: DMI's `sys_vendor`.
    pub vendor: Option<String>,
    /// What it is called: DMI's `product_name`.
    pub product: Option<String>,
    /// Who made the board, and its name.
    pub board: Option<String>,
    /// Who made the firmware.
    pub firmware_vendor: Option<String>,
    /// The firmware's version.
    pub firmware_version: Option<String>,
    /// The firmware's date, as it is written there: `12/04/2020`.
    pub firmware_date: Option<String>,
    /// Whether something lies between the machine and its hardware.
    pub platform: Platform,
    /// Whose data centre it is in, where firmware says so.
    pub cloud: Option<Cloud>,
    /// By vulnerability (`spectre_v2`), what the kernel says of it: `Not affected`, `Vulnerable`,
    /// `Mitigation: Retpolines`. Empty where the kernel says nothing.
    pub mitigations: BTreeMap<String, String>,
}

/// A processor, as `/proc/cpuinfo` has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Processor {
    /// `GenuineIntel`, `AuthenticAMD`.
    pub vendor: Option<String>,
    /// What it is called: `AMD Opteron(tm) Processor 6168`.
    pub name: Option<String>,
    /// The family's number.
    pub family: Option<u32>,
    /// The model's number.
    pub model: Option<u32>,
    /// The stepping's number.
    pub stepping: Option<u32>,
    /// The revision of its microcode, as the kernel writes it: `0x1000065`. A hypervisor may make
    /// one up.
    pub microcode: Option<String>,
}

impl Identity {
    /// Of the machine at hand, whose processor also names the hypervisor.
    pub fn here() -> Identity {
        Identity::of(&Files::here(), platform::signature())
    }

    /// Of the machine whose files these are.
    pub fn read(files: &Files) -> Identity {
        Identity::of(files, None)
    }

    fn of(files: &Files, signature: Option<String>) -> Identity {
        let cpuinfo = files.text("proc/cpuinfo").unwrap_or_default();
        let cpuinfo = first_processor(&cpuinfo);
        let dmi = |name: &str| stated(files, &format!("sys/class/dmi/id/{name}"));
        let board = [dmi("board_vendor"), dmi("board_name")];
        let board: Vec<String> = board.into_iter().flatten().collect();
        Identity {
            processor: processor(&cpuinfo),
            platform: platform::platform(files, &cpuinfo, signature.as_deref()),
            cloud: platform::cloud(files),
            vendor: dmi("sys_vendor"),
            product: dmi("product_name"),
            board: (!board.is_empty()).then(|| board.join(" ")),
            firmware_vendor: dmi("bios_vendor"),
            firmware_version: dmi("bios_version"),
            firmware_date: dmi("bios_date"),
            mitigations: mitigations(files),
        }
    }
}

/// A value of firmware, in one line; none where firmware was delivered with a form to be filled in.
fn stated(files: &Files, path: &str) -> Option<String> {
    const FORMS: [&str; 6] = [
        "To Be Filled By O.E.M.",
        "To be filled by O.E.M.",
        "Default string",
        "Not Specified",
        "System Product Name",
        "System manufacturer",
    ];
    let value = files.value(path)?;
    let value = crate::terminal::headline(&value);
    (!FORMS.contains(&value.as_str())).then_some(value)
}

/// The lines of the first processor, by name; a line without a value is one with an empty value.
fn first_processor(cpuinfo: &str) -> BTreeMap<&str, &str> {
    let lines = cpuinfo.trim_start().lines();
    let lines = lines.take_while(|line| !line.trim().is_empty());
    let pairs = lines.filter_map(|line| line.split_once(':'));
    pairs
        .map(|(name, value)| (name.trim(), value.trim()))
        .collect()
}

fn processor(cpuinfo: &BTreeMap<&str, &str>) -> Processor {
    let text = |name: &str| {
        let value = cpuinfo.get(name).filter(|value| !value.is_empty());
        value.map(|value| crate::terminal::headline(value))
    };
    let number = |name: &str| cpuinfo.get(name).and_then(|value| value.parse().ok());
    Processor {
        vendor: text("vendor_id"),
        name: text("model name").filter(|name| name != "unknown"),
        family: number("cpu family"),
        model: number("model"),
        stepping: number("stepping"),
        microcode: text("microcode"),
    }
}

fn mitigations(files: &Files) -> BTreeMap<String, String> {
    const FOLDER: &str = "sys/devices/system/cpu/vulnerabilities";
    let names = files.names(FOLDER).into_iter();
    let said = names.filter_map(|name| {
        let said = files.value(&format!("{FOLDER}/{name}"))?;
        Some((name, crate::terminal::headline(&said)))
    });
    said.collect()
}

#[cfg(test)]
mod tests;
