//! The calls of the communication functions, as they are enqueued, and as ranks publish and compare them.

use crate::element::{DataType, Operator};
use crate::segment::CallWords;
use std::sync::atomic::Ordering;

/// A communication function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Function {
    AllReduce,
    Broadcast,
    Reduce,
    AllGather,
    ReduceScatter,
    AllToAll,
    Gather,
    Scatter,
    Send,
    Receive,
}

/// The functions by their numbers, with their names.
const FUNCTIONS: [&str; 10] = [
    "ncclAllReduce",
    "ncclBroadcast",
    "ncclReduce",
    "ncclAllGather",
    "ncclReduceScatter",
    "ncclAlltoAll",
    "ncclGather",
    "ncclScatter",
    "ncclSend",
    "ncclRecv",
];

impl Function {
    pub(crate) fn name(self) -> &'static str {
        FUNCTIONS[self as usize]
    }

    /// Returns true if all ranks call it together.
    pub(crate) fn is_collective(self) -> bool {
        !matches!(self, Function::Send | Function::Receive)
    }

    pub(crate) fn has_root(self) -> bool {
        matches!(self, Function::Broadcast | Function::Reduce | Function::Gather | Function::Scatter)
    }

    pub(crate) fn reduces(self) -> bool {
        matches!(self, Function::AllReduce | Function::Reduce | Function::ReduceScatter)
    }
}

/// A call. Addresses are those of memory that was checked when it was made.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) function: Function,
    pub(crate) send: usize,
    pub(crate) receive: usize,
    pub(crate) count: usize,
    pub(crate) kind: DataType,
    pub(crate) operator: Operator,
    /// The root, or the peer of a send or receive.
    pub(crate) root: usize,
}

impl Call {
    /// Returns the words that all ranks of a collective must have in common.
    pub(crate) fn words(&self) -> [u64; 3] {
        let operator = if self.function.reduces() { self.operator.raw() } else { 0 };
        let root = if self.function.has_root() { self.root as u64 } else { 0 };
        [self.function as u64 | self.kind.raw() << 8 | operator << 16, root, self.count as u64]
    }
}

impl CallWords {
    pub(crate) fn publish(&self, [function, root, count]: [u64; 3]) {
        self.function.store(function, Ordering::Relaxed);
        self.root.store(root, Ordering::Relaxed);
        self.count.store(count, Ordering::Relaxed);
    }

    /// Returns what was published, after the counter of the calls was read.
    pub(crate) fn read(&self) -> [u64; 3] {
        [&self.function, &self.root, &self.count].map(|word| word.load(Ordering::Relaxed))
    }
}

/// Describes a published call.
pub(crate) fn describe([word, root, count]: [u64; 3]) -> String {
    let name = FUNCTIONS.get((word & 0xff) as usize).copied().unwrap_or("an unknown function");
    let kind = DataType::of((word >> 8 & 0xff) as i32).map_or("an unknown type", DataType::name);
    let mut text = format!("{name}, count {count}, {kind}");
    if matches!(name, "ncclAllReduce" | "ncclReduce" | "ncclReduceScatter") {
        text += &format!(", {}", Operator::name(word >> 16 & 0xff));
    }
    if matches!(name, "ncclBroadcast" | "ncclReduce" | "ncclGather" | "ncclScatter") {
        text += &format!(", root {root}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_described_by_their_words() {
        let kind = DataType::of(7).expect("a type");
        let call =
            Call { function: Function::Reduce, send: 0, receive: 0, count: 12, kind, operator: Operator::Max, root: 3 };
        assert_eq!(describe(call.words()), "ncclReduce, count 12, ncclFloat32, ncclMax, root 3");
        let gathers = Call { function: Function::AllGather, ..call };
        assert_eq!(describe(gathers.words()), "ncclAllGather, count 12, ncclFloat32");
        assert!(describe([99 | 50 << 8, 0, 1]).contains("unknown"));
    }
}
