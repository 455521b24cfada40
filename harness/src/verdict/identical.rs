//! What is said of variants that are their base to the bit, and were not booted for it.

use std::fmt::Write;

use ktrial_db::{Db, Trial, Variant};

use crate::fault::Result;

/// Hex digits of a hash that are shown; the report has all of them.
const DIGITS: usize = 16;

/// Whether nothing of the trial was to be booted.
pub fn is_all_left_out(trial: &Trial) -> bool {
    trial.variants.iter().all(|variant| variant.left_out)
}

/// The trial as it was booted: without the variants that were left out.
pub fn booted(trial: &Trial) -> Trial {
    let variants = trial.variants.iter().filter(|variant| !variant.left_out);
    Trial {
        variants: variants.cloned().collect(),
        ..trial.clone()
    }
}

/// A line for each variant that was left out, and what to look at; empty where there is none.
///
/// # Errors
/// A host fault if the database can't be read.
pub fn render(db: &Db, trial: &Trial) -> Result<String> {
    let mut text = String::new();
    let Some((base, others)) = trial.variants.split_first() else {
        return Ok(text);
    };
    let so = match is_all_left_out(trial) {
        true => "nothing to measure",
        false => "left out",
    };
    let mut has_patches = false;
    for variant in others.iter().filter(|variant| variant.left_out) {
        let _ = writeln!(
            text,
            "{} is bit-identical to {}{}: {so}; --aa runs it anyway",
            variant.name,
            base.name,
            image(db, variant)?
        );
        has_patches |= patches(db, variant)? > 0;
    }
    if has_patches {
        text.push_str(
            "  should it differ? see that the config builds what the patch changes (--config)\n",
        );
    }
    Ok(text)
}

fn image(db: &Db, variant: &Variant) -> Result<String> {
    let kernel = variant.kernel.map(|id| db.kernel(id)).transpose()?;
    let image = kernel.flatten().and_then(|kernel| kernel.image_sha256);
    let shown = image.and_then(|image| Some(format!(" (sha256 {})", image.get(..DIGITS)?)));
    Ok(shown.unwrap_or_default())
}

fn patches(db: &Db, variant: &Variant) -> Result<usize> {
    let series = variant.series.map(|id| db.series(id)).transpose()?;
    Ok(series.flatten().map_or(0, |series| series.patches.len()))
}
