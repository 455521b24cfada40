//! The templates, and the one place where text from a patch or a guest is made harmless.

use std::io::{self, Write};

use include_dir::{Dir, DirEntry, include_dir};
use serde::Serialize;
use tera::{Context, Tera};

use super::text;
use crate::fault::{Fault, OrHost, Result};

/// The folder `templates/`: templates and the style sheet.
static FILES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../templates");

/// Suffixes of templates. In every one of them what is inserted is escaped; Tera decides by these
/// suffixes, so a file with any other one is no template.
const TEMPLATES: [&str; 2] = [".html", ".svg"];

/// The style sheet's name, in `templates/` and in the site.
pub(super) const STYLE: &str = "style.css";

/// Templates ready to be filled in.
pub(super) struct Engine(Tera);

impl Engine {
    /// Reads every template.
    ///
    /// # Errors
    /// A host fault if one has a mistake, which the tests rule out.
    pub(super) fn new() -> Result<Engine> {
        let mut tera = Tera::new();
        tera.autoescape_on(TEMPLATES);
        tera.set_escape_fn(escape);
        tera.add_raw_templates(templates(&FILES))
            .or_host(|| "read the report's templates".into())?;
        Ok(Engine(tera))
    }

    /// Fills in one template.
    ///
    /// # Errors
    /// A host fault if the template asks for something that `page` does not have.
    pub(super) fn draw(&self, template: &str, page: &impl Serialize) -> Result<String> {
        let doing = || format!("draw the report's {template}");
        let context = Context::from_serialize(page).or_host(doing)?;
        self.0.render(template, &context).or_host(doing)
    }
}

/// The style sheet.
///
/// # Errors
/// A host fault if it is missing, which the tests rule out.
pub(super) fn style() -> Result<&'static [u8]> {
    FILES
        .get_file(STYLE)
        .map(|file| file.contents())
        .ok_or_else(|| Fault::host(format!("ktrial was built without templates/{STYLE}")))
}

fn templates(folder: &'static Dir<'static>) -> Vec<(&'static str, &'static str)> {
    let mut found = Vec::new();
    for entry in folder.entries() {
        match entry {
            DirEntry::Dir(inner) => found.extend(templates(inner)),
            DirEntry::File(file) => {
                let name = file.path().to_str().unwrap_or_default();
                if TEMPLATES.iter().any(|suffix| name.ends_with(suffix)) {
                    found.push((name, file.contents_utf8().unwrap_or_default()));
                }
            }
        }
    }
    found
}

/// Escapes for HTML and XML, and shows what is invisible: a NUL, an escape sequence or a mark that
/// turns the direction of text is data that someone may have put there to deceive.
fn escape(input: &str, out: &mut dyn Write) -> io::Result<()> {
    tera::escape_html(&text::visible(input), out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Page {
        hostile: &'static str,
    }

    #[test]
    fn what_is_inserted_is_escaped_under_every_suffix() {
        for suffix in TEMPLATES {
            let mut engine = Engine::new().unwrap();
            let name = format!("test{suffix}");
            let template = "<t a=\"{{ hostile }}\">{{ hostile }}</t>";
            engine.0.add_raw_template(&name, template).unwrap();
            let hostile = "</pre><script>alert(1)</script>&\"'\0\u{1b}[31m\u{202e}";
            let drawn = engine.draw(&name, &Page { hostile }).unwrap();
            let harmless = "&lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;&#39;\
                            ^@^[[31m\u{27e8}U+202E\u{27e9}";
            assert_eq!(
                drawn,
                format!("<t a=\"{harmless}\">{harmless}</t>"),
                "{suffix}"
            );
        }
    }

    #[test]
    fn no_template_opts_out_of_escaping_and_no_file_is_of_an_unknown_kind() {
        for (name, text) in templates(&FILES) {
            assert!(!text.contains("safe"), "{name}");
        }
        let known = |name: &str| name == STYLE || TEMPLATES.iter().any(|s| name.ends_with(s));
        let mut folders = vec![&FILES];
        while let Some(folder) = folders.pop() {
            folders.extend(folder.dirs());
            for file in folder.files() {
                assert!(known(file.path().to_str().unwrap()), "{:?}", file.path());
            }
        }
    }

    #[test]
    fn a_template_that_asks_for_what_is_not_there_fails() {
        let fault = Engine::new()
            .unwrap()
            .draw("trial.html", &Page { hostile: "" })
            .unwrap_err();
        assert_eq!(fault.at, crate::fault::At::Host);
        assert!(fault.to_string().contains("trial.html"), "{fault}");
    }
}
