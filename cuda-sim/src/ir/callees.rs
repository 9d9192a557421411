//! The call graph of a program.

use super::lower::Program;
use super::{Call, Function};
use std::collections::BTreeSet;

/// Local memory for calls that may recurse.
const RECURSION_BYTES: u64 = 64 << 10;

/// The calls of a function.
pub(crate) fn calls(function: &Function) -> impl Iterator<Item = &Call> {
    function.blocks.iter().flat_map(|block| &block.insts).filter_map(|inst| inst.call.as_ref())
}

/// The functions that these functions reach by calls, themselves included.
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

/// The functions that one calls, directly or not.
pub(crate) fn reached(functions: &[Function], index: usize) -> BTreeSet<usize> {
    reached_from(functions, calls(&functions[index]).map(|call| call.callee))
}

impl Program {
    /// Bytes of local memory of a kernel's thread, the stack of its calls included.
    pub(crate) fn local_bytes(&self, index: usize) -> u64 {
        let reached_here = reached(&self.functions, index);
        let calls: u64 = reached_here.iter().map(|callee| self.functions[*callee].stack_bytes()).sum();
        let is_recursive = reached_here.iter().any(|callee| reached(&self.functions, *callee).contains(callee));
        self.functions[index].stack_bytes() + calls + if is_recursive { RECURSION_BYTES } else { 0 }
    }
}
