//! Which system's kernel a tree is, and which version: read from the files that its own build reads.

use ktrial_patches::catalogue::System;

/// What is at a tree's top when it is one that ktrial knows.
pub(super) const EXPECTED: &str = "at its top should be a Kbuild and a Makefile that sets VERSION and \
                                   PATCHLEVEL (Linux), or a sys/conf/newvers.sh (FreeBSD, DragonFly)";

/// The system as its own people write it.
pub fn proper_name(system: System) -> &'static str {
    match system {
        System::Linux => "Linux",
        System::FreeBsd => "FreeBSD",
        System::DragonFly => "DragonFly",
    }
}

/// System and version of a tree whose files `read` gives; the version is empty where the tree
/// leaves it to its build.
pub(super) fn identify(read: impl Fn(&str) -> Option<Vec<u8>>) -> Option<(System, String)> {
    let text = |path: &str| read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    if text("Kbuild").is_some() {
        let version = text("Makefile").and_then(|makefile| linux_version(&makefile));
        return version.map(|version| (System::Linux, version));
    }
    bsd(&text("sys/conf/newvers.sh")?)
}

/// `6.1.192` from the first lines of a Linux Makefile.
fn linux_version(makefile: &str) -> Option<String> {
    let value = |key: &str| {
        makefile.lines().take(12).find_map(|line| {
            let (name, value) = line.split_once('=')?;
            (name.trim() == key).then(|| value.trim().to_owned())
        })
    };
    let parts = [value("VERSION")?, value("PATCHLEVEL")?];
    let sublevel = value("SUBLEVEL").filter(|s| !s.is_empty() && s != "0");
    let extra = value("EXTRAVERSION").unwrap_or_default();
    let numbers: Vec<String> = parts.into_iter().chain(sublevel).collect();
    Some(format!("{}{extra}", numbers.join(".")))
}

/// System and version from the script that names a BSD kernel.
fn bsd(newvers: &str) -> Option<(System, String)> {
    let system = match value(newvers, "TYPE")? {
        "FreeBSD" => System::FreeBsd,
        "DragonFly" => System::DragonFly,
        _ => return None,
    };
    let (revision, branch) = (value(newvers, "REVISION"), value(newvers, "BRANCH"));
    let version = match (revision, branch) {
        (Some(revision), Some(branch)) => format!("{revision}-{branch}"),
        // DragonFly cuts `DEVELOPMENT_5_9` into branch and revision.
        (None, Some(branch)) if system == System::DragonFly => match branch.split_once('_') {
            Some((branch, revision)) => format!("{}-{branch}", revision.replace('_', ".")),
            None => branch.to_owned(),
        },
        _ => String::new(),
    };
    Some((system, version))
}

/// What a shell script assigns to `name` first, where that is a plain word in double quotes.
fn value<'a>(script: &'a str, name: &str) -> Option<&'a str> {
    let assigned = |line: &'a str| {
        line.strip_prefix(name)?
            .strip_prefix("=\"")?
            .split_once('"')
    };
    let values = script.lines().filter_map(assigned);
    let plain = |value: &&str| !value.is_empty() && !value.contains(['$', '`', '\\']);
    values.map(|(value, _)| value).find(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_one_that_make_kernelversion_prints() {
        let makefile = "# SPDX-License-Identifier: GPL-2.0\nVERSION = 6\nPATCHLEVEL = 1\nSUBLEVEL = 192\nEXTRAVERSION =\nNAME = Curry Ramen\n";
        assert_eq!(linux_version(makefile).as_deref(), Some("6.1.192"));
        let rc = "VERSION = 7\nPATCHLEVEL = 0\nSUBLEVEL = 0\nEXTRAVERSION = -rc3\n";
        assert_eq!(linux_version(rc).as_deref(), Some("7.0-rc3"));
        assert_eq!(linux_version("all:\n\tcc x.c\n"), None);
    }

    /// The assignments as they stand in the scripts of FreeBSD 15.1, DragonFly 5.9 and 1.0, with
    /// what `uname -r` says of those systems.
    #[test]
    fn a_bsd_is_called_as_uname_calls_it() {
        let freebsd = "unset LC_ALL\nTYPE=\"FreeBSD\"\nREVISION=\"15.1\"\nBRANCH=\"RELEASE-p1\"\n\
                       if [ -n \"${BRANCH_OVERRIDE}\" ]; then\n\tBRANCH=${BRANCH_OVERRIDE}\nfi\n\
                       RELEASE=\"${REVISION}-${BRANCH}\"\n";
        let dragonfly = "BRANCH=\"DEVELOPMENT_5_9\"\n\nTYPE=\"DragonFly\"\n\
                         REVISION=${BRANCH#*_}\nBRANCH=${BRANCH%%_*}\n\
                         RELEASE=\"${REVISION}-${BRANCH}\"\n";
        let old = "TYPE=\"DragonFly\"\nREVISION=\"1.0\"\nBRANCH=\"RC1\"\n";
        let computed = "BRANCH=$(echo $tag | awk '{ print $2; }')\nTYPE=\"DragonFly\"\n";
        for (script, system, version) in [
            (freebsd, System::FreeBsd, "15.1-RELEASE-p1"),
            (dragonfly, System::DragonFly, "5.9-DEVELOPMENT"),
            (old, System::DragonFly, "1.0-RC1"),
            (computed, System::DragonFly, ""),
        ] {
            assert_eq!(bsd(script), Some((system, version.to_owned())));
        }
        assert_eq!(bsd("TYPE=\"NetBSD\"\nREVISION=\"10\"\n"), None);
    }

    #[test]
    fn a_linux_tree_has_a_kbuild_and_a_version() {
        let tree = |kbuild: bool, makefile: &'static str| {
            identify(move |path| match path {
                "Kbuild" => kbuild.then(Vec::new),
                "Makefile" => Some(makefile.into()),
                _ => None,
            })
        };
        let makefile = "VERSION = 4\nPATCHLEVEL = 4\nSUBLEVEL = 0\n";
        assert_eq!(tree(true, makefile), Some((System::Linux, "4.4".into())));
        assert_eq!(tree(false, makefile), None);
        assert_eq!(tree(true, "all:\n"), None);
    }
}
