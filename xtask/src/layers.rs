//! The direction of dependencies between packages, and the packages that may depend on certain libraries.
//!
//! The arrows are those of the architecture: `sys <- driver <- mem <- jit <- prelude`, `sys, llvm <- sim <- prelude`, and within
//! the JIT `kir, syntax <- lang <- compiler <- jit` and `llvm <- compiler`. The crates of `interop/` depend on `mem`. The packages at the top (tests, examples, benches) may
//! depend on every package, and no package below on them. `cuda-nccl` depends on `mem`. Development dependencies are not arrows, since examples in
//! documentation run on the software device.

use serde_json::Value;

/// A package and the packages of the workspace that it may depend on.
const ARROWS: &[(&str, &[&str])] = &[
    ("cuda-sys", &["cuda-sys-gen"]),
    ("cuda-sys-gen", &[]),
    ("cuda-driver", &["cuda-sys"]),
    ("cuda-mem", &["cuda-sys", "cuda-driver", "cuda-mem-element"]),
    ("cuda-mem-element", &[]),
    ("cuda-nccl", &["cuda-sys", "cuda-driver", "cuda-mem"]),
    ("cuda-llvm", &[]),
    (
        "cuda-jit",
        &[
            "cuda-sys",
            "cuda-driver",
            "cuda-mem",
            "cuda-llvm",
            "cuda-jit-cache",
            "cuda-jit-compiler",
            "cuda-jit-kir",
            "cuda-jit-lang",
            "cuda-jit-macros",
            "cuda-jit-syntax",
        ],
    ),
    ("cuda-jit-cache", &[]),
    ("cuda-jit-compiler", &["cuda-sys", "cuda-llvm", "cuda-jit-kir", "cuda-jit-lang", "cuda-jit-syntax"]),
    ("cuda-jit-kir", &[]),
    ("cuda-jit-lang", &["cuda-mem-element", "cuda-jit-kir", "cuda-jit-macros", "cuda-jit-syntax"]),
    ("cuda-jit-macros", &["cuda-jit-syntax"]),
    ("cuda-jit-syntax", &[]),
    ("cuda-sim", &["cuda-sys", "cuda-llvm", "cuda-jit-cache"]),
    ("cuda-sim-cdylib", &["cuda-sys", "cuda-llvm", "cuda-jit-cache"]),
    ("cuda-sim-command", &["cuda-sys", "cuda-driver"]),
    ("cuda-nccl-sim", &["cuda-sys"]),
    ("cuda-prelude", &["cuda-sys", "cuda-driver", "cuda-mem", "cuda-jit", "cuda-jit-macros", "cuda-sim"]),
    ("cuda-cudarc", &["cuda-driver", "cuda-mem"]),
    ("cuda-tests-support", &["cuda-sys", "cuda-sim"]),
    ("xtask", &["cuda-sys", "cuda-sys-gen", "cuda-driver", "cuda-jit-cache"]),
];

/// Packages at the top: they may depend on everything, and nothing below on them.
const TOP: &[&str] = &[
    "cuda-sim-conformance",
    "cuda-tests",
    "cuda-tests-bundled",
    "cuda-tests-interleavings",
    "cuda-tests-renamed",
    "cuda-examples",
    "cuda-example-bundle",
    "cuda-example-kernels",
    "cuda-example-mpi",
    "cuda-benches",
];

/// Libraries that only certain packages may depend on, with those packages.
const RESTRICTED: &[(&str, &[&str])] = &[
    ("inkwell", &["cuda-llvm"]),
    ("llvm-sys", &["cuda-llvm"]),
    // Benches open OpenCL, with which they compare.
    ("libloading", &["cuda-sys", "cuda-llvm", "cuda-benches"]),
    ("bindgen", &["cuda-sys-gen"]),
    ("mpi", &["cuda-nccl"]),
    ("clap", &["xtask", "cuda-sim-command", "cuda-examples", "cuda-example-mpi", "cuda-tests"]),
    ("syn", &["cuda-jit-macros", "cuda-sys-gen"]),
];

/// The faults of the dependencies that `cargo metadata` describes, one line each.
pub(crate) fn faults(metadata: &Value) -> Vec<String> {
    let packages: Vec<&Value> = metadata["packages"].as_array().into_iter().flatten().collect();
    let names: Vec<&str> = packages.iter().filter_map(|package| package["name"].as_str()).collect();
    let mut faults = Vec::new();
    for package in &packages {
        let name = package["name"].as_str().unwrap_or_default();
        let allowed = ARROWS.iter().find(|(package, _)| *package == name).map(|(_, allowed)| *allowed);
        if allowed.is_none() && !TOP.contains(&name) {
            faults.push(format!("package `{name}` is not listed in xtask/src/layers.rs; add it to the layers"));
        }
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let to = dependency["name"].as_str().unwrap_or_default();
            let development = dependency["kind"] == "dev";
            let inside = names.contains(&to);
            if inside && !development && allowed.is_some_and(|allowed| !allowed.contains(&to)) {
                faults.push(format!("`{name}` depends on `{to}`, against the direction of the layers"));
            }
            if TOP.contains(&to) && !TOP.contains(&name) {
                faults.push(format!("`{name}` depends on `{to}`, on which nothing below may depend"));
            }
            let restriction = RESTRICTED.iter().find(|(library, _)| *library == to);
            if let Some((_, packages)) = restriction.filter(|(_, packages)| !packages.contains(&name)) {
                faults.push(format!("`{name}` depends on `{to}`; only {} may", packages.join(", ")));
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(name: &str, dependency: &str, kind: Value) -> Value {
        let dependencies = serde_json::json!([{ "name": dependency, "kind": kind }]);
        serde_json::json!({ "packages": [
            { "name": name, "dependencies": dependencies },
            { "name": dependency, "dependencies": [] },
        ]})
    }

    #[test]
    fn a_dependency_along_the_layers_passes() {
        assert!(faults(&metadata("cuda-mem", "cuda-driver", Value::Null)).is_empty());
        assert!(faults(&metadata("cuda-tests", "cuda-prelude", Value::Null)).is_empty());
        assert!(faults(&metadata("cuda-driver", "cuda-sim", "dev".into())).is_empty());
    }

    #[test]
    fn dependencies_against_the_layers_are_reported() {
        for (from, to) in [("cuda-sys", "cuda-driver"), ("cuda-sim", "cuda-jit"), ("cuda-driver", "cuda-sim")] {
            let faults = faults(&metadata(from, to, Value::Null));
            assert_eq!(faults, [format!("`{from}` depends on `{to}`, against the direction of the layers")]);
        }
        assert!(faults(&metadata("cuda-prelude", "cuda-tests", "dev".into()))[0].contains("nothing below may depend"));
        assert!(faults(&metadata("cuda-tests", "cuda-examples", "dev".into())).is_empty());
    }

    #[test]
    fn a_restricted_library_and_an_unknown_package_are_reported() {
        let mut facts = metadata("cuda-jit", "inkwell", Value::Null);
        facts["packages"].as_array_mut().unwrap().pop();
        assert_eq!(faults(&facts), ["`cuda-jit` depends on `inkwell`; only cuda-llvm may"]);
        assert!(faults(&metadata("cuda-new", "cuda-sys", Value::Null))[0].contains("`cuda-new` is not listed"));
    }
}
