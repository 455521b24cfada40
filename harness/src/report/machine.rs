//! The picture of a machine.

use serde::Serialize;

use super::engine::Engine;
use crate::fault::Result;
use crate::machine::drawing::Drawing;
use crate::machine::topology::Topology;
use crate::terminal::headline;

#[derive(Serialize)]
struct Page {
    drawing: Drawing,
}

/// A machine as an SVG file without a script, light or dark as its reader likes. Equal machines give
/// equal bytes.
///
/// # Errors
/// A user fault if it has more parts than a picture can show.
pub fn machine_svg(topology: &Topology, title: &str) -> Result<String> {
    let drawing = Drawing::of(topology, &headline(title))?;
    Engine::new()?.draw("machine.svg", &Page { drawing })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;
    use crate::machine::hwloc;

    #[test]
    fn a_machine_is_one_well_formed_file_without_a_script() {
        let topology = hwloc::synthetic("pack:2 [numa] l3:1 core:2 pu:2").unwrap();
        let hostile = "a<script>alert(1)</script>&\"'\u{1b}\u{202e}";
        let svg = machine_svg(&topology, hostile).unwrap();
        let document = roxmltree::Document::parse(&svg).unwrap();
        let elements = document.descendants().filter(roxmltree::Node::is_element);
        let names: std::collections::BTreeSet<&str> =
            elements.map(|element| element.tag_name().name()).collect();
        let known = [
            "defs", "path", "pattern", "rect", "style", "svg", "text", "title",
        ];
        assert!(names.iter().eq(known.iter()), "{names:?}");
        let cores = document.descendants();
        let cores = cores.filter(|element| element.attribute("class") == Some("core"));
        assert_eq!(cores.count(), 4);
        assert!(svg.contains("prefers-color-scheme: dark"));
        assert!(!svg.contains("http:") || svg.matches("http:").count() == 1);
        assert_eq!(svg, machine_svg(&topology, hostile).unwrap());
    }
}
