//! An mbox of mails made for a test, and the series that came of it.

use ktrial_patches::read::{LeftOut, ReadError, Reading, Reason, read};

pub const DIFF: &str = "diff --git a/f b/f\nindex 01e79c3..0b66db1 100644\n--- a/f\n+++ b/f\n\
    @@ -1,3 +1,3 @@ heading\n 1\n-2\n+two\n 3\n";

/// A mail of an mbox, ten header and blank lines long.
#[derive(Default)]
pub struct Mail<'a> {
    pub subject: &'a str,
    pub id: &'a str,
    pub answers: &'a str,
    /// Hours after the first of January 2015.
    pub hour: u32,
    /// What it adds; no diff where it is empty.
    pub adds: &'a str,
    pub text: &'a str,
}

impl Mail<'_> {
    fn written(&self) -> String {
        let Mail {
            subject,
            id,
            answers,
            hour,
            adds,
            text,
        } = self;
        let mut ids = String::new();
        if !id.is_empty() {
            ids += &format!("Message-ID: <{id}@x>\n");
        }
        if !answers.is_empty() {
            ids += &format!("In-Reply-To: <{answers}@x>\nReferences: <{answers}@x>\n");
        }
        let diff = match *adds {
            "" => String::new(),
            adds => format!("---\n{}", DIFF.replace("two", adds)),
        };
        format!(
            "From mboxrd@z Thu Jan  1 00:00:00 1970\nFrom: A <a@example.org>\nSubject: {subject}\n{ids}\
             Date: Thu, 1 Jan 2015 {hour:02}:00:00 +0000\n\n{text}\n{diff}-- \n2.4\n\n"
        )
    }
}

/// A patch with this subject, which is told from others by what it adds.
pub fn patch<'a>(subject: &'a str, adds: &'a str) -> Mail<'a> {
    Mail {
        subject,
        adds,
        ..Mail::default()
    }
}

/// A mail without a diff.
pub fn letter(subject: &str) -> Mail<'_> {
    patch(subject, "")
}

pub fn mbox(mails: &[Mail]) -> String {
    mails.iter().map(Mail::written).collect()
}

pub fn sorted(mails: &[Mail]) -> Reading {
    read("m", mbox(mails).as_bytes()).unwrap()
}

pub fn refused(mails: &[Mail]) -> ReadError {
    read("m", mbox(mails).as_bytes()).unwrap_err()
}

/// What the patches add, in their order.
pub fn added(reading: &Reading) -> Vec<String> {
    let line = |patch: &ktrial_patches::Patch| {
        let bytes = &patch.files[0].hunks[0].lines[2].bytes;
        String::from_utf8(bytes.clone())
            .unwrap()
            .trim_end()
            .to_owned()
    };
    reading.patches.iter().map(line).collect()
}

pub fn left_out(reading: &Reading) -> Vec<(&str, Reason)> {
    let mut both = Vec::new();
    for LeftOut { subject, why, .. } in &reading.left_out {
        both.push((subject.as_str(), *why));
    }
    both
}
