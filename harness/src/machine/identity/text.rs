//! A machine's identity for people: a name and what is known of it, a line each.

use super::{Identity, Platform, Processor};

/// Lines of a name and a text. What matters and is unknown is called so.
pub fn lines(identity: &Identity) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    let mut line = |name, said: Option<String>| lines.extend(said.map(|said| (name, said)));
    line("machine", machine(identity));
    line("board", identity.board.clone());
    line("firmware", firmware(identity));
    line("runs on", Some(platform(&identity.platform)));
    line(
        "cloud",
        identity.cloud.as_ref().map(|cloud| match &cloud.instance {
            Some(instance) => format!("{} {instance}", cloud.provider),
            None => format!(
                "{}, an instance of a type that firmware does not say",
                cloud.provider
            ),
        }),
    );
    line("processor", Some(processor(&identity.processor)));
    let affected = identity.mitigations.iter();
    for (name, said) in affected.filter(|(_, said)| *said != "Not affected") {
        line("mitigation", Some(format!("{name}: {said}")));
    }
    if identity.mitigations.is_empty() {
        line("mitigation", Some("unknown".into()));
    }
    lines
}

/// Some vendors begin the product's name with their own.
fn machine(identity: &Identity) -> Option<String> {
    match (&identity.vendor, &identity.product) {
        (Some(vendor), Some(product)) if product.starts_with(vendor.as_str()) => {
            Some(product.clone())
        }
        (vendor, product) => joined([vendor, product]),
    }
}

fn joined<const N: usize>(words: [&Option<String>; N]) -> Option<String> {
    let words: Vec<&str> = words.into_iter().flatten().map(String::as_str).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

fn firmware(identity: &Identity) -> Option<String> {
    let said = joined([&identity.firmware_vendor, &identity.firmware_version]);
    match (said, &identity.firmware_date) {
        (Some(said), Some(date)) => Some(format!("{said} of {date}")),
        (said, date) => said.or_else(|| date.clone()),
    }
}

fn platform(platform: &Platform) -> String {
    match platform {
        Platform::Unknown => "unknown: hardware, or a hypervisor".into(),
        Platform::Hardware => "hardware".into(),
        Platform::Hypervisor(Some(name)) => format!("{name}, a hypervisor"),
        Platform::Hypervisor(None) => "a hypervisor that does not say its name".into(),
    }
}

fn processor(processor: &Processor) -> String {
    let number = |name: &str, value: Option<u32>| value.map(|value| format!("{name} {value}"));
    let microcode = processor.microcode.as_deref().unwrap_or("unknown");
    let numbers = [
        number("family", processor.family),
        number("model", processor.model),
        number("stepping", processor.stepping),
        Some(format!("microcode {microcode}")),
    ];
    let numbers: Vec<String> = numbers.into_iter().flatten().collect();
    let name = processor.name.as_ref().or(processor.vendor.as_ref());
    let name = name.map_or("unknown", String::as_str);
    format!("{name} ({})", numbers.join(", "))
}
