//! What the bench is asked for.

use std::path::PathBuf;

pub struct Options {
    pub seed: u64,
    /// Series a row.
    pub series: usize,
    /// Series a row for apache-otava, which is slow.
    pub peer_series: usize,
    pub calibrate: bool,
    /// A Python that has apache-otava.
    pub python: Option<PathBuf>,
    pub otava_version: String,
    /// Where the series are written for it.
    pub folder: PathBuf,
}

impl Options {
    pub fn read() -> Result<Options, String> {
        let mut options = Options {
            // The table of penalties was made with 1.
            seed: 2,
            series: 20_000,
            peer_series: 2_000,
            calibrate: false,
            python: None,
            otava_version: String::new(),
            folder: std::env::temp_dir(),
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} wants a value"));
            let number = |text: String| text.parse::<u64>().map_err(|e| format!("{text}: {e}"));
            match word.as_str() {
                "--seed" => options.seed = number(value()?)?,
                "--series" => options.series = number(value()?)?.max(10) as usize,
                "--peer-series" => options.peer_series = number(value()?)?.max(1) as usize,
                "--calibrate" => options.calibrate = true,
                "--python" => options.python = Some(value()?.into()),
                "--otava" => options.otava_version = value()?,
                "--folder" => options.folder = value()?.into(),
                _ => return Err(format!("{word} is no option")),
            }
        }
        Ok(options)
    }
}
