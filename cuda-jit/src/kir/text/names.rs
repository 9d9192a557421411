//! The words of the text form for KIR's operators, one table for printing and reading. Not their meaning.

use crate::kir::{Axis, BinaryOp, CompareOp, Scalar, Special, UnaryOp};

/// Each unary operator with its word.
pub(super) const UNARY: [(&str, UnaryOp); 13] = [
    ("neg", UnaryOp::Neg),
    ("not", UnaryOp::Not),
    ("abs", UnaryOp::Abs),
    ("sqrt", UnaryOp::Sqrt),
    ("floor", UnaryOp::Floor),
    ("ceil", UnaryOp::Ceil),
    ("trunc", UnaryOp::Trunc),
    ("round_ties_even", UnaryOp::RoundTiesEven),
    ("count_ones", UnaryOp::CountOnes),
    ("leading_zeros", UnaryOp::LeadingZeros),
    ("trailing_zeros", UnaryOp::TrailingZeros),
    ("reverse_bits", UnaryOp::ReverseBits),
    ("swap_bytes", UnaryOp::SwapBytes),
];

/// Each binary operator with its word.
pub(super) const BINARY: [(&str, BinaryOp); 13] = [
    ("add", BinaryOp::Add),
    ("sub", BinaryOp::Sub),
    ("mul", BinaryOp::Mul),
    ("div", BinaryOp::Div),
    ("rem", BinaryOp::Rem),
    ("and", BinaryOp::And),
    ("or", BinaryOp::Or),
    ("xor", BinaryOp::Xor),
    ("shl", BinaryOp::Shl),
    ("shr", BinaryOp::Shr),
    ("min", BinaryOp::Min),
    ("max", BinaryOp::Max),
    ("copysign", BinaryOp::CopySign),
];

/// Each comparison with its word.
pub(super) const COMPARE: [(&str, CompareOp); 6] = [
    ("eq", CompareOp::Eq),
    ("ne", CompareOp::Ne),
    ("lt", CompareOp::Lt),
    ("le", CompareOp::Le),
    ("gt", CompareOp::Gt),
    ("ge", CompareOp::Ge),
];

/// Each special register with its word.
pub(super) const SPECIAL: [(&str, Special); 14] = [
    ("thread_idx.x", Special::ThreadIdx(Axis::X)),
    ("thread_idx.y", Special::ThreadIdx(Axis::Y)),
    ("thread_idx.z", Special::ThreadIdx(Axis::Z)),
    ("block_idx.x", Special::BlockIdx(Axis::X)),
    ("block_idx.y", Special::BlockIdx(Axis::Y)),
    ("block_idx.z", Special::BlockIdx(Axis::Z)),
    ("block_dim.x", Special::BlockDim(Axis::X)),
    ("block_dim.y", Special::BlockDim(Axis::Y)),
    ("block_dim.z", Special::BlockDim(Axis::Z)),
    ("grid_dim.x", Special::GridDim(Axis::X)),
    ("grid_dim.y", Special::GridDim(Axis::Y)),
    ("grid_dim.z", Special::GridDim(Axis::Z)),
    ("lane_id", Special::LaneId),
    ("warp_size", Special::WarpSize),
];

/// The word of `item` in `table`; the tables are complete, which a test checks by printing every operator.
pub(super) fn word<T: PartialEq>(table: &[(&'static str, T)], item: &T) -> &'static str {
    table.iter().find(|(_, other)| other == item).map_or("?", |(word, _)| word)
}

/// The item of `word` in `table`.
pub(super) fn item<T: Copy>(table: &[(&'static str, T)], word: &str) -> Option<T> {
    table.iter().find(|(other, _)| *other == word).map(|(_, item)| *item)
}

/// The scalar type of that name.
pub(super) fn scalar(word: &str) -> Option<Scalar> {
    Scalar::ALL.into_iter().find(|scalar| scalar.name() == word)
}
