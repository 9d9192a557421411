//! The functions of LLVM that kernels and the software device call.

use std::collections::BTreeSet;

use object::{Object, ObjectSymbol};

/// An executable has the LLVM functions that it calls, as jumps to a shared library; the linker drops unused ones.
#[test]
fn every_function_of_llvms_in_use_is_checked_when_it_is_loaded() {
    let data = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let file = object::File::parse(&*data).unwrap();
    if file.symbols().next().is_none() {
        eprintln!("not run: this executable has no symbols");
        return;
    }
    let defined = file.symbols().filter(|symbol| symbol.is_definition());
    let used: BTreeSet<&str> = defined.filter_map(|symbol| symbol.name().ok()).filter(|name| is_llvms(name)).collect();
    let needed: BTreeSet<&str> = cuda_llvm::NEEDED.iter().map(|name| name.to_str().unwrap()).collect();
    let missing: Vec<_> = used.difference(&needed).collect();
    assert!(used.len() > 100, "only {used:?}");
    assert!(missing.is_empty(), "cuda-llvm/src/needed.rs lacks {missing:#?}");
}

fn is_llvms(symbol: &str) -> bool {
    symbol.strip_prefix("LLVM").is_some_and(|rest| rest.starts_with(char::is_uppercase))
}
