//! Records on disk of modules and kernels: a text that was loaded before on this machine is not parsed again, and a
//! kernel that was launched before is not lowered to LLVM IR again.
//!
//! The key consists of the text and this crate's sources, which determine everything else, and the kernel. A kernel's
//! record has the hash of its LLVM IR (`texts::identity`), which is the key of its machine code. If the IR has to be
//! emitted after all and has another hash, the record is dropped and the launch fails: parts of two compilations never
//! run together.

use super::{Facts, KernelFacts, Origin};
use crate::codegen::texts::Texts;
use crate::codegen::{Effort, KernelCode, Part, Shape, folder};
use crate::ir::layout::{Area, Global, Relocation};
use crate::ir::matrix::{Arithmetic, ElementType, Matrix, Product};
use crate::ir::sync::{Arg, BarrierReduction, Operation, Plan, Poll, Reduce, Shuffle, Site, Watched};
use crate::ir::{Clusters, Signature, Slot};
use crate::ptx::Position;
use cuda_jit_cache::Key;
use std::collections::BTreeMap;
use std::sync::Arc;

const LABEL: &str = "a module of the software device";
const KERNEL_LABEL: &str = "a kernel of the software device";

/// Returns the key of a text's record.
pub(super) fn key(text: &str) -> Key {
    Key::new(&[b"module", text.as_bytes(), env!("CUDA_SIM_SOURCES").as_bytes(), std::env::consts::ARCH.as_bytes()])
}

/// Returns the key of the record of a kernel, for launches with or without clusters.
fn kernel_key(origin: &Origin, function: usize, clustered: bool) -> Key {
    let kernel = [(function as u64).to_le_bytes(), u64::from(clustered).to_le_bytes()].concat();
    Key::new(&[b"kernel", origin.key().as_bytes(), &kernel])
}

/// Returns the facts of a text from an earlier load, if they are on disk.
pub(super) fn find(origin: &Origin) -> Option<Facts> {
    decoded(&folder()?.get(origin.key())?)
}

/// Writes the facts of a text to disk.
pub(super) fn keep(origin: &Origin, facts: &Facts) {
    if let Some(folder) = folder() {
        folder.put(origin.key(), LABEL, &encoded(facts));
    }
}

/// Returns the code of a kernel from an earlier launch, if its record is on disk.
pub(super) fn find_kernel(origin: &Arc<Origin>, function: usize, clustered: bool) -> Option<KernelCode> {
    decoded_kernel(origin, function, clustered, &folder()?.get(&kernel_key(origin, function, clustered))?)
}

/// Writes the record of a kernel's code to disk.
pub(super) fn keep_kernel(origin: &Origin, clustered: bool, code: &KernelCode) {
    if let Some(folder) = folder() {
        folder.put(&kernel_key(origin, code.function, clustered), KERNEL_LABEL, &encoded_kernel(code));
    }
}

/// Invalidates the record of a kernel.
fn forget_kernel(origin: &Origin, function: usize, clustered: bool) {
    if let Some(folder) = folder() {
        folder.put(&kernel_key(origin, function, clustered), KERNEL_LABEL, &[]);
    }
}

fn decoded(mut from: &[u8]) -> Option<Facts> {
    let facts = Facts::get(&mut from)?;
    from.is_empty().then_some(facts)
}

fn encoded(facts: &Facts) -> Vec<u8> {
    let mut to = Vec::new();
    facts.put(&mut to);
    to
}

fn encoded_kernel(code: &KernelCode) -> Vec<u8> {
    let mut to = Vec::new();
    code.regions.put(&mut to);
    code.loops.put(&mut to);
    code.texts.identity().as_bytes().put(&mut to);
    code.shape.put(&mut to);
    code.scheduled.put(&mut to);
    (code.effort == Effort::Full).put(&mut to);
    code.instructions.put(&mut to);
    code.plan.polls.put(&mut to);
    code.plan.sites.put(&mut to);
    to
}

fn decoded_kernel(origin: &Arc<Origin>, function: usize, clustered: bool, mut from: &[u8]) -> Option<KernelCode> {
    let from = &mut from;
    let (regions, loops) = (Vec::get(from)?, Vec::get(from)?);
    let identity = Key::from_bytes(<[u8; 32]>::get(from)?);
    let origin = Arc::clone(origin);
    let texts = Texts::later(identity, Box::new(move || written_again(&origin, function, clustered, &identity)));
    let code = KernelCode {
        checked: false,
        has_fences: false,
        function,
        regions,
        loops,
        texts: Arc::new(texts),
        shape: Shape::get(from)?,
        scheduled: bool::get(from)?,
        effort: if bool::get(from)? { Effort::Full } else { Effort::Least },
        instructions: usize::get(from)?,
        plan: Arc::new(Plan { polls: Vec::get(from)?, sites: Vec::get(from)? }),
    };
    from.is_empty().then_some(code)
}

/// Emits the texts of a kernel whose record was found, and checks that the record was written for them.
fn written_again(origin: &Origin, function: usize, clustered: bool, identity: &Key) -> Result<Vec<String>, String> {
    let code = origin.emitted(function, clustered).map_err(|error| error.to_string())?;
    if code.texts.identity() == identity {
        return code.texts.all();
    }
    forget_kernel(origin, function, clustered);
    Err("the kernel's record on disk does not match the kernel: it was dropped, and the next process compiles the kernel"
        .to_owned())
}

/// A type that can be encoded as bytes, and decoded from the start of a byte slice.
trait Codec: Sized {
    fn put(&self, to: &mut Vec<u8>);
    /// Returns `None` for bytes that are not a valid encoding.
    fn get(from: &mut &[u8]) -> Option<Self>;
}

macro_rules! numbers {
    ($($number:ty),*) => { $(
        impl Codec for $number {
            fn put(&self, to: &mut Vec<u8>) {
                to.extend(self.to_le_bytes());
            }

            fn get(from: &mut &[u8]) -> Option<Self> {
                let (bytes, rest) = from.split_first_chunk()?;
                *from = rest;
                Some(Self::from_le_bytes(*bytes))
            }
        }
    )* };
}
numbers!(u8, u16, u32, u64);

impl Codec for usize {
    fn put(&self, to: &mut Vec<u8>) {
        (*self as u64).put(to);
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        u64::get(from)?.try_into().ok()
    }
}

impl Codec for bool {
    fn put(&self, to: &mut Vec<u8>) {
        u8::from(*self).put(to);
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        u8::get(from).filter(|byte| *byte < 2).map(|byte| byte == 1)
    }
}

impl<T: Codec> Codec for Vec<T> {
    fn put(&self, to: &mut Vec<u8>) {
        self.len().put(to);
        self.iter().for_each(|item| item.put(to));
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        // Each element takes at least one byte.
        let count = usize::get(from).filter(|count| *count <= from.len())?;
        (0..count).map(|_| T::get(from)).collect()
    }
}

impl Codec for String {
    fn put(&self, to: &mut Vec<u8>) {
        self.len().put(to);
        to.extend(self.as_bytes());
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        String::from_utf8(Vec::get(from)?).ok()
    }
}

impl<T: Codec> Codec for Option<T> {
    fn put(&self, to: &mut Vec<u8>) {
        self.is_some().put(to);
        self.iter().for_each(|value| value.put(to));
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        if bool::get(from)? { T::get(from).map(Some) } else { Some(None) }
    }
}

impl<T: Codec, const N: usize> Codec for [T; N] {
    fn put(&self, to: &mut Vec<u8>) {
        self.iter().for_each(|item| item.put(to));
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        (0..N).map(|_| T::get(from)).collect::<Option<Vec<_>>>()?.try_into().ok()
    }
}

impl<A: Codec, B: Codec> Codec for (A, B) {
    fn put(&self, to: &mut Vec<u8>) {
        self.0.put(to);
        self.1.put(to);
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        Some((A::get(from)?, B::get(from)?))
    }
}

impl<K: Codec + Ord, V: Codec> Codec for BTreeMap<K, V> {
    fn put(&self, to: &mut Vec<u8>) {
        self.len().put(to);
        for (key, value) in self {
            key.put(to);
            value.put(to);
        }
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        Some(Vec::<(K, V)>::get(from)?.into_iter().collect())
    }
}

macro_rules! structs {
    ($($name:ident { $($field:ident),* })*) => { $(
        impl Codec for $name {
            fn put(&self, to: &mut Vec<u8>) {
                let $name { $($field),* } = self;
                $($field.put(to);)*
            }

            fn get(from: &mut &[u8]) -> Option<Self> {
                $(let $field = Codec::get(from)?;)*
                Some($name { $($field),* })
            }
        }
    )* };
}

structs! {
    Facts { data, managed, globals, loads_addresses, kernels }
    KernelFacts { signature, function, local_bytes }
    Area { image, bytes, own, managed }
    Relocation { at, bytes, shift, offset }
    Global { offset, bytes, managed }
    Slot { offset, bytes, align }
    Clusters { required, explicit, most }
    Signature { name, params, shared_bytes, constants, constant_bytes, only_fibers, max_threads, required_threads, clusters }
    Part { number, hot, repeats, wide }
    Shape { frame_bytes, local_bytes, static_shared, reserved_shared, calls, stack_frames }
    Site { relaxed, operation, args, active, is_used, region, position, name }
    Position { line, column }
    Product { m, n, k, a, b, c, d, arithmetic, quads }
    Poll { watched, position }
}

impl Codec for Watched {
    fn put(&self, to: &mut Vec<u8>) {
        (*self as usize).put(to);
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        Watched::ALL.get(usize::get(from)?).copied()
    }
}

impl Codec for ElementType {
    fn put(&self, to: &mut Vec<u8>) {
        (*self as u8).put(to);
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        ElementType::ALL.get(usize::from(u8::get(from)?)).copied()
    }
}

impl Codec for Arithmetic {
    fn put(&self, to: &mut Vec<u8>) {
        (*self as u8).put(to);
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        Arithmetic::ALL.get(usize::from(u8::get(from)?)).copied()
    }
}

impl Codec for Matrix {
    fn put(&self, to: &mut Vec<u8>) {
        match *self {
            Matrix::FromRows(count, transposed) => (0u8, (count, transposed)).put(to),
            Matrix::ToRows(count, transposed) => (1u8, (count, transposed)).put(to),
            Matrix::Transpose => 2u8.put(to),
            Matrix::Product(product) => (3u8, product).put(to),
        }
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        Some(match u8::get(from)? {
            0 => Matrix::FromRows(Codec::get(from)?, Codec::get(from)?),
            1 => Matrix::ToRows(Codec::get(from)?, Codec::get(from)?),
            2 => Matrix::Transpose,
            3 => Matrix::Product(Codec::get(from)?),
            _ => return None,
        })
    }
}

impl Codec for Arg {
    fn put(&self, to: &mut Vec<u8>) {
        let known = match self {
            Arg::Known(value) => Some(*value),
            Arg::Frame => None,
        };
        known.put(to);
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        Some(Option::get(from)?.map_or(Arg::Frame, Arg::Known))
    }
}

/// The number of an operation in records is its index in [`OPERATIONS`].
const OPERATIONS: &[Operation] = &[
    Operation::Barrier(None),
    Operation::Barrier(Some(BarrierReduction::Popc)),
    Operation::Barrier(Some(BarrierReduction::And)),
    Operation::Barrier(Some(BarrierReduction::Or)),
    Operation::Arrive,
    Operation::WarpSync,
    Operation::Shuffle(Shuffle::Up),
    Operation::Shuffle(Shuffle::Down),
    Operation::Shuffle(Shuffle::Bfly),
    Operation::Shuffle(Shuffle::Idx),
    Operation::All,
    Operation::Any,
    Operation::Uni,
    Operation::Ballot,
    Operation::MatchAny,
    Operation::MatchAll,
    Operation::Redux(Reduce::Add),
    Operation::Redux(Reduce::MinUnsigned),
    Operation::Redux(Reduce::MinSigned),
    Operation::Redux(Reduce::MaxUnsigned),
    Operation::Redux(Reduce::MaxSigned),
    Operation::Redux(Reduce::And),
    Operation::Redux(Reduce::Or),
    Operation::Redux(Reduce::Xor),
    Operation::Elect,
    Operation::ActiveMask,
    Operation::ClusterArrive,
    Operation::ClusterWait,
];

/// Precedes the encoding of a matrix operation, of which there are too many to list.
const MATRIX: u8 = 255;

impl Codec for Operation {
    fn put(&self, to: &mut Vec<u8>) {
        if let Operation::Matrix(matrix) = self {
            return (MATRIX, *matrix).put(to);
        }
        // An operation that is missing in the list gives a record that cannot be read.
        let place = OPERATIONS.iter().position(|operation| operation == self).unwrap_or(OPERATIONS.len());
        (place as u8).put(to);
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        match u8::get(from)? {
            MATRIX => Matrix::get(from).map(Operation::Matrix),
            place => OPERATIONS.get(usize::from(place)).copied(),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Texts of real compilers, with variables, calls, clusters and other features that records contain.
    const TEXTS: &[&str] = &[
        include_str!("../../tests/samples/nvcc13.ptx"),
        include_str!("../../tests/samples/nvrtc12.ptx"),
        include_str!("../../tests/samples/llvm22.ptx"),
        ".version 7.8\n.target sm_90\n.address_size 64\n.global .align 8 .u64 at = where; .global .u8 part[2] = {0xff(where), 0xff00(generic(where)+4)};
        .global .align 4 .b8 where[8] = {1, 2, 3}; .global .attribute(.managed) .align 4 .b32 shared_by_all = 7;
        .visible .entry k(.param .u64 a, .param .b8 b[12]) .reqntid 64, 2 .reqnctapercluster 2 {
        .reg .b32 %r<4>; .reg .pred %p<3>; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 3;
        shfl.sync.bfly.b32 %r2|%p2, %r1, 1, 31, -1; bar.red.popc.u32 %r3, 0, %p1; barrier.cluster.arrive; barrier.cluster.wait;
        mma.sync.aligned.m8n8k4.col.row.f16.f16.f16.f16 {%r0, %r1, %r2, %r3}, {%r0, %r1}, {%r2, %r3}, {%r0, %r1, %r2, %r3};
        mma.sync.aligned.m8n8k32.row.col.satfinite.s32.s4.u4.s32 {%r0, %r1}, {%r2}, {%r3}, {%r0, %r1};
        movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;
        vote.sync.ballot.b32 %r2, %p1, -1; match.any.sync.b32 %r2, %r1, -1; redux.sync.max.u32 %r2, %r1, -1; ret; }",
    ];

    fn origin(text: &str) -> Arc<Origin> {
        Arc::new(Origin::new(text))
    }

    fn facts(text: &str) -> Facts {
        Facts::of(&origin(text).program().unwrap())
    }

    /// Returns the code of each kernel of a text, for launches with and without clusters.
    fn codes(origin: &Origin) -> Vec<(bool, KernelCode)> {
        let code = |kernel: &KernelFacts| {
            [false, true].map(|clustered| (clustered, origin.emitted(kernel.function, clustered).unwrap()))
        };
        Facts::of(&origin.program().unwrap()).kernels.iter().flat_map(code).collect()
    }

    #[test]
    fn records_are_read_as_they_were_written_and_cut_ones_not_at_all() {
        for text in TEXTS {
            let facts = facts(text);
            let bytes = encoded(&facts);
            let again = decoded(&bytes).unwrap();
            assert_eq!(format!("{again:?}"), format!("{facts:?}"));
            assert_eq!(encoded(&again), bytes);
            assert!((0..bytes.len()).all(|len| decoded(&bytes[..len]).is_none()));
            assert!(decoded(&[&bytes[..], &[0]].concat()).is_none());
            let origin = origin(text);
            for (clustered, code) in codes(&origin) {
                let bytes = encoded_kernel(&code);
                let decoded = |bytes: &[u8]| decoded_kernel(&origin, code.function, clustered, bytes);
                let again = decoded(&bytes).unwrap();
                assert_eq!(format!("{again:?}"), format!("{code:?}"));
                assert_eq!(encoded_kernel(&again), bytes);
                assert!((0..bytes.len()).all(|len| decoded(&bytes[..len]).is_none()));
                assert!(decoded(&[&bytes[..], &[0]].concat()).is_none());
            }
        }
    }

    #[test]
    fn damaged_records_never_panic() {
        let damages = |bytes: Vec<u8>, read: &dyn Fn(&[u8])| {
            for bit in 0..bytes.len() * 8 {
                let mut damaged = bytes.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                read(&damaged);
            }
        };
        damages(encoded(&facts(TEXTS[3])), &|damaged| drop(decoded(damaged)));
        let origin = origin(TEXTS[3]);
        for (clustered, code) in codes(&origin) {
            damages(encoded_kernel(&code), &|damaged| drop(decoded_kernel(&origin, code.function, clustered, damaged)));
        }
    }

    /// The hash of the IR is the key of the machine code, so emission must be deterministic.
    #[test]
    fn what_is_written_again_is_the_same() {
        for text in TEXTS {
            let origin = origin(text);
            for (clustered, code) in codes(&origin) {
                let bytes = encoded_kernel(&code);
                let again = decoded_kernel(&origin, code.function, clustered, &bytes).unwrap();
                assert_eq!(again.texts.all(), code.texts.all());
            }
            let encoded =
                |origin: &Origin| codes(origin).iter().map(|(_, code)| encoded_kernel(code)).collect::<Vec<_>>();
            let bytes = encoded(&origin);
            assert!((0..4).all(|_| encoded(&self::origin(text)) == bytes));
        }
    }

    #[test]
    fn a_kernel_that_is_another_than_its_record_says_is_refused() {
        let origin = origin(TEXTS[3]);
        let (clustered, mut code) = codes(&origin).remove(0);
        code.texts = Arc::new(Texts::new(Key::new(&[b"another"]), Vec::new()));
        let again = decoded_kernel(&origin, code.function, clustered, &encoded_kernel(&code)).unwrap();
        let why = again.texts.get(0).unwrap_err();
        assert!(why.contains("it was dropped"), "{why}");
    }

    #[test]
    fn every_operation_has_a_number() {
        for (place, operation) in OPERATIONS.iter().enumerate() {
            let mut bytes = Vec::new();
            operation.put(&mut bytes);
            assert_eq!(bytes, [place as u8], "{operation:?} is listed once");
            assert_eq!(Operation::get(&mut bytes.as_slice()), Some(*operation));
        }
    }
}
