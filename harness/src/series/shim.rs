//! Stands in for what ktrial-patches is about to have, by the same names: `Series::from_bytes`,
//! `Series::fits`, `catalogue::Fit`, `catalogue::import::write`. When that is merged, this goes.

use std::path::Path;

use git2::{Oid, Repository};
use ktrial_patches::apply::{ApplyError, apply};
use ktrial_patches::catalogue::{MANIFEST, Series, SeriesError, System};
use ktrial_patches::history::ResolveError;

pub(super) fn from_bytes(name: &str, bytes: &[u8]) -> Result<Series, SeriesError> {
    let io = |source| SeriesError::Io {
        path: name.into(),
        source,
    };
    let folder = tempfile::tempdir().map_err(io)?;
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).map_err(io)?;
    Series::from_patch_file(&path)
}

pub(super) enum Fit {
    Applies(String),
    DoesNotApply(String),
    NeedsHistory(String),
    OtherSystem(System),
}

pub(super) fn fits(
    series: &Series,
    system: Option<System>,
    repo: &Repository,
    tip: Oid,
) -> Result<Fit, git2::Error> {
    match (series.system, system) {
        (Some(own), Some(other)) if own != other => return Ok(Fit::OtherSystem(own)),
        _ => {}
    }
    let patches = match series.patches(repo, tip) {
        Ok(patches) => patches,
        Err(SeriesError::Resolve(error @ ResolveError::NotFound { .. })) => {
            return Ok(Fit::NeedsHistory(error.to_string()));
        }
        Err(error) => return Ok(Fit::DoesNotApply(error.to_string())),
    };
    match apply(repo, tip, &patches) {
        Ok(_) => Ok(Fit::Applies("exactly".to_owned())),
        Err(ApplyError::Repository(error)) => Err(error),
        Err(error) => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            Ok(Fit::DoesNotApply(first.to_owned()))
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub(super) enum ImportError {
    #[error("{} is there already; name a folder that is not", path.display())]
    Exists { path: std::path::PathBuf },
    #[error("the series can't be kept as a folder: {0}")]
    Unreadable(#[from] SeriesError),
    #[error("{} can't be written: {source}", path.display())]
    Io {
        path: std::path::PathBuf,
        source: std::io::Error,
    },
}

pub(super) fn write(series: &Series, folder: &Path) -> Result<Series, ImportError> {
    let path = folder.to_owned();
    if folder.symlink_metadata().is_ok() {
        return Err(ImportError::Exists { path });
    }
    let io = |source| ImportError::Io {
        path: path.clone(),
        source,
    };
    std::fs::create_dir_all(folder).map_err(io)?;
    let mut names = Vec::new();
    for (number, patch) in (1..).zip(series.own_patches()) {
        let name = format!("{number:04}.patch");
        std::fs::write(folder.join(&name), &patch.source).map_err(io)?;
        names.push(name);
    }
    let system = series.system.map_or("linux".into(), |s| s.to_string());
    let text = |text: &str| toml::Value::from(text).to_string();
    let manifest = format!(
        "title = {}\nsystem = {}\npatches = {}\n",
        text(&series.title),
        text(&system),
        toml::Value::from(names)
    );
    std::fs::write(folder.join(MANIFEST), manifest).map_err(io)?;
    Ok(Series::open(folder)?)
}
