//! Who a patch's commit is by, and of when.

use git2::{Signature, Time};

use crate::{Date, Header, Person};

/// Author and committer. The committer's clock is the author's, or the base
/// commit's where the patch has no date.
pub(super) fn signatures(
    header: &Header,
    fallback: Time,
) -> Result<(Signature<'static>, Signature<'static>), git2::Error> {
    let time = header.date.map_or(fallback, |date: Date| {
        let offset = date.offset_minutes;
        // No zone is further than this from Greenwich.
        let offset = if offset.abs() <= 14 * 60 { offset } else { 0 };
        Time::new(date.seconds, offset)
    });
    let committer = Signature::new("ktrial", "ktrial@localhost", &time)?;
    let author = match &header.author {
        Some(Person { name, email }) => Signature::new(&plain(name), &plain(email), &time)?,
        None => committer.clone(),
    };
    Ok((author, committer))
}

/// What git lets stand in a name or an address.
fn plain(text: &str) -> String {
    let kept = |c: &char| !c.is_control() && !matches!(c, '<' | '>');
    let text: String = text.chars().filter(kept).collect();
    match text.trim() {
        "" => "unknown".to_owned(),
        text => text.to_owned(),
    }
}
