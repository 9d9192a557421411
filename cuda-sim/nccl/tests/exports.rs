//! The library exports what `nccl.h` declares: every function under both of its names.

use crate::support::symbol;

/// The functions of the header, 2.32.3.
const FUNCTIONS: &str = include_str!("functions.txt");

#[test]
fn every_function_of_the_header_is_exported_twice() {
    let mut count = 0;
    for name in FUNCTIONS.lines() {
        assert!(symbol(name).is_some() && symbol(&format!("p{name}")).is_some(), "{name} is missing");
        count += 1;
    }
    assert_eq!(count, 73);
    assert!(symbol("ncclNoSuchFunction").is_none());
}

/// The committed list is the header's, where there is one.
#[test]
fn the_list_is_that_of_the_header() {
    let Some(folder) = crate::c_client::header() else {
        return println!("skipped: no nccl.h");
    };
    let text = std::fs::read_to_string(folder.join("nccl.h")).expect("the header");
    if !text.contains("#define NCCL_VERSION_CODE 23203") {
        return println!("skipped: nccl.h is of another version");
    }
    let starts = ["ncclResult_t", "const char*", "void"];
    let mut declared: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter_map(|line| starts.iter().find_map(|start| line.strip_prefix(start)))
        .filter_map(|rest| rest.trim_start().split_once('(').map(|(name, _)| name))
        .filter(|name| name.starts_with("nccl") && name.bytes().all(|byte| byte.is_ascii_alphanumeric()))
        .collect();
    declared.sort_unstable();
    declared.dedup();
    assert_eq!(declared, FUNCTIONS.lines().collect::<Vec<_>>());
}
