//! Delayed loading of LLVM: when it is loaded, the locations, and the errors for unsuitable libraries.
#![cfg(not(feature = "static"))]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Set in the processes of [`load`].
const CHILD: &str = "CUDA_LLVM_TEST_CHILD";

/// The output of a process that loads LLVM, from `executable` (a copy of this one) if it is given.
fn load(executable: Option<&Path>, variables: &[(&str, &Path)]) -> String {
    let executable = executable.map_or_else(|| std::env::current_exe().unwrap(), Path::to_owned);
    let mut child = Command::new(executable);
    child.args(["--exact", "llvm_is_loaded_on_first_use_and_not_before", "--nocapture"]);
    let output = child.env_remove("CUDA_LLVM_PATH").env(CHILD, "1").envs(variables.iter().copied()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}: {text}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    text + &String::from_utf8_lossy(&output.stderr)
}

/// The code of the process that [`load`] starts.
fn child() {
    let maps = || fs::read_to_string("/proc/self/maps").unwrap().contains("libLLVM");
    println!("identity: {}", cuda_llvm::identity());
    println!("before: {}", maps());
    match cuda_llvm::loaded() {
        Ok(loaded) => println!("loaded: {}\nafter: {}", loaded.library.as_ref().unwrap().display(), maps()),
        Err(error) => println!("error: {error}"),
    }
    println!("initialized: {}", cuda_llvm::is_initialized());
}

/// The library that a process loads by default.
fn default_library() -> PathBuf {
    let text = load(None, &[]);
    let line = text.lines().find_map(|line| line.strip_prefix("loaded: "));
    PathBuf::from(line.unwrap_or_else(|| panic!("{text}")))
}

/// Compiles a library whose only function is an `LLVMGetVersion` that returns this version.
fn fake_llvm(folder: &Path, major: u32) -> PathBuf {
    let (source, library) = (folder.join("llvm.c"), folder.join(format!("libLLVM.so.{major}.1")));
    let code =
        format!("void LLVMGetVersion(unsigned *a, unsigned *b, unsigned *c) {{ *a = {major}; *b = 1; *c = 0; }}\n");
    fs::write(&source, code).unwrap();
    let mut compiler = Command::new("cc");
    let status = compiler.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(source).status().unwrap();
    assert!(status.success());
    library
}

#[test]
fn llvm_is_loaded_on_first_use_and_not_before() {
    if std::env::var_os(CHILD).is_some() {
        return child();
    }
    let text = load(None, &[]);
    for line in ["before: false", "after: true", "initialized: true"] {
        assert!(text.contains(line), "{text}");
    }
}

#[test]
fn the_library_or_folder_in_the_variable_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("llvm, another name");
    std::os::unix::fs::symlink(default_library(), &link).unwrap();
    assert!(load(None, &[("CUDA_LLVM_PATH", &link)]).contains(&format!("loaded: {}", link.display())));
    let named = folder.path().join(default_library().file_name().unwrap());
    fs::rename(&link, &named).unwrap();
    let text = load(None, &[("CUDA_LLVM_PATH", folder.path())]);
    assert!(text.contains(&format!("loaded: {}", named.display())), "{text}");
}

#[test]
fn a_moved_program_loads_the_library_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let (bin, lib) = (folder.path().join("bin"), folder.path().join("lib"));
    fs::create_dir(&bin).unwrap();
    fs::create_dir(&lib).unwrap();
    fs::copy(std::env::current_exe().unwrap(), bin.join("program")).unwrap();
    let library = lib.join(default_library().file_name().unwrap());
    std::os::unix::fs::symlink(default_library(), &library).unwrap();
    let text = load(Some(&bin.join("program")), &[]);
    let loaded = text.lines().find_map(|line| line.strip_prefix("loaded: ")).unwrap_or_else(|| panic!("{text}"));
    assert!(Path::new(loaded).starts_with(folder.path().canonicalize().unwrap()), "{text}");
}

#[test]
fn an_unsuitable_library_is_an_error_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("nowhere.so");
    let other = [("CUDA_LLVM_PATH", Path::new("libc.so.6"))];
    let cases = [
        (load(None, &[("CUDA_LLVM_PATH", &nowhere)]), "nowhere.so: cannot open shared object file"),
        (load(None, &other), "libc.so.6: this is no LLVM"),
        (load(None, &[("CUDA_LLVM_PATH", folder.path())]), "no LLVM there"),
        (load(None, &[("CUDA_LLVM_PATH", &fake_llvm(folder.path(), 21))]), "LLVM 21.1.0 is too old"),
        (load(None, &[("CUDA_LLVM_PATH", &fake_llvm(folder.path(), 25))]), "LLVM 25.1.0 is too new"),
        (
            load(None, &[("CUDA_LLVM_PATH", &fake_llvm(folder.path(), 23))]),
            "LLVM 23.1.0 lacks functions that are needed: LLVM",
        ),
    ];
    for (text, expected) in cases {
        assert!(text.contains("error: kernels are compiled by LLVM 22 or 23, and none was found"), "{text}");
        assert!(text.contains(expected), "no `{expected}` in {text}");
        assert!(text.contains("initialized: false"), "{text}");
    }
}

/// The names are those that llvm-sys declares, except the functions of its C shim.
#[test]
fn every_function_that_llvm_sys_declares_is_defined() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let metadata =
        Command::new(env!("CARGO")).args(["metadata", "--format-version=1"]).current_dir(root).output().unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let llvm_sys = packages.iter().find(|package| package["name"] == "llvm-sys").unwrap();
    let sources = Path::new(llvm_sys["manifest_path"].as_str().unwrap()).parent().unwrap().join("src");
    let mut declared = Vec::new();
    functions(&sources, &mut declared);
    declared.sort();
    declared.dedup();
    let file = root.join("src/functions.rs");
    let text = fs::read_to_string(&file).unwrap();
    let (head, rest) = text.split_once("$with! {\n").unwrap();
    let (names, tail) = rest.split_once("        }\n").unwrap();
    let listed: Vec<&str> = names.split_whitespace().collect();
    if listed != declared && std::env::var_os("CUDA_LLVM_WRITE").is_some() {
        fs::write(&file, format!("{head}$with! {{\n{}        }}\n{tail}", lines(&declared))).unwrap();
    }
    assert!(declared.len() > 1000, "only {} functions", declared.len());
    assert_eq!(listed, declared, "CUDA_LLVM_WRITE=1 rewrites the list");
}

/// Wraps the names into lines.
fn lines(names: &[String]) -> String {
    let mut lines = vec![String::new()];
    for name in names {
        match lines.last_mut() {
            Some(line) if line.len() + name.len() < 118 => {
                *line += &format!("{}{name}", if line.is_empty() { "" } else { " " })
            }
            _ => lines.push(name.clone()),
        }
    }
    lines.iter().map(|line| format!("            {line}\n")).collect()
}

/// The functions that the sources in a folder declare.
fn functions(folder: &Path, declared: &mut Vec<String>) {
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            functions(&path, declared);
            continue;
        }
        for line in fs::read_to_string(&path).unwrap().lines() {
            let name = line.trim_start().strip_prefix("pub fn ").and_then(|rest| rest.split(['(', '<']).next());
            declared
                .extend(name.filter(|name| name.starts_with("LLVM") && !name.starts_with("LLVM_")).map(str::to_owned));
        }
    }
}
