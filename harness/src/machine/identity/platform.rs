//! What lies below a machine: hardware, or a hypervisor, and whose. The tables are what the systems
//! themselves say; systemd-detect-virt and the vendors' documents know them by the same words.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::machine::files::Files;

/// Whether something lies between a machine and its hardware.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Platform {
    /// Nothing says.
    #[default]
    Unknown,
    /// The processor has no mark of a hypervisor.
    Hardware,
    /// There is a hypervisor; none where it has no name.
    Hypervisor(Option<String>),
}

/// A machine in someone's data centre.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cloud {
    /// Whose.
    pub provider: String,
    /// The type of the machine there, `m5.large`; none where firmware does not say.
    pub instance: Option<String>,
}

const AMAZON: &str = "Amazon EC2";

/// What a processor says in leaf 0x40000000, and whose word it is.
const SIGNATURES: [(&str, &str); 12] = [
    ("KVMKVMKVM", "KVM"),
    ("Linux KVM Hv", "KVM"),
    ("TCGTCGTCGTCG", "QEMU (TCG)"),
    ("VMwareVMware", "VMware"),
    ("XenVMMXenVMM", "Xen"),
    ("Microsoft Hv", "Hyper-V"),
    ("bhyve bhyve ", "bhyve"),
    ("VBoxVBoxVBox", "VirtualBox"),
    (" lrpepyh  vr", "Parallels"),
    ("ACRNACRNACRN", "ACRN"),
    ("QNXQVMBSQG", "QNX"),
    ("SRESRESRESRE", "LMHS"),
];

/// Files of DMI, how their value begins where a hypervisor made it, and its name.
const FIRMWARE: [(&str, &str, &str); 11] = [
    ("sys_vendor", "QEMU", "QEMU"),
    ("sys_vendor", "VMware", "VMware"),
    ("sys_vendor", "Xen", "Xen"),
    ("product_name", "HVM domU", "Xen"),
    ("sys_vendor", "innotek GmbH", "VirtualBox"),
    ("sys_vendor", "Parallels", "Parallels"),
    ("product_name", "BHYVE", "bhyve"),
    ("product_name", "Google Compute Engine", "KVM"),
    ("product_name", "KVM", "KVM"),
    ("product_name", "OpenStack", "KVM"),
    ("bios_vendor", "Bochs", "Bochs"),
];

/// By DMI's `sys_vendor`, clouds that name no type of machine.
const PROVIDERS: [(&str, &str); 5] = [
    ("Google", "Google Compute Engine"),
    ("DigitalOcean", "DigitalOcean"),
    ("Hetzner", "Hetzner"),
    ("Alibaba Cloud", "Alibaba Cloud"),
    ("OpenStack Foundation", "OpenStack"),
];

/// The tag of the case of every machine in Azure, which tells it from other guests of Hyper-V.
const AZURE: &str = "7783-7084-3265-9085-8269-3286-77";

fn dmi(files: &Files, name: &str) -> Option<String> {
    files.value(&format!("sys/class/dmi/id/{name}"))
}

/// The processor's own word is the surest, then the kernel's, then firmware's.
pub(super) fn platform(
    files: &Files,
    cpuinfo: &BTreeMap<&str, &str>,
    signature: Option<&str>,
) -> Platform {
    let flags = cpuinfo.get("flags");
    let marked = flags.map(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
    let name = signature
        .and_then(known)
        .or_else(|| files.value("sys/hypervisor/type").map(spelled))
        .or_else(|| in_firmware(files));
    match (name, marked, signature) {
        (Some(name), ..) => Platform::Hypervisor(Some(name)),
        (None, Some(true), _) => Platform::Hypervisor(None),
        (None, _, Some(_)) => Platform::Hypervisor(None),
        (None, Some(false), None) => Platform::Hardware,
        (None, None, None) => Platform::Unknown,
    }
}

fn known(signature: &str) -> Option<String> {
    let signature = signature.trim_end_matches('\0');
    let mut table = SIGNATURES.iter();
    let found = table.find(|(words, _)| *words == signature)?;
    Some(found.1.to_owned())
}

/// The kernel writes `xen`.
fn spelled(kind: String) -> String {
    match kind.as_str() {
        "xen" => "Xen".to_owned(),
        _ => kind,
    }
}

fn in_firmware(files: &Files) -> Option<String> {
    let is = |file: &str, begin: &str| dmi(files, file).is_some_and(|text| text.starts_with(begin));
    if is("sys_vendor", "Microsoft Corporation") && is("product_name", "Virtual Machine") {
        return Some("Hyper-V".into());
    }
    // Of Nitro; what is called so and ends in `.metal` has no hypervisor.
    if is("sys_vendor", AMAZON) && !dmi(files, "product_name")?.contains(".metal") {
        return Some("KVM (Nitro)".into());
    }
    let mut table = FIRMWARE.iter();
    let (_, _, name) = table.find(|(file, begin, _)| is(file, begin))?;
    Some((*name).to_owned())
}

pub(super) fn cloud(files: &Files) -> Option<Cloud> {
    let vendor = dmi(files, "sys_vendor").unwrap_or_default();
    let in_cloud = |provider: &str, instance| {
        Some(Cloud {
            provider: provider.to_owned(),
            instance,
        })
    };
    if vendor == AMAZON {
        // The instance's type since Nitro; before it no file has it.
        return in_cloud(AMAZON, dmi(files, "product_name"));
    }
    if is_amazon_of_xen(files) {
        return in_cloud(AMAZON, None);
    }
    if dmi(files, "chassis_asset_tag").as_deref() == Some(AZURE) {
        return in_cloud("Microsoft Azure", None);
    }
    let (_, provider) = PROVIDERS.iter().find(|(words, _)| vendor == *words)?;
    in_cloud(provider, None)
}

/// EC2 before Nitro: a guest of Xen with a version of Amazon's, or an UUID that begins with `ec2`,
/// which alone might be chance.
fn is_amazon_of_xen(files: &Files) -> bool {
    let version = dmi(files, "bios_version").unwrap_or_default();
    let is_xen = dmi(files, "sys_vendor").is_some_and(|vendor| vendor == "Xen")
        || files.value("sys/hypervisor/type").as_deref() == Some("xen");
    let uuid = files.value("sys/hypervisor/uuid");
    let uuid = uuid.or_else(|| dmi(files, "product_uuid"));
    let is_ec2 = uuid.is_some_and(|uuid| uuid.to_ascii_lowercase().starts_with("ec2"));
    version.ends_with(".amazon") || is_xen && is_ec2
}

/// The hypervisor's twelve letters, where the processor at hand has the mark of one.
#[cfg(target_arch = "x86_64")]
pub(super) fn signature() -> Option<String> {
    use std::arch::x86_64::__cpuid;
    const HYPERVISOR: u32 = 1 << 31;
    if __cpuid(1).ecx & HYPERVISOR == 0 {
        return None;
    }
    let leaf = __cpuid(0x4000_0000);
    let letters = [leaf.ebx, leaf.ecx, leaf.edx];
    let bytes: Vec<u8> = letters.into_iter().flat_map(u32::to_le_bytes).collect();
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Other processors have no such leaf.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn signature() -> Option<String> {
    None
}
