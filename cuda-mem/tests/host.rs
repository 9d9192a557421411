//! Device-accessible host memory on the software device: copies, and the view of both sides.

use cuda_driver::{Context, Driver, Stream};
use cuda_mem::{
    HostOptions, MappedArray, PinnedArray, managed_array_like, mapped, mapped_array_like, pinned, pinned_array_like,
    to_device,
};
use ndarray::{Array2, Axis, Ix2, ShapeBuilder, s};

fn context() -> Context {
    Driver::new(cuda_tests_support::driver_api()).and_then(|driver| driver.device(0)?.primary_context()).unwrap()
}

fn numbers(shape: (usize, usize)) -> Array2<u32> {
    Array2::from_shape_fn(shape, |(i, j)| (1000 * i + j) as u32)
}

#[test]
fn page_locked_copies_are_those_of_every_layout() {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    for shape in [(1, 1), (3, 5), (40, 70), (0, 4)] {
        let host = numbers(shape);
        for host in [host.clone(), host.t().to_owned(), host.reversed_axes()] {
            let mut staging = pinned_array_like(&context, &host).unwrap();
            staging.view_mut().unwrap().assign(&host);
            let mut x = to_device(&context, &Array2::<u32>::zeros(host.raw_dim())).unwrap();
            x.copy_from_pinned_ref(&staging, &stream).unwrap();
            assert_eq!(x.copy_to_host().unwrap(), host);
            let mut turned = to_device(&context, &Array2::<u32>::zeros(host.t().raw_dim())).unwrap().reversed_axes();
            turned.copy_from_pinned_ref(&staging, &stream).unwrap();
            assert_eq!(turned.copy_to_host().unwrap(), host);
            staging.view_mut().unwrap().fill(0);
            let back = pollster::block_on(turned.copy_to_pinned(staging, &stream).unwrap()).unwrap();
            assert_eq!(back.view().unwrap(), host);
        }
    }
}

#[test]
fn options_are_the_drivers() {
    let context = context();
    let options = HostOptions::new().portable(true).write_combined(true);
    let mut x = PinnedArray::<u32, Ix2>::with_options(&context, (3, 4), options).unwrap();
    x.view_mut().unwrap().assign(&numbers((3, 4)));
    assert_eq!(x.to_owned().unwrap(), numbers((3, 4)));
    let y = MappedArray::<u32, Ix2>::with_options(&context, (3, 4), options).unwrap();
    let mut flags = 0;
    let host = y.view().unwrap().as_ptr().cast_mut().cast();
    // SAFETY: `flags` lives through the call.
    unsafe { cuda_driver::driver_call!(&context, cuMemHostGetFlags(&mut flags, host)) }.unwrap();
    assert_eq!(flags, 7);
}

#[test]
fn both_sides_see_mapped_and_managed_memory() {
    let context = context();
    let host = numbers((6, 8));
    let mut x = mapped_array_like(&context, &host).unwrap();
    let mut y = managed_array_like(&context, &host.t()).unwrap();
    x.view_mut().unwrap().assign(&host);
    y.device_mut().assign(&x.device().t()).unwrap();
    x.device_mut().slice_mut(s![.., ..;2]).fill(7).unwrap();
    assert_eq!(y.view().unwrap(), host.t());
    assert_eq!(y.device().copy_to_host().unwrap(), host.t());
    assert!(x.view().unwrap().axis_iter(Axis(1)).step_by(2).all(|column| column.iter().all(|v| *v == 7)));
}

#[test]
fn existing_memory_is_used_in_place() {
    let context = context();
    let mut host = numbers((5, 9));
    let expected = host.mapv(|v| v);
    let copy = mapped(&context, &mut host, |x| x.device().to_f_order()).unwrap().unwrap();
    assert_eq!(copy.copy_to_host().unwrap(), expected);
    let stream = Stream::new(&context).unwrap();
    let zeros = to_device(&context, &Array2::<u32>::zeros((5, 9))).unwrap();
    pinned(&context, &mut host, |host| zeros.copy_to_pinned_mut(host, &stream)).unwrap().unwrap();
    assert!(host.iter().all(|v| *v == 0));
}

#[test]
fn host_arrays_are_shaped_after_any_other() {
    let context = context();
    let host = numbers((3, 5));
    let x = to_device(&context, &host).unwrap();
    let shape = |shape: &[usize], strides: &[isize]| (shape.to_vec(), strides.to_vec());
    let pinned = pinned_array_like(&context, &x).unwrap();
    assert_eq!(shape(pinned.shape(), pinned.strides()), (vec![3, 5], vec![5, 1]));
    let mapped = mapped_array_like(&context, &x.t()).unwrap();
    assert_eq!(shape(mapped.shape(), mapped.strides()), (vec![5, 3], vec![1, 5]), "Fortran's order is kept");
    let managed = managed_array_like(&context, &x.slice(s![.., ..;2])).unwrap();
    assert_eq!(shape(managed.shape(), managed.strides()), (vec![3, 3], vec![3, 1]), "gaps are not");
    let again = pinned_array_like(&context, &mapped).unwrap();
    assert_eq!(shape(again.shape(), again.strides()), (vec![5, 3], vec![1, 5]));
    assert_eq!(managed_array_like(&context, &host.view()).unwrap().strides(), [5, 1]);
}

/// A host array of the same numbers in another layout: in order, transposed, reversed, every second element, or in
/// short rows.
fn laid_out(host: &Array2<u32>, layout: usize) -> Array2<u32> {
    let (rows, columns) = host.dim();
    let mut room = match layout {
        0 | 2 => Array2::zeros((rows, columns)),
        1 => Array2::zeros((rows, columns).f()),
        3 => Array2::zeros((2 * rows, columns)),
        _ => Array2::zeros((rows, 2 * columns)),
    };
    match layout {
        2 => room.invert_axis(Axis(0)),
        3 => room.slice_collapse(s![..;2, ..]),
        4 => room.slice_collapse(s![.., ..;2]),
        _ => {}
    }
    room.assign(host);
    room
}

#[test]
fn a_scope_copies_borrowed_memory_of_every_layout() {
    let context = context();
    let (stream, other) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
    let host = numbers((40, 70));
    for layout in 0..5 {
        for turned in [false, true] {
            let (from, mut to) = (laid_out(&host, layout), laid_out(&Array2::zeros((40, 70)), layout));
            let mut x = cuda_mem::zeros::<u32, _>(&context, if turned { (70, 40) } else { (40, 70) }).unwrap();
            let mut x = if turned { x.view_mut().reversed_axes() } else { x.view_mut() };
            x.fill_on(9, &other).unwrap();
            stream
                .scope(|s| {
                    x.copy_from_host_in(&from, s)?;
                    x.slice_mut(s![0, ..]).fill_on(5, s)?;
                    Ok(x.copy_to_host_in(&mut to, s)?)
                })
                .unwrap();
            let mut expected = host.clone();
            expected.row_mut(0).fill(5);
            assert_eq!(to, expected, "layout {layout}, turned {turned}");
        }
    }
    let row = host.row(3);
    let repeated = row.broadcast((40, 70)).unwrap();
    let mut x = to_device(&context, &host).unwrap();
    stream.scope(|s| Ok(x.copy_from_host_in(&repeated, s)?)).unwrap();
    assert_eq!(x.copy_to_host().unwrap(), repeated);
}

#[test]
fn a_scope_refuses_what_does_not_fit_and_waits_also_after_a_panic() {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let mut x = to_device(&context, &numbers((40, 70))).unwrap();
    let (small, mut out) = (numbers((4, 7)), Array2::zeros((40, 70)));
    let refused = stream.scope(|s| Ok(x.copy_from_host_in(&small, s)?)).unwrap_err();
    assert_eq!(refused.to_string(), "shapes differ: the device array has [40, 70], the host array has [4, 7]");
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _ = stream.scope(|s| -> cuda_driver::Result<()> {
            x.copy_to_host_in(&mut out, s)?;
            panic!("after the copy began");
        });
    }));
    assert!(panicked.is_err() && stream.query().unwrap(), "the stream was waited for");
    assert_eq!(out, numbers((40, 70)));
}
