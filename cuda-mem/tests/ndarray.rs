//! Device arrays compared with ndarray: every sequence of views, copies and assignments has the same result as
//! ndarray's on the host.

use cuda_driver::{Context, Driver};
use cuda_mem::{DeviceArrayViewMut, to_device};
use ndarray::{ArrayD, ArrayViewD, Axis, IxDyn, Order, ShapeBuilder, Slice, SliceInfoElem};
use proptest::prelude::*;

/// A step from a view to another. The numbers are taken modulo what the view allows, so that every step is possible.
#[derive(Clone, Debug)]
enum Step {
    Slice { axis: usize, bounds: (usize, usize), step: isize },
    Index { axis: usize, index: usize },
    Insert { axis: usize },
    Reverse,
    Rotate,
    Reshape { axis: usize, factor: usize, fortran: bool },
}

/// An operation on a view.
#[derive(Clone, Debug)]
enum Action {
    Fill(i32),
    /// From a host array of the view's shape: in C order, Fortran order, backwards, with gaps, or a repeated row.
    FromHost {
        layout: usize,
        first: i32,
    },
    /// From a device array made in the same ways.
    Assign {
        layout: usize,
        first: i32,
    },
    /// To a host array of these layouts.
    ToHost {
        layout: usize,
    },
    Clone {
        fortran: bool,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let number = 0..1000_usize;
    let step = prop_oneof![
        (number.clone(), (number.clone(), number.clone()), prop_oneof![Just(1), Just(1), Just(2), Just(-1), Just(-3)])
            .prop_map(|(axis, bounds, step)| Step::Slice { axis, bounds, step }),
        (number.clone(), number.clone()).prop_map(|(axis, index)| Step::Index { axis, index }),
        number.clone().prop_map(|axis| Step::Insert { axis }),
        Just(Step::Reverse),
        Just(Step::Rotate),
        (number.clone(), 1..4_usize, any::<bool>()).prop_map(|(axis, factor, fortran)| Step::Reshape {
            axis,
            factor,
            fortran
        }),
    ];
    prop::collection::vec(step, 0..6)
}

fn actions() -> impl Strategy<Value = Action> {
    let layout = 0..5_usize;
    prop_oneof![
        any::<i32>().prop_map(Action::Fill),
        Just(Action::Fill(0x0101_0101)),
        (layout.clone(), 0..1000_i32).prop_map(|(layout, first)| Action::FromHost { layout, first }),
        (layout.clone(), 0..1000_i32).prop_map(|(layout, first)| Action::Assign { layout, first }),
        layout.prop_map(|layout| Action::ToHost { layout }),
        any::<bool>().prop_map(|fortran| Action::Clone { fortran }),
    ]
}

/// A view, and the index of each of its elements in the whole array: ndarray's view of an array of indices.
type Walk<'a> = (DeviceArrayViewMut<'a, i32, IxDyn>, ArrayD<usize>);

fn step<'a>((view, places): Walk<'a>, step: &Step) -> Walk<'a> {
    let ndim = view.ndim();
    let axis = |number: &usize| (ndim != 0).then(|| Axis(number % ndim));
    match step {
        Step::Slice { axis: number, bounds: (a, b), step } => {
            let Some(axis) = axis(number) else { return (view, places) };
            let extent = view.shape()[axis.index()] + 1;
            let (start, end) = ((a % extent).min(b % extent), (a % extent).max(b % extent));
            let mut info = vec![SliceInfoElem::from(..); ndim];
            info[axis.index()] = Slice::new(start as isize, Some(end as isize), *step).into();
            (view.slice_move(&info[..]), places.slice_move(&info[..]))
        }
        Step::Index { axis: number, index } => match axis(number) {
            Some(axis) if view.len_of(axis) != 0 => {
                let index = index % view.len_of(axis);
                (view.index_axis_move(axis, index), places.index_axis_move(axis, index))
            }
            _ => (view, places),
        },
        Step::Insert { axis } if ndim < 5 => {
            let axis = Axis(axis % (ndim + 1));
            (view.insert_axis(axis), places.insert_axis(axis))
        }
        Step::Insert { .. } => (view, places),
        Step::Reverse => (view.reversed_axes(), places.reversed_axes()),
        Step::Rotate => {
            let axes: Vec<usize> = (0..ndim).map(|axis| (axis + 1) % ndim).collect();
            (view.permuted_axes(IxDyn(&axes)), places.permuted_axes(IxDyn(&axes)))
        }
        Step::Reshape { axis: number, factor, fortran } => {
            let Some(axis) = axis(number).filter(|_| ndim < 5) else { return (view, places) };
            let order = if *fortran { Order::F } else { Order::C };
            let shape = other_shape(view.shape(), axis.index(), *factor);
            match view.into_shape((IxDyn(&shape), order)) {
                Ok(view) => {
                    let places = places.to_shape((IxDyn(&shape), order)).unwrap().to_owned();
                    (view, places)
                }
                Err(refused) => (refused.array, places),
            }
        }
    }
}

/// The shape with an axis split into `factor` rows, or joined with the next one.
fn other_shape(shape: &[usize], axis: usize, factor: usize) -> Vec<usize> {
    let mut other = shape.to_vec();
    if shape[axis].is_multiple_of(factor) {
        other[axis] /= factor;
        other.insert(axis, factor);
    } else if axis + 1 < shape.len() {
        let next = other.remove(axis + 1);
        other[axis] *= next;
    }
    other
}

/// Calls `work` with numbers from `first` on, as a host array in one of several layouts.
fn with_host_array(shape: &[usize], layout: usize, first: i32, work: impl FnOnce(ArrayViewD<'_, i32>)) {
    let host = host_array(shape, layout, first);
    match shape {
        [rows, ..] if layout == 4 && *rows != 0 => work(host.index_axis(Axis(0), 0).broadcast(IxDyn(shape)).unwrap()),
        _ => work(host.view()),
    }
}

/// Numbers from `first` on: in C order, Fortran order, backwards or with gaps.
fn host_array(shape: &[usize], layout: usize, first: i32) -> ArrayD<i32> {
    let count = shape.iter().product::<usize>() as i32;
    let mut numbers = ArrayD::from_shape_vec(IxDyn(shape), (first..first + count).collect()).unwrap();
    match layout {
        1 => {
            let mut columns = ArrayD::zeros(IxDyn(shape).f());
            columns.assign(&numbers);
            columns
        }
        2 => {
            (0..shape.len()).for_each(|axis| numbers.invert_axis(Axis(axis)));
            numbers
        }
        3 => {
            let wide: Vec<usize> = shape.iter().map(|extent| 2 * extent).collect();
            let mut sparse = ArrayD::zeros(IxDyn(&wide));
            (0..shape.len()).for_each(|axis| sparse.slice_axis_inplace(Axis(axis), Slice::new(0, None, 2)));
            sparse.assign(&numbers);
            sparse
        }
        _ => numbers,
    }
}

/// Does the same on both sides and compares the results.
fn act(context: &Context, (mut view, places): Walk<'_>, model: &mut [i32], action: &Action) {
    let shape = view.shape().to_vec();
    let values = |model: &[i32]| places.map(|place| model[*place]);
    let store = |model: &mut [i32], from: &ArrayViewD<'_, i32>| {
        places.iter().zip(from).for_each(|(place, value)| model[*place] = *value);
    };
    match action {
        Action::Fill(value) => {
            view.fill(*value).unwrap();
            places.iter().for_each(|place| model[*place] = *value);
        }
        Action::FromHost { layout, first } => with_host_array(&shape, *layout, *first, |host| {
            view.copy_from_host(&host).unwrap();
            store(model, &host);
        }),
        Action::Assign { layout, first } => with_host_array(&shape, *layout, *first, |host| {
            view.assign(&to_device(context, &host).unwrap()).unwrap();
            store(model, &host);
        }),
        Action::ToHost { layout } => {
            assert_eq!(view.copy_to_host().unwrap(), values(model));
            let mut host = host_array(&shape, *layout, 0);
            view.copy_to_host_into(&mut host).unwrap();
            assert_eq!(host, values(model));
        }
        Action::Clone { fortran } => {
            let copy = if *fortran { view.to_f_order() } else { view.to_c_order() }.unwrap();
            assert!(if *fortran { copy.is_f_contiguous() } else { copy.is_c_contiguous() });
            assert_eq!(copy.copy_to_host().unwrap(), values(model));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_gives_what_ndarray_gives(
        shape in prop::collection::vec(prop_oneof![0..4_usize, 1..9_usize], 0..5),
        work in prop::collection::vec((steps(), actions()), 1..6),
    ) {
        let context = Driver::new(cuda_tests_support::driver_api()).unwrap().device(0).unwrap().primary_context().unwrap();
        let count = shape.iter().product::<usize>();
        let mut model: Vec<i32> = (0..count as i32).collect();
        let places = ArrayD::from_shape_vec(IxDyn(&shape), (0..count).collect()).unwrap();
        let mut device = to_device(&context, &places.map(|place| *place as i32)).unwrap();
        for (steps, action) in &work {
            let walk = steps.iter().fold((device.view_mut(), places.clone()), step);
            act(&context, walk, &mut model, action);
            prop_assert_eq!(device.copy_to_host().unwrap(), places.map(|place| model[*place]));
        }
    }
}
