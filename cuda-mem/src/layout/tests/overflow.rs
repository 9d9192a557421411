//! Shapes near the limits of `usize`, compared with ndarray: both refuse the same shapes, and make the same layouts.
//!
//! Nothing is allocated: ndarray's arrays are views of one byte, so that any shape of broadcast elements costs no
//! memory.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ndarray::{ArrayView, ArrayViewD, Axis, IxDyn, Order, Slice};
use proptest::prelude::*;

use super::super::{Layout, byte_size, cast, checked_len, reshape};

const MAX: usize = isize::MAX as usize;

/// Small extents, powers of two whose products wrap around to 0, and the neighbours of both limits.
fn extent() -> impl Strategy<Value = usize> {
    prop_oneof![
        3 => 0_usize..5,
        2 => (29_u32..64).prop_map(|bit| 1_usize << bit),
        1 => (0_usize..3).prop_map(|less| MAX - less),
        1 => Just(MAX + 1),
        1 => (0_usize..3).prop_map(|less| usize::MAX - less),
        1 => Just(3_037_000_499), // the largest whose square fits
        1 => Just(3_037_000_500),
    ]
}

fn shape() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(extent(), 0..5)
}

/// One byte for each element of a small array.
static BYTES: [u8; 4096] = [0; 4096];

fn small() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(prop_oneof![3 => Just(1_usize), 2 => 0_usize..5], 0..4)
}

fn array(shape: &[usize]) -> ArrayViewD<'static, u8> {
    let bytes = shape.iter().product();
    ArrayView::from_shape(IxDyn(shape), &BYTES[..bytes]).expect("it has as many elements")
}

/// Asserts that both have the same extents, strides and first element, and that a layout's invariants hold.
fn assert_alike(ours: &Layout<IxDyn>, theirs: &ArrayViewD<'_, u8>) {
    let strides: Vec<isize> = (0..ours.shape().len()).map(|axis| ours.stride(axis)).collect();
    assert_eq!((ours.shape(), &*strides), (theirs.shape(), theirs.strides()));
    assert_eq!(ours.len(), theirs.len());
    if ours.len() != 0 {
        assert_eq!(ours.offset(), theirs.as_ptr().addr() - BYTES.as_ptr().addr());
    }
    let span = ours.span();
    assert!(span.end <= BYTES.len(), "{span:?}");
    assert_eq!(span.is_empty(), ours.len() == 0, "elements lie in no bytes: {:?}", ours.shape());
    assert!(checked_len(ours.shape()).is_some(), "{:?}", ours.shape());
}

/// A step of a program on both; numbers select among the possibilities of the present array.
#[derive(Clone, Debug)]
enum Step {
    Broadcast(Vec<usize>),
    Slice { axis: usize, start: usize, end: usize, step: isize },
    Index { axis: usize, index: usize },
    Insert(usize),
    Reverse,
}

fn step() -> impl Strategy<Value = Step> {
    let slices = (any::<usize>(), any::<usize>(), any::<usize>(), prop_oneof![Just(1), Just(-1), any::<isize>()]);
    prop_oneof![
        prop::collection::vec(extent(), 1..3).prop_map(Step::Broadcast),
        slices.prop_map(|(axis, start, end, step)| Step::Slice {
            axis,
            start,
            end,
            step: if step == 0 { 1 } else { step }
        }),
        (any::<usize>(), any::<usize>()).prop_map(|(axis, index)| Step::Index { axis, index }),
        any::<usize>().prop_map(Step::Insert),
        Just(Step::Reverse),
    ]
}

/// Does one step on both; `None` if ndarray refuses it.
fn advance<'a>(
    ours: &Layout<IxDyn>,
    theirs: &'a ArrayViewD<'_, u8>,
    step: &Step,
) -> Option<(Layout<IxDyn>, ArrayViewD<'a, u8>)> {
    let axes = theirs.ndim();
    match *step {
        Step::Broadcast(ref extents) => {
            // New leading axes, and the last own axis of extent 1 is repeated.
            let mut to: Vec<usize> = extents[1..].iter().copied().chain(theirs.shape().iter().copied()).collect();
            if let Some(single) = to.iter_mut().rev().take(axes).find(|extent| **extent == 1) {
                *single = extents[0];
            }
            let (ours, theirs) = (ours.broadcast(IxDyn(&to)), theirs.broadcast(IxDyn(&to)));
            assert_eq!(ours.is_some(), theirs.is_some(), "broadcast to {to:?}");
            Some((ours?, theirs?))
        }
        Step::Slice { axis, start, end, step } if axes != 0 => {
            let axis = Axis(axis % axes);
            let extent = theirs.len_of(axis);
            let (a, b) = (start % (extent + 1), end % (extent + 1));
            let slice = Slice::new(a.min(b) as isize, Some(a.max(b) as isize), step);
            Some((ours.slice_axis(axis, slice), theirs.slice_axis_move(axis, slice)))
        }
        Step::Index { axis, index } if axes != 0 && theirs.len_of(Axis(axis % axes)) != 0 => {
            let (axis, index) = (Axis(axis % axes), index % theirs.len_of(Axis(axis % axes)));
            Some((ours.index_axis(axis, index), theirs.clone().index_axis_move(axis, index)))
        }
        Step::Insert(axis) if axes < 5 => {
            let axis = Axis(axis % (axes + 1));
            let mut inserted = ours.insert_axis(axis);
            let theirs = theirs.clone().insert_axis(axis);
            // The stride of the new axis is never used: ndarray leaves its value open.
            inserted.strides[axis.index()] = theirs.strides()[axis.index()] as usize;
            Some((inserted, theirs))
        }
        Step::Reverse => Some((ours.reversed(), theirs.clone().reversed_axes())),
        _ => None,
    }
}

/// `slice_axis` of a view that keeps the lifetime of its elements.
trait SliceAxisMove<'a> {
    fn slice_axis_move(&self, axis: Axis, slice: Slice) -> ArrayViewD<'a, u8>;
}

impl<'a> SliceAxisMove<'a> for ArrayViewD<'a, u8> {
    fn slice_axis_move(&self, axis: Axis, slice: Slice) -> ArrayViewD<'a, u8> {
        let mut part = self.clone();
        part.slice_axis_inplace(axis, slice);
        part
    }
}

fn run(shape: &[usize], steps: &[Step]) {
    fn rest(ours: &Layout<IxDyn>, theirs: &ArrayViewD<'_, u8>, steps: &[Step]) {
        assert_alike(ours, theirs);
        let Some((step, steps)) = steps.split_first() else { return };
        match advance(ours, theirs, step) {
            Some((ours, theirs)) => rest(&ours, &theirs, steps),
            None => rest(ours, theirs, steps),
        }
    }
    rest(&Layout::c_order(IxDyn(shape)), &array(shape), steps);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_broadcast_is_refused_where_ndarray_refuses_it(from in small(), to in shape()) {
        let (ours, theirs) = (Layout::c_order(IxDyn(&from)).broadcast(IxDyn(&to)), array(&from));
        let theirs = theirs.broadcast(IxDyn(&to));
        prop_assert_eq!(ours.is_some(), theirs.is_some());
        if let (Some(ours), Some(theirs)) = (ours, theirs) {
            assert_alike(&ours, &theirs);
        }
    }

    #[test]
    fn programs_of_views_count_as_ndarray_does(shape in small(), steps in prop::collection::vec(step(), 0..8)) {
        run(&shape, &steps);
    }

    #[test]
    fn a_reshape_is_refused_where_ndarray_refuses_it(from in small(), to in shape()) {
        let (layout, theirs) = (Layout::c_order(IxDyn(&from)), array(&from));
        let ours = reshape(&layout, IxDyn(&to), Order::RowMajor);
        let theirs = theirs.into_shape_with_order(IxDyn(&to));
        prop_assert_eq!(ours.is_some(), theirs.is_ok());
        if let Some(ours) = ours {
            prop_assert!(checked_len(ours.shape()).is_some());
        }
    }

    #[test]
    fn arrays_of_shapes_that_ndarray_refuses_are_not_made(shape in shape(), element in 0_usize..=16) {
        // An array without elements needs no memory, so ndarray decides by the shape alone; likewise for elements
        // without bytes.
        let empty = ArrayView::from_shape(IxDyn(&shape), &[] as &[u8]).is_ok();
        if shape.contains(&0) {
            prop_assert_eq!(byte_size(&shape, 1).is_ok(), empty);
        }
        let bytes = shape.iter().filter(|extent| **extent != 0).chain([&element.max(1)])
            .try_fold(1_u128, |product, extent| product.checked_mul(*extent as u128));
        let fits = bytes.is_some_and(|bytes| bytes <= MAX as u128);
        prop_assert_eq!(byte_size(&shape, element).is_ok(), fits);
        prop_assert_eq!(checked_len(&shape).is_some(), byte_size(&shape, 1).is_ok());
    }

    #[test]
    fn a_cast_is_refused_where_its_shape_overflows(to in shape(), old in 1_usize..=16, new in 1_usize..=16) {
        let layout = Layout::c_order(IxDyn(&[1, 1][..to.len().min(2)]));
        let Some(layout) = layout.broadcast(IxDyn(&to)) else { return Ok(()) };
        if let Some(cast) = cast(&layout, old, new) {
            prop_assert!(checked_len(cast.shape()).is_some(), "{:?}", cast.shape());
            let (before, after) = (layout.len() as u128 * old as u128, cast.len() as u128 * new as u128);
            prop_assert_eq!(before, after);
            // The bytes of the one element.
            prop_assert!(cast.span().end * new <= old);
        }
    }
}

#[test]
fn a_broadcast_whose_length_wraps_around_is_none() {
    let one = Layout::c_order(IxDyn(&[1]));
    for shape in
        [&[1 << 32, 1 << 32][..], &[usize::MAX], &[MAX + 1], &[2, MAX], &[usize::MAX, 0], &[1 << 40, 0, 1 << 40]]
    {
        assert!(one.broadcast(IxDyn(shape)).is_none(), "{shape:?}");
        assert!(reshape(&Layout::c_order(IxDyn(&[0])), IxDyn(shape), Order::RowMajor).is_none(), "{shape:?}");
    }
    assert_eq!(one.broadcast(IxDyn(&[MAX])).map(|layout| (layout.len(), layout.span())), Some((MAX, 0..1)));
    // 2^61 elements of 8 bytes as bytes: 2^64.
    let many = one.broadcast(IxDyn(&[1 << 61, 1])).expect("it fits in elements");
    assert!(cast(&many, 8, 1).is_none() && cast(&many, 8, 4).is_some_and(|words| words.len() == 1 << 62));
    let none = one.broadcast(IxDyn(&[0, MAX])).expect("it has no elements");
    assert!(cast(&none, 8, 1).is_none());
}

#[test]
fn an_index_beyond_isize_does_not_count_from_the_end() {
    let layout = Layout::c_order(IxDyn(&[4]));
    for index in [5, MAX, MAX + 1, usize::MAX] {
        let parts = catch_unwind(AssertUnwindSafe(|| layout.split_at(Axis(0), index)));
        let text = parts.unwrap_err().downcast_ref::<String>().cloned().expect("a text");
        assert_eq!(text, format!("index {index} is outside axis 0 of extent 4"));
    }
    let (left, right) = layout.split_at(Axis(0), 4);
    assert_eq!((left.len(), right.len()), (4, 0));
}
