//! The parts of a function table: its symbols, the plain table of pointers, and the methods that return them, all from one
//! generated list with a line per C function. The lookup of a function is in `functions.rs`.
//!
//! The driver's own table is here; that of another library is in the file of its module.
//!
//! Invariant: the position of a function in the list is its slot and its index in `SYMBOLS` and in `addresses()`.
//!
//! # Safety
//!
//! `unsafe` code casts a slot's address to a function pointer of the type that the headers declare. The caller that opens a
//! library or passes a table promises that the functions have these types: those constructors are `unsafe`, except those
//! that open the library which the system or the environment has under a fixed name (`library.rs`).

use core::ffi::*;

use crate::api::DriverApi;
use crate::driver::*;
use crate::error::MissingSymbol;

/// The default stream that stream 0 stands for in a symbol's variant.
///
/// # Examples
///
/// ```
/// use cuda_sys::{DefaultStream, SYMBOLS};
///
/// let of_thread = SYMBOLS.iter().filter(|symbol| symbol.stream == DefaultStream::PerThread);
/// assert!(of_thread.map(|symbol| symbol.name).all(|name| name.ends_with("_ptds") || name.ends_with("_ptsz")));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DefaultStream {
    /// The legacy default stream: symbols without a suffix.
    Legacy,
    /// The calling thread's default stream: symbols that end in `_ptds` or `_ptsz`.
    PerThread,
}

/// A function of a table: the symbol that libraries export, and the versions of CUDA that have it.
///
/// # Examples
///
/// ```
/// let alloc = cuda_sys::SYMBOLS.iter().find(|s| s.name == "cuMemAlloc_v2").unwrap();
/// assert_eq!((alloc.base, alloc.version), ("cuMemAlloc", 3020));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Symbol {
    /// The method's name, explicit about its version: `cuMemAlloc_v2`. Exported under this name by the driver.
    pub name: &'static str,
    /// In the driver's table the name for `cuGetProcAddress`, without version: `cuMemAlloc`. In other tables the exported name.
    pub base: &'static str,
    /// CUDA version that introduced this variant, as `1000 * major + 10 * minor`: 3020. For libraries other than the
    /// driver's, 12000 is "12.0 or older". For NCCL it is NCCL's own version, of which 21801 is "2.18.1 or older".
    pub version: c_int,
    /// The CUDA version that removed it, if there is one.
    pub until: Option<c_int>,
    /// The default stream that the variant uses.
    pub stream: DefaultStream,
}

/// Expands a generated list to the plain table, the symbols and the methods of a library's table.
macro_rules! function_table {
    ($api:ident, $fns:ident, $what:literal; $(
        fn $name:ident($($arg:ident: $ty:ty),* $(,)?) -> $ret:ty = $base:literal, $version:literal .. $($until:literal)?, $stream:ident;
    )*) => {
        #[doc = concat!("A function pointer per symbol of ", $what, ", `None` for a missing function.")]
        ///
        /// The argument of [`from_fns`](Self) of the library's table: a driver for tests, a recorder, a device in software.
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $fns {
            $(
                #[doc = concat!("`", stringify!($name), "`")]
                pub $name: Option<unsafe extern "C" fn($($arg: $ty),*) -> $ret>,
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
                until: until!($($until)?),
                stream: DefaultStream::$stream,
            },)*
        ];

        impl $fns {
            /// The address of every function in the order of [`SYMBOLS`], null for a missing function.
            #[must_use]
            pub fn addresses(&self) -> [*mut c_void; SYMBOLS.len()] {
                [$(self.$name.map_or(core::ptr::null_mut(), |f| f as *mut c_void),)*]
            }
        }

        impl $api {
            $(
                #[doc = concat!("`", stringify!($name), "`, from version ", stringify!($version), " on.")]
                ///
                /// # Errors
                ///
                /// [`MissingSymbol`] if this library has no such function.
                #[inline]
                pub fn $name(&self) -> Result<unsafe extern "C" fn($($arg: $ty),*) -> $ret, MissingSymbol> {
                    let address = self.0.address(Slot::$name as usize)?;
                    // SAFETY: each constructor requires that the slot holds the address of this symbol in a library that
                    // is what its name says, or a function of this type from a table.
                    Ok(unsafe {
                        core::mem::transmute::<*mut c_void, unsafe extern "C" fn($($ty),*) -> $ret>(address)
                    })
                }
            )*
        }
    };
}

/// Expands to `Some` of the version if one is given, else to `None`.
macro_rules! until {
    () => {
        None
    };
    ($version:literal) => {
        Some($version)
    };
}

/// Defines the methods that are the same for all tables: the constructors, the name and the version.
macro_rules! library_methods {
    ($api:ident, $fns:ident, $interface:expr, $path:literal) => {
        impl $api {
            /// Opens the library by its own names: those that the system's loader finds come first, then, for a library that
            /// comes with the toolkit, those in the toolkit that [`toolkit`](crate::toolkit) finds.
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("match cuda_sys::", $path, "::load() {")]
            ///     Ok(api) => assert!(api.origin().contains("lib")),
            ///     Err(error) => assert!(error.to_string().contains("cannot load")),
            /// }
            /// ```
            ///
            /// # Errors
            ///
            /// [`LoadError`](crate::LoadError), which lists everything that was tried.
            pub fn load() -> Result<$api, crate::LoadError> {
                // SAFETY: the files that the system and the environment have under the library's names are that library:
                // installing them and setting the variables, which safe Rust cannot do, promises that.
                let functions = unsafe { Functions::load($interface, &crate::toolkit::Environment::from_process()) };
                functions.map($api)
            }

            /// Opens the library at `path`; a name without a slash is searched for by the system's loader.
            ///
            /// # Examples
            ///
            /// ```
            /// // SAFETY: there is no such library, so nothing of it runs.
            #[doc = concat!("let error = unsafe { cuda_sys::", $path, "::load_from(\"/nowhere/lib.so\") }.err().unwrap();")]
            /// assert!(error.to_string().contains("/nowhere/lib.so"));
            /// ```
            ///
            /// # Errors
            ///
            /// [`LoadError`](crate::LoadError), which names the path and the loader's reason.
            ///
            /// ```compile_fail,E0133
            /// #![forbid(unsafe_code)]
            #[doc = concat!("let api = cuda_sys::", $path, "::load_from(\"/tmp/any-library.so\");")]
            /// ```
            ///
            /// # Safety
            ///
            /// Opening a library runs its initialisers, which must be sound. Each function that it exports under a name of
            /// this table must have the type and the behaviour that the library's manual gives it, from any thread: it writes
            /// only what the manual says, to where its arguments point. Safe crates above this one rely on that.
            pub unsafe fn load_from(path: impl AsRef<std::path::Path>) -> Result<$api, crate::LoadError> {
                // SAFETY: the caller promises that the library is this one and that opening it is sound.
                unsafe { Functions::load_from($interface, path.as_ref()) }.map($api)
            }

            /// The library that consists of the functions in `fns`; all others are missing.
            ///
            /// # Examples
            ///
            /// ```
            /// // SAFETY: the table holds no function.
            #[doc = concat!("let api = unsafe { cuda_sys::", $path, "::from_fns(&Default::default()) };")]
            /// assert_eq!(api.origin(), "a table of functions");
            /// ```
            ///
            /// ```compile_fail,E0133
            /// #![forbid(unsafe_code)]
            #[doc = concat!("let api = cuda_sys::", $path, "::from_fns(&Default::default());")]
            /// ```
            ///
            /// # Safety
            ///
            /// Each function in `fns` must behave as the library's manual says of it, from any thread: it writes only what
            /// the manual says, to where its arguments point. Safe crates above this one rely on that, and so does
            /// [`version`](Self::version).
            #[must_use]
            pub unsafe fn from_fns(fns: &$fns) -> $api {
                // SAFETY: the caller promises that the functions behave as the library's manual says.
                $api(unsafe { Functions::of_addresses($interface, &fns.addresses()) })
            }

            /// Renames the library for messages.
            ///
            /// # Examples
            ///
            /// ```
            /// // SAFETY: the table holds no function.
            #[doc = concat!("let api = unsafe { cuda_sys::", $path, "::from_fns(&Default::default()) };")]
            /// let api = api.named("the recorder");
            /// assert_eq!(api.origin(), "the recorder");
            /// ```
            #[must_use]
            pub fn named(self, origin: &str) -> $api {
                $api(self.0.named(origin))
            }

            /// The CUDA version of the library, as `1000 * major + 10 * minor`, if the library reports one. For NCCL it is
            /// NCCL's own version, as `10000 * major + 100 * minor + patch`.
            ///
            /// # Examples
            ///
            /// ```
            /// // SAFETY: the table holds no function.
            #[doc = concat!("let api = unsafe { cuda_sys::", $path, "::from_fns(&Default::default()) };")]
            /// assert_eq!(api.version(), None);
            /// ```
            #[must_use]
            pub fn version(&self) -> Option<c_int> {
                self.0.version()
            }

            /// The origin of the functions, for messages: a library's name or path, or the name given to
            /// [`named`](Self::named).
            ///
            /// # Examples
            ///
            /// ```
            /// // SAFETY: the table holds no function.
            #[doc = concat!("let api = unsafe { cuda_sys::", $path, "::from_fns(&Default::default()) };")]
            /// assert_eq!(api.origin(), "a table of functions");
            /// ```
            #[must_use]
            pub fn origin(&self) -> &str {
                self.0.origin()
            }
        }

        impl core::fmt::Debug for $api {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct(stringify!($api)).field("origin", &self.origin()).finish_non_exhaustive()
            }
        }
    };
}

/// Defines `load_with`, which is `load` with the toolkit of another environment.
#[cfg(any(feature = "runtime", feature = "nvrtc", feature = "nvjitlink", feature = "nccl"))]
macro_rules! toolkit_methods {
    ($api:ident, $interface:expr, $path:literal, $file:literal) => {
        impl $api {
            /// Opens the library like [`load`](Self::load), with the toolkit of another environment.
            ///
            /// # Examples
            ///
            /// ```
            /// use cuda_sys::toolkit::Environment;
            /// // SAFETY: there is nothing in that folder.
            #[doc = concat!("if let Err(error) = unsafe { cuda_sys::", $path, "::load_with(&Environment::only(\"/nowhere\")) } {")]
            #[doc = concat!("    assert!(error.to_string().contains(\"/nowhere/lib64/", $file, "\"));")]
            /// }
            /// ```
            ///
            /// # Errors
            ///
            /// [`LoadError`](crate::LoadError), which lists everything that was tried.
            ///
            /// # Safety
            ///
            /// The contract of [`load_from`](Self::load_from) holds for the files that the environment's folders have under
            /// the library's names.
            pub unsafe fn load_with(environment: &crate::toolkit::Environment) -> Result<$api, crate::LoadError> {
                // SAFETY: the caller promises this for the environment's folders; the loader finds the system's own library.
                unsafe { Functions::load($interface, environment) }.map($api)
            }
        }
    };
}

/// Defines a macro and calls it with a dollar sign, which a macro cannot write into one that it defines.
macro_rules! with_dollar {
    ($($body:tt)*) => {
        macro_rules! with_this_dollar { $($body)* }
        with_this_dollar! { $ }
    };
}

/// Expands the driver's list to its table, and to the macros that pass its signatures to other crates.
macro_rules! table {
    ($(fn $name:ident($($arg:ident: $ty:ty),*) -> $ret:ty = $base:literal, $since:literal .. $($until:literal)?, $stream:ident;)*) => {
        function_table! { DriverApi, DriverFns, "the CUDA driver API";
            $(fn $name($($arg: $ty),*) -> $ret = $base, $since .. $($until)?, $stream;)*
        }

        with_dollar! { ($d:tt) => {
            /// Passes the signature of a function of the table to a macro, as `name(argument: type, ..)`.
            ///
            /// It is for drivers that implement many functions alike, which thus do not repeat the signatures. The types
            /// have the names by which this crate and `core::ffi` export them, and must be in scope.
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

            /// Hands all functions of the table to a macro, as `name(argument: type, ..);` for each, in the order of
            /// [`SYMBOLS`](crate::SYMBOLS).
            ///
            /// For tools that go through the whole driver: recorders, and tests of what each function refuses. The types
            /// are named as this crate and `core::ffi` export them, and must be in scope.
            ///
            /// # Examples
            ///
            /// ```
            /// macro_rules! parameters {
            ///     ($($name:ident($($argument:ident: $ty:ty),*);)*) => {
            ///         [$((stringify!($name), [$(stringify!($argument)),*].as_slice())),*]
            ///     };
            /// }
            /// let parameters: [(&str, &[&str]); _] = cuda_sys::driver_functions!(parameters);
            /// assert_eq!(parameters.len(), cuda_sys::SYMBOLS.len());
            /// assert_eq!(parameters.iter().find(|(name, _)| *name == "cuInit").unwrap().1, ["Flags"]);
            /// ```
            #[macro_export]
            macro_rules! driver_functions {
                ($d callback:ident) => { $d callback! { $($name($($arg: $ty),*);)* } };
            }
        } }
    };
}

generated_table! { "driver" }
