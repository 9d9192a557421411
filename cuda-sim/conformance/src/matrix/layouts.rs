//! The layouts of matrices in the lanes of a warp, as the PTX manual specifies them for each shape.

use cuda_sim::ptx::Type;

/// The dimensions of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) m: usize,
    pub(super) n: usize,
    pub(super) k: usize,
}

impl Shape {
    pub(super) fn named(name: &str) -> Option<Shape> {
        let (m, rest) = name.strip_prefix('m')?.split_once('n')?;
        let (n, k) = rest.split_once('k')?;
        Some(Shape { m: m.parse().ok()?, n: n.parse().ok()?, k: k.parse().ok()? })
    }
}

/// Returns the row and column of element `i` of a lane's fragment of `A`.
pub(super) fn a(shape: Shape, ty: Type, lane: usize, i: usize) -> (usize, usize) {
    let (group, thread) = (lane >> 2, lane % 4);
    let low = |is_low: bool| if is_low { group } else { group + 8 };
    match (ty.bits(), shape.m, shape.k) {
        (16, 16, 8) => (low(i < 2), thread * 2 + (i & 1)),
        (16, 16, 16) => (low(i < 2 || (4..6).contains(&i)), thread * 2 + (i & 1) + if i < 4 { 0 } else { 8 }),
        (32, 16, 4) => (low(i == 0), thread),
        (32, 16, 8) => (low(i == 0 || i == 2), if i < 2 { thread } else { thread + 4 }),
        (64, 8, 4) => (group, thread),
        (64, 16, 4) => (low(i == 0), thread),
        (64, 16, 8) => (low(i == 0 || i == 2), if i < 2 { thread } else { thread + 4 }),
        (64, 16, 16) => {
            (low(i.is_multiple_of(2)), if i.is_multiple_of(2) { i * 2 + thread } else { i * 2 - 2 + thread })
        }
        (8, 8, 16) => (group, thread * 4 + i),
        (8, 16, 16) => (low(i < 4), thread * 4 + (i & 3)),
        (8, 16, 32) => (low(i < 4 || (8..12).contains(&i)), thread * 4 + (i & 3) + if i < 8 { 0 } else { 16 }),
        (4, 8, 32) => (group, thread * 8 + i),
        (4, 16, 32) => (low(i < 8), thread * 8 + (i & 7)),
        (4, 16, 64) => (low(i < 8 || (16..24).contains(&i)), thread * 8 + (i & 7) + if i < 16 { 0 } else { 32 }),
        (1, 8, 128) => (group, thread * 32 + i),
        (1, 16, 128) => (low(i < 32), thread * 32 + (i & 31)),
        (1, 16, 256) => (low(i < 32 || (64..96).contains(&i)), thread * 32 + (i & 31) + if i < 64 { 0 } else { 128 }),
        other => panic!("no table of A for {other:?}"),
    }
}

/// Returns the row and column of element `i` of a lane's fragment of `B`.
pub(super) fn b(shape: Shape, ty: Type, lane: usize, i: usize) -> (usize, usize) {
    let (group, thread) = (lane >> 2, lane % 4);
    let row = match (ty.bits(), shape.k) {
        (16, 8) => thread * 2 + i,
        (16, 16) => thread * 2 + (i & 1) + if i < 2 { 0 } else { 8 },
        (32, 4) | (64, 4) => thread,
        (32, 8) | (64, 8) => {
            if i == 0 {
                thread
            } else {
                thread + 4
            }
        }
        (64, 16) => i * 4 + thread,
        (8, 16) => thread * 4 + i,
        (8, 32) => thread * 4 + (i & 3) + if i < 4 { 0 } else { 16 },
        (4, 32) => thread * 8 + i,
        (4, 64) => thread * 8 + (i & 7) + if i < 8 { 0 } else { 32 },
        (1, 128) => thread * 32 + i,
        (1, 256) => thread * 32 + (i & 31) + if i < 32 { 0 } else { 128 },
        other => panic!("no table of B for {other:?}"),
    };
    (row, group)
}

/// Returns the row and column of element `i` of a lane's fragment of `C` and `D`.
pub(super) fn c(lane: usize, i: usize) -> (usize, usize) {
    let (group, thread) = (lane >> 2, lane % 4);
    (if i < 2 { group } else { group + 8 }, thread * 2 + (i & 1))
}

/// As [`a`], for `m8n8k4` of `f16`, in which lanes with equal `lane / 4 % 4` have a product of their own.
pub(super) fn quad_a(lane: usize, i: usize, column_major: bool) -> (usize, usize) {
    match column_major {
        false => (if lane < 16 { lane % 4 } else { lane % 4 + 4 }, i),
        true => (if lane < 16 { i % 4 } else { i % 4 + 4 }, lane % 4),
    }
}

pub(super) fn quad_b(lane: usize, i: usize, column_major: bool) -> (usize, usize) {
    match column_major {
        false => (lane % 4, if lane < 16 { i } else { i + 4 }),
        true => (i, if lane < 16 { lane % 4 } else { lane % 4 + 4 }),
    }
}

pub(super) fn quad_c(lane: usize, i: usize, ty: Type) -> (usize, usize) {
    match ty {
        Type::F16 => (if lane < 16 { lane % 4 } else { lane % 4 + 4 }, i),
        _ => {
            let x = (lane & 1) + (i & 2);
            (if lane < 16 { x } else { x + 4 }, (i & 4) + (lane & 2) + (i & 1))
        }
    }
}
