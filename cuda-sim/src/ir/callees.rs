//! The call graph of a program.

use super::lower::Program;
use super::{Call, Function};
use std::collections::BTreeSet;

/// Bytes of local memory reserved for calls that may recurse.
const RECURSION_BYTES: u64 = 64 << 10;

/// Returns the calls of a function.
pub(crate) fn calls(function: &Function) -> impl Iterator<Item = &Call> {
    function.blocks.iter().flat_map(|block| &block.insts).filter_map(|inst| inst.call.as_ref())
}

/// Returns the functions that are reachable through calls from `starts`, which are included.
pub(crate) fn reached_from(functions: &[Function], starts: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut open: Vec<usize> = starts.into_iter().collect();
    while let Some(next) = open.pop() {
        if found.insert(next) {
            open.extend(calls(&functions[next]).map(|call| call.callee));
        }
    }
    found
}

/// Returns the functions that one function calls, directly or indirectly.
pub(crate) fn reached(functions: &[Function], index: usize) -> BTreeSet<usize> {
    reached_from(functions, calls(&functions[index]).map(|call| call.callee))
}

impl Program {
    /// Bytes of local memory that a kernel's thread needs, including the stack of its calls.
    pub(crate) fn local_bytes(&self, index: usize) -> u64 {
        let reached_here = reached(&self.functions, index);
        let calls: u64 = reached_here.iter().map(|callee| self.functions[*callee].stack_bytes()).sum();
        let is_recursive = reached_here.iter().any(|callee| reached(&self.functions, *callee).contains(callee));
        self.functions[index].stack_bytes() + calls + if is_recursive { RECURSION_BYTES } else { 0 }
    }
}
