//! Arrays that are read, passed and put into aggregates, and modified before the expression ends.

#![expect(unused_assignments, reason = "what is overwritten unread is what the programs are about")]

use super::*;

programs! {
    a_loop_over_an_array(x) {
        let (mut a, mut s) = ([x, 2, 3], 0);
        for v in a {
            a[1] = 100;
            s += v;
        }
        s * 1000 + a[1]
    }
    an_argument(x) {
        let mut a = [x, 2];
        first(a, { a[0] = 5; 7 })
    }
    an_argument_and_a_reference(x) {
        let mut a = [x, 2];
        both(a, &mut a)
    }
    an_argument_changed_by_a_call(x) {
        let mut a = [x, 2];
        first(a, put(&mut a, 9))
    }
    a_callee_changes_its_own(x) {
        let a = [x, 2];
        let b = raised(a, 10);
        a[0] * 100 + b[0]
    }
    a_callee_calls_itself(x) { sum_down([x, 1], 4) }
    an_argument_of_a_closure(x) {
        let mut a = [x, 2];
        let f = |v: [u32; 2], more: u32| v[0] * 10 + more;
        f(a, { a[0] = 5; 1 }) + a[0]
    }
    a_closure_changes_its_own(x) {
        let a = [x, 2];
        let f = |mut v: [u32; 2]| { v[0] += 50; v[0] };
        f(a) * 100 + a[0]
    }
    a_closure_that_is_passed(x) {
        let mut a = [x, 2];
        called(a, |mut v| { v[0] += 3; v[0] }) + { a[0] = 9; a[0] }
    }
    a_closure_yields_what_it_changes(x) {
        let mut a = [x, 2];
        let mut f = || { a[0] += 1; a };
        let (p, q) = (f(), f());
        p[0] * 10 + q[0]
    }
    a_closure_that_moves(x) {
        let mut a = [x, 2];
        let f = move |i: usize| a[i];
        a[0] = 50;
        f(0) * 100 + a[0]
    }
    a_tuple(x) {
        let mut a = [x, 2];
        let t = (a, { a[0] = 5; 1 });
        t.0[0] * 10 + t.1 + a[0]
    }
    a_tuple_in_a_tuple(x) {
        let mut a = [x, 2];
        let ((b, n), m) = ((a, 1), { a[0] = 5; 2 });
        b[0] * 100 + n * 10 + m
    }
    a_struct(x) {
        let mut a = [x, 2];
        let s = Pair { a, b: { a[0] = 5; a }, n: { a[1] = 7; 3 } };
        s.digits(a[1])
    }
    the_rest_of_a_struct(x) {
        let mut s = Pair::new(x);
        let t = Pair { n: { s.a[0] = 9; 4 }, ..s };
        t.digits({ s.b[0] = 8; 1 })
    }
    an_option(x) {
        let mut a = [x, 2];
        let t = (Some(a), { a[0] = 5; 1 });
        t.0.unwrap()[0] * 10 + t.1
    }
    an_option_is_copied(x) {
        let mut o = Some([x, 2]);
        let p = o;
        if let Some(v) = &mut o {
            v[0] = 50;
        }
        p.unwrap()[0] * 100 + o.unwrap()[0]
    }
    an_option_is_replaced(x) {
        let mut o = Some([x, 2]);
        let p = (o, { o = None; 1 });
        let q = o.unwrap_or({ o = Some([7, 8]); [1, 1] });
        p.0.unwrap()[0] * 1000 + q[0] * 100 + o.unwrap()[1]
    }
    an_option_and_its_other(x) {
        let mut o = Some([x, 2]);
        o.unwrap_or({ o = Some([7, 7]); [1, 1] })[0]
    }
    a_receiver(x) {
        let mut s = Pair::new(x);
        s.digits({ s.a[0] = 9; s.n = 5; 1 })
    }
    a_receiver_that_changes(x) {
        let s = Pair::new(x);
        let t = s.swapped();
        s.digits(1) + t.digits(2)
    }
    map_of_an_array(x) {
        let mut a = [x, 2, 3];
        let b = a.map(|v| { a[2] = 50; v + 1 });
        b[0] + b[1] * 10 + b[2] * 100 + a[2] * 10_000
    }
    map_of_rows(x) {
        let m = [[x, 2], [3, 4]];
        let n = m.map(|mut row| { row[0] += 1; row });
        n[0][0] * 1000 + n[1][0] * 100 + m[0][0] * 10 + m[1][0]
    }
    rows(x) {
        let mut m = [[x, 2], [3, 4]];
        let r = [m[0], { m[0][0] = 9; m[1] }, { m[1][1] = 8; m[1] }];
        r[0][0] * 1000 + r[1][1] * 100 + r[2][1] * 10 + m[0][0]
    }
    rows_are_assigned(x) {
        let mut m = [[x, 2], [3, 4]];
        m[0] = m[1];
        m[1][0] = 9;
        let row = m[0];
        m[0][1] = 7;
        m[0][0] * 1000 + row[1] * 100 + m[1][0] * 10 + m[0][1]
    }
    rows_of_a_loop(x) {
        let (mut m, mut s) = ([[x, 2], [3, 4]], 0);
        for row in m {
            m[1][0] = 50;
            s = s * 10 + row[0];
        }
        s
    }
    a_row_is_repeated(x) {
        let a = [x, 2];
        let mut m = [a; 3];
        m[0][0] = 9;
        m[0][0] * 100 + m[1][0] * 10 + a[0]
    }
    rows_are_filled(x) {
        let (mut m, mut a) = ([[0; 2]; 3], [x, 2]);
        m.fill(a);
        a[0] = 9;
        m[1][0] = 5;
        m[0][0] * 100 + m[1][0] * 10 + m[2][1]
    }
    behind_a_reference(x) {
        let mut a = [x, 2];
        let r = &mut a;
        let t = (*r, { r[0] = 5; 1 });
        t.0[0] * 10 + r[0]
    }
    behind_a_reference_that_ends(x) {
        let mut a = [x, 2];
        let r = &mut a;
        first(*r, { a[0] = 5; 1 })
    }
    behind_a_shared_reference(x) {
        let mut a = [x, 2];
        let r = &a;
        first(*r, { a[0] = 5; 1 })
    }
    a_field_behind_a_reference(x) {
        let mut s = Pair::new(x);
        let r = &mut s;
        first(r.a, r.bump())
    }
    a_field(x) {
        let mut s = Pair::new(x);
        let t = (s.a, { s.a[0] = 9; s.b }, { s.b = [7, 7]; s.a });
        t.0[0] * 100 + t.1[0] * 10 + t.2[0]
    }
}

#[kernel]
fn of_shared(out: &mut [u32]) {
    let tile = shared!([u32; 4]);
    let i = grid::<1>();
    tile[i] = i as u32;
    sync_threads();
    let all = *tile;
    sync_threads();
    tile[i] = 50;
    sync_threads();
    out[i] = all[(i + 1) % 4] * 100 + tile[0];
}

#[test]
fn shared_memory_by_value() {
    let mut out = crate::device::on_device(&[0u32; 4]);
    of_shared::launch((1, 4), &mut out).unwrap();
    assert_eq!(crate::device::on_host(&out), [150, 250, 350, 50]);
}
