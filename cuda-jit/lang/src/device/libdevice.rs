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
use crate::typeinfo::{Body, Callee, DeviceFn, Instance, Intrinsic};

/// Panics: a function of libdevice cannot run on the host.
#[track_caller]
fn needs_libdevice(name: &str) -> ! {
    panic!("`libdevice::{name}` runs on the device only; on the host call the method of `f32` or `f64`")
}

/// An argument's type.
macro_rules! arg {
    ([$ty:ident]) => {
        &'static [$ty]
    };
    ($ty:ident) => {
        $ty
    };
}

/// The type of a result.
macro_rules! back {
    ($one:ident) => { $one };
    ($($some:ident)+) => { ($($some),+) };
}

macro_rules! functions {
    ($($doc:literal $name:ident($($arg:tt),*) -> ($($result:ident)?) $(, out $out:ident)*;)*) => { $(
        named! { $doc $name($($arg),*) -> back!($($result)? $($out)*) }

        #[doc(hidden)]
        #[derive(Debug)]
        pub struct $name {
            _never: std::convert::Infallible,
        }

        impl $name {
            #[doc(hidden)]
            pub fn __callee() -> Callee<Self> {
                Callee::new()
            }

            $crate::__private::unify! { pub, }
        }

        // SAFETY: the instance is the libdevice function of the same name, with these arguments and this result.
        unsafe impl DeviceFn for $name {
            type Args = ($(arg!($arg),)*);
            type Output = back!($($result)? $($out)*);
            fn instance() -> Instance {
                let function = LibFn::find(stringify!($name)).expect("the table is this list");
                Instance { body: Body::Intrinsic(Intrinsic::Library(function)), generics: Vec::new() }
            }
        }
    )* };
}

/// Defines the function itself, with names for its parameters.
macro_rules! named {
    ($doc:literal $name:ident($a:tt) -> $back:ty) => { named! { @ $doc $name(a: $a) -> $back } };
    ($doc:literal $name:ident($a:tt, $b:tt) -> $back:ty) => { named! { @ $doc $name(a: $a, b: $b) -> $back } };
    ($doc:literal $name:ident($a:tt, $b:tt, $c:tt) -> $back:ty) => {
        named! { @ $doc $name(a: $a, b: $b, c: $c) -> $back }
    };
    ($doc:literal $name:ident($a:tt, $b:tt, $c:tt, $d:tt) -> $back:ty) => {
        named! { @ $doc $name(a: $a, b: $b, c: $c, d: $d) -> $back }
    };
    (@ $doc:literal $name:ident($($param:ident: $arg:tt),*) -> $back:ty) => {
        #[doc = concat!("`__nv_", stringify!($name), "`: ", $doc, ".")]
        ///
        /// # Panics
        ///
        /// On the host.
        pub fn $name($($param: param!($arg)),*) -> $back {
            let _ = ($($param,)*);
            needs_libdevice(stringify!($name))
        }
    };
}

/// A parameter's type.
macro_rules! param {
    ([$ty:ident]) => {
        &[$ty]
    };
    ($ty:ident) => {
        $ty
    };
}

with_libdevice! { functions }
