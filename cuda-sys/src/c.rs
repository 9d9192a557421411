//! The macros of the generated files, one for each kind of C declaration.
//!
//! The files in `generated/` are calls of these macros, one line or block per declaration of a header. The macros expand in
//! the same way for every header, and hold no logic.
//!
//! Invariant: every type made here has the layout of its C declaration (asserted at compile time for each structure), and
//! every bit pattern of an enumeration is a valid value of its Rust type, so that codes of a newer library are numbers and
//! not undefined behaviour.
//!
//! # Safety
//!
//! One `unsafe` block fills C structures with zeros, see `zeroed_default!`.

/// Defines a C enumeration: a transparent integer with one associated constant per enumerator.
///
/// `Debug` prints the enumerator's name, or the number if this header does not declare it.
macro_rules! c_enum {
    ($name:ident: $repr:ty { $($variant:ident = $value:literal,)* }) => {
        #[repr(transparent)]
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub $repr);

        impl $name {
            $(pub const $variant: $name = $name($value);)*

            /// The enumerator's name in the C header: the first one if several share a value, `None` for a value that this
            /// header does not declare.
            #[must_use]
            pub fn name(self) -> Option<&'static str> {
                const NAMES: &[($repr, &str)] = &[$(($value, stringify!($variant)),)*];
                NAMES.iter().find(|(value, _)| *value == self.0).map(|(_, name)| *name)
            }
        }

        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self.name() {
                    Some(name) => f.write_str(name),
                    None => write!(f, concat!(stringify!($name), "({})"), self.0),
                }
            }
        }
    };
}

/// Defines opaque objects of a library and their handles, which are pointers to them.
macro_rules! handles {
    ($($handle:ident = $object:ident,)*) => {
        $(
            #[repr(C)]
            #[derive(Debug)]
            pub struct $object {
                _opaque: [u8; 0],
                _not_send_nor_sync: core::marker::PhantomData<(*mut u8, core::marker::PhantomPinned)>,
            }
            pub type $handle = *mut $object;
        )*
    };
}

/// Asserts at compile time that a structure has the size, alignment and field offsets of its C declaration. The figures are
/// those of Linux; on Windows, where `long` has 32 bits, they are not checked.
macro_rules! layout {
    ($name:ident: size $size:literal, align $align:literal, { $($field:ident: $offset:literal,)* }) => {
        #[cfg(not(windows))]
        const _: () = {
            assert!(size_of::<$name>() == $size);
            assert!(align_of::<$name>() == $align);
            $(assert!(core::mem::offset_of!($name, $field) == $offset);)*
        };
    };
}

/// Implements `Default` as all zeros, which is how C code initialises these structures.
macro_rules! zeroed_default {
    ($($name:ident,)*) => {
        $(impl Default for $name {
            fn default() -> Self {
                // SAFETY: the generator lists only structures and unions of integers, floats, raw pointers, optional
                // function pointers and arrays of those, for all of which zero bytes are a valid value.
                unsafe { core::mem::zeroed() }
            }
        })*
    };
}

/// Includes the generated types of a module and exports them from it.
#[cfg(any(
    feature = "runtime",
    feature = "nvrtc",
    feature = "nvjitlink",
    feature = "nvml",
    feature = "nvtx",
    feature = "nccl"
))]
macro_rules! generated_types {
    ($module:literal) => {
        #[expect(missing_docs, reason = "NVIDIA's manual documents them")]
        #[allow(
            dead_code,
            non_camel_case_types,
            non_snake_case,
            non_upper_case_globals,
            clippy::allow_attributes,
            reason = "the names are those of the C headers, of which each has other kinds"
        )]
        mod types {
            include!(concat!(env!("CUDA_SYS_GENERATED"), "/", $module, "/types.rs"));
        }
        pub use types::*;
    };
}

/// Includes the generated list of functions of a module, which is a call of the module's `table!`.
macro_rules! generated_table {
    ($module:literal) => {
        include!(concat!(env!("CUDA_SYS_GENERATED"), "/", $module, "/table.rs"));
    };
}
