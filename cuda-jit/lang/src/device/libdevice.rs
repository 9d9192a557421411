//! All functions of NVIDIA's libdevice under their own names, without `__nv_`. CUDA's mathematical functions and intrinsics
//! are implemented by them.
//!
//! Rust's own methods (`x.sin()`) are usually preferable, and also work without libdevice. These functions are for
//! operations without a Rust method: `erff`, `lgamma`, `rsqrtf`, `normcdf`, addition with a given rounding mode
//! (`fadd_ru`), conversions.
//!
//! Names end in `f` for `f32`, as in C. Values that C returns through pointers are returned as a tuple: `sincos(x)` is
//! `(sin, cos)`, `frexp(x)` is `(fraction, exponent)`. `norm` and its variants take slices. `nan` and `nanf` are missing,
//! since they read a C string; `f64::NAN` exists.
//!
//! libdevice is part of the toolkit. A kernel that calls one of these functions does not compile without it, and the error
//! lists the places that were searched. On the host, which has no libdevice, they panic.
//!
//! # Examples
//!
//! ```
//! use cuda_jit::{Error, device::{grid, libdevice}, kernel};
//!
//! #[kernel]
//! fn gauss(x: &[f64], below: &mut [f64]) {
//!     let i = grid::<1>();
//!     if i < x.len() {
//!         below[i] = libdevice::normcdf(x[i]);
//!     }
//! }
//!
//! let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
//! let _selected = context.select();
//! let mut below = [0.0; 2];
//! match gauss::launch((1, 32), &[0.0, f64::INFINITY], &mut below) {
//!     Ok(()) => assert_eq!(below, [0.5, 1.0]),
//!     Err(error) => assert!(error.to_string().contains("libdevice.10.bc")),
//! }
//! # Ok::<(), Error>(())
//! ```
//!
//! # Safety
//!
//! The only unsafe code is the implementations that describe the types here to the compiler.

use crate::kir::LibFn;
use crate::kir::with_libdevice;
use crate::typeinfo::by_path::callee;
use crate::typeinfo::{Body, Instance, Intrinsic};

/// Panics: a function of libdevice cannot run on the host.
#[track_caller]
fn needs_libdevice(name: &str) -> ! {
    panic!("`libdevice::{name}` runs on the device only; on the host call the method of `f32` or `f64`")
}

/// The type that a word of the table stands for.
macro_rules! number {
    ($real:ident real) => {
        $real
    };
    ($_:ident $ty:ident) => {
        $ty
    };
}

/// An argument's type.
macro_rules! arg {
    ($real:ident [$ty:ident]) => {
        &'static [number!($real $ty)]
    };
    ($real:ident $ty:ident) => {
        number!($real $ty)
    };
}

/// A parameter's type.
macro_rules! param {
    ($real:ident [$ty:ident]) => {
        &[number!($real $ty)]
    };
    ($real:ident $ty:ident) => {
        number!($real $ty)
    };
}

/// The type of a result.
macro_rules! back {
    ($real:ident $one:ident) => { number!($real $one) };
    ($real:ident $($some:ident)+) => { ($(number!($real $some)),+) };
}

macro_rules! functions {
    (
        both { $($of_both:literal $double:ident $single:ident $args:tt -> $result:tt $(out $outs:tt)?;)* }
        rounded { $($of_rounded:literal $down:ident $nearest:ident $up:ident $zero:ident $takes:tt -> $gives:tt;)* }
        alone { $($of_alone:literal $name:ident $taken:tt -> $given:tt $(out $more:tt)?;)* }
    ) => {
        $(
            function! { f64 [$of_both] $double $args -> $result $(out $outs)? }
            function! { f32 [$of_both] $single $args -> $result $(out $outs)? }
        )*
        $(
            function! { f64 [$of_rounded, ", rounded toward negative infinity"] $down $takes -> $gives }
            function! { f64 [$of_rounded, ", rounded to nearest even"] $nearest $takes -> $gives }
            function! { f64 [$of_rounded, ", rounded toward positive infinity"] $up $takes -> $gives }
            function! { f64 [$of_rounded, ", rounded toward zero"] $zero $takes -> $gives }
        )*
        $( function! { f64 [$of_alone] $name $taken -> $given $(out $more)? } )*
    };
}

macro_rules! function {
    ($real:ident $doc:tt $name:ident($($arg:tt),*) -> ($($result:ident)?) $(out($($out:ident),*))?) => {
        named! { $real $doc $name($($arg),*) -> back!($real $($result)? $($($out)*)?) }

        callee! {
            #[doc(hidden)]
            pub $name[];
            where [] fn ($(arg!($real $arg),)*) => back!($real $($result)? $($($out)*)?) {
                let function = LibFn::find(stringify!($name)).expect("the table is this list");
                Instance { body: Body::Intrinsic(Intrinsic::Library(function)), generics: Vec::new() }
            }
        }
    };
}

/// Defines the function itself, with names for its parameters.
macro_rules! named {
    ($real:ident $doc:tt $name:ident($a:tt) -> $back:ty) => { named! { @ $real $doc $name(a: $a) -> $back } };
    ($real:ident $doc:tt $name:ident($a:tt, $b:tt) -> $back:ty) => {
        named! { @ $real $doc $name(a: $a, b: $b) -> $back }
    };
    ($real:ident $doc:tt $name:ident($a:tt, $b:tt, $c:tt) -> $back:ty) => {
        named! { @ $real $doc $name(a: $a, b: $b, c: $c) -> $back }
    };
    ($real:ident $doc:tt $name:ident($a:tt, $b:tt, $c:tt, $d:tt) -> $back:ty) => {
        named! { @ $real $doc $name(a: $a, b: $b, c: $c, d: $d) -> $back }
    };
    (@ $real:ident [$($doc:literal),*] $name:ident($($param:ident: $arg:tt),*) -> $back:ty) => {
        #[doc = concat!("`__nv_", stringify!($name), "`: ", $($doc,)* ".")]
        ///
        /// # Panics
        ///
        /// On the host.
        pub fn $name($($param: param!($real $arg)),*) -> $back {
            let _ = ($($param,)*);
            needs_libdevice(stringify!($name))
        }
    };
}

with_libdevice! { functions }
