//! Matrices that are distributed over the lanes of a warp: the assignment of elements to lanes, and the operations on
//! them.
//!
//! Each lane has a *fragment* of a matrix: registers with one or more elements each. [`Fragment::position`] is the only
//! description of the PTX manual's layouts; products, loads and stores of matrices all use it. The arithmetic is in
//! `exec/product.rs`.

use super::{Inst, Value};
use crate::ptx::{Modifier as M, Opcode, Type};

/// The type of a matrix's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ElementType {
    B1,
    S4,
    U4,
    S8,
    U8,
    S32,
    E4m3,
    E5m2,
    F16,
    Bf16,
    Tf32,
    F32,
    F64,
}

/// The arithmetic of a matrix product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Arithmetic {
    /// Floating-point products are added as the hardware does; integers wrap.
    Plain,
    /// Integer results saturate.
    Saturated,
    /// Population count of the exclusive or (`.xor.popc`).
    Xor,
    /// Population count of the conjunction (`.and.popc`).
    And,
    /// `f64` rounds down, up or towards zero.
    Down,
    Up,
    Zero,
}

/// The role of a matrix in a product `D = A * B + C`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    A,
    B,
    /// `C` or `D`.
    Accumulator,
}

/// A product: `A` has `m` rows and `k` columns, `B` has `k` rows and `n` columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Product {
    pub(crate) m: u8,
    pub(crate) n: u8,
    pub(crate) k: u16,
    pub(crate) a: ElementType,
    pub(crate) b: ElementType,
    pub(crate) c: ElementType,
    pub(crate) d: ElementType,
    pub(crate) arithmetic: Arithmetic,
    /// For `m8n8k4` of `f16`, four products of eight lanes each: true for `A` and for `B` if it is column-major.
    pub(crate) quads: Option<[bool; 2]>,
}

/// An operation of a warp on matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Matrix {
    /// `ldmatrix`: rows of 8 elements of 16 bits, one in each lane, become fragments of this many matrices; transposed
    /// if the flag is set.
    FromRows(u8, bool),
    /// `stmatrix`: the inverse of `FromRows`.
    ToRows(u8, bool),
    /// `movmatrix`: the fragment of the transpose of an 8x8 matrix of 16-bit elements.
    Transpose,
    Product(Product),
}

/// The largest number of 32-bit words that a lane passes in or gets back: `A`, `B` and `C` of `m16n8k16` of `f64`.
pub(crate) const MAX_WORDS: usize = 32;

/// A lane's part of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fragment {
    pub(crate) part: Role,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) number: ElementType,
    /// True if a matrix of a quad product is column-major; `None` for other products.
    quads: Option<bool>,
}

impl ElementType {
    pub(crate) const ALL: [ElementType; 13] = {
        use ElementType::*;
        [B1, S4, U4, S8, U8, S32, E4m3, E5m2, F16, Bf16, Tf32, F32, F64]
    };

    /// Returns the bits of an element.
    pub(crate) fn bits(self) -> u32 {
        match self {
            ElementType::B1 => 1,
            ElementType::S4 | ElementType::U4 => 4,
            ElementType::S8 | ElementType::U8 | ElementType::E4m3 | ElementType::E5m2 => 8,
            ElementType::F16 | ElementType::Bf16 => 16,
            ElementType::S32 | ElementType::Tf32 | ElementType::F32 => 32,
            ElementType::F64 => 64,
        }
    }

    /// Returns the bits of a register that holds such elements.
    pub(crate) fn register_bits(self) -> u32 {
        self.bits().max(32)
    }

    /// Returns the number of elements in a register.
    pub(crate) fn in_register(self) -> usize {
        (self.register_bits() / self.bits()) as usize
    }

    fn of(ty: Type) -> Option<ElementType> {
        Some(match ty {
            Type::B1 => ElementType::B1,
            Type::S4 => ElementType::S4,
            Type::U4 => ElementType::U4,
            Type::S8 => ElementType::S8,
            Type::U8 => ElementType::U8,
            Type::S32 => ElementType::S32,
            Type::E4m3 => ElementType::E4m3,
            Type::E5m2 => ElementType::E5m2,
            Type::F16 => ElementType::F16,
            Type::Bf16 => ElementType::Bf16,
            Type::Tf32 => ElementType::Tf32,
            Type::F32 => ElementType::F32,
            Type::F64 => ElementType::F64,
            _ => return None,
        })
    }
}

impl Arithmetic {
    pub(crate) const ALL: [Arithmetic; 7] = [
        Arithmetic::Plain,
        Arithmetic::Saturated,
        Arithmetic::Xor,
        Arithmetic::And,
        Arithmetic::Down,
        Arithmetic::Up,
        Arithmetic::Zero,
    ];

    fn of(inst: &Inst) -> Arithmetic {
        let named = inst.modifiers().find_map(|m| match m {
            M::Satfinite => Some(Arithmetic::Saturated),
            M::Xor => Some(Arithmetic::Xor),
            M::And => Some(Arithmetic::And),
            M::Rm => Some(Arithmetic::Down),
            M::Rp => Some(Arithmetic::Up),
            M::Rz => Some(Arithmetic::Zero),
            _ => None,
        });
        named.unwrap_or(Arithmetic::Plain)
    }
}

/// Parses a shape such as `m16n8k16`.
fn shape(modifier: M) -> Option<(u8, u8, u16)> {
    let (m, rest) = modifier.name().strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some((m.parse().ok()?, n.parse().ok()?, k.parse().ok()?))
}

impl Product {
    /// Returns the product that an instruction computes; `None` if it computes none.
    pub(crate) fn of(inst: &Inst) -> Option<Product> {
        let (m, n, k) = inst.modifiers().find_map(shape)?;
        let types: Vec<Type> = inst.types().collect();
        let (d, a, b, c) = match (inst.opcode, types.as_slice()) {
            (Opcode::Mma | Opcode::Wmma, [d, a, b, c]) => (*d, *a, *b, *c),
            (Opcode::Wmma, [d, c]) => (*d, Type::F16, Type::F16, *c),
            _ => return None,
        };
        let (d, a, b, c) = (ElementType::of(d)?, ElementType::of(a)?, ElementType::of(b)?, ElementType::of(c)?);
        let layouts: Vec<bool> =
            inst.modifiers().filter(|m| matches!(m, M::Row | M::Col)).map(|m| m == M::Col).collect();
        let quads = match (layouts.as_slice(), (m, n, k), a) {
            ([a, b], (8, 8, 4), ElementType::F16) => Some([*a, *b]),
            _ => None,
        };
        Some(Product { m, n, k, a, b, c, d, arithmetic: Arithmetic::of(inst), quads })
    }

    /// Returns the number of independent products that the warp computes at once.
    pub(crate) fn count(self) -> usize {
        if self.quads.is_some() { 4 } else { 1 }
    }

    /// Returns the fragments of `D`, `A`, `B` and `C`, in the order of the operands.
    pub(crate) fn fragments(self) -> [Fragment; 4] {
        let (m, n, k) = (usize::from(self.m), usize::from(self.n), usize::from(self.k));
        let [a, b] = self.quads.map_or([None; 2], |quads| quads.map(Some));
        let accumulator = |number| Fragment {
            part: Role::Accumulator,
            rows: m,
            columns: n,
            number,
            quads: self.quads.map(|_| false),
        };
        [
            accumulator(self.d),
            Fragment { part: Role::A, rows: m, columns: k, number: self.a, quads: a },
            Fragment { part: Role::B, rows: k, columns: n, number: self.b, quads: b },
            accumulator(self.c),
        ]
    }
}

impl Fragment {
    /// Returns the number of registers of a lane.
    pub(crate) fn registers(self) -> usize {
        let lanes = if self.quads.is_some() { 8 } else { 32 };
        self.rows * self.columns / lanes / self.number.in_register()
    }

    /// Returns the number of 32-bit words of a lane.
    pub(crate) fn words(self) -> usize {
        self.registers() * self.number.register_bits() as usize / 32
    }

    /// Returns the row and column of an element of a lane's register.
    ///
    /// A matrix is divided into tiles of 8 rows of `A`, or 8 columns of `B`, with as many elements in the other
    /// dimension as four registers hold. A lane has one register in each tile; tiles are numbered along the dimension
    /// of 8 first. Accumulators have tiles of 8 rows and columns, with two elements of a lane in each. Within a tile,
    /// four lanes share a row (or column).
    pub(crate) fn position(self, lane: usize, register: usize, element: usize) -> (usize, usize) {
        let across = self.number.in_register();
        if let Some(by_columns) = self.quads {
            return self.position_in_quads(lane, register * across + element, by_columns);
        }
        let (group, member) = (lane / 4, lane % 4);
        match self.part {
            Role::A => {
                let blocks = self.rows / 8;
                let (down, right) = (register % blocks, register / blocks);
                (group + 8 * down, (member + 4 * right) * across + element)
            }
            Role::B => {
                let blocks = self.rows / (4 * across);
                let (down, right) = (register % blocks, register / blocks);
                ((member + 4 * down) * across + element, group + 8 * right)
            }
            Role::Accumulator => {
                let (pair, second) = ((register * across + element) / 2, (register * across + element) % 2);
                let blocks = self.rows / 8;
                (group + 8 * (pair % blocks), 2 * member + second + 8 * (pair / blocks))
            }
        }
    }

    /// As [`Fragment::position`], for one of the four products of eight lanes: four lanes of the first half of the
    /// warp, and the four lanes 16 above them.
    fn position_in_quads(self, lane: usize, i: usize, by_columns: bool) -> (usize, usize) {
        let (member, half) = (lane % 4, 4 * (lane / 16));
        match (self.part, by_columns, self.number) {
            (Role::A, false, _) => (member + half, i),
            (Role::A, true, _) => (i + half, member),
            (Role::B, false, _) => (member, i + half),
            (Role::B, true, _) => (i, member + half),
            (Role::Accumulator, _, ElementType::F16) => (member + half, i),
            (Role::Accumulator, ..) => ((member & 1) + (i & 2) + half, (i & 4) + (member & 2) + (i & 1)),
        }
    }
}

/// The number of matrices of 8 rows and columns that an instruction moves.
fn count(inst: &Inst) -> u8 {
    let named = inst.modifiers().find_map(|m| match m {
        M::X1 => Some(1),
        M::X2 => Some(2),
        M::X4 => Some(4),
        _ => None,
    });
    named.unwrap_or(1)
}

/// Returns the index among `D`, `A`, `B` and `C` of the matrix that a `wmma` load loads.
pub(crate) fn loaded(inst: &Inst) -> usize {
    [M::D, M::A, M::B, M::C].iter().position(|m| inst.has(*m)).unwrap_or(0)
}

/// Returns the fragment with this index among `D`, `A`, `B` and `C`, for a product or for a load or store.
pub(crate) fn fragment(inst: &Inst, matrix: usize) -> Option<Fragment> {
    if let Some(product) = Product::of(inst) {
        return Some(product.fragments()[matrix]);
    }
    let (m, n, k) = inst.modifiers().find_map(shape).filter(|_| inst.opcode == Opcode::Wmma)?;
    let number = ElementType::of(inst.ty(0))?;
    let product =
        Product { m, n, k, a: number, b: number, c: number, d: number, arithmetic: Arithmetic::Plain, quads: None };
    Some(product.fragments()[matrix])
}

/// Returns the number of registers of a fragment operand, and the bits of each. `matrix` is its index among `D`, `A`,
/// `B` and `C`.
pub(crate) fn registers(inst: &Inst, matrix: usize) -> (usize, u32) {
    let Some(fragment) = fragment(inst, matrix) else { return (usize::from(count(inst)), 32) };
    // The first targets of `wmma` held each element of `A` and `B` at least twice, and PTX demands as many registers.
    let many = inst.opcode == Opcode::Wmma && fragment.part != Role::Accumulator && fragment.number == ElementType::F16;
    (if many { 8 } else { fragment.registers() }, fragment.number.register_bits())
}

impl Matrix {
    /// Returns the warp-level operation of a matrix instruction at which lanes exchange elements.
    pub(crate) fn of(inst: &Inst) -> Option<Matrix> {
        match inst.opcode {
            Opcode::Ldmatrix => Some(Matrix::FromRows(count(inst), inst.has(M::Trans))),
            Opcode::Stmatrix => Some(Matrix::ToRows(count(inst), inst.has(M::Trans))),
            Opcode::Movmatrix => Some(Matrix::Transpose),
            Opcode::Mma | Opcode::Wmma => Product::of(inst).map(Matrix::Product),
            _ => None,
        }
    }

    /// Returns the number of words that a lane passes in, and that it gets back.
    pub(crate) fn words(self) -> (usize, usize) {
        match self {
            Matrix::FromRows(count, _) => (4, count.into()),
            Matrix::ToRows(count, _) => (count.into(), 4),
            Matrix::Transpose => (1, 1),
            Matrix::Product(product) => {
                let [d, a, b, c] = product.fragments().map(Fragment::words);
                (a + b + c, d)
            }
        }
    }
}

/// Returns the words that a lane passes in: a value, its bits, and true if the word is the high half.
pub(crate) fn input_words(inst: &Inst) -> Vec<(&Value, u32, bool)> {
    let mut words = Vec::new();
    for (at, value) in inst.operands.iter().enumerate().skip(1) {
        let fragment = Product::of(inst).map(|product| product.fragments()[at]);
        let bits = fragment.map_or(32, |fragment| fragment.number.register_bits());
        let values = if let Value::Vector(values) = value { values.as_slice() } else { std::slice::from_ref(value) };
        for value in values.iter().take(fragment.map_or(values.len(), Fragment::registers)) {
            words.push((value, bits, false));
            words.extend((bits == 64).then_some((value, bits, true)));
        }
    }
    words
}

/// Returns the registers that a lane gets back, with their bits.
pub(crate) fn output_registers(inst: &Inst) -> impl Iterator<Item = (&Value, u32)> {
    let bits = if Product::of(inst).is_some() { registers(inst, 0).1 } else { 32 };
    let values = match inst.operands.first() {
        Some(Value::Vector(values)) => values.as_slice(),
        value => value.map_or(&[][..], std::slice::from_ref),
    };
    values.iter().map(move |value| (value, bits))
}
