//! Unusual toolkits: behind links and paths with spaces, without some of their headers, with unknown declarations, and with a
//! libclang that is too old.
//!
//! The headers are those of CUDA 13.0 that `cargo xtask setup --all` downloads, and LIBCLANG_PATH names a libclang: `cargo
//! xtask check generate` sets it. Where one is absent the tests print that they are skipped.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use cuda_sys_gen::{Api, Bindings, History, Lacking};
use tempfile::TempDir;

/// The real headers, if a test can run.
fn real() -> Option<PathBuf> {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/compilers/cuda13/include");
    if std::env::var_os("LIBCLANG_PATH").is_some() && include.join("cuda.h").is_file() {
        return Some(include.canonicalize().unwrap());
    }
    println!("skipped: headers and libclang (`cargo xtask setup --all`, LIBCLANG_PATH=target/toolkit/libclang)");
    None
}

/// A toolkit of links to the real headers, except those in `without`, and with the text `changed` for `cuda.h` if it is given.
fn toolkit(real: &Path, without: &[&str], changed: Option<&str>) -> TempDir {
    let folder = tempfile::Builder::new().prefix("a toolkit ").tempdir().unwrap();
    for entry in fs::read_dir(real).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let is_changed = name == "cuda.h" && changed.is_some();
        if !is_changed && !without.iter().any(|header| header.split('/').next() == Some(&name)) {
            symlink(real.join(&name), folder.path().join(&name)).unwrap();
        }
    }
    if let Some(text) = changed {
        fs::write(folder.path().join("cuda.h"), text).unwrap();
    }
    folder
}

fn committed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../src/generated")
}

/// Generates the bindings of these modules from a toolkit.
fn bindings(include: &Path, modules: &[&str]) -> Bindings {
    cuda_sys_gen::bindings(include, &committed(), Lacking::Added, |api| modules.contains(&api.module)).unwrap()
}

/// The modules that were generated.
fn generated(bindings: &Bindings) -> Vec<&str> {
    bindings.files.iter().filter(|files| files.generated).map(|files| files.module).collect()
}

#[test]
fn a_path_with_spaces_and_links_changes_nothing() {
    let Some(real) = real() else { return };
    let folder = toolkit(&real, &[], None);
    let link = folder.path().join("link to it");
    symlink(folder.path(), &link).unwrap();
    let history = History::committed();
    for module in ["driver", "runtime"] {
        let api = Api::of_module(module).unwrap();
        let direct = cuda_sys_gen::generate(api, &real, &history).unwrap();
        let linked = cuda_sys_gen::generate(api, &link, &history).unwrap();
        assert!(direct.types == linked.types && direct.table == linked.table, "{module}");
        assert_eq!(linked.warnings, [""; 0]);
    }
}

#[test]
fn an_absent_header_is_a_warning_that_names_it_and_what_provides_it() {
    let Some(real) = real() else { return };
    let of = |without: &[&str], modules: &[&str]| bindings(toolkit(&real, without, None).path(), modules);

    let profiler = of(&["cudaProfiler.h"], &["driver"]);
    assert_eq!((generated(&profiler), profiler.warnings.len()), (vec!["driver"], 1), "{:?}", profiler.warnings);
    let text = &profiler.warnings[0];
    assert!(text.contains("no cudaProfiler.h, which `cuda-profiler-api` (conda)"), "{text}");
    assert!(profiler.files[0].table.contains("fn cuProfilerStart("), "the committed declaration");

    // Required headers: its own, one of another package, one that another header includes.
    for (header, module, package) in [
        ("cudaTypedefs.h", "driver", "nvidia-cuda-runtime"),
        ("crt/host_defines.h", "runtime", "nvidia-cuda-crt"),
        ("vector_types.h", "runtime", "nvidia-cuda-runtime"),
        ("driver_types.h", "runtime", "nvidia-cuda-runtime"),
        ("nvrtc.h", "nvrtc", "nvidia-cuda-nvrtc"),
        ("nvJitLink.h", "nvjitlink", "nvidia-nvjitlink"),
        ("nvml.h", "nvml", "nvidia-nvml-dev"),
        ("nvtx3/nvToolsExt.h", "nvtx", "nvidia-nvtx"),
        ("nccl.h", "nccl", "nvidia-nccl"),
    ] {
        let bindings = of(&[header], &[module]);
        assert_eq!((generated(&bindings), bindings.warnings.len()), (vec![], 1), "{header}: {:?}", bindings.warnings);
        let text = &bindings.warnings[0];
        assert!(text.contains(&format!("the committed bindings of `{module}` are used")), "{text}");
        assert!(text.contains(header) && text.contains(package), "{text}");
    }
}

#[test]
fn headers_of_a_version_that_is_not_read_give_a_warning() {
    let Some(real) = real() else { return };
    for (text, expected) in [
        ("#define CUDA_VERSION 11080\n", "the headers of CUDA 11.8; the oldest that are read are those of 12.0"),
        ("// nothing\n", "has no version"),
        ("#define CUDA_VERSION 13000\n#error broken\n", "broken"),
    ] {
        let bindings = bindings(toolkit(&real, &[], Some(text)).path(), &["driver"]);
        assert_eq!(generated(&bindings), [""; 0], "{text}");
        let [warning] = &bindings.warnings[..] else { panic!("{:?}", bindings.warnings) };
        assert!(warning.contains(expected) && warning.contains("the committed bindings"), "{warning}");
    }
}

#[test]
fn new_declarations_are_left_out_with_a_warning_each() {
    let Some(real) = real() else { return };
    let text = fs::read_to_string(real.join("cuda.h")).unwrap();
    let (_, end) = text.rsplit_once("#endif").unwrap();
    let new = "\nextern CUresult CUDAAPI cuNewThing(int);\nextern int CUvariable;\nlong cuCounted(int);\n\
               typedef struct CUnew_st { __int128 wide; int flags : 3; } CUnew;\nextern const char CUname[];\n";
    let text = format!("{}{new}#endif{end}", &text[..text.len() - end.len() - "#endif".len()]);
    let bindings = bindings(toolkit(&real, &[], Some(&text)).path(), &["driver"]);
    assert_eq!(generated(&bindings), ["driver"]);
    let driver = &bindings.files[0];
    assert!(driver.table.contains("fn cuInit(") && driver.types.contains("struct CUnew"));
    for name in ["cuNewThing", "CUvariable", "cuCounted", "CUname"] {
        assert!(bindings.warnings.iter().any(|warning| warning.contains(name)), "{name}: {:?}", bindings.warnings);
        assert!(!driver.table.contains(name), "{name}");
    }
}

/// The headers are those of 13.0; the committed bindings are newer.
#[test]
fn the_newer_declaration_is_taken_and_no_other_version_is_mixed_in() {
    let Some(real) = real() else { return };
    let text = fs::read_to_string(real.join("cuda.h")).unwrap();
    let of = |version: &str, lacking| {
        let text = text.replace("#define CUDA_VERSION 13000", &format!("#define CUDA_VERSION {version}"));
        let folder = toolkit(&real, &[], Some(&text));
        let driver = |api: &Api| api.module == "driver";
        let mut bindings = cuda_sys_gen::bindings(folder.path(), &committed(), lacking, driver).unwrap();
        assert_eq!(generated(&bindings), ["driver"]);
        let driver = bindings.files.remove(0);
        (driver.types.replace([' ', '\n'], ""), driver.table)
    };
    let has = |(types, table): &(String, String), declaration: &str| {
        if declaration.starts_with("fn ") { table.contains(declaration) } else { types.contains(declaration) }
    };
    // Functions of 13.1 and later: one takes a structure that has grown since 13.0, the other none.
    let later = ["fn cuDevSmResourceSplit(", "fn cuGraphNodeGetLocalId("];
    let absent = of("13000", Lacking::Absent);
    assert!(has(&absent, "layout!{CUdevSmResource:size12") && later.iter().all(|name| !has(&absent, name)));
    let older = of("13000", Lacking::Added);
    assert!(has(&older, "layout!{CUdevSmResource:size20") && later.iter().all(|name| has(&older, name)));
    assert!(has(&older, "constCUDA_VERSION:u32=13000;"));
    // Headers that are newer than the committed bindings keep their structure, without functions that take another.
    let newer = of("99000", Lacking::Added);
    assert!(has(&newer, "layout!{CUdevSmResource:size12") && has(&newer, "constCUDA_VERSION:u32=99000;"));
    assert_eq!(later.map(|name| has(&newer, name)), [false, true]);
}

/// Set where a test runs itself with another libclang, since a process can load only one.
const ANOTHER: &str = "CUDA_SYS_GEN_ANOTHER_LIBCLANG";

/// Runs this test in a process with the libclang in `folder`, and returns the generator's error.
fn with_libclang(test: &str, folder: &Path) -> String {
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.args(["--exact", "--nocapture", test]).env("LIBCLANG_PATH", folder).env(ANOTHER, "1");
    let output = again.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_libclang_that_is_too_old_or_absent_is_an_error_with_the_way_out() {
    let Some(real) = real() else { return };
    if std::env::var_os(ANOTHER).is_some() {
        let error =
            cuda_sys_gen::bindings(&real, &committed(), Lacking::Added, |api| api.module == "driver").unwrap_err();
        return println!("{error:#}");
    }
    let test = "a_libclang_that_is_too_old_or_absent_is_an_error_with_the_way_out";
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("libclang.c");
    let text = "typedef struct { const void *data; unsigned flags; } CXString;\n\
                CXString clang_getClangVersion(void) { CXString s = { \"clang version 3.4 (final)\", 0 }; return s; }\n\
                const char *clang_getCString(CXString s) { return s.data; }\n\
                void clang_disposeString(CXString s) { (void)s; }\n";
    fs::write(&source, text).unwrap();
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-o"]).arg(folder.path().join("libclang.so")).arg(&source);
    assert!(cc.status().unwrap().success());
    let old = with_libclang(test, folder.path());
    assert!(
        old.contains("libclang is too old: it is `clang version 3.4 (final)`, and 9.0 or newer is needed"),
        "{old}"
    );
    assert!(old.contains("`pip install libclang` has one") && old.contains("LIBCLANG_PATH names"), "{old}");
    fs::write(folder.path().join("libclang.so"), "no library").unwrap();
    let broken = with_libclang(test, folder.path());
    assert!(broken.contains("Unable to find libclang") && broken.contains("LIBCLANG_PATH names"), "{broken}");
}
