//! The atomic operations that no instruction has: smaller and larger floats, and counters of 64 bits. Each exchanges
//! until nobody else came between, and not at all where the number stays what it is.
//!
//! They are relaxed; whoever calls them puts fences around.

use crate::harvest::{DeviceFn, Instance};
use crate::kir::{AtomicOp, Scalar, Scope};

/// Which operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Emulated {
    /// As its name says; floats that are NaN change nothing.
    Plain(AtomicOp),
    /// The smaller or larger, where NaN counts as no number.
    NotNan(AtomicOp),
}

macro_rules! floats {
    ($module:ident: $ty:ident $scope:ident) => {
        pub(super) mod $module {
            use crate::device;
            use crate::device::{atomic_load_with, cas_with, order, scope};

            /// Whether `a` comes before `b`; of zeros the negative one does, and NaN never.
            #[device]
            fn below(a: $ty, b: $ty) -> bool {
                a < b || a == b && a.is_sign_negative() && !b.is_sign_negative()
            }

            #[device]
            pub(crate) fn min(place: &mut $ty, value: $ty) -> $ty {
                let mut old = atomic_load_with(place, scope::$scope, order::Relaxed);
                while below(value, old) {
                    let found = cas_with(place, old, value, scope::$scope, order::Relaxed);
                    if found.to_bits() == old.to_bits() {
                        break;
                    }
                    old = found;
                }
                old
            }

            #[device]
            pub(crate) fn max(place: &mut $ty, value: $ty) -> $ty {
                let mut old = atomic_load_with(place, scope::$scope, order::Relaxed);
                while below(old, value) {
                    let found = cas_with(place, old, value, scope::$scope, order::Relaxed);
                    if found.to_bits() == old.to_bits() {
                        break;
                    }
                    old = found;
                }
                old
            }

            #[device]
            pub(crate) fn nan_min(place: &mut $ty, value: $ty) -> $ty {
                let mut old = atomic_load_with(place, scope::$scope, order::Relaxed);
                while below(value, old) || old.is_nan() && !value.is_nan() {
                    let found = cas_with(place, old, value, scope::$scope, order::Relaxed);
                    if found.to_bits() == old.to_bits() {
                        break;
                    }
                    old = found;
                }
                old
            }

            #[device]
            pub(crate) fn nan_max(place: &mut $ty, value: $ty) -> $ty {
                let mut old = atomic_load_with(place, scope::$scope, order::Relaxed);
                while below(old, value) || old.is_nan() && !value.is_nan() {
                    let found = cas_with(place, old, value, scope::$scope, order::Relaxed);
                    if found.to_bits() == old.to_bits() {
                        break;
                    }
                    old = found;
                }
                old
            }
        }
    };
}

macro_rules! counters {
    ($module:ident: $scope:ident) => {
        pub(super) mod $module {
            use crate::device;
            use crate::device::{atomic_load_with, cas_with, order, scope};

            #[device]
            pub(crate) fn inc(place: &mut u64, limit: u64) -> u64 {
                let mut old = atomic_load_with(place, scope::$scope, order::Relaxed);
                loop {
                    let next = if old >= limit { 0 } else { old + 1 };
                    let found = cas_with(place, old, next, scope::$scope, order::Relaxed);
                    if found == old {
                        return old;
                    }
                    old = found;
                }
            }

            #[device]
            pub(crate) fn dec(place: &mut u64, limit: u64) -> u64 {
                let mut old = atomic_load_with(place, scope::$scope, order::Relaxed);
                loop {
                    let next = if old == 0 || old > limit { limit } else { old - 1 };
                    let found = cas_with(place, old, next, scope::$scope, order::Relaxed);
                    if found == old {
                        return old;
                    }
                    old = found;
                }
            }
        }
    };
}

floats! { f32_device: f32 Device }
floats! { f32_system: f32 System }
floats! { f64_device: f64 Device }
floats! { f64_system: f64 System }
counters! { u64_device: Device }
counters! { u64_system: System }

/// The function that does an operation on a type, if no instruction does.
pub(crate) fn instance(operation: Emulated, ty: Scalar, scope: Scope) -> Option<Instance> {
    use Emulated::{NotNan, Plain};
    let system = scope == Scope::System;
    macro_rules! pick {
        ($device:ident $system:ident $name:ident) => {
            if system { $system::$name::instance() } else { $device::$name::instance() }
        };
    }
    Some(match (operation, ty) {
        (Plain(AtomicOp::Min), Scalar::F32) => pick!(f32_device f32_system min),
        (Plain(AtomicOp::Max), Scalar::F32) => pick!(f32_device f32_system max),
        (NotNan(AtomicOp::Min), Scalar::F32) => pick!(f32_device f32_system nan_min),
        (NotNan(AtomicOp::Max), Scalar::F32) => pick!(f32_device f32_system nan_max),
        (Plain(AtomicOp::Min), Scalar::F64) => pick!(f64_device f64_system min),
        (Plain(AtomicOp::Max), Scalar::F64) => pick!(f64_device f64_system max),
        (NotNan(AtomicOp::Min), Scalar::F64) => pick!(f64_device f64_system nan_min),
        (NotNan(AtomicOp::Max), Scalar::F64) => pick!(f64_device f64_system nan_max),
        (Plain(AtomicOp::Inc), Scalar::U64) => pick!(u64_device u64_system inc),
        (Plain(AtomicOp::Dec), Scalar::U64) => pick!(u64_device u64_system dec),
        _ => return None,
    })
}
