//! NVTX with a tool, with a tool that fails, and without one. A process has at most one tool, so each case has its own process.
//!
//! # Safety
//!
//! NVTX' functions are called with C strings.
#![cfg(feature = "nvtx")]

use std::path::PathBuf;
use std::process::Command;

use cuda_sys::nvtx::{
    NVTX_NO_PUSH_POP_TRACKING, nvtxDomainCreateA, nvtxMarkA, nvtxRangePop, nvtxRangePushA, nvtxRangeStartA, tool,
};

/// Set in the processes that the tests start.
const CHILD: &str = "CUDA_SYS_NVTX_CHILD";

/// Compiles `tool.c` with these macros into a library of its own.
fn library(name: &str, macros: &[&str]) -> PathBuf {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("lib{name}.so"));
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tool.c");
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-Wall", "-Werror", "-o"]).arg(&file).args(macros).arg(source);
    assert!(cc.status().expect("a C compiler").success());
    file
}

/// The output of the process below with this tool.
fn output_with(tool: Option<PathBuf>) -> String {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child
        .args(["--exact", "a_process_that_uses_nvtx", "--nocapture"])
        .env(CHILD, "1")
        .env_remove("NVTX_INJECTION64_PATH");
    child.envs(tool.map(|tool| ("NVTX_INJECTION64_PATH", tool)));
    let output = child.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[test]
fn a_process_that_uses_nvtx() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let [outer, inner] = [c"outer", c"inner"].map(|name| {
        // SAFETY: the argument is a C string.
        unsafe { nvtxRangePushA(name.as_ptr()) }
    });
    let [first, second] = [(), ()].map(|()| {
        // SAFETY: it takes nothing.
        unsafe { nvtxRangePop() }
    });
    // SAFETY: the argument is a C string.
    let domain = unsafe { nvtxDomainCreateA(c"of mine".as_ptr()) };
    // The tool does not handle these.
    // SAFETY: the argument is a C string.
    unsafe { nvtxMarkA(c"mark".as_ptr()) };
    // SAFETY: the argument is a C string.
    let range = unsafe { nvtxRangeStartA(c"range".as_ptr()) };
    println!("depths {outer} {inner} {first} {second}, domain {domain:?}, range {range}, tool {}", tool().is_some());
}

#[test]
fn a_tool_receives_the_calls_that_it_handles_and_sets_their_results() {
    let text = output_with(Some(library("tool", &[])));
    let lines: Vec<_> = ["push outer", "push inner", "pop", "pop", "domain of mine"].to_vec();
    let at: Vec<_> =
        lines.iter().map(|line| text.find(line).unwrap_or_else(|| panic!("no `{line}` in {text}"))).collect();
    assert!(at[0] < at[1] && at[1] < at[2] && at[2] < at[4], "{text}");
    assert!(text.contains("depths 0 1 1 0, domain 0x1000, range 0, tool true"), "{text}");
}

#[test]
fn without_a_tool_or_with_one_that_fails_no_function_is_called() {
    let nothing = format!("depths {0} {0} {0} {0}, domain 0x0, range 0, tool false", NVTX_NO_PUSH_POP_TRACKING);
    for tool in [None, Some(library("failing-tool", &["-DFAIL"])), Some(PathBuf::from("/nowhere/libtool.so"))] {
        let text = output_with(tool.clone());
        assert!(text.contains(&nothing) && !text.contains("push"), "{tool:?}: {text}");
    }
}
