//! Intrinsics that kernels call: `grid`, `thread_idx` and others.
//!
//! Each is a function, so that kernels type-check and run on the host, and a type of the same name that describes it to the
//! front end. On the host they return the position of the thread that `cuda_jit::host::for_each_thread` currently runs.
//!
//! # Safety
//!
//! The only unsafe code is the implementations that describe the types here to the compiler.

use crate::typeinfo::by_path::callee;
use crate::typeinfo::{Arithmetic, Body, DeviceType, Field, Instance, Intrinsic, Key, StructTy, Ty, Unconstrained};

/// Defines the callee type beside each function of the modules below: its parameters' types, with every lifetime `'static`,
/// and its intrinsic. The bounds are as weak as possible: rustc reports the function's own bounds at the call, and only
/// once.
macro_rules! calls {
    ($($(<$($generic:ident: $bound:ident),+>)? $name:ident($($param:ty),*) $(-> $output:ty)? => $intrinsic:expr;)*) => { $(
        $crate::typeinfo::by_path::callee! {
            #[doc(hidden)]
            #[expect(non_camel_case_types, reason = "it is named as the function beside it")]
            pub $name[$($($generic),+)?];
            where [$($($generic: $bound),+)?] fn ($($param,)*) => output!($($output)?) {
                $crate::typeinfo::Instance {
                    body: $crate::typeinfo::Body::Intrinsic($intrinsic),
                    generics: vec![$($( $crate::typeinfo::type_arg::<$generic>() ),+)?],
                }
            }
        }
    )* };
}

/// The type of a result; `()` if none is given.
macro_rules! output {
    () => {
        ()
    };
    ($output:ty) => {
        $output
    };
}

pub(crate) mod atomics;
mod bits;
mod block;
mod cache;
mod debugger;
mod float8;
mod graph;
pub(crate) mod groups;
pub mod libdevice;
pub(crate) mod library;
mod position;
mod time;
mod vectors;
mod warp;

pub use atomics::*;
pub use bits::*;
use block::needs_other_threads;

pub use block::*;
pub use cache::*;
pub use debugger::*;
pub use float8::*;
pub use graph::*;
pub use groups::*;
#[doc(hidden)]
pub use position::{Position, Walk};
use position::{position, position_in};
pub use time::*;
pub use vectors::*;
pub use warp::*;

/// Prints from a kernel to the program's standard output, with Rust's format strings and without a line end of its own.
///
/// The output appears when the host next synchronises, or earlier; the order between threads is not specified. Values are
/// numbers, `bool`, and references to them: at most 32 of them.
///
/// | format | prints |
/// |---|---|
/// | `{}` | integers and `bool` as Rust does; floats with six significant digits, as C's `%g` |
/// | `{:?}` | the same, but floats with 9 (`f32`), 17 (`f64`), 5 (`f16`) or 4 (`bf16`) digits, in which no two print alike |
/// | `{:.3}` | this number of decimals |
/// | `{:e}`, `{:E}` | floats as C's `%e`: `1.500000e+03`; `{:.2e}` |
/// | `{:x}`, `{:X}`, `{:o}`, `{:#x}` | integers in hexadecimal or octal digits |
/// | `{:8}`, `{:<8}`, `{:>8}`, `{:08}` | at least this number of characters |
///
/// `{0}`, `{name}` and `{variable}` name arguments as in `println!`. Formats that C's `vprintf` does not support are
/// refused by the compiler: other fill characters, `^`, `+`, `{:b}`, widths as arguments.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::{grid, printf}, kernel};
///
/// #[kernel]
/// fn show(x: &[f32]) {
///     let i = grid::<1>();
///     printf!("x[{i}] = {:>8.3}\n", x[i]);
/// }
///
/// cuda_jit::host::for_each_thread((1, 2), || show(&[1.0, 2.5]));
/// assert!(show::compile_ptx((9, 0))?.contains("vprintf"));
/// # Ok::<(), cuda_jit::Error>(())
/// ```
pub use cuda_jit_macros::printf;

/// Three extents or indices; CUDA's `dim3`.
///
/// # Examples
///
/// ```
/// use cuda_jit::device::{Dim3, block_dim};
///
/// // On the host, as in a kernel.
/// cuda_jit::host::for_each_thread((1, (4, 2)), || assert_eq!(block_dim(), Dim3 { x: 4, y: 2, z: 1 }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Dim3 {
    /// Along the first axis; consecutive values are consecutive lanes of a warp.
    pub x: usize,
    /// Along the second axis.
    pub y: usize,
    /// Along the third axis.
    pub z: usize,
}

// SAFETY: `ty` describes the type whose key this is: the same numbers, in the same order.
unsafe impl Key for Dim3 {
    fn ty() -> Ty {
        let field = |(index, name): (usize, &'static str)| Field { name, ty: Ty::INDEX, offset: 8 * index };
        let fields = (0..).zip(["x", "y", "z"]).map(field).collect();
        Ty::Struct(
            StructTy { name: "Dim3", fields, size: 24, align: 8, operators: Vec::new, arithmetic: Arithmetic::Listed }
                .into(),
        )
    }
}

// SAFETY: the key describes this very type.
#[diagnostic::do_not_recommend]
unsafe impl DeviceType for Dim3 {
    type K = Dim3;

    fn __variants() -> Vec<Option<Self>> {
        vec![Some(Dim3 { x: 0, y: 0, z: 0 })]
    }
}

/// A number of dimensions that [`grid`] and [`grid_size`] can have.
///
/// Nothing unsafe relies on an implementation: other [`Dims`] do not occur.
///
/// # Examples
///
/// ```
/// use cuda_jit::device::{Dim3, Dimensions, Dims};
///
/// assert_eq!(<Dims<2> as Dimensions>::index(Dim3 { x: 3, y: 4, z: 5 }), (3, 4));
/// ```
#[diagnostic::on_unimplemented(
    message = "a grid has 1, 2 or 3 dimensions",
    label = "another number of dimensions",
    note = "write `::<1>()`, `::<2>()` or `::<3>()`"
)]
pub trait Dimensions {
    /// `usize`, `(usize, usize)` or `(usize, usize, usize)`.
    type Index;

    /// The first components of `all`.
    fn index(all: Dim3) -> Self::Index;
}

/// `N` dimensions.
///
/// # Examples
///
/// ```
/// use cuda_jit::device::{Dimensions, Dims};
///
/// let index: <Dims<1> as Dimensions>::Index = 7_usize;
/// assert_eq!(index, 7);
/// ```
#[derive(Debug)]
pub struct Dims<const N: usize>;

impl Dimensions for Dims<1> {
    type Index = usize;
    fn index(all: Dim3) -> usize {
        all.x
    }
}

impl Dimensions for Dims<2> {
    type Index = (usize, usize);
    fn index(all: Dim3) -> (usize, usize) {
        (all.x, all.y)
    }
}

impl Dimensions for Dims<3> {
    type Index = (usize, usize, usize);
    fn index(all: Dim3) -> (usize, usize, usize) {
        (all.x, all.y, all.z)
    }
}

/// The thread's position in the whole grid, in one, two or three dimensions: `(x, y, z)` order.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::grid, kernel};
///
/// #[kernel]
/// fn fill(out: &mut [u32], value: u32) {
///     let i = grid::<1>();
///     if i < out.len() {
///         out[i] = value;
///     }
/// }
///
/// let mut out = [0; 10];
/// cuda_jit::host::for_each_thread((2, 8), || fill(&mut out, 7));
/// assert_eq!(out, [7; 10]);
/// ```
pub fn grid<const N: usize>() -> <Dims<N> as Dimensions>::Index
where
    Dims<N>: Dimensions,
{
    let position = position_in(N);
    let along = |block: usize, extent: usize, thread: usize| block * extent + thread;
    <Dims<N> as Dimensions>::index(Dim3 {
        x: along(position.block.x, position.block_dim.x, position.thread.x),
        y: along(position.block.y, position.block_dim.y, position.thread.y),
        z: along(position.block.z, position.block_dim.z, position.thread.z),
    })
}

/// The extent of the whole grid in threads, in one, two or three dimensions.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::{grid, grid_size}, kernel};
///
/// /// Each thread takes every n-th element, for any length.
/// #[kernel]
/// fn increment(x: &mut [u32]) {
///     let mut i = grid::<1>();
///     while i < x.len() {
///         x[i] += 1;
///         i += grid_size::<1>();
///     }
/// }
///
/// let mut x = [0; 100];
/// cuda_jit::host::for_each_thread((2, 8), || increment(&mut x));
/// assert_eq!(x, [1; 100]);
/// ```
pub fn grid_size<const N: usize>() -> <Dims<N> as Dimensions>::Index
where
    Dims<N>: Dimensions,
{
    let position = position_in(N);
    <Dims<N> as Dimensions>::index(Dim3 {
        x: position.grid_dim.x * position.block_dim.x,
        y: position.grid_dim.y * position.block_dim.y,
        z: position.grid_dim.z * position.block_dim.z,
    })
}

/// The thread's index in its block.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::{block_dim, block_idx, grid_dim, thread_idx}, kernel};
///
/// #[kernel]
/// fn positions(out: &mut [[usize; 4]]) {
///     let i = block_idx().x * block_dim().x + thread_idx().x;
///     out[i] = [block_idx().x, grid_dim().x, thread_idx().x, block_dim().x];
/// }
///
/// let mut out = [[0; 4]; 6];
/// cuda_jit::host::for_each_thread((2, 3), || positions(&mut out));
/// assert_eq!(out[4], [1, 2, 1, 3]);
/// ```
pub fn thread_idx() -> Dim3 {
    position().thread
}

/// The block's index in the grid.
///
/// # Examples
///
/// ```
/// use cuda_jit::device::block_idx;
///
/// let mut blocks = Vec::new();
/// cuda_jit::host::for_each_thread((3, 1), || blocks.push(block_idx().x));
/// assert_eq!(blocks, [0, 1, 2]);
/// ```
pub fn block_idx() -> Dim3 {
    position().block
}

/// The block's extent in threads.
pub fn block_dim() -> Dim3 {
    position().block_dim
}

/// The grid's extent in blocks.
///
/// # Examples
///
/// ```
/// use cuda_jit::device::grid_dim;
///
/// cuda_jit::host::for_each_thread(((4, 2), 32), || assert_eq!((grid_dim().x, grid_dim().y), (4, 2)));
/// ```
pub fn grid_dim() -> Dim3 {
    position().grid_dim
}

/// The thread's lane in its warp: 0 to 31.
///
/// # Examples
///
/// ```
/// use cuda_jit::device::{lane_id, thread_idx, warp_size};
///
/// cuda_jit::host::for_each_thread((1, 64), || assert_eq!(lane_id(), thread_idx().x % warp_size()));
/// ```
pub fn lane_id() -> usize {
    let Position { thread, block_dim, .. } = position();
    (thread.x + block_dim.x * (thread.y + block_dim.y * thread.z)) % warp_size()
}

/// The number of lanes in a warp: 32.
///
/// # Examples
///
/// ```
/// assert_eq!(cuda_jit::device::warp_size(), 32);
/// ```
pub fn warp_size() -> usize {
    32
}

/// Defines the callee types of the functions of this file, which take no arguments: a call's path has all generic
/// arguments.
macro_rules! intrinsics {
    ($($(#[generic($n:ident)])? $name:ident => $intrinsic:expr;)*) => { $(
        callee! {
            #[doc(hidden)]
            #[expect(non_camel_case_types, reason = "it is named as the function beside it")]
            pub $name[] $([const $n])?;
            where [] fn Unconstrained => Unconstrained {
                Instance { body: Body::Intrinsic($intrinsic), generics: Vec::new() }
            }
        }
    )* };
}

intrinsics! {
    #[generic(N)] grid => Intrinsic::Grid(N);
    #[generic(N)] grid_size => Intrinsic::GridSize(N);
    thread_idx => Intrinsic::ThreadIdx;
    block_idx => Intrinsic::BlockIdx;
    block_dim => Intrinsic::BlockDim;
    grid_dim => Intrinsic::GridDim;
    lane_id => Intrinsic::LaneId;
    warp_size => Intrinsic::WarpSize;
}
