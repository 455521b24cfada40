//! Applies many patches in one process, for `bench/apply`: one job a line of standard input, one
//! outcome a line of standard output, both JSON.
//!
//! ```text
//! apply-batch GIT-DIR
//! {"base": "<commit>", "file": "<mail or diff>", "reversed": false}
//! {"tree": "<oid>", "rungs": ["exact"], "mends": […], "error": null, "already": false, "us": 812}
//! ```
#![allow(
    clippy::unwrap_used,
    reason = "a benchmark: what it is given is its own"
)]

use std::io::{BufRead, Write};
use std::time::Instant;

use git2::{Oid, Repository};
use ktrial_patches::apply::{Applied, ApplyError, apply};
use ktrial_patches::read::read;
use ktrial_patches::{Mend, Patch};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Job {
    base: String,
    file: String,
    reversed: bool,
}

fn main() {
    let git_dir = std::env::args().nth(1).unwrap();
    let repo = Repository::open(git_dir).unwrap();
    for line in std::io::stdin().lock().lines() {
        let job: Job = serde_json::from_str(&line.unwrap()).unwrap();
        let start = Instant::now();
        let mut outcome = match run(&repo, &job) {
            Ok((patches, applied)) => told(&patches, &applied),
            Err((error, already)) => json!({"error": error, "already": already}),
        };
        outcome["us"] = json!(start.elapsed().as_micros() as u64);
        let mut out = std::io::stdout().lock();
        writeln!(out, "{outcome}").unwrap();
    }
}

type Failure = (String, bool);

fn run(repo: &Repository, job: &Job) -> Result<(Vec<Patch>, Applied), Failure> {
    let bytes = std::fs::read(&job.file).unwrap();
    let mut patches = read("patch", &bytes)
        .map_err(|e| (e.to_string(), false))?
        .patches;
    if job.reversed {
        let reversed = patches.iter().rev().map(Patch::reversed);
        patches = reversed
            .collect::<Result<_, _>>()
            .map_err(|e| (e.to_string(), false))?;
    }
    let applied = apply(repo, Oid::from_str(&job.base).unwrap(), &patches).map_err(|e| {
        let already = matches!(
            e,
            ApplyError::AlreadyApplied { .. } | ApplyError::NoChange { .. }
        );
        (e.to_string(), already)
    })?;
    Ok((patches, applied))
}

fn told(patches: &[Patch], applied: &Applied) -> Value {
    let files = || applied.patches.iter().flat_map(|patch| &patch.files);
    let hunks = files().flat_map(|file| &file.hunks);
    let mends = patches.iter().flat_map(|patch| &patch.mends);
    let mends: Vec<Value> = mends
        .chain(files().flat_map(|file| &file.mends))
        .map(mend)
        .collect();
    json!({
        "tree": applied.tree.to_string(),
        "rungs": hunks.map(|hunk| hunk.rung.name()).collect::<Vec<_>>(),
        "named": files().filter(|file| file.named.is_some()).count(),
        "mends": mends,
    })
}

fn mend(mend: &Mend) -> Value {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    json!({
        "kind": mend.kind.name(),
        "path": mend.path,
        "line": mend.line,
        "now": mend.added.as_ref().map(|added| text(&added.now)),
    })
}
