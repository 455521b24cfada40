#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;

use super::*;

/// Files of a machine: DMI's by their names, all others by their path.
fn identity(dmi: &[(&str, &str)], others: &[(&str, &str)]) -> Identity {
    with_signature(dmi, others, None)
}

fn with_signature(
    dmi: &[(&str, &str)],
    others: &[(&str, &str)],
    signature: Option<&str>,
) -> Identity {
    let folder = tempfile::tempdir().unwrap();
    let put = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{text}\n")).unwrap();
    };
    for (name, text) in dmi {
        put(&format!("sys/class/dmi/id/{name}"), text);
    }
    for (path, text) in others {
        put(path, text);
    }
    Identity::of(&Files::at(folder.path()), signature.map(str::to_owned))
}

fn under(name: &str) -> Platform {
    Platform::Hypervisor(Some(name.to_owned()))
}

fn cloud(provider: &str, instance: Option<&str>) -> Option<Cloud> {
    Some(Cloud {
        provider: provider.to_owned(),
        instance: instance.map(str::to_owned),
    })
}

const HARDWARE: (&str, &str) = (
    "proc/cpuinfo",
    "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 16\nmodel\t\t: 9\n\
     model name\t: AMD Opteron(tm) Processor 6168\nstepping\t: 1\ncpu MHz\t\t: 1900.000\n\
     flags\t\t: fpu vme de svm\n\nprocessor\t: 1\nvendor_id\t: Other\n",
);
const GUEST: (&str, &str) = (
    "proc/cpuinfo",
    "processor : 0\nflags : fpu hypervisor lahf_lm\n",
);

/// A lab's server: /proc/cpuinfo as mails of its owners have it, DMI of a PowerEdge R630.
#[test]
fn a_server_says_who_made_it() {
    let dmi = [
        ("sys_vendor", "Dell Inc."),
        ("product_name", "PowerEdge R630"),
        ("board_vendor", "Dell Inc."),
        ("board_name", "0CNCJW"),
        ("bios_vendor", "Dell Inc."),
        ("bios_version", "2.12.1"),
        ("bios_date", "12/04/2020"),
    ];
    let vulnerable = "Mitigation: PTE Inversion; VMX: conditional cache flushes, SMT vulnerable";
    let others = [
        HARDWARE,
        ("sys/devices/system/cpu/vulnerabilities/l1tf", vulnerable),
        (
            "sys/devices/system/cpu/vulnerabilities/srbds",
            "Not affected",
        ),
    ];
    let identity = identity(&dmi, &others);
    assert_eq!(identity.platform, Platform::Hardware);
    assert_eq!(identity.cloud, None);
    assert_eq!(identity.mitigations["l1tf"], vulnerable);
    let text: Vec<String> = lines(&identity)
        .into_iter()
        .map(|(name, said)| format!("{name}: {said}"))
        .collect();
    assert_eq!(
        text,
        [
            "machine: Dell Inc. PowerEdge R630",
            "board: Dell Inc. 0CNCJW",
            "firmware: Dell Inc. 2.12.1 of 12/04/2020",
            "runs on: hardware",
            "processor: AMD Opteron(tm) Processor 6168 (family 16, model 9, stepping 1, microcode \
             unknown)",
            &format!("mitigation: l1tf: {vulnerable}"),
        ]
    );
}

/// As AWS's guide "Detect whether a host is an EC2 instance" has it, and dmidecode on an
/// x1e.32xlarge (github.com/xmrig/xmrig, issue 2108) for Xen.
#[test]
fn instances_of_ec2_are_known_and_their_type_where_firmware_has_it() {
    let nitro = [("sys_vendor", "Amazon EC2"), ("product_name", "m5.large")];
    let found = identity(&nitro, &[GUEST]);
    assert_eq!(found.cloud, cloud("Amazon EC2", Some("m5.large")));
    assert_eq!(found.platform, under("KVM (Nitro)"));

    let metal = [("sys_vendor", "Amazon EC2"), ("product_name", "i3.metal")];
    let found = identity(&metal, &[HARDWARE]);
    assert_eq!(found.cloud, cloud("Amazon EC2", Some("i3.metal")));
    assert_eq!(found.platform, Platform::Hardware);

    let xen = [
        ("sys_vendor", "Xen"),
        ("product_name", "HVM domU"),
        ("bios_vendor", "Xen"),
        ("bios_version", "4.11.amazon"),
        ("bios_date", "08/24/2006"),
    ];
    let found = identity(&xen, &[GUEST]);
    assert_eq!(found.cloud, cloud("Amazon EC2", None));
    assert_eq!(found.platform, under("Xen"));

    let uuid = (
        "sys/hypervisor/uuid",
        "ec2e1916-9099-7caf-fd21-012345abcdef",
    );
    let kernel = [GUEST, uuid, ("sys/hypervisor/type", "xen")];
    assert_eq!(identity(&[], &kernel).cloud, cloud("Amazon EC2", None));
    // An UUID may begin so by chance, and is no proof without Xen.
    assert_eq!(identity(&[], &[GUEST, uuid]).cloud, None);
}

#[test]
fn hypervisors_are_known_by_firmware() {
    for (vendor, product, name) in [
        ("QEMU", "Standard PC (Q35 + ICH9, 2009)", "QEMU"),
        ("VMware, Inc.", "VMware Virtual Platform", "VMware"),
        ("Xen", "HVM domU", "Xen"),
        ("Microsoft Corporation", "Virtual Machine", "Hyper-V"),
        ("innotek GmbH", "VirtualBox", "VirtualBox"),
        ("Google", "Google Compute Engine", "KVM"),
    ] {
        let dmi = [("sys_vendor", vendor), ("product_name", product)];
        assert_eq!(identity(&dmi, &[GUEST]).platform, under(name), "{vendor}");
    }
    // A Surface is a computer by the same maker.
    let surface = [
        ("sys_vendor", "Microsoft Corporation"),
        ("product_name", "Surface Pro 4"),
    ];
    assert_eq!(identity(&surface, &[HARDWARE]).platform, Platform::Hardware);
    let google = [
        ("sys_vendor", "Google"),
        ("product_name", "Google Compute Engine"),
    ];
    assert_eq!(
        identity(&google, &[]).cloud,
        cloud("Google Compute Engine", None)
    );
    let azure = [
        ("sys_vendor", "Microsoft Corporation"),
        ("product_name", "Virtual Machine"),
        ("chassis_asset_tag", "7783-7084-3265-9085-8269-3286-77"),
    ];
    assert_eq!(identity(&azure, &[]).cloud, cloud("Microsoft Azure", None));
}

/// Firecracker has no DMI: only the processor says what it runs on.
#[test]
fn the_processors_word_comes_first() {
    let of = |signature| with_signature(&[], &[GUEST], Some(signature)).platform;
    assert_eq!(of("KVMKVMKVM\0\0\0"), under("KVM"));
    assert_eq!(of("TCGTCGTCGTCG"), under("QEMU (TCG)"));
    assert_eq!(of("Microsoft Hv"), under("Hyper-V"));
    assert_eq!(of("Not a vendor"), Platform::Hypervisor(None));
    let qemu = [("sys_vendor", "QEMU")];
    let found = with_signature(&qemu, &[GUEST], Some("KVMKVMKVM\0\0\0"));
    assert_eq!(found.platform, under("KVM"));
}

#[test]
fn what_is_not_said_is_unknown() {
    let nothing = identity(&[], &[]);
    assert_eq!(nothing, Identity::default());
    let text = format!("{:?}", lines(&nothing));
    assert!(text.contains("unknown (microcode unknown)"), "{text}");
    let forms = [
        ("sys_vendor", "To Be Filled By O.E.M."),
        ("product_name", "Default string"),
        ("bios_version", " \t "),
    ];
    let form = identity(&forms, &[GUEST]);
    assert_eq!((form.vendor, form.product), (None, None));
    assert_eq!(form.firmware_version, None);
    assert_eq!(form.platform, Platform::Hypervisor(None));
}

#[test]
fn this_machine_can_be_asked() {
    let identity = Identity::here();
    // Linux on any processor has this file, and x86 names itself in it.
    if cfg!(target_arch = "x86_64") {
        assert!(identity.processor.vendor.is_some());
        assert_ne!(identity.platform, Platform::Unknown);
    }
}
