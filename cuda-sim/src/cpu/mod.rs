//! Processor-specific assembly, in one file per processor: entry to compiled code and exit from it, stack switches, the
//! registers of an interrupted thread, and arithmetic under the directed rounding modes.
//!
//! [`crate::exec`] and [`crate::codegen`] use them. Both files define the same items.

#[cfg_attr(target_arch = "x86_64", path = "x86_64.rs")]
#[cfg_attr(target_arch = "aarch64", path = "aarch64.rs")]
mod processor;

pub(crate) use processor::{Registers, begin, directed, enter, exit_sequence, read_byte, resume, switch};

/// Returns the levels of x86-64 that this CPU has, which are names of CPUs to LLVM; none on other architectures.
pub(crate) fn levels() -> Vec<&'static str> {
    #[cfg(target_arch = "x86_64")]
    {
        use std::is_x86_feature_detected as has;
        let v2 = has!("sse4.2") && has!("popcnt");
        let v3 = v2 && has!("avx2") && has!("fma") && has!("bmi2") && has!("lzcnt") && has!("f16c") && has!("movbe");
        let v4 = v3 && has!("avx512f") && has!("avx512bw") && has!("avx512cd") && has!("avx512dq") && has!("avx512vl");
        let levels = [(v2, "x86-64-v2"), (v3, "x86-64-v3"), (v4, "x86-64-v4")];
        levels.into_iter().filter_map(|(has, name)| has.then_some(name)).collect()
    }
    #[cfg(not(target_arch = "x86_64"))]
    Vec::new()
}

/// Returns true if compiled code has vectors of 512 bits, which gather and scatter words.
pub(crate) fn has_long_vectors() -> bool {
    const LEVEL: &str = "x86-64-v4";
    crate::environment::ENVIRONMENT.cpu.map_or_else(|| levels().contains(&LEVEL), |level| level == LEVEL)
}

/// The state that [`enter`] saves for the exit sequence. The offset of its first field is a literal in the code of
/// [`enter`].
#[repr(C)]
pub(crate) struct EntryRecord {
    /// The stack pointer inside [`enter`]; 0 outside of compiled code.
    pub(crate) stack: u64,
    /// The address that faulted.
    pub(crate) address: u64,
}

/// A thread with a stack of its own. The offsets of the first two fields are literals in the code of the switches.
#[repr(C)]
pub(crate) struct Fiber {
    /// The stack pointer of the fiber while it does not run; 0 before it begins.
    pub(crate) inside: usize,
    /// The stack pointer of the scheduler while the fiber runs.
    pub(crate) outside: usize,
    /// The lowest address of its stack that calls may use.
    pub(crate) limit: u64,
}

/// The rounding modes of the functions in [`directed`].
pub(crate) mod rounding {
    pub(crate) const NEAREST: u32 = 0;
    pub(crate) const DOWN: u32 = 1;
    pub(crate) const UP: u32 = 2;
    pub(crate) const TO_ZERO: u32 = 3;
}

#[cfg(test)]
mod tests {
    use super::directed::*;
    use super::rounding::*;

    #[test]
    fn directed_modes_bracket_the_exact_result() {
        let third = |mode| div_f32(1.0, 3.0, mode);
        assert_eq!(third(DOWN), third(TO_ZERO));
        assert_eq!(third(UP).to_bits(), third(DOWN).to_bits() + 1);
        assert_eq!(third(NEAREST), 1.0 / 3.0);
        assert_eq!(add_f32(1.0, f32::MIN_POSITIVE, UP), 1.0 + f32::EPSILON);
        assert_eq!(add_f32(1.0, f32::MIN_POSITIVE, DOWN), 1.0);
        assert_eq!(sub_f64(1.0, f64::MIN_POSITIVE, TO_ZERO), 1.0 - f64::EPSILON / 2.0);
    }

    #[test]
    fn every_operation_obeys_the_mode() {
        let tiny = f64::MIN_POSITIVE;
        // a root, a product, a sum of products and conversions, none of which is exact
        assert_eq!(sqrt_f32(2.0, UP).to_bits(), sqrt_f32(2.0, DOWN).to_bits() + 1);
        assert_eq!(sqrt_f64(2.0, UP).to_bits(), sqrt_f64(2.0, TO_ZERO).to_bits() + 1);
        assert_eq!(mul_f32(1.1, 1.1, UP).to_bits(), mul_f32(1.1, 1.1, DOWN).to_bits() + 1);
        assert_eq!(mul_f64(-1.1, 1.1, UP).to_bits() + 1, mul_f64(-1.1, 1.1, DOWN).to_bits());
        assert_eq!(sub_f32(-1.0, f32::MIN_POSITIVE, TO_ZERO), -1.0);
        assert_eq!(add_f64(-1.0, -tiny, DOWN), -1.0 - f64::EPSILON);
        assert_eq!(div_f64(1.0, 3.0, UP).to_bits(), div_f64(1.0, 3.0, DOWN).to_bits() + 1);
        assert_eq!(fma_f32(1.0, 1.0, f32::MIN_POSITIVE, UP), 1.0 + f32::EPSILON);
        assert_eq!(fma_f64(2.0, 3.0, -tiny, TO_ZERO), 6.0_f64.next_down());
        assert_eq!(fma_f64(2.0, 3.0, -tiny, NEAREST), 6.0);
        assert_eq!(f64_f32(1.0 + 1e-12, UP), 1.0 + f32::EPSILON);
        assert_eq!(f64_f32(1.0 + 1e-12, DOWN), 1.0);
        assert_eq!(s64_f32(-16_777_217, DOWN), -16_777_218.0);
        assert_eq!(s64_f32(-16_777_217, TO_ZERO), -16_777_216.0);
        assert_eq!(s64_f64(i64::MAX, DOWN), 9_223_372_036_854_774_784.0);
        assert_eq!(s64_f64(i64::MAX, NEAREST), 9_223_372_036_854_775_808.0);
        // Rust's own rounding mode is unchanged
        assert_eq!(std::hint::black_box(1.0_f32) / std::hint::black_box(3.0), 1.0 / 3.0);
    }
}
