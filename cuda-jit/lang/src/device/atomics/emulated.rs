//! Atomic operations without an instruction, emulated by compare-and-swap loops: minimum and maximum of floats, operations
//! on 16-bit floats, and 64-bit counters. They write nothing if the number does not change.
//!
//! The loops are relaxed; the caller adds fences.

use crate::kir::{AtomicOp, Scalar, Scope};
use crate::typeinfo::{DeviceFn, Instance};

/// An emulated operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Emulated {
    /// The operation that its name says; a NaN operand changes nothing.
    Plain(AtomicOp),
    /// Minimum or maximum, where NaN is treated as missing.
    NotNan(AtomicOp),
}

/// Defines functions that atomically replace a number, `old`, by an expression of it and their operand.
macro_rules! exchanging {
    ($ty:ty, $scope:ident, $($name:ident($old:ident, $operand:ident) $next:expr;)*) => { $(
        #[device]
        pub(crate) fn $name(place: &mut $ty, $operand: $ty) -> $ty {
            let mut $old = atomic_load_with(place, scope::$scope, order::Relaxed);
            loop {
                let next = $next;
                if same(next, $old) {
                    return $old;
                }
                let found = cas_with(place, $old, next, scope::$scope, order::Relaxed);
                if same(found, $old) {
                    return $old;
                }
                $old = found;
            }
        }
    )* };
}

macro_rules! floats {
    ($($module:ident: $ty:ident $scope:ident;)*) => { $(
        pub(super) mod $module {
            #[expect(unused_imports, reason = "one of them, or Rust has the type by itself")]
            use half::{bf16, f16};

            use crate::device;
            use crate::device::{atomic_load_with, cas_with, order, scope};

            /// Returns true if `a` is less than `b`; -0.0 is less than 0.0, and NaN is not less than anything.
            #[device]
            fn below(a: $ty, b: $ty) -> bool {
                a < b || a == b && a.is_sign_negative() && !b.is_sign_negative()
            }

            #[device]
            fn same(a: $ty, b: $ty) -> bool {
                a.to_bits() == b.to_bits()
            }

            exchanging! {
                $ty, $scope,
                min(old, value) if below(value, old) { value } else { old };
                max(old, value) if below(old, value) { value } else { old };
                nan_min(old, value) if below(value, old) || old.is_nan() && !value.is_nan() { value } else { old };
                nan_max(old, value) if below(old, value) || old.is_nan() && !value.is_nan() { value } else { old };
                exchange(old, value) value;
            }
        }
    )* };
}

macro_rules! counters {
    ($($module:ident: $scope:ident;)*) => { $(
        pub(super) mod $module {
            use crate::device;
            use crate::device::{atomic_load_with, cas_with, order, scope};

            #[device]
            fn same(a: u64, b: u64) -> bool {
                a == b
            }

            exchanging! {
                u64, $scope,
                inc(old, limit) if old >= limit { 0 } else { old + 1 };
                dec(old, limit) if old == 0 || old > limit { limit } else { old - 1 };
            }
        }
    )* };
}

floats! {
    f32_device: f32 Device;
    f32_system: f32 System;
    f64_device: f64 Device;
    f64_system: f64 System;
    f16_device: f16 Device;
    f16_system: f16 System;
    bf16_device: bf16 Device;
    bf16_system: bf16 System;
}

counters! {
    u64_device: Device;
    u64_system: System;
}

/// The function that emulates an operation on a type; `None` if there is an instruction.
pub(crate) fn instance(operation: Emulated, ty: Scalar, scope: Scope) -> Option<Instance> {
    use Emulated::{NotNan, Plain};
    macro_rules! pick {
        ($device:ident $system:ident $name:ident) => {
            if scope == Scope::System { $system::$name::instance() } else { $device::$name::instance() }
        };
    }
    macro_rules! of_float {
        ($device:ident $system:ident) => {
            match operation {
                Plain(AtomicOp::Min) => pick!($device $system min),
                Plain(AtomicOp::Max) => pick!($device $system max),
                NotNan(AtomicOp::Min) => pick!($device $system nan_min),
                NotNan(AtomicOp::Max) => pick!($device $system nan_max),
                Plain(AtomicOp::Exchange) if ty.is_half() => pick!($device $system exchange),
                _ => return None,
            }
        };
    }
    Some(match (ty, operation) {
        (Scalar::F32, _) => of_float!(f32_device f32_system),
        (Scalar::F64, _) => of_float!(f64_device f64_system),
        (Scalar::F16, _) => of_float!(f16_device f16_system),
        (Scalar::Bf16, _) => of_float!(bf16_device bf16_system),
        (Scalar::U64, Plain(AtomicOp::Inc)) => pick!(u64_device u64_system inc),
        (Scalar::U64, Plain(AtomicOp::Dec)) => pick!(u64_device u64_system dec),
        _ => return None,
    })
}
