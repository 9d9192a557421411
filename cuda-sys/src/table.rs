//! The function table's shape: [`Symbol`], [`DriverFns`], [`SYMBOLS`] and the methods of [`DriverApi`], all from one
//! generated list with a line per C function. How a function is found is not here but in `api.rs`.
//!
//! Invariant: the position of a function in the list is its slot, its entry in [`SYMBOLS`] and its place in
//! [`DriverFns::addresses`].
//!
//! # Safety
//!
//! The one `unsafe` turns a slot's address into a function pointer of the type that the headers declare for it.

use core::ffi::*;

use crate::api::DriverApi;
use crate::driver::*;
use crate::error::MissingSymbol;

/// Which default stream a symbol's variant means by stream 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DefaultStream {
    /// The legacy default stream: symbols without a suffix.
    Legacy,
    /// The calling thread's default stream: symbols that end in `_ptds` or `_ptsz`.
    PerThread,
}

/// A function of the driver API: the symbol that libraries export and its name for `cuGetProcAddress`.
///
/// # Examples
///
/// ```
/// let alloc = cuda_sys::SYMBOLS.iter().find(|s| s.name == "cuMemAlloc_v2").unwrap();
/// assert_eq!((alloc.base, alloc.version), ("cuMemAlloc", 3020));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Symbol {
    /// Exported name, explicit about its version: `cuMemAlloc_v2`.
    pub name: &'static str,
    /// Name without version: `cuMemAlloc`.
    pub base: &'static str,
    /// CUDA version that introduced this variant, as `1000 * major + 10 * minor`: 3020.
    pub version: c_int,
    /// Which default stream the variant uses.
    pub stream: DefaultStream,
}

/// Gives the generated list its meaning: [`DriverFns`], [`SYMBOLS`] and the methods of [`DriverApi`].
macro_rules! driver_table {
    ($(fn $name:ident($($arg:ident: $ty:ty),*) = $base:literal, $version:literal, $stream:ident;)*) => {
        /// A function pointer per symbol of the driver API, `None` where there is none.
        ///
        /// # Examples
        ///
        /// ```
        /// use cuda_sys::{CUresult, DriverFns};
        /// unsafe extern "C" fn init(_flags: core::ffi::c_uint) -> CUresult { CUresult::CUDA_SUCCESS }
        /// let fns = DriverFns { cuInit: Some(init), ..DriverFns::default() };
        /// assert!(fns.cuInit.is_some() && fns.cuMemAlloc_v2.is_none());
        /// ```
        #[derive(Clone, Copy, Debug, Default)]
        pub struct DriverFns {
            $(
                #[doc = concat!("`", stringify!($name), "`")]
                pub $name: Option<unsafe extern "C" fn($($arg: $ty),*) -> CUresult>,
            )*
        }

        /// Position of each function in the table.
        #[derive(Clone, Copy)]
        pub(crate) enum Slot { $($name,)* }

        /// Every function of the table, in the order of the headers.
        pub const SYMBOLS: &[Symbol] = &[
            $(Symbol {
                name: stringify!($name),
                base: $base,
                version: $version,
                stream: DefaultStream::$stream,
            },)*
        ];

        impl DriverFns {
            /// The address of every function in the order of [`SYMBOLS`], null where there is none.
            ///
            /// A driver made of such a table answers `cuGetProcAddress` and exports symbols with it.
            ///
            /// # Examples
            ///
            /// ```
            /// let addresses = cuda_sys::DriverFns::default().addresses();
            /// assert_eq!(addresses.len(), cuda_sys::SYMBOLS.len());
            /// ```
            #[must_use]
            pub fn addresses(&self) -> [*mut c_void; SYMBOLS.len()] {
                [$(self.$name.map_or(core::ptr::null_mut(), |f| f as *mut c_void),)*]
            }
        }

        impl DriverApi {
            $(
                #[doc = concat!("`", stringify!($name), "`, ABI of CUDA version ", stringify!($version), ".")]
                ///
                /// # Errors
                ///
                /// [`MissingSymbol`] where this driver has no such function.
                #[inline]
                pub fn $name(&self) -> Result<unsafe extern "C" fn($($arg: $ty),*) -> CUresult, MissingSymbol> {
                    let address = self.address(Slot::$name)?;
                    // SAFETY: by the invariant of the slots the address is that of a C function of this type.
                    Ok(unsafe {
                        core::mem::transmute::<*mut c_void, unsafe extern "C" fn($($ty),*) -> CUresult>(address)
                    })
                }
            )*
        }

        with_dollar! { ($d:tt) => {
            /// Hands a function of the table, by name, to a macro as `name(argument: type, ..)`.
            ///
            /// For drivers that treat many functions alike, so that none of them writes a signature again. The types
            /// are named as this crate and `core::ffi` export them, and must be in scope.
            ///
            /// # Examples
            ///
            /// ```
            /// use core::ffi::*;
            /// use cuda_sys::*;
            ///
            /// macro_rules! define {
            ///     ($name:ident($($argument:ident: $ty:ty),*)) => {
            ///         unsafe extern "C" fn $name($(_: $ty),*) -> CUresult { CUresult::CUDA_ERROR_NOT_SUPPORTED }
            ///     };
            /// }
            /// cuda_sys::driver_function!(cuArrayDestroy => define);
            /// let fns = DriverFns { cuArrayDestroy: Some(cuArrayDestroy), ..DriverFns::default() };
            /// assert!(fns.cuArrayDestroy.is_some());
            /// ```
            #[macro_export]
            macro_rules! driver_function {
                $(($name => $d callback:ident) => { $d callback! { $name($($arg: $ty),*) } };)*
            }
        } }
    };
}

/// Defines a macro and calls it with a dollar sign, which a macro cannot write into one that it defines.
macro_rules! with_dollar {
    ($($body:tt)*) => {
        macro_rules! with_this_dollar { $($body)* }
        with_this_dollar! { $ }
    };
}

include!("generated/table.rs");
