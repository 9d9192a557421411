//! MPI's types and reductions for those of NCCL. MPI has no floats of 16 bits: they are reduced here, in `f32`, as a reduction
//! that MPI calls.
//!
//! # Safety
//!
//! MPI's constants are never written. [`reduce`] is called by MPI with two arrays of as many elements as it says.

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

use cuda_sys::nccl::{ncclDataType_t, ncclRedOp_t};
use half::{bf16, f16};
use mpi::ffi;

use super::comm::check;
use crate::error::{Error, Result};

/// MPI's type of an element. A float of 16 bits is an integer to MPI.
pub(super) fn datatype(data: ncclDataType_t) -> Result<ffi::MPI_Datatype> {
    // SAFETY: the constants are never written.
    unsafe {
        Ok(match data {
            ncclDataType_t::ncclInt8 => ffi::RSMPI_INT8_T,
            ncclDataType_t::ncclUint8 => ffi::RSMPI_UINT8_T,
            ncclDataType_t::ncclInt32 => ffi::RSMPI_INT32_T,
            ncclDataType_t::ncclUint32 => ffi::RSMPI_UINT32_T,
            ncclDataType_t::ncclInt64 => ffi::RSMPI_INT64_T,
            ncclDataType_t::ncclUint64 => ffi::RSMPI_UINT64_T,
            ncclDataType_t::ncclFloat16 | ncclDataType_t::ncclBfloat16 => ffi::RSMPI_UINT16_T,
            ncclDataType_t::ncclFloat32 => ffi::RSMPI_FLOAT,
            ncclDataType_t::ncclFloat64 => ffi::RSMPI_DOUBLE,
            other => return Err(Error::invalid(format!("{other:?} has no type of MPI"))),
        })
    }
}

/// MPI's reduction of elements of a type; the average is a sum, which [`divide`] completes.
pub(super) fn reduction(op: ncclRedOp_t, data: ncclDataType_t) -> Result<ffi::MPI_Op> {
    let number = match op {
        ncclRedOp_t::ncclSum | ncclRedOp_t::ncclAvg => SUM,
        ncclRedOp_t::ncclProd => PRODUCT,
        ncclRedOp_t::ncclMin => MIN,
        ncclRedOp_t::ncclMax => MAX,
        other => return Err(Error::invalid(format!("{other:?} is no reduction of MPI"))),
    };
    match data {
        ncclDataType_t::ncclFloat16 => Ok(halves()?.0[usize::from(number)]),
        ncclDataType_t::ncclBfloat16 => Ok(halves()?.0[4 + usize::from(number)]),
        // SAFETY: the constants are never written.
        _ => Ok(unsafe { [ffi::RSMPI_SUM, ffi::RSMPI_PROD, ffi::RSMPI_MIN, ffi::RSMPI_MAX] }[usize::from(number)]),
    }
}

const SUM: u8 = 0;
const PRODUCT: u8 = 1;
const MIN: u8 = 2;
const MAX: u8 = 3;

/// The reductions of `f16`, then those of `bf16`.
struct Halves([ffi::MPI_Op; 8]);

// SAFETY: a handle is a name, which any thread may give to MPI.
unsafe impl Send for Halves {}
// SAFETY: as above.
unsafe impl Sync for Halves {}

/// The reductions of floats of 16 bits, which are made once and live as long as MPI.
fn halves() -> Result<&'static Halves> {
    static MADE: OnceLock<Result<Halves>> = OnceLock::new();
    let make = || {
        let functions: [ffi::MPI_User_function; 8] = [
            Some(reduce::<f16, SUM>),
            Some(reduce::<f16, PRODUCT>),
            Some(reduce::<f16, MIN>),
            Some(reduce::<f16, MAX>),
            Some(reduce::<bf16, SUM>),
            Some(reduce::<bf16, PRODUCT>),
            Some(reduce::<bf16, MIN>),
            Some(reduce::<bf16, MAX>),
        ];
        // SAFETY: the constant is never written.
        let mut ops = unsafe { [ffi::RSMPI_SUM; 8] };
        for (op, function) in ops.iter_mut().zip(functions) {
            // SAFETY: the function reduces arrays as MPI's contract says, in any order of operands; the handle lives through
            // the call.
            check(unsafe { ffi::MPI_Op_create(function, 1, op) }, "MPI_Op_create", None)?;
        }
        Ok(Halves(ops))
    };
    MADE.get_or_init(make).as_ref().map_err(Clone::clone)
}

/// A float of 16 bits.
trait Half: Copy {
    fn to(self) -> f32;
    fn from(value: f32) -> Self;
}

impl Half for f16 {
    fn to(self) -> f32 {
        self.to_f32()
    }

    fn from(value: f32) -> f16 {
        f16::from_f32(value)
    }
}

impl Half for bf16 {
    fn to(self) -> f32 {
        self.to_f32()
    }

    fn from(value: f32) -> bf16 {
        bf16::from_f32(value)
    }
}

/// Reduces two arrays into the second one.
///
/// # Safety
///
/// MPI passes two arrays of `len` elements, which do not overlap.
unsafe extern "C" fn reduce<T: Half, const OP: u8>(
    input: *mut c_void,
    output: *mut c_void,
    len: *mut c_int,
    _: *mut ffi::MPI_Datatype,
) {
    // SAFETY: MPI passes a number.
    let len = usize::try_from(unsafe { *len }).unwrap_or(0);
    if len == 0 {
        return;
    }
    // SAFETY: MPI passes arrays of so many elements, of 16 bits and aligned to them.
    let input = unsafe { std::slice::from_raw_parts(input.cast::<T>(), len) };
    // SAFETY: as above; MPI lets nobody else access it meanwhile.
    let output = unsafe { std::slice::from_raw_parts_mut(output.cast::<T>(), len) };
    for (a, b) in input.iter().zip(output) {
        let (x, y) = (a.to(), b.to());
        *b = T::from(match OP {
            SUM => x + y,
            PRODUCT => x * y,
            MIN => x.min(y),
            _ => x.max(y),
        });
    }
}

/// Divides sums by the number of ranks: integers towards zero.
///
/// # Safety
///
/// At `at` are `count` elements of the type, which nobody else accesses.
pub(super) unsafe fn divide(data: ncclDataType_t, at: *mut u8, count: usize, ranks: usize) {
    /// Divides the elements of a type.
    macro_rules! each {
        ($ty:ty, |$value:ident| $result:expr) => {{
            // SAFETY: the caller promises so many elements; slots and arrays are aligned to their elements.
            let values = unsafe { std::slice::from_raw_parts_mut(at.cast::<$ty>(), count) };
            for $value in values.iter_mut() {
                *$value = $result;
            }
        }};
    }
    match data {
        ncclDataType_t::ncclInt8 => each!(i8, |x| (i64::from(*x) / ranks as i64) as i8),
        ncclDataType_t::ncclUint8 => each!(u8, |x| (u64::from(*x) / ranks as u64) as u8),
        ncclDataType_t::ncclInt32 => each!(i32, |x| (i64::from(*x) / ranks as i64) as i32),
        ncclDataType_t::ncclUint32 => each!(u32, |x| (u64::from(*x) / ranks as u64) as u32),
        ncclDataType_t::ncclInt64 => each!(i64, |x| *x / ranks as i64),
        ncclDataType_t::ncclUint64 => each!(u64, |x| *x / ranks as u64),
        ncclDataType_t::ncclFloat16 => each!(f16, |x| f16::from_f32(x.to_f32() / ranks as f32)),
        ncclDataType_t::ncclBfloat16 => each!(bf16, |x| bf16::from_f32(x.to_f32() / ranks as f32)),
        ncclDataType_t::ncclFloat32 => each!(f32, |x| *x / ranks as f32),
        ncclDataType_t::ncclFloat64 => each!(f64, |x| *x / ranks as f64),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_reduced_in_f32_and_rounded_once() {
        let input: Vec<bf16> = [256.0, -2.0, 3.0].map(bf16::from_f32).to_vec();
        type Function = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_int, *mut ffi::MPI_Datatype);
        let reduced = |function: Function| {
            let mut input = input.clone();
            let mut output = [1.0, 5.0, -3.0].map(bf16::from_f32);
            let (input, result) = (input.as_mut_ptr().cast(), output.as_mut_ptr().cast());
            // SAFETY: both arrays have three elements; the type is not read.
            unsafe { function(input, result, &mut 3, std::ptr::null_mut()) };
            output.map(bf16::to_f32)
        };
        assert_eq!(reduced(reduce::<bf16, SUM>), [256.0, 3.0, 0.0], "257 is no bf16 and is rounded to even");
        assert_eq!(reduced(reduce::<bf16, PRODUCT>), [256.0, -10.0, -9.0]);
        assert_eq!(reduced(reduce::<bf16, MIN>), [1.0, -2.0, -3.0]);
        assert_eq!(reduced(reduce::<bf16, MAX>), [256.0, 5.0, 3.0]);
    }

    #[test]
    fn averages_of_integers_are_rounded_towards_zero() {
        let mut values = [-7_i32, 7, -8];
        // SAFETY: there are three elements.
        unsafe { divide(ncclDataType_t::ncclInt32, values.as_mut_ptr().cast(), 3, 4) };
        assert_eq!(values, [-1, 1, -2]);
        let mut values = [f16::from_f32(3.0)];
        // SAFETY: there is one element.
        unsafe { divide(ncclDataType_t::ncclFloat16, values.as_mut_ptr().cast(), 1, 2) };
        assert_eq!(values[0].to_f32(), 1.5);
    }
}
