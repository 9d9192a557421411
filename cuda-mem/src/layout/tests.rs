//! The arithmetic against ndarray's own.

use ndarray::{Array, ArrayView, Axis, Dim, Dimension, IntoDimension, IxDyn, NewAxis, Order, ShapeBuilder, Slice, s};

use super::*;

mod overflow;

/// The elements' offsets in index order.
fn indices<D: Dimension>(layout: &Layout<D>) -> Vec<usize> {
    let of = |index: D| {
        let moved: isize = index.slice().iter().enumerate().map(|(axis, at)| *at as isize * layout.stride(axis)).sum();
        (layout.offset() as isize + moved) as usize
    };
    ndarray::indices(layout.dim().clone()).into_iter().map(|pattern| of(pattern.into_dimension())).collect()
}

/// The elements of ndarray's view of an array that holds each element's offset.
fn numbers<D: Dimension>(view: &ArrayView<'_, usize, D>) -> Vec<usize> {
    view.iter().copied().collect()
}

#[test]
fn sizes_are_products_and_zero_extents_make_zero() {
    assert_eq!(byte_size(&[], 4).unwrap(), 4);
    assert_eq!(byte_size(&[2, 3], 4).unwrap(), 24);
    assert_eq!(byte_size(&[2, 0, 3], 4).unwrap(), 0);
    assert_eq!(byte_size(&[5], 0).unwrap(), 0);
}

#[test]
fn a_size_beyond_the_address_space_is_an_error_that_names_the_shape() {
    for shape in [&[usize::MAX, 2][..], &[1 << 61], &[1 << 40, 0, 1 << 40]] {
        let text = byte_size(shape, 8).unwrap_err().to_string();
        assert!(text.contains(&format!("{shape:?} with elements of 8 bytes")), "{text}");
    }
    assert_eq!(byte_size(&[(1 << 60) - 1], 8).unwrap(), (1 << 63) - 8);
}

#[test]
fn strides_are_ndarrays_own_in_both_orders() {
    for shape in [vec![], vec![7], vec![2, 3], vec![1, 5, 1], vec![4, 0, 2], vec![2, 3, 4]] {
        let strides = |layout: Layout<IxDyn>| (0..shape.len()).map(|axis| layout.stride(axis)).collect::<Vec<_>>();
        let c = Array::<u8, _>::zeros(IxDyn(&shape));
        assert_eq!(strides(Layout::c_order(IxDyn(&shape))), c.strides(), "{shape:?}");
        let f = Array::<u8, _>::zeros(IxDyn(&shape).f());
        assert_eq!(strides(Layout::f_order(IxDyn(&shape))), f.strides(), "{shape:?}");
    }
}

#[test]
fn slices_name_the_elements_that_ndarrays_do() {
    let array = Array::from_iter(0..4 * 6 * 5).into_shape_with_order((4, 6, 5)).unwrap();
    let layout = Layout::c_order(Dim([4, 6, 5]));
    macro_rules! same {
        ($($slice:expr),* $(,)?) => { $(
            let (ours, theirs) = (layout.slice(&$slice), array.slice($slice));
            assert_eq!((ours.shape(), indices(&ours)), (theirs.shape(), numbers(&theirs)), stringify!($slice));
            let strides: Vec<isize> = (0..ours.shape().len()).map(|axis| ours.stride(axis)).collect();
            assert_eq!(strides, theirs.strides(), stringify!($slice));
        )* };
    }
    same![
        s![.., .., ..],
        s![1..3, .., ..],
        s![..;2, 1..;3, ..],
        s![..;-1, .., ..;-2],
        s![-3..-1, 2, ..],
        s![0, -1, 2],
        s![.., NewAxis, 3, ..],
        s![2..2, .., ..],
        s![..4;7, .., 4..;-1],
    ];
    let sliced = layout.slice_axis(Axis(1), Slice::new(1, None, -2));
    assert_eq!(indices(&sliced), numbers(&array.slice_axis(Axis(1), Slice::new(1, None, -2))));
}

#[test]
fn bounds_outside_an_axis_panic_with_the_axis() {
    let layout = Layout::c_order(Dim([4, 6]));
    let text = |work: &dyn Fn() -> Layout<ndarray::Ix2>| {
        let payload = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_err();
        payload.downcast_ref::<String>().cloned().unwrap()
    };
    assert_eq!(text(&|| layout.slice(&s![.., 2..7])), "slice 2..7 is outside axis 1 of extent 6");
    assert_eq!(text(&|| layout.slice(&s![-5.., ..])), "slice -5.. is outside axis 0 of extent 4");
    assert_eq!(
        text(&|| layout.slice_axis(Axis(0), Slice::new(0, None, 1)).permuted(&Dim([0, 0]))),
        "a permutation of 2 axes names each once, not [0, 0]"
    );
    assert_eq!(text(&|| layout.insert_axis(Axis(0)).index_axis(Axis(1), 4)), "index 4 is outside axis 1 of extent 4");
}

#[test]
fn axes_move_as_ndarrays_do() {
    let array = Array::from_iter(0..24).into_shape_with_order((2, 3, 4)).unwrap();
    let layout = Layout::c_order(Dim([2, 3, 4]));
    assert_eq!(indices(&layout.reversed()), numbers(&array.t()));
    assert_eq!(indices(&layout.permuted(&Dim([1, 2, 0]))), numbers(&array.view().permuted_axes([1, 2, 0])));
    assert_eq!(indices(&layout.index_axis(Axis(1), 2)), numbers(&array.index_axis(Axis(1), 2)));
    let wider = layout.insert_axis(Axis(1));
    assert_eq!((wider.shape(), indices(&wider)), (&[2, 1, 3, 4][..], numbers(&array.view())));
    assert_eq!(wider.squeezed().shape(), [2, 3, 4]);
    let broadcast = layout.index_axis(Axis(0), 1).broadcast(Dim([5, 3, 4])).unwrap();
    assert_eq!(indices(&broadcast), numbers(&array.index_axis(Axis(0), 1).broadcast((5, 3, 4)).unwrap()));
    assert!(layout.broadcast(Dim([2, 3, 5])).is_none() && layout.broadcast(Dim([3, 4])).is_none());
}

#[test]
fn a_reshape_without_moves_is_found_and_one_with_moves_is_not() {
    let layout = Layout::c_order(Dim([4, 6, 5]));
    let flat = reshape(&layout, Dim(120), Order::RowMajor).unwrap();
    assert_eq!(indices(&flat), (0..120).collect::<Vec<_>>());
    let split = reshape(&layout.slice(&s![..;2, .., ..]), Dim([2, 3, 1, 2, 5]), Order::RowMajor).unwrap();
    assert_eq!(indices(&split), indices(&layout.slice(&s![..;2, .., ..])));
    assert!(reshape(&layout.slice(&s![.., ..5, ..]), Dim(100), Order::RowMajor).is_none());
    assert!(reshape(&layout.reversed(), Dim(120), Order::RowMajor).is_none());
    let column = reshape(&layout.reversed(), Dim(120), Order::ColumnMajor).unwrap();
    assert_eq!(indices(&column), (0..120).collect::<Vec<_>>());
    assert_eq!(reshape(&Layout::c_order(Dim([0, 3])), Dim([5, 0]), Order::RowMajor).unwrap().shape(), [5, 0]);
    let backwards = layout.slice(&s![..;-1, .., ..]);
    assert_eq!(indices(&reshape(&backwards, Dim([4, 30]), Order::RowMajor).unwrap()), indices(&backwards));
}

#[test]
fn spans_and_contiguity_and_repetition_are_those_of_the_elements() {
    let layout = Layout::c_order(Dim([4, 6, 5]));
    let broadcast = Layout::c_order(Dim([5])).broadcast(Dim([3, 5])).unwrap().insert_axis(Axis(0));
    for part in [layout.slice(&s![1..3, ..;-2, 2..4]), layout.slice(&s![..;-1, ..;-1, ..;-1]), broadcast] {
        let mut elements = indices(&part);
        elements.sort_unstable();
        assert_eq!(part.span(), elements[0]..elements[elements.len() - 1] + 1);
        let before = elements.len();
        elements.dedup();
        assert_eq!(part.repeats(), elements.len() != before);
    }
    assert!(layout.is_c_contiguous() && !layout.is_f_contiguous() && layout.reversed().is_f_contiguous());
    assert!(layout.slice(&s![2, .., ..]).is_c_contiguous() && !layout.slice(&s![.., 2, ..]).is_c_contiguous());
    assert_eq!(layout.slice(&s![1..1, .., ..]).span().len(), 0);
    assert_eq!(layout.reversed().order(), Order::ColumnMajor);
    assert_eq!(layout.slice(&s![.., 2, ..]).order(), Order::RowMajor);
    assert_eq!(Layout::c_order(Dim([3])).order(), Order::RowMajor);
}

#[test]
fn casts_split_and_join_along_the_last_axis() {
    let words = Layout::c_order(Dim([4, 6])).slice(&s![1.., 2..]);
    let bytes = cast(&words, 4, 1).unwrap();
    assert_eq!((bytes.shape(), bytes.offset(), bytes.stride(0)), (&[3, 16][..], 32, 24));
    let pairs = cast(&words, 4, 8).unwrap();
    assert_eq!((pairs.shape(), pairs.offset(), pairs.stride(0)), (&[3, 2][..], 4, 3));
    assert_eq!(cast(&bytes, 1, 4).unwrap(), words);
    assert!(cast(&words.slice(&s![.., 1..]), 4, 8).is_none(), "not aligned");
    assert!(cast(&words.slice(&s![.., ..3]), 4, 8).is_none(), "an element is left");
    assert!(cast(&words.reversed(), 4, 8).is_none(), "the last axis has gaps");
    assert!(cast(&Layout::c_order(Dim([])), 4, 2).is_none());
}

#[test]
fn plans_take_as_few_axes_as_they_can() {
    let (c, f) = (Layout::c_order(Dim([4, 6, 5])), Layout::f_order(Dim([4, 6, 5])));
    let runs = |to: &Layout<_>, from: &Layout<_>| {
        CopyPlan::between(to, from).runs.iter().map(|run| (run.extent, run.to, run.from)).collect::<Vec<_>>()
    };
    assert_eq!(runs(&c, &c), [(120, 1, 1)]);
    assert_eq!(runs(&f, &f), [(120, 1, 1)]);
    assert_eq!(runs(&c, &f), [(4, 30, 1), (6, 5, 4), (5, 1, 24)]);
    let window = Layout::c_order(Dim([9, 8, 7])).slice(&s![..4, 1..7, 2..]);
    assert_eq!(runs(&c, &window), [(4, 30, 56), (6, 5, 7), (5, 1, 1)]);
    let backwards = CopyPlan::between(&c.slice(&s![..;-1, .., ..]), &c.slice(&s![..;-1, .., ..]));
    assert_eq!((backwards.to, backwards.from, backwards.contiguous()), (-90, -90, 120));
    assert!(backwards.outer().is_empty());
}
