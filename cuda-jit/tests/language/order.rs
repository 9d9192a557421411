//! The order of evaluation, clause by clause of the reference's "Evaluation order of operands" and of the expressions
//! with an order of their own. Each program logs its steps.

#![allow(unused_assignments, unused_variables, reason = "what is overwritten unread is what the programs are about")]

use super::differ;
use cuda_jit::device::grid;
use cuda_jit::{DeviceType, device, f16, f32x2, kernel};

/// A test for each program: its result for a thread's number, and its log, are the same on the device and on the host.
/// `t(d)` in a program appends a digit to the log and returns it.
macro_rules! programs {
    ($($(#[$doc:meta])* $name:ident($x:ident, $log:ident) { $($body:tt)* })*) => { $(
        $(#[$doc])*
        #[test]
        fn $name() {
            #[kernel]
            fn program(out: &mut [u32]) {
                let $x = grid::<1>() as u32;
                let mut log = 0;
                let $log = &mut log;
                let result: u32 = { $($body)* };
                out[2 * $x as usize] = result;
                out[2 * $x as usize + 1] = log;
            }
            differ!(program, (1, 4), [], vec![0u32; 8]);
        }
    )* };
}

/// Appends a digit to the log.
#[device]
fn t(log: &mut u32, digit: u32) -> u32 {
    *log = *log * 10 + digit;
    digit
}

/// As `t`, for an index.
#[device]
fn at(log: &mut u32, digit: usize) -> usize {
    *log = *log * 10 + digit as u32;
    digit
}

/// As `t`, for a condition.
#[device]
fn is(log: &mut u32, digit: u32, holds: bool) -> bool {
    *log = *log * 10 + digit;
    holds
}

#[device]
fn all(a: u32, b: u32, c: u32) -> u32 {
    a * 100 + b * 10 + c
}

#[derive(Clone, Copy, DeviceType)]
#[operators(Add, AddAssign, Neg, Mul<u32>)]
struct Num {
    v: u32,
    w: u32,
}

#[device]
impl std::ops::Add for Num {
    type Output = Num;
    fn add(self, other: Num) -> Num {
        Num { v: self.v * 10 + other.v, w: self.w + other.w }
    }
}

#[device]
impl std::ops::Mul<u32> for Num {
    type Output = Num;
    fn mul(self, by: u32) -> Num {
        Num { v: self.v * by, w: self.w }
    }
}

#[device]
impl std::ops::Neg for Num {
    type Output = Num;
    fn neg(self) -> Num {
        Num { v: self.w, w: self.v }
    }
}

#[device]
impl std::ops::AddAssign for Num {
    fn add_assign(&mut self, other: Num) {
        self.v = self.v * 10 + other.v;
    }
}

#[device]
impl Num {
    fn with(self, a: u32, b: u32) -> u32 {
        self.v * 100 + a * 10 + b
    }

    fn grow(&mut self, by: u32) -> u32 {
        self.v += by;
        self.v
    }

    fn seen(&self, a: u32) -> u32 {
        self.v * 10 + a
    }
}

programs! {
    // operands, from left to right
    both_operands(x, l) { t(l, 1) * 10 + t(l, 2) - (t(l, 3) - t(l, 3)) + x }
    an_operand_is_read_before_the_next(_x, l) {
        let mut a = 1;
        a + { a = 5; t(l, a) } * 10 + a
    }
    operands_of_a_comparison(_x, l) { u32::from(t(l, 1) < t(l, 2)) + u32::from(t(l, 3) == t(l, 4)) }
    operands_of_an_operator_of_ones_own(x, l) {
        let mut n = Num { v: x, w: 1 };
        (n + { n.v = t(l, 5); n } + -{ n.w = t(l, 7); n }).v
    }
    a_number_and_a_struct(x, l) {
        let n = Num { v: t(l, 2), w: x };
        (n * t(l, 3)).v
    }
    shifts(x, l) { (t(l, 1) + x) << t(l, 2) >> t(l, 1) }
    a_cast_and_a_sign(_x, l) { (-(t(l, 1) as i32) + !(t(l, 2) as i32)) as u32 }
    elements_of_an_array(_x, l) {
        let a = [t(l, 1), t(l, 2), t(l, 3)];
        a[0] * 100 + a[1] * 10 + a[2]
    }
    elements_of_rows(_x, l) {
        let a = [[t(l, 1), t(l, 2)], [t(l, 3), t(l, 4)]];
        a[1][0] * 10 + a[0][1]
    }
    elements_of_a_tuple(_x, l) {
        let (a, b, c) = (t(l, 1), t(l, 2), t(l, 3));
        all(a, b, c)
    }
    a_repeated_element_is_evaluated_once(x, l) {
        let a = [t(l, 1); 5];
        a[x as usize]
    }
    arguments_of_a_call(x, l) { all(t(l, 1), t(l, 2) + x, t(l, 3)) }
    an_argument_that_a_later_one_changes(x, l) {
        let mut a = x;
        all(a, { a += 5; t(l, a) }, a)
    }
    arguments_of_a_closure(_x, l) {
        let f = |a: u32, b: u32| a * 10 + b;
        f(t(l, 1), t(l, 2))
    }
    arguments_of_a_closure_that_writes(_x, l) {
        let mut f = |a: u32, b: u32| { *l = *l * 10 + 9; a * 10 + b };
        let inner = f(1, 2);
        let more = f(3, inner + 1);
        more + *l
    }
    the_receiver_before_the_arguments(x, l) {
        let mut n = Num { v: x, w: 0 };
        n.with({ n.v = 9; t(l, 1) }, t(l, 2)) + n.v
    }
    a_receiver_that_is_made(x, l) { Num { v: t(l, 1), w: x }.with(t(l, 2), t(l, 3)) }
    two_phase_borrows(_x, l) {
        let mut n = Num { v: 1, w: 2 };
        n.grow(n.seen(t(l, 1)) + n.v) * 10 + n.seen(n.w)
    }
    methods_of_numbers(x, l) {
        let mut a = x;
        a.max({ a = t(l, 9); 1 }) * 10 + a.min(t(l, 3)).pow(t(l, 2))
    }
    clamp(x, l) { (t(l, 4) + x).clamp(t(l, 1), t(l, 5)) }
    methods_of_tuples(x, l) {
        let mut p = (x, 1);
        p.max({ p = (9, 9); (t(l, 1), t(l, 2)) }).0 * 10 + p.0
    }
    methods_of_options(x, l) {
        let mut o = if x > 1 { Some(x) } else { None };
        let a = o.unwrap_or({ o = Some(7); t(l, 1) });
        let b = o.or({ o = None; Some(t(l, 2)) }).unwrap_or(0);
        a * 100 + b * 10 + o.map_or(t(l, 3), |v| v + 1)
    }
    options(x, l) {
        let (a, b) = (Some(t(l, 1)), (x > 0).then_some(t(l, 2)));
        a.unwrap() * 10 + b.unwrap_or(t(l, 3))
    }
    lazy_methods_of_options(x, l) {
        let o = (x > 1).then(|| t(l, 1));
        o.map(|v| t(l, 2) + v).unwrap_or_else(|| t(l, 3))
    }

    // structs: fields in the order written, then the base
    fields_in_the_order_written(_x, l) {
        let n = Num { w: t(l, 1), v: t(l, 2) };
        n.v * 10 + n.w
    }
    the_base_comes_last(x, l) {
        let mut n = Num { v: x, w: 3 };
        let m = Num { v: { n.w = 8; t(l, 1) }, ..n };
        m.v * 10 + m.w
    }
    a_base_that_is_called(x, l) {
        let m = Num { w: t(l, 1), ..Num { v: t(l, 2) + x, w: t(l, 3) } };
        m.v * 10 + m.w
    }

    // assignments
    the_value_before_the_place(_x, l) {
        let mut a = [0; 4];
        a[at(l, 1)] = t(l, 2);
        a[1]
    }
    an_index_that_the_value_changes(_x, l) {
        let (mut a, mut i) = ([0; 4], 0);
        a[i] = { i = at(l, 3); 5 };
        a[3] * 10 + a[0]
    }
    places_in_places(_x, l) {
        let mut a = [[0; 4]; 4];
        a[at(l, 1)][at(l, 2)] = t(l, 3);
        a[1][2]
    }
    a_place_behind_a_call(_x, l) {
        let mut a = [0; 4];
        let r = &mut a;
        r[{ t(l, 1); 2 }] = t(l, 2);
        *{ t(l, 3); &mut r[1] } = t(l, 4);
        a[2] * 10 + a[1]
    }
    an_assignment_yields_nothing(_x, l) {
        let mut a = 1;
        let b = ({ a = t(l, 2) }, a);
        b.1
    }
    several_places(_x, l) {
        let mut a = [0; 4];
        (a[at(l, 1)], a[at(l, 2)]) = (t(l, 3), t(l, 4));
        a[1] * 10 + a[2]
    }
    several_places_from_the_left(_x, l) {
        let mut a = [1, 2, 3];
        let mut i = 0;
        (i, a[i]) = (at(l, 2), 9);
        [a[0], _, a[2]] = [a[2], t(l, 3), a[0]];
        a[0] * 100 + a[1] * 10 + a[2] + i as u32
    }
    exchanged_places(x, l) {
        let (mut a, mut b) = (x, 5);
        (a, b) = (b, a + t(l, 1));
        a * 10 + b
    }

    // compound assignments: of primitive types the value before the place, of others the place before the value
    a_compound_value_before_the_place(_x, l) {
        let mut a = [1, 2, 3, 4];
        a[at(l, 1)] += t(l, 2);
        a[1]
    }
    a_compound_value_that_changes_the_place(_x, l) {
        let mut a = 10;
        a += { a = 1; t(l, 2) };
        a
    }
    a_compound_shift(_x, l) {
        let mut a = [1, 2, 3, 4];
        a[at(l, 1)] <<= t(l, 2);
        a[1]
    }
    a_compound_place_before_the_value(_x, l) {
        let mut a = [Num { v: 1, w: 0 }; 3];
        a[at(l, 1)] += Num { v: t(l, 2), w: 0 };
        a[1].v
    }
    a_compound_value_that_reads_the_place(_x, l) {
        let mut a = Num { v: 3, w: 4 };
        a += Num { v: a.v + t(l, 1), w: 0 };
        a.v
    }

    a_compound_value_that_is_borrowed(_x, l) {
        let (mut a, b) = ([1, 2, 3, 4], [5, 6, 7]);
        a[at(l, 1)] += &b[at(l, 2)];
        a[1]
    }
    a_compound_half(_x, l) {
        let mut a = [f16::from_f32(1.0); 4];
        a[at(l, 1)] += f16::from_f32(t(l, 2) as f32);
        a[1].to_f32() as u32
    }
    a_compound_vector(_x, l) {
        let mut a = [f32x2::new(1.0, 2.0); 4];
        a[at(l, 1)] += f32x2::splat(t(l, 2) as f32);
        a[1].x as u32
    }

    // indices: what is indexed, then the index
    what_is_indexed_before_the_index(_x, l) {
        let a = [[1, 2], [3, 4]];
        a[at(l, 1)][at(l, 0)] + [t(l, 2), t(l, 3)][at(l, 1)]
    }
    an_index_that_writes_the_array(_x, l) {
        let mut a = [1, 2, 3];
        a[{ a[1] = t(l, 7); 1 }] * 10 + a[1]
    }
    elements_that_are_exchanged(_x, l) {
        let mut a = [1, 2, 3, 4];
        a.swap(at(l, 1), at(l, 3));
        a[1] * 10 + a[3]
    }
    a_slice_and_its_bounds(_x, l) {
        let a = [1, 2, 3, 4];
        let s = &a[at(l, 1)..at(l, 3)];
        s[0] * 10 + s.len() as u32
    }

    // lazy operators
    and_or(x, l) {
        let a = is(l, 1, x > 1) && is(l, 2, x > 2) || is(l, 3, x == 0);
        u32::from(a) + u32::from(is(l, 4, a) & is(l, 5, x == 1) | is(l, 6, false))
    }
    branches(x, l) {
        if is(l, 1, x > 2) { t(l, 2) } else if is(l, 3, x > 1) { t(l, 4) } else { t(l, 5) }
    }
    a_while(x, l) {
        let mut n = 0;
        while is(l, 1, n < x) {
            n += t(l, 2) - 1;
        }
        n
    }
    chains_of_conditions(x, l) {
        let o = if x > 0 { Some(x) } else { None };
        if let Some(v) = o
            && is(l, 1, v > 1)
            && let Some(w) = (v > 2).then(|| t(l, 2))
        {
            w + v
        } else {
            t(l, 3)
        }
    }

    // ranges: the bounds from left to right, once
    bounds_of_a_range(_x, l) {
        let mut s = 0;
        for i in t(l, 1)..t(l, 4) {
            s = s * 10 + i;
        }
        s
    }
    a_bound_that_the_loop_changes(_x, l) {
        let (mut n, mut s) = (3, 0);
        for i in 0..n {
            n = 10;
            s = s * 10 + t(l, i);
        }
        s + n
    }
    bounds_of_an_inclusive_range(x, l) {
        (t(l, 1)..=t(l, 3) + x).step_by(at(l, 2)).fold(t(l, 4), |a, b| a * 10 + b)
    }
    what_an_iterator_is_made_of(_x, l) {
        let mut s = 0;
        for (a, b) in (t(l, 1)..t(l, 3)).zip(t(l, 5)..t(l, 9)) {
            s = s * 10 + a + b;
            t(l, 0);
        }
        s
    }
    closures_of_an_iterator(_x, l) {
        (1..4u32).map(|v| t(l, v) * 2).filter(|v| *v != 4).fold(0, |a, b| a * 10 + b)
    }

    // match: the scrutinee once, then arms and guards in order
    a_scrutinee(x, l) {
        match t(l, 1) + x {
            1 => t(l, 2),
            2 if is(l, 3, false) => t(l, 4),
            2 => t(l, 5),
            v if is(l, 6, v > 3) => t(l, 7),
            _ => t(l, 8),
        }
    }
    a_scrutinee_that_an_arm_changes(x, l) {
        let mut a = (x, 2);
        match a {
            (0, n) => { a.1 = t(l, 5); n * 10 + a.1 }
            (m, n) => { a = (7, 8); m * 100 + n * 10 + a.0 }
        }
    }
    a_scrutinee_that_is_borrowed(x, l) {
        let mut o = Some(x);
        match &mut o {
            Some(v) if *v > 1 => { *v += t(l, 1); }
            Some(v) => *v = t(l, 2),
            None => {}
        }
        o.unwrap()
    }
    an_if_let(x, l) {
        let mut o = Some(x);
        if let Some(v) = o {
            o = None;
            v * 10 + o.unwrap_or(t(l, 3))
        } else {
            0
        }
    }
    let_else(x, l) {
        let Some(v) = (x > 1).then(|| t(l, 1)) else {
            return;
        };
        v + t(l, 2)
    }

    // jumps out of an expression skip the rest of it
    a_break_in_an_operand(x, l) {
        let mut n = 0;
        let r = loop {
            n = t(l, 1) + if x > 1 { break t(l, 2) } else { t(l, 3) };
            if n > 3 {
                break n;
            }
        };
        r * 10 + n
    }
    a_block_that_is_left_in_an_argument(x, l) {
        'b: { all(t(l, 1), if x > 1 { break 'b t(l, 2) } else { 3 }, t(l, 4)) }
    }
    statements_of_a_block(_x, l) {
        let a = { t(l, 1); t(l, 2) };
        let b = { let a = t(l, 3); a + t(l, 4) };
        a * 10 + b
    }
    shadows(x, l) {
        let a = x;
        let a = a + { let a = t(l, 4); a };
        let (a, b) = (a + 1, a);
        a * 10 + b
    }
    what_is_overwritten(x, l) {
        let mut a = x;
        a = a + { a = t(l, 5); a } + a;
        let old = std::mem::replace(&mut a, t(l, 2));
        old * 10 + a
    }
    exchange_and_what_is_new(x, l) {
        let mut a = [x, 2];
        let old = std::mem::replace(&mut a[at(l, 1)], t(l, 5));
        old * 10 + a[1]
    }
}

#[device]
fn added<T: cuda_jit::Num>(a: &mut [T], value: T, log: &mut u32) {
    a[at(log, 1)] += {
        t(log, 2);
        value
    };
}

#[kernel]
fn of_a_type_parameter(out: &mut [u32]) {
    let (mut a, mut log) = ([1, 2], 0);
    added(&mut a, 5, &mut log);
    out[0] = a[1];
    out[1] = log;
}

/// rustc compiles `+=` in a generic function as a call for all types; the device as the actual type's operator.
#[test]
fn a_compound_assignment_of_a_type_parameter_differs() {
    let (mut host, mut device) = (vec![0; 2], super::on_device(&[0u32; 2]));
    cuda_jit::host::for_each_thread((1, 1), || of_a_type_parameter(&mut host));
    of_a_type_parameter::launch((1, 1), &mut device).unwrap();
    assert_eq!((host, super::on_host(&device)), (vec![7, 12], vec![7, 21]));
}
