//! The report: a static site drawn from what is stored, for people to browse.
//!
//! One direction: a [`record`] is read from the database, [`figures`] sorts its samples by boot,
//! [`trial`] and [`index`] say what a page shows, and the templates say how. Pages hold no script,
//! ask for nothing from elsewhere, and equal data give equal bytes. Flame graphs are files beside
//! them, with a script to zoom and search; a page shows them as pictures, in which none runs.
//!
//! Text from a patch or a guest is hostile until [`engine`] has escaped it, which happens where it
//! is inserted and nowhere else.

mod boots;
mod chart;
mod counted;
mod engine;
mod export;
mod figures;
mod forest;
mod format;
mod host;
mod index;
mod kernels;
mod machine;
mod profiles;
mod record;
mod site;
mod text;
mod trial;
mod verdict;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use ktrial_db::{Db, TrialId};

use crate::fault::Result;
use engine::Engine;
use index::{IndexPage, TrialLine};
use record::Record;
use site::Site;

pub use machine::machine_svg;

/// Writes the site of every trial in `db` into the folder `out`, which is made if there is none,
/// and returns the path of its front page. Files of the same names are replaced, each in one step;
/// those that did not change, and all others in the folder, are left alone.
///
/// # Errors
/// A host fault if the database can't be read or the folder can't be written.
pub fn write(db: &Db, out: &Path) -> Result<PathBuf> {
    let engine = Engine::new()?;
    let site = Site::open(out)?;
    site.put(engine::STYLE, engine::style()?)?;
    let mut trials = Vec::new();
    for summary in db.trials()? {
        trials.extend(write_trial(db, summary.id, &engine, &site)?);
    }
    let page = engine.draw("index.html", &IndexPage { trials })?;
    site.put("index.html", page.as_bytes())
}

/// Writes one trial's page and the files that it links to; returns its line of the front page.
fn write_trial(db: &Db, id: TrialId, engine: &Engine, site: &Site) -> Result<Option<TrialLine>> {
    let record = Record::read(db, id)?;
    let (page, extras) = trial::page(db, &record)?;
    for extra in extras {
        site.put(&extra.name, &extra.bytes)?;
    }
    site.put(&format!("trial-{id}.csv"), export::csv(&record).as_bytes())?;
    site.put(
        &format!("trial-{id}.json"),
        export::json(&record).as_bytes(),
    )?;
    let page = engine.draw("trial.html", &page)?;
    site.put(&format!("trial-{id}.html"), page.as_bytes())?;
    Ok(TrialLine::of(&record))
}
