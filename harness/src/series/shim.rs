//! Stands in for `Series::from_bytes` and `catalogue::import::write` of ktrial-patches until they
//! are merged; then it goes.

use std::path::Path;

use ktrial_patches::catalogue::{MANIFEST, Series, SeriesError};

use crate::fault::{OrHost, Result};

pub(super) fn from_bytes(name: &str, bytes: &[u8]) -> std::result::Result<Series, SeriesError> {
    let io = |source| SeriesError::Io {
        path: name.into(),
        source,
    };
    let folder = tempfile::tempdir().map_err(io)?;
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).map_err(io)?;
    Series::from_patch_file(&path)
}

pub(super) fn write(series: &Series, folder: &Path) -> Result<()> {
    let doing = || format!("write {}", folder.display());
    std::fs::create_dir_all(folder).or_host(doing)?;
    let mut names = Vec::new();
    for (number, patch) in (1..).zip(series.own_patches()) {
        let name = format!("{number:04}.patch");
        std::fs::write(folder.join(&name), &patch.source).or_host(doing)?;
        names.push(name);
    }
    let system = series.system.map(|system| system.to_string());
    let text = |text: &str| toml::Value::from(text).to_string();
    let manifest = format!(
        "title = {}\nsystem = {}\npatches = {}\n",
        text(&series.title),
        text(&system.unwrap_or_default()),
        toml::Value::from(names)
    );
    std::fs::write(folder.join(MANIFEST), manifest).or_host(doing)
}
