//! LLVM is found when it is needed, and what does not fit is an error that says why.
#![cfg(not(feature = "static"))]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Set in the processes of [`load`].
const CHILD: &str = "CUDA_LLVM_TEST_CHILD";

/// What a process says that loads LLVM, of a copy of this executable where one is given.
fn load(executable: Option<&Path>, variables: &[(&str, &Path)]) -> String {
    let executable = executable.map_or_else(|| std::env::current_exe().unwrap(), Path::to_owned);
    let mut child = Command::new(executable);
    child.args(["--exact", "a_process_has_llvm_when_it_needs_it_and_not_before", "--nocapture"]);
    let output = child.env_remove("CUDA_LLVM_PATH").env(CHILD, "1").envs(variables.iter().copied()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}: {text}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    text + &String::from_utf8_lossy(&output.stderr)
}

/// The process of [`load`].
fn say() {
    let maps = || fs::read_to_string("/proc/self/maps").unwrap().contains("libLLVM");
    println!("identity: {}", cuda_llvm::identity());
    println!("before: {}", maps());
    match cuda_llvm::loaded() {
        Ok(loaded) => println!("loaded: {}\nafter: {}", loaded.library.as_ref().unwrap().display(), maps()),
        Err(error) => println!("error: {error}"),
    }
    println!("initialized: {}", cuda_llvm::is_initialized());
}

/// The library that a process loads by itself.
fn found() -> PathBuf {
    let text = load(None, &[]);
    let line = text.lines().find_map(|line| line.strip_prefix("loaded: "));
    PathBuf::from(line.unwrap_or_else(|| panic!("{text}")))
}

/// A library with one function, `LLVMGetVersion`, that tells this version.
fn pretend(folder: &Path, major: u32) -> PathBuf {
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
fn a_process_has_llvm_when_it_needs_it_and_not_before() {
    if std::env::var_os(CHILD).is_some() {
        return say();
    }
    let text = load(None, &[]);
    for line in ["before: false", "after: true", "initialized: true"] {
        assert!(text.contains(line), "{text}");
    }
}

#[test]
fn the_chosen_library_is_the_one() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("llvm, another name");
    std::os::unix::fs::symlink(found(), &link).unwrap();
    assert!(load(None, &[("CUDA_LLVM_PATH", &link)]).contains(&format!("loaded: {}", link.display())));
    let named = folder.path().join(found().file_name().unwrap());
    fs::rename(&link, &named).unwrap();
    let text = load(None, &[("CUDA_LLVM_PATH", folder.path())]);
    assert!(text.contains(&format!("loaded: {}", named.display())), "{text}");
}

#[test]
fn a_program_that_was_moved_takes_the_library_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let (bin, lib) = (folder.path().join("bin"), folder.path().join("lib"));
    fs::create_dir(&bin).unwrap();
    fs::create_dir(&lib).unwrap();
    fs::copy(std::env::current_exe().unwrap(), bin.join("program")).unwrap();
    let library = lib.join(found().file_name().unwrap());
    std::os::unix::fs::symlink(found(), &library).unwrap();
    let text = load(Some(&bin.join("program")), &[]);
    let loaded = text.lines().find_map(|line| line.strip_prefix("loaded: ")).unwrap_or_else(|| panic!("{text}"));
    assert!(Path::new(loaded).starts_with(folder.path().canonicalize().unwrap()), "{text}");
}

#[test]
fn what_does_not_fit_is_an_error_that_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("nowhere.so");
    let other = [("CUDA_LLVM_PATH", Path::new("libc.so.6"))];
    let cases = [
        (load(None, &[("CUDA_LLVM_PATH", &nowhere)]), "nowhere.so: cannot open shared object file"),
        (load(None, &other), "libc.so.6: this is no LLVM"),
        (load(None, &[("CUDA_LLVM_PATH", folder.path())]), "no LLVM there"),
        (load(None, &[("CUDA_LLVM_PATH", &pretend(folder.path(), 21))]), "LLVM 21.1.0 is too old"),
        (load(None, &[("CUDA_LLVM_PATH", &pretend(folder.path(), 25))]), "LLVM 25.1.0 is too new"),
        (
            load(None, &[("CUDA_LLVM_PATH", &pretend(folder.path(), 23))]),
            "LLVM 23.1.0 lacks functions that are needed: LLVM",
        ),
    ];
    for (text, expected) in cases {
        assert!(text.contains("error: kernels are compiled by LLVM 22 or 23, and none was found"), "{text}");
        assert!(text.contains(expected), "no `{expected}` in {text}");
        assert!(text.contains("initialized: false"), "{text}");
    }
}

/// The names are those that llvm-sys declares, but for the functions that its C shim has.
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
    assert_eq!(listed, declared, "CUDA_LLVM_WRITE=1 writes the list anew");
}

/// Names, as many on a line as it takes.
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
