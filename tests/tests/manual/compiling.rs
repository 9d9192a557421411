//! Ahead-of-time compilation: PTX of a kernel for another architecture, and information about the kernel.

use cuda_prelude::*;

#[kernel]
fn scale<T: Num>(x: &mut [T], by: T) {
    let i = grid::<1>();
    if i < x.len() {
        x[i] *= by;
    }
}

#[test]
fn each_type_and_architecture_has_its_text() -> Result<()> {
    let single = scale::<f32>::compile_ptx((7, 5))?;
    assert!(single.contains(".target sm_75") && single.contains("mul.f32"), "{single}");
    let double = scale::<f64>::compile_ptx("9.0a".parse::<ComputeCapability>()?)?;
    assert!(double.contains(".target sm_90a") && double.contains("mul.f64"), "{double}");
    assert!(compile_ptx_for_current_device::<scale<i32>>()?.contains(".entry"));
    Ok(())
}

#[test]
fn a_kernel_lists_its_overloads() -> Result<()> {
    scale::<u64>::compile()?;
    let signatures: Vec<_> = scale::<u64>::overloads().iter().map(|kernel| kernel.signature().to_string()).collect();
    assert!(signatures.iter().any(|signature| signature.contains("u64")), "{signatures:?}");
    Ok(())
}
