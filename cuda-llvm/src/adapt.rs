//! Numbers that releases after LLVM 22 tell otherwise than the bindings know, which describe that one.
//!
//! A number that the bindings do not know must not reach them: it would be no value of its type.
//!
//! # Safety
//!
//! Each function here is called in place of one of LLVM's with the same type, and calls that.

use std::ffi::{CStr, c_uint, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::llvm_sys::prelude::{LLVMAttributeRef, LLVMContextRef, LLVMValueRef};

/// A function of a value that tells a number.
type Tells = unsafe extern "C" fn(LLVMValueRef) -> c_uint;

/// The function to call in place of LLVM's of this name, which may be that.
pub(crate) fn adapted(name: &CStr, function: *mut c_void, major: u32) -> *mut c_void {
    let (kept, stand_in): (_, Tells) = match name.to_bytes() {
        b"LLVMGetInstructionOpcode" if major > 22 => (&OPCODE, opcode),
        b"LLVMGetValueKind" if major > 22 => (&VALUE_KIND, value_kind),
        _ => return function,
    };
    kept.store(function, Ordering::Relaxed);
    stand_in as *mut c_void
}

/// What makes the attribute that LLVM 23 has in place of `denormal-fp-math`; the bindings do not have it.
pub(crate) const DENORMALS: &CStr = c"LLVMCreateDenormalFPEnvAttribute";

/// A function of the modes of results and of operands, first of all types but `f32`, then of `f32`.
type MakesDenormals = unsafe extern "C" fn(LLVMContextRef, c_uint, c_uint, c_uint, c_uint) -> LLVMAttributeRef;

static MADE_DENORMALS: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// Keeps LLVM's [`DENORMALS`].
///
/// # Safety
///
/// It is that function, of a library that stays open.
pub(crate) unsafe fn keep_denormals(function: *mut c_void) {
    MADE_DENORMALS.store(function, Ordering::Relaxed);
}

/// The attribute that lets subnormal `f32` become zero, as LLVM from 23 on has it; none before.
///
/// # Safety
///
/// The context is live.
pub(crate) unsafe fn flushing(context: LLVMContextRef) -> Option<LLVMAttributeRef> {
    /// `LLVMDenormalModeKindIEEE`
    const IEEE: c_uint = 0;
    /// `LLVMDenormalModeKindPreserveSign`
    const PRESERVE_SIGN: c_uint = 1;
    let kept = MADE_DENORMALS.load(Ordering::Relaxed);
    if kept.is_null() {
        return None;
    }
    // SAFETY: `keep_denormals` has kept LLVM's function, which has this type since LLVM 23.
    let made = unsafe { std::mem::transmute::<*mut c_void, MakesDenormals>(kept) };
    // SAFETY: the caller promises that the context is live; the modes are two of LLVM's.
    Some(unsafe { made(context, IEEE, IEEE, PRESERVE_SIGN, PRESERVE_SIGN) })
}

static OPCODE: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
static VALUE_KIND: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// What a function of LLVM's tells.
///
/// # Safety
///
/// The value is one that LLVM's function takes, and this one stands in its place.
unsafe fn told(by: &AtomicPtr<c_void>, value: LLVMValueRef) -> c_uint {
    // SAFETY: this runs in place of LLVM's function, which `adapted` has kept here before, and which has this type.
    let function = unsafe { std::mem::transmute::<*mut c_void, Tells>(by.load(Ordering::Relaxed)) };
    // SAFETY: the caller promises it.
    unsafe { function(value) }
}

/// `LLVMGetInstructionOpcode`: LLVM 23 tells apart the branches.
unsafe extern "C" fn opcode(value: LLVMValueRef) -> c_uint {
    // SAFETY: LLVM's caller promises it.
    known_opcode(unsafe { told(&OPCODE, value) })
}

/// The opcode as LLVM 22 has it.
fn known_opcode(opcode: c_uint) -> c_uint {
    /// `LLVMUncondBr`, `LLVMCondBr`
    const BRANCHES: [c_uint; 2] = [70, 71];
    /// `LLVMBr`
    const BRANCH: c_uint = 2;
    /// `LLVMUserOp1`, which no module has: it stands for what is not known.
    const UNKNOWN: c_uint = 47;
    match opcode {
        branch if BRANCHES.contains(&branch) => BRANCH,
        1..=5 | 7..=69 => opcode,
        _ => UNKNOWN,
    }
}

/// `LLVMGetValueKind`: LLVM 23 has one more before those from here on.
unsafe extern "C" fn value_kind(value: LLVMValueRef) -> c_uint {
    // SAFETY: LLVM's caller promises it.
    known_value_kind(unsafe { told(&VALUE_KIND, value) })
}

/// The kind as LLVM 22 has it; of a constant of bytes, which nothing here makes, that of an integer.
fn known_value_kind(kind: c_uint) -> c_uint {
    /// `LLVMConstantByteValueKind`
    const BYTE: c_uint = 19;
    /// `LLVMUndefValueValueKind`
    const UNKNOWN: c_uint = 14;
    /// The last of LLVM 22's, `LLVMConstantPtrAuthValueKind`.
    const LAST: c_uint = 27;
    match kind {
        0..BYTE => kind,
        BYTE..=LAST => kind - 1,
        kind if kind == LAST + 1 => LAST,
        _ => UNKNOWN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm_sys::{LLVMOpcode, LLVMValueKind};

    #[test]
    fn branches_are_branches() {
        let branch = LLVMOpcode::LLVMBr as c_uint;
        assert_eq!([70, 71].map(known_opcode), [branch; 2]);
        assert_eq!(known_opcode(LLVMOpcode::LLVMPtrToAddr as c_uint), LLVMOpcode::LLVMPtrToAddr as c_uint);
        assert_eq!([0, 6, 72, 500].map(known_opcode), [LLVMOpcode::LLVMUserOp1 as c_uint; 4]);
    }

    #[test]
    fn kinds_after_bytes_have_moved() {
        let (integer, float) = (LLVMValueKind::LLVMConstantIntValueKind, LLVMValueKind::LLVMConstantFPValueKind);
        assert_eq!([18, 19, 20].map(known_value_kind), [integer as c_uint, integer as c_uint, float as c_uint]);
        assert_eq!(known_value_kind(25), LLVMValueKind::LLVMInstructionValueKind as c_uint);
        assert_eq!(known_value_kind(28), LLVMValueKind::LLVMConstantPtrAuthValueKind as c_uint);
        assert_eq!(known_value_kind(29), LLVMValueKind::LLVMUndefValueValueKind as c_uint);
    }
}
