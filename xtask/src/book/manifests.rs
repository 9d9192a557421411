//! The lines of `Cargo.toml` that the book and the READMEs show, held against the project's manifests: their versions are those that the
//! project is built with, and their paths are crates of it. It does not check features.

use std::collections::{BTreeMap, BTreeSet};

/// The folder in which the pages take a clone of the project to be.
const CLONE: &str = "../cuda-stack/";

/// The places of all dependencies that are not the project's.
pub(super) fn faults(files: &[(String, String)]) -> Vec<String> {
    let used = used(files);
    let mut faults = Vec::new();
    for (name, text) in super::documents(files) {
        for (at, line) in shown(text) {
            let Some((package, rest)) = dependency(line) else { continue };
            if let (Some(version), Some(versions)) = (version(rest), used.get(package))
                && !versions.contains(version)
            {
                let versions: Vec<&str> = versions.iter().copied().collect();
                faults.push(format!("{name}:{at}: {package} {version}, and the project uses {}", versions.join(", ")));
            }
            if let Some(path) = quoted(rest, "path = ").and_then(|path| path.strip_prefix(CLONE)) {
                let manifest = format!("{path}/Cargo.toml");
                if !files.iter().any(|(file, _)| *file == manifest) {
                    faults.push(format!("{name}:{at}: there is no {manifest}"));
                }
            }
        }
    }
    faults
}

/// The versions of each package that the project's manifests name.
fn used(files: &[(String, String)]) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut used = BTreeMap::<&str, BTreeSet<&str>>::new();
    for (_, text) in files.iter().filter(|(name, _)| name.ends_with("Cargo.toml")) {
        for (package, rest) in text.lines().filter_map(dependency) {
            if let Some(version) = version(rest) {
                used.entry(package).or_default().insert(version);
            }
        }
    }
    used
}

/// The numbered lines of a page's blocks of TOML.
fn shown(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_toml = false;
    text.lines().enumerate().filter_map(move |(at, line)| {
        if line.starts_with("```") {
            is_toml = line == "```toml";
            return None;
        }
        is_toml.then_some((at + 1, line))
    })
}

/// The package of `package = "1.2"` or `package = { .. }`, and what follows the equals sign.
fn dependency(line: &str) -> Option<(&str, &str)> {
    let (package, rest) = line.split_once(" = ")?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (!package.is_empty() && package.chars().all(is_name) && rest.starts_with(['"', '{'])).then_some((package, rest))
}

/// The version of a dependency, unless it has a path alone.
fn version(rest: &str) -> Option<&str> {
    let plain = rest.strip_prefix('"').and_then(|rest| rest.split('"').next());
    plain.or_else(|| quoted(rest, "version = "))
}

/// The text in quotes that follows `key`.
fn quoted<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.split_once(key)?.1.strip_prefix('"')?.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, text: &str) -> (String, String) {
        (name.to_owned(), text.to_owned())
    }

    #[test]
    fn dependencies_are_those_of_the_project() {
        let root =
            "[workspace.dependencies]\nndarray = { version = \"0.17\", default-features = false }\nanyhow = \"1\"\n";
        let page = "```toml\n[dependencies]\nndarray = \"0.17\"\nanyhow = { version = \"1\" }\nunknown = \"7\"\n\
                    a = { path = \"../cuda-stack/a\" }\n```\n\n```text\nndarray = \"0.16\"\n```\n";
        let files = |page: &str| [file("Cargo.toml", root), file("a/Cargo.toml", ""), file("README.md", page)];
        assert_eq!(faults(&files(page)), [""; 0]);
        let stale = page.replacen("0.17", "0.16", 1).replace("\"../cuda-stack/a\"", "\"../cuda-stack/b\"");
        assert_eq!(
            faults(&files(&stale)),
            ["README.md:3: ndarray 0.16, and the project uses 0.17", "README.md:6: there is no b/Cargo.toml"]
        );
    }
}
