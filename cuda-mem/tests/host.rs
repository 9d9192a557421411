//! Host memory that devices reach, on the software device: what is copied, and what both sides see.

use cuda_driver::{Context, Driver, Stream};
use cuda_mem::{
    HostOptions, MappedArray, PinnedArray, managed_array_like, mapped, mapped_array_like, pinned, pinned_array_like,
    to_device,
};
use ndarray::{Array2, Axis, Ix2, s};

fn context() -> Context {
    Driver::new(cuda_sim::driver_api()).and_then(|driver| driver.device(0)?.primary_context()).unwrap()
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
