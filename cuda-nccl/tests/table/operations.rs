//! The arguments of each operation, and the checks before the call.

use cuda_driver::Stream;
use cuda_mem::{DeviceArray, from_slice, zeros};
use cuda_nccl::{Communicator, Error, Options, Reduction, group};
use half::bf16;
use ndarray::{Ix1, s};

use crate::recorder::{calls, nccl};
use crate::{context, rank};

type Array = DeviceArray<f32, Ix1>;

/// Rank 1 of 4 with a stream and arrays of 8 and of 2 elements.
fn four() -> (Communicator, Stream, Array, Array) {
    let stream = Stream::new(&context(0)).unwrap();
    (rank(1, 4), stream, zeros(context(0), 8).unwrap(), zeros(context(0), 2).unwrap())
}

/// The address of an element.
fn at(array: &Array, element: usize) -> String {
    format!("{:#x}", array.device_ptr() + 4 * element as u64)
}

#[test]
fn reductions_pass_addresses_count_type_and_operation() {
    let (c, s, mut all, mut part) = four();
    let mut other = zeros(context(0), 8).unwrap();
    let (a, o, p) = (at(&all, 0), at(&other, 0), at(&part, 0));
    c.all_reduce(&all, &mut other, Reduction::Max, &s).unwrap();
    c.all_reduce_in_place(&mut all, Reduction::Average, &s).unwrap();
    c.reduce(&all, &mut other, Reduction::Product, 1, &s).unwrap();
    c.reduce_in_place(&mut all, Reduction::Min, 3, &s).unwrap();
    c.reduce_scatter(&all, &mut part, Reduction::Sum, &s).unwrap();
    c.reduce_scatter_in_place(&mut all, Reduction::Sum, &s).unwrap();
    let own = at(&all, 2);
    assert_eq!(
        calls(),
        [
            format!("all_reduce {a} {o} 8 ncclFloat32 ncclMax"),
            format!("all_reduce {a} {a} 8 ncclFloat32 ncclAvg"),
            format!("reduce {a} {o} 8 ncclFloat32 ncclProd 1"),
            format!("reduce {a} {a} 8 ncclFloat32 ncclMin 3"),
            format!("reduce_scatter {a} {p} 2 ncclFloat32 ncclSum"),
            format!("reduce_scatter {a} {own} 2 ncclFloat32 ncclSum"),
        ]
    );
}

#[test]
fn moves_pass_addresses_count_type_and_root() {
    let (c, s, mut all, mut part) = four();
    let mut other = zeros(context(0), 8).unwrap();
    let (a, o, p, own) = (at(&all, 0), at(&other, 0), at(&part, 0), at(&all, 2));
    c.broadcast(&mut all, 2, &s).unwrap();
    c.broadcast_from(&part, &mut all, 2, &s).unwrap();
    c.all_gather(&part, &mut all, &s).unwrap();
    c.all_gather_in_place(&mut all, &s).unwrap();
    c.all_to_all(&all, &mut other, &s).unwrap();
    c.gather(&part, &mut all, 1, &s).unwrap();
    c.gather_in_place(&mut all, 1, &s).unwrap();
    c.gather_in_place(&mut part, 0, &s).unwrap();
    c.scatter(&all, &mut part, 1, &s).unwrap();
    c.scatter_in_place(&mut all, 1, &s).unwrap();
    c.scatter_in_place(&mut part, 0, &s).unwrap();
    c.send(&part, 3, &s).unwrap();
    c.recv(&mut part, 0, &s).unwrap();
    assert_eq!(
        calls(),
        [
            format!("broadcast {a} {a} 8 ncclFloat32 2"),
            format!("broadcast {p} {a} 8 ncclFloat32 2"),
            format!("all_gather {p} {a} 2 ncclFloat32"),
            format!("all_gather {own} {a} 2 ncclFloat32"),
            format!("all_to_all {a} {o} 2 ncclFloat32"),
            format!("gather {p} {a} 2 ncclFloat32 1"),
            format!("gather {own} {a} 2 ncclFloat32 1"),
            format!("gather {p} {p} 2 ncclFloat32 0"),
            format!("scatter {a} {p} 2 ncclFloat32 1"),
            format!("scatter {a} {own} 2 ncclFloat32 1"),
            format!("scatter {p} {p} 2 ncclFloat32 0"),
            format!("send {p} 2 ncclFloat32 3"),
            format!("recv {p} 2 ncclFloat32 0"),
        ]
    );
}

#[test]
fn views_and_elements_that_are_no_numbers_are_moved() {
    let (c, s, mut all, _) = four();
    let start = at(&all, 3);
    c.all_reduce_in_place(&mut all.slice_mut(s![3..5]), Reduction::Sum, &s).unwrap();
    let triples = from_slice(context(0), &[[1_u16; 3]; 5]).unwrap();
    c.send(&triples, 0, &s).unwrap();
    let halves = from_slice(context(0), &[bf16::ONE; 3]).unwrap();
    c.send(&halves, 0, &s).unwrap();
    let found = calls();
    assert_eq!(found[0], format!("all_reduce {start} {start} 2 ncclFloat32 ncclSum"));
    assert!(found[1].ends_with(" 30 ncclUint8 0") && found[2].ends_with(" 3 ncclBfloat16 0"), "{found:?}");
    let error = c.send(&all.slice(s![..;2]), 0, &s).unwrap_err().to_string();
    assert!(error.contains("does not allow a collective operation; make a contiguous copy first"), "{error}");
    assert!(calls().is_empty());
}

#[test]
fn wrong_lengths_are_named_with_rank_and_operation_and_nothing_is_called() {
    let (c, s, mut all, mut part) = four();
    let three = zeros::<f32, _>(&context(0), 3).unwrap();
    let rule = "; they must be as long";
    let error = |result: cuda_nccl::Result<()>| {
        let error = result.unwrap_err();
        assert!(matches!(error, Error::Length(_)), "{error:?}");
        error.to_string()
    };
    assert_eq!(
        error(c.all_reduce(&three, &mut all, Reduction::Sum, &s)),
        format!("rank 1 of 4: `all_reduce`: the source has 3 elements and the destination 8{rule}")
    );
    assert_eq!(
        error(c.reduce(&three, &mut all, Reduction::Sum, 1, &s)),
        format!("rank 1 of 4: `reduce` with root 1: the source has 3 elements and the destination 8{rule}")
    );
    assert!(error(c.broadcast_from(&three, &mut all, 1, &s)).contains("`broadcast` with root 1"));
    assert!(error(c.all_gather(&three, &mut all, &s)).ends_with("with 4 ranks the destination must have 12"));
    assert!(error(c.reduce_scatter(&three, &mut part, Reduction::Sum, &s)).ends_with("the source must have 8"));
    assert!(error(c.gather(&three, &mut all, 1, &s)).ends_with("the destination must have 12"));
    assert!(error(c.scatter(&three, &mut part, 1, &s)).ends_with("the source must have 8"));
    let divided = "3 elements cannot be divided among 4 ranks";
    let mut three = three;
    assert!(error(c.all_gather_in_place(&mut three, &s)).ends_with(divided));
    assert!(error(c.reduce_scatter_in_place(&mut three, Reduction::Sum, &s)).ends_with(divided));
    assert!(error(c.gather_in_place(&mut three, 1, &s)).ends_with(divided));
    assert!(error(c.scatter_in_place(&mut three, 1, &s)).ends_with(divided));
    assert!(error(c.all_to_all(&three, &mut zeros(context(0), 3).unwrap(), &s)).ends_with(divided));
    assert!(calls().is_empty());
    // Only the root's other array counts.
    c.reduce(&three, &mut all, Reduction::Sum, 0, &s).unwrap();
    c.gather(&three, &mut all, 0, &s).unwrap();
    c.scatter(&three, &mut part, 0, &s).unwrap();
    assert_eq!(calls().len(), 3);
}

#[test]
fn ranks_and_devices_that_are_not_the_communicators_are_refused() {
    let (c, s, mut all, _) = four();
    let error = c.broadcast(&mut all, 4, &s).unwrap_err().to_string();
    assert_eq!(error, "rank 1 of 4: `broadcast`: there is no rank 4; the ranks are 0 to 3");
    assert!(c.send(&all, 9, &s).unwrap_err().to_string().contains("there is no rank 9"));
    let elsewhere = Stream::new(&context(1)).unwrap();
    let error = c.broadcast(&mut all, 0, &elsewhere).unwrap_err().to_string();
    assert_eq!(
        error,
        "rank 1 of 4: `broadcast` with root 0: the stream is of device 1, and the rank is that of device 0"
    );
    let mut theirs = zeros::<f32, _>(&context(1), 8).unwrap();
    let error = c.broadcast(&mut theirs, 0, &s).unwrap_err();
    assert!(matches!(error, Error::Memory(cuda_mem::Error::OtherContext { .. })), "{error}");
    assert!(calls().is_empty());
}

#[test]
fn an_operation_waits_for_the_arrays_earlier_uses() {
    let (c, s, all, _) = four();
    let (blocked, (sender, receiver)) = (Stream::new(&context(0)).unwrap(), std::sync::mpsc::channel::<()>());
    let mut x = zeros::<f32, _>(&context(0), 8).unwrap();
    s.synchronize().unwrap();
    blocked.launch_host_fn(move || receiver.recv().unwrap()).unwrap();
    x.prepare_write(&blocked).unwrap();
    c.all_reduce(&all, &mut x, Reduction::Sum, &s).unwrap();
    assert!(!s.query().unwrap(), "it waits for the write in the other stream");
    let later = Stream::new(&context(0)).unwrap();
    x.prepare_read(&later).unwrap();
    assert!(!later.query().unwrap(), "a later read waits for the operation");
    sender.send(()).unwrap();
    later.synchronize().unwrap();
    s.synchronize().unwrap();
}

#[test]
fn a_group_makes_its_calls_at_its_end_or_not_at_all() {
    let (c, s, all, mut part) = four();
    group(|g| {
        g.send(&c, &all, 2, &s)?;
        g.recv(&c, &mut part, 0, &s)?;
        assert!(calls().is_empty());
        Ok(())
    })
    .unwrap();
    let found = calls();
    let names: Vec<_> = found.iter().map(|call| call.split(' ').next().unwrap()).collect();
    assert_eq!(names, ["start", "send", "recv", "end"]);
    let error = group(|g| {
        g.send(&c, &all, 2, &s)?;
        g.send(&c, &all, 7, &s)
    });
    assert!(error.unwrap_err().to_string().contains("there is no rank 7"));
    group(|_| Ok(())).unwrap();
    assert!(calls().is_empty());
}

#[test]
fn a_group_has_operations_of_several_ranks_of_one_library() {
    let contexts = [context(0), context(1)];
    let all = Communicator::all(&nccl(true), &contexts, &Options::new()).unwrap();
    assert_eq!(calls(), ["start", "end"]);
    assert_eq!(all.iter().map(|c| (c.rank(), c.size())).collect::<Vec<_>>(), [(0, 2), (1, 2)]);
    let streams = contexts.each_ref().map(|context| Stream::new(context).unwrap());
    let mut arrays = contexts.each_ref().map(|context| zeros::<i64, _>(context, 5).unwrap());
    group(|g| {
        all.iter()
            .zip(&mut arrays)
            .zip(&streams)
            .try_for_each(|((c, x), s)| g.all_reduce_in_place(c, x, Reduction::Sum, s))
    })
    .unwrap();
    assert_eq!(calls().iter().filter(|call| call.starts_with("all_reduce")).count(), 2);
    let other = rank(0, 2);
    let [first, _] = &mut arrays;
    let (mut y, stream) = (zeros::<i64, _>(&contexts[0], 5).unwrap(), &streams[0]);
    let error = group(|g| {
        g.all_reduce_in_place(&all[0], first, Reduction::Sum, stream)?;
        g.all_reduce_in_place(&other, &mut y, Reduction::Sum, stream)
    });
    let expected = "rank 0 of 2: `all_reduce`: the communicators of a group are of one library";
    assert_eq!(error.unwrap_err().to_string(), expected);
    assert!(calls().is_empty());
}

#[test]
fn an_older_library_gathers_by_sends_and_receives() {
    let nccl = nccl(false);
    let c = Communicator::from_id(&nccl, &context(0), nccl.unique_id().unwrap(), 1, 2, &Options::new()).unwrap();
    let s = Stream::new(&context(0)).unwrap();
    let (part, mut all) = (zeros::<f64, _>(&context(0), 3).unwrap(), zeros::<f64, _>(&context(0), 6).unwrap());
    calls();
    c.gather(&part, &mut all, 1, &s).unwrap();
    let (p, a) = (part.device_ptr(), all.device_ptr());
    assert_eq!(
        calls(),
        [
            "start".to_owned(),
            format!("recv {a:#x} 3 ncclFloat64 0"),
            format!("send {p:#x} 3 ncclFloat64 1"),
            format!("recv {:#x} 3 ncclFloat64 1", a + 24),
            "end".to_owned(),
        ]
    );
}

#[test]
fn a_rank_without_a_color_gets_no_communicator() {
    let c = rank(0, 4);
    let part = c.split(Some(7), -3).unwrap().unwrap();
    assert_eq!((part.rank(), part.size(), part.context()), (0, 3, c.context()));
    assert!(c.split(None, 0).unwrap().is_none());
    assert_eq!(calls(), ["start", "split 7 -3", "end", "start", "split -1 0", "end"]);
    let error = c.split(Some(u32::MAX), 0).unwrap_err().to_string();
    assert_eq!(error, "rank 0: a color is at most 2147483647");
}
