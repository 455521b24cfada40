//! The raw data of a trial, for other programs: CSV of the samples, JSON of everything.

use ktrial_db::{Boot, Cell, Sample, Value};
use serde_json::json;

use super::record::Record;

const COLUMNS: &str = "trial,variant,round,position,attempt,boot,boot_outcome,workload,parameters,\
                       metric,unit,better,primary,warmup,iteration,status,value,reason";

/// Every sample, one a line (RFC 4180), of good boots and of failed ones.
pub(super) fn csv(record: &Record) -> String {
    let boots = record.boots_by_id();
    let mut lines = String::from(COLUMNS);
    lines.push_str("\r\n");
    for sample in &record.samples {
        if let Some((boot, cell)) = boots.get(&sample.boot).zip(record.cell(sample.cell)) {
            lines.push_str(&line(record, boot, cell, sample));
            lines.push_str("\r\n");
        }
    }
    lines
}

fn line(record: &Record, boot: &Boot, cell: &Cell, sample: &Sample) -> String {
    let (status, value, reason) = outcome(&sample.value);
    [
        record.number().to_string(),
        field(record.variant_name(boot.variant)),
        boot.round.to_string(),
        boot.position.to_string(),
        boot.attempt.to_string(),
        boot.id.to_string(),
        field(&boot.outcome),
        field(&cell.workload),
        field(&cell.parameters),
        field(&cell.metric),
        field(&cell.unit),
        field(&cell.better),
        u8::from(cell.primary).to_string(),
        u8::from(sample.warmup).to_string(),
        sample.iteration.to_string(),
        status.to_owned(),
        value.map(|number| number.to_string()).unwrap_or_default(),
        reason.map(field).unwrap_or_default(),
    ]
    .join(",")
}

fn outcome(value: &Value) -> (&'static str, Option<f64>, Option<&str>) {
    match value {
        Value::Ok(number) => ("ok", Some(*number), None),
        Value::Missing => ("missing", None, None),
        Value::Unsupported(reason) => ("unsupported", None, Some(reason)),
        Value::Failed(reason) => ("failed", None, Some(reason)),
    }
}

/// A text as a CSV field. Spreadsheets take a field that begins with one of these for a formula,
/// and run it; an apostrophe keeps it a text. Texts come from guests.
fn field(text: &str) -> String {
    let is_formula =
        text.starts_with(['\t', '\r', '\n']) || text.trim_start().starts_with(['=', '+', '-', '@']);
    let text = if is_formula {
        format!("'{text}")
    } else {
        text.to_owned()
    };
    if text.contains(['"', ',', '\r', '\n', '\'']) || text != text.trim() {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

/// Everything, indented. Seeds and ids of 64 bits are texts, because many readers of JSON keep
/// only 53 bits of a number.
pub(super) fn json(record: &Record) -> String {
    let trial = &record.trial;
    let machine = &record.machine;
    let tree = &record.tree;
    let document = json!({
        "ktrial": trial.ktrial_version,
        "trial": {
            "id": record.number(), "title": trial.title, "seed": trial.seed.to_string(),
            "rounds": trial.rounds, "margin": trial.margin, "clock": trial.clock,
            "accelerator": trial.accelerator, "shape": embedded(&trial.shape_json),
            "plan": embedded(&trial.plan_json), "command": trial.command_line,
            "started_at_ms": trial.started_at, "finished_at_ms": trial.finished_at,
            "outcome": trial.outcome, "failure": trial.failure,
        },
        "tree": {
            "system": tree.system, "name": tree.name, "source": tree.source,
            "version": tree.version, "commit": tree.base_commit, "tree": tree.base_tree,
        },
        "machine": {
            "hostname": machine.hostname, "cpu": machine.cpu_model, "cpus": machine.cpus,
            "memory_bytes": machine.memory_bytes, "os": machine.os_release,
            "facts": embedded(&machine.facts_json),
        },
        "host": embedded(&trial.host_json),
        "variants": variants(record),
        "boots": record.boots.iter().map(|boot| boot_json(record, boot)).collect::<Vec<_>>(),
        "samples": record.samples.iter().map(|s| sample_json(record, s)).collect::<Vec<_>>(),
        "verdicts": verdicts(record),
    });
    format!("{document:#}\n")
}

fn variants(record: &Record) -> Vec<serde_json::Value> {
    let both = record.trial.variants.iter().zip(&record.built);
    let variant = both.map(|(variant, built)| {
        let kernel = built.kernel.as_ref().map(|k| {
            json!({
                "hash": k.hash, "release": k.release, "tree": k.tree_oid, "commit": k.commit_oid,
                "config": k.config_hash, "toolchain": k.toolchain, "built_at_ms": k.built_at,
                "build_ms": k.build_ms, "size_bytes": k.size_bytes,
                "image_sha256": k.image_sha256,
            })
        });
        let series = built.series.as_ref().map(|s| {
            let patches = s
                .patches
                .iter()
                .map(|p| json!({"name": p.name, "text": p.text}));
            json!({
                "name": s.name, "title": s.title, "source": s.source,
                "patches": patches.collect::<Vec<_>>(),
            })
        });
        json!({
            "name": variant.name, "left_out": variant.left_out, "kernel": kernel, "series": series,
            "settings": embedded(&variant.settings_json),
            "applied": embedded(&variant.applied_json),
        })
    });
    variant.collect()
}

fn boot_json(record: &Record, boot: &Boot) -> serde_json::Value {
    json!({
        "id": boot.id.0, "variant": record.variant_name(boot.variant), "round": boot.round,
        "position": boot.position, "attempt": boot.attempt, "seed": boot.seed.to_string(),
        "perturbation": embedded(&boot.perturbation_json), "outcome": boot.outcome,
        "detail": boot.detail, "started_at_ms": boot.started_at, "ended_at_ms": boot.ended_at,
        "guest_boot_ns": boot.guest_boot_ns,
    })
}

fn sample_json(record: &Record, sample: &Sample) -> serde_json::Value {
    let (status, value, reason) = outcome(&sample.value);
    let cell = record.cell(sample.cell);
    json!({
        "boot": sample.boot.0, "workload": cell.map(|c| &c.workload),
        "parameters": cell.map(|c| &c.parameters), "metric": cell.map(|c| &c.metric),
        "unit": cell.map(|c| &c.unit), "warmup": sample.warmup, "iteration": sample.iteration,
        "status": status, "value": value, "reason": reason,
    })
}

fn verdicts(record: &Record) -> Vec<serde_json::Value> {
    let verdict = record.verdicts.iter().map(|v| {
        let cell = record.cell(v.cell);
        json!({
            "variant": record.variant_name(v.variant), "baseline": record.variant_name(v.baseline),
            "workload": cell.map(|c| &c.workload), "parameters": cell.map(|c| &c.parameters),
            "metric": cell.map(|c| &c.metric), "verdict": v.verdict, "ratio": v.ratio,
            "low": v.low, "high": v.high, "level": v.level, "p": v.p_value,
            "p_adjusted": v.p_adjusted, "boots_base": v.boots_base,
            "boots_variant": v.boots_variant, "base_value": v.base_value,
            "variant_value": v.variant_value, "margin": v.margin,
            "rounds_needed": v.rounds_needed, "method": v.method, "reason": v.reason,
        })
    });
    verdict.collect()
}

/// JSON within JSON; a text if it is none.
fn embedded(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_and_no_text_becomes_a_formula() {
        let cases = [
            ("fd-churn", "fd-churn"),
            ("1/s", "1/s"),
            ("a,b", "\"a,b\""),
            ("say \"no\"", "\"say \"\"no\"\"\""),
            ("=cmd|' /C calc'!A0", "\"'=cmd|' /C calc'!A0\""),
            ("+1", "\"'+1\""),
            ("-1", "\"'-1\""),
            ("@SUM(A1)", "\"'@SUM(A1)\""),
            ("\t=1", "\"'\t=1\""),
            ("two\nlines", "\"two\nlines\""),
            (" =1", "\"' =1\""),
            (" a", "\" a\""),
        ];
        for (text, written) in cases {
            assert_eq!(field(text), written);
        }
    }
}
