//! Code at each stage, resources, occupancy, and the list of specialisations.

use cuda_jit::device::grid;
use cuda_jit::{Error, Kernel, Num, inspect, kernel, shared, warm};

use super::{child, is_child};
use crate::device::{context, on_device};

#[kernel]
fn scale<T: Num, const BY: usize>(x: &mut [T], by: T) {
    let i = grid::<1>();
    if i < x.len() {
        for _ in 0..BY {
            x[i] *= by;
        }
    }
}

#[kernel]
fn tile(x: &mut [f32]) {
    let tile = shared!([f32; 256]);
    let i = grid::<1>();
    if i < x.len() {
        tile[i] = x[i];
        x[i] = tile[x.len() - 1 - i];
    }
}

#[kernel(shared_memory_carveout = 40)]
fn carved(x: &mut [f32]) {
    x[0] = 1.0;
}

#[test]
fn the_carveout_is_set_in_the_driver() {
    let context = context();
    let _selected = context.select();
    let carveout = cuda_sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
    assert_eq!(carved::compile().unwrap().function().attribute(carveout).unwrap(), 40);
    assert_eq!(tile::compile().unwrap().function().attribute(carveout).unwrap(), -1);
}

#[test]
fn every_stage_of_a_kernel_can_be_read() {
    let context = context();
    let _selected = context.select();
    let kernel = scale::<f32, 3>::compile().unwrap();
    assert_eq!(kernel.name(), "scale_f32_3");
    assert!(kernel.signature().ends_with("::scale<f32, 3>(&mut [f32], f32)"), "{}", kernel.signature());
    assert!(kernel.kir().unwrap().to_string().contains("kernel scale_f32_3("));
    let (before, after) = (kernel.llvm_before_passes().unwrap(), kernel.llvm().unwrap());
    assert!(before.contains("alloca i64") && !after.contains("alloca"), "{before}\n{after}");
    assert!(kernel.ptx().contains(".visible .entry scale_f32_3("));
    assert!(kernel.ptx().contains(&format!(".target {}", kernel.target())));
}

#[test]
fn resources_and_occupancy_are_the_drivers() {
    let context = context();
    let _selected = context.select();
    let kernel = tile::compile().unwrap();
    assert_eq!((kernel.shared_bytes(), kernel.local_bytes()), (1024, 0));
    let full = kernel.occupancy(256, 0).unwrap();
    assert_eq!(full.blocks, kernel.max_active_blocks(256, 0).unwrap());
    assert_eq!(full.threads, full.blocks * 256);
    assert!(full.fraction > 0.0 && full.fraction <= 1.0);
    let shared = context.limits().shared_per_block - 1024;
    assert!(kernel.occupancy(32, shared).unwrap().fraction < full.fraction);
    let multiprocessors = context.limits().multiprocessors;
    assert_eq!(kernel.max_cooperative_blocks(256, 0).unwrap(), full.blocks * multiprocessors);
    let (grid, block) = kernel.suggested_launch(0).unwrap();
    assert!(grid >= multiprocessors && block <= kernel.max_threads_per_block());
}

#[test]
fn block_sizes_are_no_specialisations_and_types_and_constants_are() {
    #[kernel]
    fn one<T: Num, const N: usize>(x: &mut [T]) {
        if grid::<1>() == 0 {
            x[N] = x[0];
        }
    }
    let (mut x, mut y) = (on_device(&[1_u32; 8]), on_device(&[1.0_f64; 8]));
    for block in [1, 2, 32, 64, 256] {
        one::<u32, 2>::launch((block, block), &mut x).unwrap();
    }
    one::<u32, 3>::launch((1, 1), &mut x).unwrap();
    one::<f64, 2>::launch((1, 1), &mut y).unwrap();
    let names: Vec<_> = one::<u32, 2>::overloads().iter().map(|kernel| kernel.name()).collect();
    assert_eq!(names, ["one_u32_2", "one_u32_3", "one_f64_2"]);
}

#[test]
fn a_list_of_specialisations_is_compiled_ahead() {
    let context = context();
    let _selected = context.select();
    let kernels = warm([scale::<u8, 1>::compile, scale::<u16, 1>::compile, tile::compile]).unwrap();
    let names: Vec<_> = kernels.iter().map(|kernel| kernel.name()).collect();
    assert_eq!(names, ["scale_u8_1", "scale_u16_1", "tile"]);
    let loaded = scale::<u8, 1>::overloads();
    assert!(["scale_u8_1", "scale_u16_1"].iter().all(|name| loaded.iter().any(|kernel| kernel.name() == *name)));
    let none: [fn() -> cuda_jit::Result<cuda_jit::CompiledKernel>; 0] = [];
    assert!(warm(none).unwrap().is_empty());
}

#[test]
fn an_error_of_compiling_ahead_names_its_place() {
    #[kernel(launch_bounds(64, 1, 2))]
    fn clustered(x: &mut [u32]) {
        x[0] = 1;
    }
    let line = line!() - 3;
    let error = clustered::compile_ptx((7, 5)).unwrap_err().to_string();
    assert!(error.contains(&format!("tests/around/inspect.rs:{line}: kernel `clustered`: ")), "{error}");
}

#[test]
fn machine_code_is_the_toolkits_or_an_error_with_the_searched_paths() {
    match inspect::assemble::<tile>((9, 0)) {
        Ok(assembled) => {
            assert!(assembled.registers > 0 && assembled.const_bytes > 0);
            assert_eq!((assembled.shared_bytes, assembled.local_bytes), (1024, 0));
            for (form, expected) in [(assembled.sass(), "EXIT"), (assembled.sass_cfg(), "digraph")] {
                match form {
                    Ok(text) => assert!(text.contains(expected), "{text}"),
                    Err(error) => assert!(error.to_string().contains("nvdisasm"), "{error}"),
                }
            }
        }
        Err(error) => assert!(matches!(error, Error::Tool(_)), "{error}"),
    }
}

#[test]
fn a_missing_tool_is_named_with_the_searched_paths() {
    if is_child() {
        let context = context();
        let _selected = context.select();
        let kernel = tile::compile().unwrap();
        let assembled = inspect::assemble::<tile>((9, 0)).map(|_| String::new());
        for asked in [assembled, kernel.sass(), kernel.sass_cfg()] {
            let error = asked.unwrap_err().to_string();
            assert!(error.contains("ptxas") && error.contains("/nowhere"), "{error}");
        }
        return;
    }
    let nowhere = "/nowhere".as_ref();
    let variables = [("CONDA_PREFIX", nowhere), ("CUDA_HOME", nowhere), ("VIRTUAL_ENV", nowhere)];
    child("around::inspect::a_missing_tool_is_named_with_the_searched_paths", &variables);
}
