//! apache-otava on the same series, in a process of its own.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

/// What it found.
#[derive(Debug, Deserialize)]
pub struct Answer {
    /// Indices of changes, by series.
    pub found: Vec<Vec<usize>>,
    /// Spent in the analysis, without the start of Python and reading.
    pub seconds: f64,
}

/// A Python that has it.
pub struct Otava {
    python: PathBuf,
    folder: PathBuf,
}

impl Otava {
    /// `python` is an interpreter with apache-otava; files go to `folder`.
    pub fn new(python: &Path, folder: &Path) -> Otava {
        Otava {
            python: python.to_owned(),
            folder: folder.to_owned(),
        }
    }

    /// Its change points of all series, on one thread.
    pub fn run(&self, series: &[Vec<f64>]) -> Result<Answer, String> {
        let (input, output) = (
            self.folder.join("series.json"),
            self.folder.join("found.json"),
        );
        let said = |e: &dyn std::fmt::Display| format!("otava: {e}");
        let text = serde_json::to_string(series).map_err(|e| said(&e))?;
        std::fs::write(&input, text).map_err(|e| said(&e))?;
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/changepoints/peer.py");
        let status = Command::new(&self.python)
            .arg(script)
            .args([&input, &output])
            .envs(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"].map(|n| (n, "1")))
            .status()
            .map_err(|e| said(&e))?;
        if !status.success() {
            return Err(format!("otava: {status}"));
        }
        let text = std::fs::read_to_string(&output).map_err(|e| said(&e))?;
        serde_json::from_str(&text).map_err(|e| said(&e))
    }
}
