//! Parameters of functions: their sizes as the driver reports them, and the values that are passed for them.
//!
//! Drivers since CUDA 12.4 report each parameter's size; with older ones nothing is checked.
//!
//! # Safety
//!
//! One block queries a live function.

use std::ffi::c_void;

use cuda_sys::{CUfunction, CUresult};

use crate::context::Context;
use crate::error::{Error, Result};

/// A parameter of a function, by its position in the parameter block.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let ptx = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry nothing()\n{\n\tret;\n}\n";
/// # // SAFETY: the kernel touches no memory.
/// # let nothing = unsafe { cuda_driver::Module::load_ptx(&context, ptx) }?.function("nothing")?;
/// assert_eq!(nothing.parameters(), Some(&[][..]));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its offset in bytes.
    pub offset: usize,
    /// Its size in bytes.
    pub bytes: usize,
}

/// The parameters of a function; `None` if the driver does not report them.
pub(crate) fn query(context: &Context, function: CUfunction) -> Result<Option<Box<[Parameter]>>> {
    let api = context.enter("cuFuncGetParamInfo")?;
    let Ok(info) = api.cuFuncGetParamInfo() else { return Ok(None) };
    let mut parameters = Vec::new();
    loop {
        let (mut offset, mut bytes) = (0, 0);
        // SAFETY: the function is live, and both results live through the call.
        match unsafe { info(function, parameters.len(), &mut offset, &mut bytes) } {
            CUresult::CUDA_SUCCESS => parameters.push(Parameter { offset, bytes }),
            // The index is past the last parameter.
            CUresult::CUDA_ERROR_INVALID_VALUE => return Ok(Some(parameters.into())),
            CUresult::CUDA_ERROR_NOT_SUPPORTED => return Ok(None),
            code => context.check(code, "cuFuncGetParamInfo")?,
        }
    }
}

/// The error for a wrong number of values.
#[cold]
pub(crate) fn wrong_number(function: &str, given: usize, wanted: usize) -> Error {
    let plural = if wanted == 1 { "" } else { "s" };
    Error::invalid(format!(
        "function `{function}` has {wanted} parameter{plural}, and {given} were given; nothing was launched"
    ))
}

/// Refuses values whose sizes are not those of the function's parameters.
pub(crate) fn check_sizes(function: &str, given: &[usize], wanted: &[Parameter]) -> Result<()> {
    if given.len() != wanted.len() {
        return Err(wrong_number(function, given.len(), wanted.len()));
    }
    match given.iter().zip(wanted).position(|(given, wanted)| *given != wanted.bytes) {
        None => Ok(()),
        Some(at) => Err(Error::invalid(format!(
            "parameter {at} of function `{function}` has {} bytes, and a value of {} was given; nothing was launched",
            wanted[at].bytes, given[at]
        ))),
    }
}

/// Values for a function's parameters: a tuple of values whose memory layout is the device's, such as `(address,
/// 100_u32, 2.5_f32)`.
///
/// # Examples
///
/// ```
/// use cuda_driver::Arguments;
///
/// let sizes = (0_u64, 1.5_f32).with_pointers(|pointers, sizes| (pointers.len(), sizes.to_vec()));
/// assert_eq!(sizes, (2, vec![8, 4]));
/// ```
///
/// Nothing unsafe relies on an implementation by another crate: callers of the `unsafe` launches answer for the tuple
/// that they pass.
pub trait Arguments {
    /// Calls `work` with a pointer to each value, which is valid during the call, and each value's size.
    fn with_pointers<R>(self, work: impl FnOnce(&mut [*mut c_void], &[usize]) -> R) -> R;
}

macro_rules! tuples {
    ($(($($value:ident $index:tt),*))*) => { $(
        impl<$($value: Copy),*> Arguments for ($($value,)*) {
            fn with_pointers<R>(self, work: impl FnOnce(&mut [*mut c_void], &[usize]) -> R) -> R {
                let mut values = self;
                work(&mut [$((&raw mut values.$index).cast::<c_void>()),*], &[$(size_of::<$value>()),*])
            }
        }
    )* };
}

impl Arguments for () {
    fn with_pointers<R>(self, work: impl FnOnce(&mut [*mut c_void], &[usize]) -> R) -> R {
        work(&mut [], &[])
    }
}

tuples! {
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11)
}
