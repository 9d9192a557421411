//! Types, constants and function table of the CUDA driver API: the contents of `cuda.h` and `cudaProfiler.h`.
//!
//! What bindgen finds in the headers stands in `generated/`, as calls of the macros below, one line or block per C
//! declaration; this file gives those macros their meaning. It holds no logic: loading and resolving are in [`crate::api`].
//!
//! Invariant: every type here has the layout of its C declaration (asserted at compile time for each structure), and every
//! bit pattern of an enum is a valid value of its Rust type, so that codes of a newer driver are numbers and not undefined
//! behaviour.
//!
//! # Safety
//!
//! One `unsafe` block fills C structures with zeros, see `zeroed_default!`.

/// A C enumeration: a transparent integer with one associated constant per enumerator.
///
/// `Debug` prints the enumerator's name, or the number where this header does not know it.
macro_rules! c_enum {
    ($name:ident: $repr:ty { $($variant:ident = $value:literal,)* }) => {
        #[repr(transparent)]
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub $repr);

        impl $name {
            $(pub const $variant: $name = $name($value);)*

            /// The enumerator's name in the C header; the first one where several share a value, `None` for a value
            /// that this header does not know.
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

/// Opaque objects of the driver and the pointer types that name them.
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

/// Compile-time assertion that a structure has the size, alignment and field offsets of its C declaration.
macro_rules! layout {
    ($name:ident: size $size:literal, align $align:literal, { $($field:ident: $offset:literal,)* }) => {
        const _: () = {
            assert!(size_of::<$name>() == $size);
            assert!(align_of::<$name>() == $align);
            $(assert!(core::mem::offset_of!($name, $field) == $offset);)*
        };
    };
}

/// `Default` as all zeros, which is how C code initialises these structures.
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

#[path = "generated/types.rs"]
#[expect(missing_docs, reason = "the CUDA driver API manual documents them")]
#[expect(non_camel_case_types, non_snake_case, non_upper_case_globals, reason = "the names are those of the C headers")]
mod types;

pub use types::*;

/// The default stream that synchronises with the other blocking streams of its context.
pub const CU_STREAM_LEGACY: CUstream = core::ptr::without_provenance_mut(1);
/// The default stream of the calling thread.
pub const CU_STREAM_PER_THREAD: CUstream = core::ptr::without_provenance_mut(2);
/// The device ordinal that stands for the host in memory locations and hints.
pub const CU_DEVICE_CPU: CUdevice = -1;
/// The device ordinal that is no device.
pub const CU_DEVICE_INVALID: CUdevice = -2;
/// Ends the `extra` array of `cuLaunchKernel`.
pub const CU_LAUNCH_PARAM_END: *mut core::ffi::c_void = core::ptr::null_mut();
/// In the `extra` array of `cuLaunchKernel`: the next element points to the packed parameters.
pub const CU_LAUNCH_PARAM_BUFFER_POINTER: *mut core::ffi::c_void = core::ptr::without_provenance_mut(1);
/// In the `extra` array of `cuLaunchKernel`: the next element points to the size of the packed parameters.
pub const CU_LAUNCH_PARAM_BUFFER_SIZE: *mut core::ffi::c_void = core::ptr::without_provenance_mut(2);
