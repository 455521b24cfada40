//! Saved web pages, in the shapes of the archives that kernel people use.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use ktrial_patches::read::{ReadErrorKind, read};
use ktrial_patches::{MendKind, Patch, Person};

fn one(page: &str) -> Patch {
    let mut patches = read("p", page.as_bytes()).unwrap().patches;
    assert_eq!(patches.len(), 1);
    patches.remove(0)
}

fn refused(page: &str) -> String {
    read("p", page.as_bytes()).unwrap_err().to_string()
}

fn person(name: &str, email: &str) -> Option<Person> {
    let (name, email) = (name.to_owned(), email.to_owned());
    Some(Person { name, email })
}

fn lines(patch: &Patch) -> Vec<&str> {
    let lines = &patch.files[0].hunks[0].lines;
    let texts = lines.iter().map(|line| std::str::from_utf8(&line.bytes));
    texts.map(Result::unwrap).collect()
}

/// public-inbox: the header and the text in one `<pre>`, tags broken over lines.
const LORE: &str = "<html><head><title>[PATCH v2] f: include &amp; more - Jane Doe</title>
<style>pre{white-space:pre-wrap}</style></head><body><form
action=\"../\"><pre><a
href=\"../?t=1\">linux-kernel.vger.kernel.org archive mirror</a>
 <a href=../_/text/help/>help</a></pre></form><pre
id=b>From: Jane Doe &lt;jane@example.org&gt;
To: linux-kernel@vger.kernel.org
Subject: <a
href=\"#r\"
id=t>[PATCH v2] f: include &amp; more</a>
Date: Thu, 29 Oct 2015 05:35:19 -0700\t<a
href=\"#r\">[thread overview]</a>
Message-ID: &lt;1@example.org&gt; (<a
href=\"raw\">raw</a>)

Because a &lt; b.

Signed-off-by: Jane Doe &lt;jane@example.org&gt;
---
 <a
href=\"#iZ1\"
id=iZ2>f</a> | 2 +-

<span
class=\"head\"><a
href=\"#iZ2\"
id=iZ1>diff</a> --git a/f b/f
index 01e79c3..0b66db1 100644
--- a/f
+++ b/f
</span><span
class=\"hunk\">@@ -1,3 +1,3 @@ heading
</span> 1
<span
class=\"del\">-2
</span><span
class=\"add\">+#include &lt;a.h&gt; /* &#34;&amp;amp;&#x27; */
</span> \t3
-- 
2.47.3

</pre><hr><pre
id=R>reply instructions:
  --- a
</pre></body></html>
";

#[test]
fn a_mail_of_public_inbox() {
    let patch = one(LORE);
    let header = &patch.header;
    assert_eq!(header.subject, "f: include & more");
    assert_eq!(header.author, person("Jane Doe", "jane@example.org"));
    // `date -d 'Thu, 29 Oct 2015 05:35:19 -0700' +%s`
    assert_eq!(header.date.map(|date| date.seconds), Some(1_446_122_119));
    assert_eq!(
        header.message,
        "Because a < b.\n\nSigned-off-by: Jane Doe <jane@example.org>"
    );
    assert_eq!(
        lines(&patch),
        ["1\n", "2\n", "#include <a.h> /* \"&amp;' */\n", "\t3\n"]
    );
    assert_eq!(patch.mends[0].kind, MendKind::Page);
    assert_eq!(patch.source, LORE.as_bytes());
    // Lines of errors are those of the page.
    let bad = LORE.replace("@@ -1,3 +1,3 @@ heading", "@@ -1,x +1,3 @@");
    let line = 1 + bad.lines().position(|l| l.contains("-1,x")).unwrap();
    assert_eq!(read("p", bad.as_bytes()).unwrap_err().line, line);
}

#[test]
fn a_mail_of_marc_info() {
    let page = "\n<!DOCTYPE HTML PUBLIC \"-//W3C//DTD HTML 4.0 Transitional//EN\">\n<html>\n<head>\n\
        <title>'[PATCH] f: two' - MARC</title></head><body><pre>\n<b><font size=\"+1\">\n\
        [<a href=\"?l=linux-kernel\">prev in list</a>] [next in list]\n</font></b>\n</pre><pre>\n\
        <b><font>List:       <a href=\"?l=linux-kernel\">linux-kernel</a>\n\
        Subject:    <a href=\"?t=1\">[PATCH] f: two</a>\n\
        From:       <a href=\"?a=1\">Jane Doe &lt;jane () example ! org&gt;</a>\n\
        Date:       <a href=\"?l=1\">2015-10-29 12:35:19</a>\n\
        Message-ID: <a href=\"?i=1\">1 () example ! org</a></font>\n[Download RAW message or body]</b>\n\n\
        Why.\n\n--- a/f\t2015-10-29\n+++ b/f\t2015-10-30\n@@ -1,2 +1,2 @@\n 1\n-2\n+two\n</pre></body></html>\n";
    let patch = one(page);
    assert_eq!(patch.header.subject, "f: two");
    assert_eq!(patch.header.author, person("Jane Doe", "jane@example.org"));
    assert_eq!(patch.header.message, "Why.");
    assert_eq!(lines(&patch), ["1\n", "2\n", "two\n"]);
}

#[test]
fn a_mail_of_mail_archive() {
    // MHonArc: the header is outside, the subject is the title; `<x.h>` unescaped.
    let page = "<!DOCTYPE html>\r\n<html lang=\"en\">\r\n<head>\r\n<title>[PATCH 1/1] f:\r\n two</title>\r\n\
        </head>\r\n<body>\r\n<!--X-Body-of-Message-->\r\n<div class=\"msgBody\"><pre>Why.\r\n---\r\n\
        --- a/f\r\n+++ b/f\r\n@@ -1 +1,2 @@\r\n&nbsp;1\r\n+#include <x.h>\r\n\r\n</pre></div>\r\n</body></html>\r\n";
    let patch = one(page);
    assert_eq!(patch.header.subject, "f: two");
    assert_eq!(patch.header.message, "Why.");
    assert!(patch.files[0].carriage_returns);
    assert!(lines(&patch)[1].starts_with("#include <x.h>"));
}

#[test]
fn pages_without_a_patch_as_text() {
    let cgit = "<!DOCTYPE html>\n<html lang='en'>\n<head>\n<meta name='generator' content='cgit v1.2.3'/>\n</head>\n\
        <body>\n<div id='cgit'><table summary='diff' class='diff'><tr><td><div class='head'>diff --git a/f b/f<br/>\
        </div><div class='hunk'>@@ -1 +1 @@</div><div class='del'>-1</div></td></tr></table></div></body></html>\n";
    assert_eq!(
        refused(cgit),
        "p:1: cgit's page of a commit can't be read; save its `/patch/?id=…` link instead"
    );
    let other = refused("<html><body><pre>Hello.</pre></body></html>");
    assert!(
        other.contains("a web page without a diff in a `<pre>`"),
        "{other}"
    );
    let thread = "<html><body><pre>Subject: a\n\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+2\n</pre>\n\
        <pre>Subject: b\n\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-2\n+3\n</pre></body></html>";
    let several = read("p", thread.as_bytes()).unwrap_err();
    assert!(several.to_string().contains("several patches"), "{several}");
    assert_eq!(several.line, 9);
}

#[test]
fn tags_and_entities_that_are_none() {
    let page = "<html><pre>--- a/f\n+++ b/f\n@@ -0,0 +1,5 @@\n+if (a<b && c <d) e &= f; g&h;\n\
        +&unknown; &#xffffffff; &\n+<!-- kept? -->x<b>y</b>\n+a << 1 <\n+<br>\n</pre>";
    assert_eq!(
        lines(&one(page))[..4],
        [
            "if (a<b && c <d) e &= f; g&h;\n",
            "&unknown; \u{fffd} &\n",
            "xy\n",
            "a << 1 <\n",
        ]
    );
}

#[test]
fn a_hostile_page_is_read_in_bounded_time() {
    for text in [
        "<a ",
        "<a \"",
        "<!--",
        "&",
        "&#",
        "<",
        "<pre>",
        "<a '\"><b \"'>",
    ] {
        let page = format!("<html>{}", text.repeat(1_000_000 / text.len()));
        let error = read("p", page.as_bytes()).unwrap_err();
        assert!(
            matches!(error.kind, ReadErrorKind::Unsupported { .. }),
            "{error}"
        );
    }
}
