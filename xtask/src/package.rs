//! `package`: the packages of the public crates. The gate checks their metadata and contents; the command also builds every crate
//! from its package.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::workspace::{self, cargo, output, run as run_command};

/// The limit for the compressed size of a package. The largest, cuda-sim's, has 614,000 bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Required fields of a manifest that are texts.
const TEXTS: &[&str] = &["description", "license", "repository", "rust_version", "readme"];
/// Required fields of a manifest that are lists.
const LISTS: &[&str] = &["keywords", "categories", "authors"];

/// Builds each public crate from its package, in the order of their dependencies.
pub(crate) fn run() -> Result<()> {
    check()?;
    run_command(&mut packing(&public(&workspace::metadata()?)))
}

/// Packs each public crate and checks its metadata and contents, without building it.
pub(crate) fn check() -> Result<()> {
    let metadata = workspace::metadata()?;
    let packages = public(&metadata);
    let mut faults: Vec<String> = packages.iter().flat_map(|package| missing_fields(package)).collect();
    output(packing(&packages).arg("--no-verify")).context("cargo cannot package the workspace")?;
    let folder = workspace::root().join("target/package");
    for package in &packages {
        let (name, version) = (text(package, "name"), text(package, "version"));
        let file = folder.join(format!("{name}-{version}.crate"));
        let listed = output(Command::new("tar").args(["--list", "--file"]).arg(&file))?;
        let bytes = file.metadata().with_context(|| format!("{} is missing", file.display()))?.len();
        println!("package.{name} {bytes} B");
        faults.extend(content_faults(name, &listed, bytes));
    }
    ensure!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
    Ok(())
}

/// The packages that may be published.
fn public(metadata: &Value) -> Vec<&Value> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    packages.filter(|package| package["publish"].is_null()).collect()
}

/// The `cargo package` command for these packages, which may have uncommitted changes.
fn packing(packages: &[&Value]) -> Command {
    let mut command = cargo();
    command.args(["package", "--quiet", "--allow-dirty"]);
    for package in packages {
        command.args(["--package", text(package, "name")]);
    }
    command
}

fn text<'a>(package: &'a Value, field: &str) -> &'a str {
    package[field].as_str().unwrap_or_default()
}

/// The fields that a manifest lacks, one line each.
fn missing_fields(package: &Value) -> Vec<String> {
    let texts = TEXTS.iter().filter(|field| text(package, field).is_empty());
    let lists = LISTS.iter().filter(|field| package[**field].as_array().is_none_or(Vec::is_empty));
    let mut faults: Vec<String> =
        texts.chain(lists).map(|field| format!("`{}` has no `{field}`", text(package, "name"))).collect();
    if package["metadata"]["docs"]["rs"]["targets"].is_null() {
        faults.push(format!("`{}` has no `package.metadata.docs.rs.targets`", text(package, "name")));
    }
    faults
}

/// The faults of a package's contents, one line each: missing files, unneeded files, and its size.
fn content_faults(name: &str, listed: &str, bytes: u64) -> Vec<String> {
    let files: Vec<&str> = listed.lines().filter_map(|file| Some(file.split_once('/')?.1)).collect();
    let needed = ["Cargo.toml", "README.md", "LICENSE-APACHE", "LICENSE-MIT", "src/lib.rs"];
    let needed = needed.into_iter().filter(|file| !files.contains(file));
    let mut faults: Vec<String> = needed.map(|file| format!("the package of `{name}` has no {file}")).collect();
    let own = [
        "Cargo.lock",
        "Cargo.toml.orig",
        ".cargo_vcs_info.json",
        "Cargo.toml",
        "README.md",
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "build.rs",
        "history.txt",
    ];
    let other = files.iter().filter(|file| !own.contains(file) && !Path::new(file).starts_with("src"));
    faults.extend(other.map(|file| format!("the package of `{name}` holds {file}, which no build of it needs")));
    if bytes > MAX_BYTES {
        faults.push(format!("the package of `{name}` has {bytes} bytes, more than {MAX_BYTES}"));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package() -> Value {
        serde_json::json!({
            "name": "cuda-x", "publish": null, "description": "x", "license": "MIT", "repository": "r", "rust_version": "1.95",
            "readme": "README.md", "keywords": ["cuda"], "categories": ["science"], "authors": ["a"],
            "metadata": { "docs": { "rs": { "targets": ["x86_64-unknown-linux-gnu"] } } },
        })
    }

    #[test]
    fn missing_fields_of_a_manifest_are_reported() {
        assert_eq!(missing_fields(&package()), Vec::<String>::new());
        let mut package = package();
        package["readme"] = Value::Null;
        package["keywords"] = serde_json::json!([]);
        package["metadata"] = Value::Null;
        assert_eq!(
            missing_fields(&package),
            [
                "`cuda-x` has no `readme`",
                "`cuda-x` has no `keywords`",
                "`cuda-x` has no `package.metadata.docs.rs.targets`",
            ]
        );
    }

    #[test]
    fn a_package_that_may_not_be_published_is_skipped() {
        let mut private = package();
        private["publish"] = serde_json::json!([]);
        let metadata = serde_json::json!({ "packages": [private, package()] });
        assert_eq!(public(&metadata), [&package()]);
    }

    #[test]
    fn a_package_with_tests_or_without_its_readme_is_reported() {
        let licences = "x-1/LICENSE-APACHE\nx-1/LICENSE-MIT\n";
        let whole =
            format!("{licences}x-1/Cargo.toml\nx-1/README.md\nx-1/src/lib.rs\nx-1/src/a/b.rs\nx-1/Cargo.toml.orig\n");
        let whole = whole.as_str();
        assert_eq!(content_faults("x", whole, 100), Vec::<String>::new());
        let other = "x-1/Cargo.toml\nx-1/LICENSE-MIT\nx-1/src/lib.rs\nx-1/tests/main.rs\n";
        assert_eq!(
            content_faults("x", other, 100),
            [
                "the package of `x` has no README.md",
                "the package of `x` has no LICENSE-APACHE",
                "the package of `x` holds tests/main.rs, which no build of it needs"
            ]
        );
        assert_eq!(content_faults("x", whole, 3 << 20), ["the package of `x` has 3145728 bytes, more than 1048576"]);
    }
}
