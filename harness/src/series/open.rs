//! From what the user typed to a series.

use std::io::Read;
use std::path::Path;

use ktrial_patches::MAX_PATCH_BYTES;
use ktrial_patches::catalogue::{self, Series};

use super::refusal;
use crate::fault::{Fault, OrHost, Result};
use crate::process::ending_at_once;

/// The name of a series that came by standard input.
pub(super) const STANDARD_INPUT: &str = "stdin";

/// Opens a name of the catalogue, a folder, a file, or `-` for standard input.
///
/// # Errors
/// A user fault if there is no such series; a patch fault if one of its patches can't be read.
pub fn open(name: &str) -> Result<Series> {
    ending_at_once(|| opened(name))
}

fn opened(name: &str) -> Result<Series> {
    let path = Path::new(name);
    let series = if name == "-" {
        Series::from_bytes(STANDARD_INPUT, &standard_input()?)
    } else if path.is_dir() {
        Series::open(path)
    } else if path.exists() {
        Series::from_patch_file(path)
    } else if name.contains(['/', '.']) {
        return Err(Fault::user(format!("there is no file or folder {name}"))
            .next("`ktrial series list` shows the series that go by a name"));
    } else {
        catalogue::find(name)
    };
    series.map_err(|error| refusal::of_series(name, error))
}

/// All of it; one byte more than the limit at most, so that the reader can refuse it.
fn standard_input() -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .take(MAX_PATCH_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .or_host(|| "read standard input".into())?;
    Ok(bytes)
}
