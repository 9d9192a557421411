//! Closures and device functions that launches pass to kernels.

use std::ops::Mul;

use super::{context, differ, on_device, on_host};
use cuda_jit::device::{grid, shared, sync_threads, thread_idx};
use cuda_jit::launch::KernelClosure;
use cuda_jit::{DeviceType, Float, Kernel, Num, device, device_fn, kernel};

#[kernel]
fn map<F: Fn(f32) -> f32>(f: F, x: &[f32], out: &mut [f32]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = f(x[i]);
    }
}

/// Launches a kernel with closures `$f` for `$out`, and compares with the host's.
macro_rules! both {
    ($kernel:ident, $out:expr, ($($f:expr),+), $($input:expr),*) => {{
        let mut host = $out;
        cuda_jit::host::for_each_thread((1, 8), || $kernel($(*$f.host(),)+ $($input,)* &mut host));
        let mut device = on_device(&$out);
        $kernel::launch((1, 8), $($f,)+ $($input,)* &mut device).unwrap();
        let device = on_host(&device);
        assert_eq!(device, host);
        device
    }};
}

const X: [f32; 5] = [0.5, -1.25, 2.0, 3.5, 4.0];

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[operators(Mul)]
#[repr(C)]
struct Pair {
    a: f32,
    b: f32,
}

#[device]
impl Pair {
    fn at(self, x: f32) -> f32 {
        self.a * x + self.b
    }

    fn slope(x: f32) -> f32 {
        x * 3.0
    }
}

#[device]
impl Mul for Pair {
    type Output = Pair;
    fn mul(self, other: Pair) -> Pair {
        Pair { a: self.a * other.a, b: self.b - other.b }
    }
}

#[device]
fn square<T: Num>(x: T) -> T {
    x * x
}

#[test]
fn captures_of_every_kind() {
    let (line, table, deep) = (Pair { a: 2.0, b: -1.0 }, [1.0f32, 10.0, 100.0], [[1u8, 2], [3, 4]]);
    let (tuple, some, flag, n, wide) = ((1.5f32, 2u16), Some(0.25f32), true, 2, 1e10f64);
    let mut each = Vec::new();
    each.push(both!(map, vec![0f32; 5], (device_fn!(|v: f32| line.at(v))), &X));
    each.push(both!(map, vec![0f32; 5], (device_fn!(|v: f32| (line * line).at(v) * table[n])), &X));
    each.push(both!(map, vec![0f32; 5], (device_fn!(|v: f32| v + (deep[1][0] + deep[0][1]) as f32)), &X));
    each.push(both!(map, vec![0f32; 5], (device_fn!(|v: f32| v * tuple.0 + tuple.1 as f32)), &X));
    let f = device_fn!(|v: f32| match some {
        Some(by) if flag => v * by,
        _ => -v,
    });
    each.push(both!(map, vec![0f32; 5], (f), &X));
    each.push(both!(map, vec![0f32; 5], (device_fn!(move |v: f32| (v as f64 * wide) as f32)), &X));
    let (a, b, c, d, e, g, h, i, j) = (1f32, 2f32, 3f32, 4f32, 5f32, 6f32, 7f32, 8f32, 9f32);
    each.push(both!(map, vec![0f32; 5], (device_fn!(|v: f32| a + b * c - d / e + g * h - i * j * v)), &X));
    each.push(both!(map, vec![0f32; 5], (device_fn!(|v: f32| -> f32 { v })), &X));
    assert_eq!(each[0], [0.0, -3.5, 3.0, 6.0, 7.0]);
    assert_eq!(each[7], X);
}

#[kernel]
fn counted<F: Fn(u32) -> u32>(f: F, out: &mut [u32]) {
    out[0] = f(out[0]);
}

fn specialisations<F: KernelClosure<Host: Fn(u32) -> u32>>(_: &F) -> usize {
    counted::<F>::overloads().len()
}

#[test]
fn another_value_is_no_other_kernel_but_another_closure_is() {
    let mut out = on_device(&[1u32]);
    let mut texts = Vec::new();
    for k in 0..4 {
        let f = device_fn!(|v: u32| v + k);
        counted::launch((1, 1), f, &mut out).unwrap();
        assert_eq!(specialisations(&f), 1);
        let _selected = context().select();
        texts.push(counted::compile(&f).unwrap().ptx().as_ptr());
    }
    assert!(texts.iter().all(|text| *text == texts[0]));
    assert_eq!(on_host(&out), [7]);
    let k = 1;
    let again = device_fn!(|v: u32| v + k);
    counted::launch((1, 1), again, &mut out).unwrap();
    assert_eq!(specialisations(&again), 2);
    let other = device_fn!(|v: u32| v * 5);
    counted::launch((1, 1), other, &mut out).unwrap();
    assert_eq!(specialisations(&other), 3);
    counted::launch((1, 1), device_fn!(square), &mut out).unwrap();
    assert_eq!(on_host(&out), [1600]);
    assert_eq!(specialisations(&other), 4);
    // a device function is the same type wherever it is named
    counted::launch((1, 1), device_fn!(square), &mut on_device(&[1u32])).unwrap();
    assert_eq!(specialisations(&other), 4);
}

#[test]
fn kernels_are_named_after_what_they_are_passed() {
    let f = device_fn!(|v: u32| v + 1);
    assert!(counted::compile_ptx((9, 0), &f).unwrap().contains(".entry counted_closure("));
    let f = device_fn!(square::<u32>);
    assert!(counted::compile_ptx((9, 0), &f).unwrap().contains(".entry counted_square_u32("));
}

#[kernel]
fn zip<T: Num, P, F, G>(f: F, mut g: G, x: &[T], out: &mut [P])
where
    P: Copy,
    F: Fn(T, usize) -> (T, P),
    G: FnMut(&[T], T) -> T,
{
    let i = grid::<1>();
    if i < out.len() {
        let (a, b) = f(x[i], i);
        out[i] = if g(x, a) > a { b } else { f(a, 0).1 };
    }
}

#[test]
fn several_closures_of_several_arguments_in_a_generic_kernel() {
    let (k, by) = (3, 2.0f32);
    let f = device_fn!(|v: f32, i: usize| (v * by, (i + k) as u64));
    let g = device_fn!(|x: &[f32], v: f32| x[1] + v);
    let out = both!(zip, vec![0u64; 5], (f, g), &X);
    assert_eq!(out, [3; 5]);
    let f = device_fn!(|v: i32, i: usize| (v << i, [v, k as i32][i & 1] as i16));
    let g = device_fn!(|x: &[i32], v: i32| x.len() as i32 + v);
    both!(zip, vec![0i16; 3], (f, g), &[1, 2, 3]);
}

#[device]
fn twice<F: Fn(f32) -> f32>(f: F, x: f32) -> f32 {
    f(f(x))
}

#[device]
fn through<G: Fn(f32) -> f32>(g: &G, x: f32) -> f32 {
    1.0 + twice(g, x) * 0.5
}

#[kernel]
fn passes_on<F: Fn(f32) -> f32, G>(f: F, g: G, x: &[f32], out: &mut [f32])
where
    G: Fn(f32) -> f32,
{
    let i = grid::<1>();
    if i < out.len() {
        let h = |v| 2.0 * g(v) + f(v);
        out[i] = twice(&f, x[i]) + through(&h, x[i]) * twice(g, 0.5);
    }
}

#[test]
fn closures_are_passed_on_and_call_device_functions() {
    let k = 0.5;
    let f = device_fn!(|v: f32| {
        let near = |w: f32| square(w) - k;
        twice(near, v).min(twice(|w| w * k, 1.0))
    });
    let out = both!(passes_on, vec![0f32; 5], (f, device_fn!(Pair::slope)), &X);
    assert_ne!(out[0], out[1]);
}

mod elsewhere {
    #[cuda_jit::device]
    pub(super) fn shifted(x: f32) -> f32 {
        x + 8.0
    }
}

#[test]
fn device_functions_by_their_paths() {
    assert_eq!(both!(map, vec![0f32; 5], (device_fn!(square)), &X)[1], 1.5625);
    assert_eq!(both!(map, vec![0f32; 5], (device_fn!(elsewhere::shifted)), &X)[2], 10.0);
    assert_eq!(both!(map, vec![0f32; 5], (device_fn!(square::<f32>)), &X)[2], 4.0);
}

const SCALE: f32 = 0.125;

#[test]
fn bodies_use_the_whole_language() {
    const LOCAL: [u32; 3] = [4, 5, 6];
    let limit = 100;
    let f = device_fn!(|v: f32| {
        const INNER: i32 = 3;
        use std::f32::consts::PI;
        if v < 0.0 {
            return PI;
        }
        let mut sum = 0;
        'outer: for i in 0..limit {
            for n in LOCAL {
                match i as i32 {
                    INNER => continue 'outer,
                    9.. => break 'outer,
                    _ => sum += n * i,
                }
            }
        }
        (sum as f32).sqrt() * SCALE + v.max(f32::EPSILON)
    });
    assert_eq!(both!(map, vec![0f32; 5], (f), &X)[1], std::f32::consts::PI);
}

fn scaled<T: Float + cuda_mem::Element + cuda_jit::ElementType>(x: &[T], by: T) -> Vec<T> {
    #[kernel]
    fn apply<T: Num, F: Fn(T) -> T>(f: F, x: &[T], out: &mut [T]) {
        let i = grid::<1>();
        out[i] = f(x[i]);
    }
    let mut out = on_device(x);
    apply::launch((1, x.len()), device_fn!(|v: T| v * by + by.max(v)), x, &mut out).unwrap();
    on_host(&out)
}

#[test]
fn in_generic_functions_of_the_host() {
    assert_eq!(scaled(&[1.0f32, 3.0], 2.0), [4.0, 9.0]);
    assert_eq!(scaled(&[1.0f64, 3.0], 0.5), [1.5, 4.5]);
}

#[test]
fn names_of_a_macro_are_its_own() {
    macro_rules! add {
        ($value:ident) => {{
            let k = 100.0;
            device_fn!(|v: f32| v + k + $value)
        }};
    }
    let k = 1.0;
    assert_eq!(both!(map, vec![0f32; 5], (add!(k)), &X)[0], 101.5);
}

#[test]
fn a_closure_uses_shared_memory_and_barriers() {
    let last = 4usize;
    let f = device_fn!(|v: f32| {
        let tile = shared!([f32; 8]);
        tile[thread_idx().x] = v;
        sync_threads();
        tile[last - thread_idx().x]
    });
    let mut out = on_device(&[0f32; 5]);
    map::launch((1, 5), f, &X, &mut out).unwrap();
    assert_eq!(on_host(&out), [4.0, 3.5, 2.0, -1.25, 0.5]);
}

#[test]
fn a_kernel_with_closures_is_called_on_the_host_too() {
    let (mut out, k) = ([0.0], 3.0);
    cuda_jit::host::for_each_thread((1, 1), || map(|v| v * k, &[2.0], &mut out));
    assert_eq!(out, [6.0]);
    let f = device_fn!(|v: f32| v - k);
    assert_eq!(f.host()(1.0), -2.0);
    assert_eq!(device_fn!(square).host()(1.5), 2.25);
}

#[test]
fn occupancy_chooses_the_block_for_closures_as_well() {
    let (x, mut out) = (on_device(&vec![1f32; 1000]), on_device(&vec![0f32; 1000]));
    let k = 41.0;
    map::forall(1000, device_fn!(|v: f32| v + k), &x, &mut out).unwrap();
    assert_eq!(on_host(&out), vec![42.0; 1000]);
}

#[kernel]
fn applied_in_place(x: &[f32], out: &mut [f32]) {
    let i = grid::<1>();
    if i < out.len() {
        let f = |v: f32| v + 1.0;
        out[i] = 2.0 * f(x[i]) + twice(f, 0.0);
    }
}

#[test]
fn the_result_of_a_closure_decides_a_literal_before_it() {
    differ!(applied_in_place, (1, 8), [&X[..]], vec![0f32; 5]);
}

#[kernel]
fn filled<F: Fn(usize) -> f32>(f: F, out: &mut [f32]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = f(i);
    }
}

#[test]
fn closures_read_device_arrays() {
    let (table, k, mut out) = (on_device(&[1.0f32, 2.0, 4.0, 8.0]), 0.5, on_device(&[0f32; 5]));
    filled::launch((1, 8), device_fn!(|i: usize| if i < table.len() { table[i] * k } else { -1.0 }), &mut out).unwrap();
    assert_eq!(on_host(&out), [0.5, 1.0, 2.0, 4.0, -1.0]);
    // by reference, moved, and with a subslice passed on
    let (borrowed, one, three) = (&table, 1, 3);
    let f = device_fn!(move |i: usize| twice(|v| v + borrowed[i & three], 0.0) + last(&borrowed[one..]));
    filled::launch((1, 8), f, &mut out).unwrap();
    assert_eq!(on_host(&out), [10.0, 12.0, 16.0, 24.0, 10.0]);
    // readable through a mutable reference too
    let mut table = table;
    let exclusive = &mut table;
    filled::launch((1, 8), device_fn!(|i: usize| sum_of(&exclusive[..i])), &mut out).unwrap();
    assert_eq!(on_host(&out), [0.0, 1.0, 3.0, 7.0, 15.0]);
    // another array does not need another kernel
    let texts = [on_device(&[1f32]), on_device(&[2f32, 3.0])].map(|table| {
        let f = device_fn!(|i: usize| table[i]);
        filled::compile_ptx((9, 0), &f).unwrap()
    });
    assert_eq!(texts[0].matches("ld.global.nc").count(), 1, "{}", texts[0]);
}

#[device]
fn last(x: &[f32]) -> f32 {
    x[x.len() - 1]
}

#[device]
fn sum_of(x: &[f32]) -> f32 {
    let mut sum = 0.0;
    for v in x {
        sum += *v;
    }
    sum
}

#[test]
fn closures_read_device_arrays_of_more_dimensions_as_views() {
    let table = cuda_mem::to_device(&context(), &ndarray::array![[1.0f32, 2.0], [3.0, 4.0], [5.0, 6.0]]).unwrap();
    let deep = cuda_mem::to_device(&context(), &ndarray::Array3::from_elem((1, 2, 3), 10u8)).unwrap();
    let mut out = on_device(&[0f32; 6]);
    let f = device_fn!(
        |i: usize| table[[i / table.ncols(), i % 2]] + (deep[[0, 1, i % 3]] as usize * table.nrows()) as f32
    );
    filled::launch((1, 8), f, &mut out).unwrap();
    assert_eq!(on_host(&out), [31.0, 32.0, 33.0, 34.0, 35.0, 36.0]);
}

#[kernel]
fn spin(out: &mut [f32]) {
    for _ in 0..2000 {
        cuda_jit::device::nanosleep(1000);
    }
    out[0] += 1.0;
}

#[test]
fn a_launch_is_ordered_with_its_closures_arrays() {
    let (mut table, mut out) = (on_device(&[0f32]), on_device(&[0f32]));
    let streams = [(); 3].map(|()| cuda_driver::Stream::new(&context()).unwrap());
    for turn in 1..5 {
        spin::launch((1, 1, &streams[0]), &mut table).unwrap();
        let f = device_fn!(|i: usize| {
            cuda_jit::device::nanosleep(1_000_000);
            table[i]
        });
        filled::launch((1, 1, &streams[1]), f, &mut out).unwrap();
        assert_eq!(on_host(&out), [turn as f32]);
        filled::launch((1, 1, &streams[1]), f, &mut out).unwrap();
        spin::launch((1, 1, &streams[2]), &mut table).unwrap();
        assert_eq!(on_host(&out), [turn as f32], "the array was written while it was read");
        spin::launch((1, 1, &streams[2]), &mut table).unwrap();
        table = on_device(&[turn as f32]);
    }
}

#[test]
fn an_array_captured_by_a_closure_may_be_freed_after_the_launch() {
    let mut out = on_device(&[0f32; 2]);
    let stream = cuda_driver::Stream::new(&context()).unwrap();
    for value in [3.0, 5.0] {
        let table = on_device(&[value; 1000]);
        let f = device_fn!(|i: usize| {
            cuda_jit::device::nanosleep(1_000_000);
            table[999 - i]
        });
        filled::launch((1, 2, &stream), f, &mut out).unwrap();
        drop(table);
        let _other = on_device(&[f32::NAN; 1000]);
        assert_eq!(on_host(&out), [value; 2]);
    }
}

#[kernel]
fn called<F: Fn(u32)>(f: F) {
    f(1);
}

#[kernel]
fn early(x: &[f32], out: &mut [f32]) {
    let i = grid::<1>();
    if i < out.len() {
        let small = |v: f32| {
            if v < 2.0 {
                return Some(v * 0.25);
            }
            None
        };
        let doubled = |v: f32| {
            return v * 2.0;
        };
        out[i] = small(x[i]).unwrap_or(0.5);
        if small(x[i]).is_some() {
            out[i] += doubled(x[i]);
        }
        out[i] += (0..3)
            .map(|step| {
                return step as f32;
            })
            .sum::<f32>();
    }
}

#[test]
fn a_closures_result_has_rustcs_type() {
    let (mut host, mut device) = ([0.0; 5], on_device(&[0.0; 5]));
    cuda_jit::host::for_each_thread((1, 8), || early(&X, &mut host));
    early::launch((1, 8), &on_device(&X), &mut device).unwrap();
    assert_eq!(on_host(&device), host);
    assert_eq!(host[0], 0.125 + 1.0 + 3.0);
}

#[test]
fn a_closures_array_determines_the_context() {
    let (table, seven) = (on_device(&[7u32]), 7);
    called::launch((1, 1), device_fn!(|i: u32| assert!(table[0] == 7 && i == 1))).unwrap();
    context().synchronize().unwrap();
    // after an argument that belongs to no context
    called::launch((1, 1), device_fn!(|i: u32| assert!(seven == table[0] && i == 1))).unwrap();
    context().synchronize().unwrap();
}

#[kernel]
fn copied(x: &[f32], out: &mut [f32]) {
    out[0] = x[0];
}

#[test]
fn arrays_of_two_contexts_are_refused() {
    let name = "language::closures::arrays_of_two_contexts_are_refused";
    if !crate::around::is_child() {
        crate::around::child(name, &[("CUDA_SIM_DEVICES", "2".as_ref())]);
        return;
    }
    let driver = cuda_driver::Driver::new(cuda_tests_support::driver_api()).unwrap();
    let contexts = [0, 1].map(|index| driver.device(index).unwrap().primary_context().unwrap());
    let [here, there] = contexts.each_ref().map(|context| cuda_mem::from_slice(context, &[1f32]).unwrap());
    let mut out = cuda_mem::from_slice(&contexts[0], &[0f32]).unwrap();
    let error = copied::launch((1, 1), &there, &mut out).unwrap_err().to_string();
    assert_eq!(error, "argument 1 of kernel `copied` lies on device 0, but the launch is on device 1");
    let error = filled::launch((1, 1), device_fn!(|i: usize| there[i]), &mut out).unwrap_err().to_string();
    assert_eq!(error, "argument 1 of kernel `filled` lies on device 0, but the launch is on device 1");
    let error = filled::launch((1, 1), device_fn!(|i: usize| here[i] + there[i]), &mut out).unwrap_err().to_string();
    assert_eq!(error, "argument 0 of kernel `filled` lies on device 1, but the launch is on device 0");
    copied::launch((1, 1), &here, &mut out).unwrap();
    assert_eq!(on_host(&out), [1.0]);
}
