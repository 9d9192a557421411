//! Arrays that branches, loops, closures and iterators return, and that bindings and patterns hold.

#![expect(unused_assignments, reason = "what is overwritten unread is what the programs are about")]

use super::*;

programs! {
    a_block(x) {
        let mut a = [x, 2];
        let t = ({ a }, { a[0] = 5; 1 });
        t.0[0] * 10 + t.1
    }
    a_branch(x) {
        let (mut a, b) = ([x, 2], [8, 9]);
        let t = (if x % 2 == 0 { a } else { b }, { a[0] = 5; 1 });
        t.0[0] * 10 + t.1
    }
    a_branch_that_is_bound(x) {
        let (mut a, b) = ([x, 2], [8, 9]);
        let mut c = if x % 2 == 0 { a } else { b };
        a[0] = 50;
        c[1] += 1;
        c[0] * 1000 + c[1] * 100 + a[1] * 10 + b[1]
    }
    a_match(x) {
        let mut a = [x, 2];
        let t = (match x { 0 => a, 1 => [6, 6], _ => [a[1], a[0]] }, { a[0] = 5; a });
        t.0[0] * 10 + t.1[0]
    }
    a_broken_loop(x) {
        let (mut a, mut n) = ([x, 2], 0);
        let b = loop {
            n += 1;
            a[0] += n;
            if n > 3 {
                break a;
            }
        };
        a[0] = 0;
        b[0] * 10 + a[0]
    }
    arrays_change_places(x) {
        let mut p = ([x, 2], [3, 4]);
        p = (p.1, p.0);
        (p.0, p.1) = (p.1, p.0);
        p = (p.1, p.0);
        p.0[0] * 1000 + p.0[1] * 100 + p.1[0] * 10 + p.1[1]
    }
    fields_change_places(x) {
        let mut s = Pair::new(x);
        for n in 0..3 {
            s = Pair { a: s.b, b: s.a, n };
        }
        s.digits(1)
    }
    elements_change_places(x) {
        let mut a = [x, 2];
        for _ in 0..3 {
            a = [a[1], a[0]];
        }
        a[0] * 10 + a[1]
    }
    a_struct_changes_places(x) {
        let mut s = Pair::new(x);
        let mut t = Pair::new(x + 1);
        for n in 0..3 {
            let old = s;
            s = t;
            t = Pair { n, ..old };
            s.a[1] += 1;
        }
        s.digits(1) * 3 + t.digits(2)
    }
    they_are_exchanged(x) {
        let (mut a, mut b) = ([x, 2], [3, 4]);
        std::mem::swap(&mut a, &mut b);
        let old = std::mem::replace(&mut a, [b[0], 9]);
        b[0] = 7;
        a[0] * 1000 + a[1] * 100 + b[0] * 10 + old[0]
    }
    one_is_kept(x) {
        let (mut last, mut all) = ([0, 0], 0);
        for n in 0..4 {
            let now = [n, n * x];
            all = all * 10 + last[0] + now[1];
            last = now;
        }
        all * 10 + last[0]
    }
    one_of_a_struct_is_kept(x) {
        let mut kept = None;
        for n in 0..4 {
            let now = Pair::new(n + x);
            if n == 1 || kept.is_none() {
                kept = Some(now);
            }
        }
        kept.unwrap().digits(1)
    }
    a_fold(x) {
        let f = (0..5).fold([x, 1], |acc, v| [acc[1], acc[0] + v]);
        f[0] * 100 + f[1]
    }
    a_fold_of_tuples(x) {
        let f = (0..3).fold(([x, 1], [2, 3]), |(a, b), v| (b, [a[0] + v, a[1]]));
        f.0[0] * 1000 + f.0[1] * 100 + f.1[0] * 10 + f.1[1]
    }
    the_largest(x) {
        let m = (0..5u32).map(|n| [n * 7 % 5, n + x]).max_by_key(|a| a[0]);
        m.unwrap()[0] * 10 + m.unwrap()[1]
    }
    the_found(x) {
        let f = (0..5u32).map(|n| [n, n + x]).find(|a| a[1] > 3);
        f.map_or(99, |a| a[0] * 10 + a[1])
    }
    the_reduced(x) {
        let f = (0..4u32).map(|n| [n, x]).reduce(|a, b| [b[0] * 10 + a[0], a[1] + b[1]]);
        f.unwrap()[0] * 10 + f.unwrap()[1]
    }
    a_chain(x) {
        let (mut a, b) = ([x, 2], [3, 4]);
        let mut s = 0;
        for v in a.into_iter().chain(b) {
            a[1] = 50;
            s = s * 10 + v;
        }
        s
    }
    pairs_of_rows(x) {
        let (mut m, mut s) = ([[x, 2], [3, 4]], 0);
        for (row, n) in m.into_iter().zip(1..) {
            m[1] = [9, 9];
            s = s * 100 + row[0] * 10 + n;
        }
        s + m[1][0]
    }
    patterns(x) {
        let mut a = [[x, 2], [3, 4]];
        let mut whole @ [mut up, down] = a;
        a[0][0] = 50;
        up[0] += 1;
        whole[1][0] += 2;
        let [p, ..] = whole;
        up[0] * 1000 + down[0] * 100 + whole[1][0] * 10 + p[0]
    }
    patterns_of_structs(x) {
        let mut s = Pair::new(x);
        let Pair { mut a, b, .. } = s;
        s.b[0] = 50;
        a[0] += 1;
        a[0] * 100 + b[0] * 10 + s.a[0]
    }
    both_in_a_tuple(x) {
        let a = [x, 2];
        let (mut p, mut q) = (a, a);
        p[0] += 1;
        q[0] += 5;
        p[0] * 100 + q[0] * 10 + a[0]
    }
    given_later(x) {
        let a: [u32; 2];
        if x % 2 == 0 {
            a = [x, 2];
        } else {
            a = [3, x];
        }
        a[0] * 10 + a[1]
    }
    a_struct_given_later(x) {
        let s;
        if x % 2 == 0 {
            s = Pair::new(x);
        } else {
            s = Pair { n: 4, ..Pair::new(1) };
        }
        s.digits(1)
    }
    given_later_in_a_loop(x) {
        let mut s = 0;
        for n in 0..3 {
            let mut a;
            match n % 2 {
                0 => a = [n, x],
                _ => a = [x, n],
            }
            a[0] += 1;
            s = s * 100 + a[0] * 10 + a[1];
        }
        s
    }
    a_returned_part(x) {
        let mut m = [raised([x, 1], 1), raised([x, 2], 2)];
        let t = (m, raised(m[0], 5), { m[0][0] = 9; 1 });
        t.0[0][0] * 1000 + t.0[1][0] * 100 + t.1[0] * 10 + m[0][0]
    }
    assigned_where_an_index_writes(x) {
        let (mut a, mut m) = ([x, 2], [[0; 2]; 2]);
        m[{ a[0] = 9; 1 }] = a;
        m[1][0] * 10 + a[0]
    }
    a_sum_of_elements(x) {
        let mut a = [x, 2];
        a[0] + { a[0] = 50; a[1] } + a[0]
    }
    a_reference_to_what_was_made(x) {
        let r = &raised([x, 2], 1);
        let mut b = *r;
        b[0] = 50;
        r[0] * 100 + b[0]
    }
    a_reference_to_a_struct_that_was_made(x) {
        let r = &Pair::new(x);
        let mut s = *r;
        s.a[0] = 50;
        r.a[0] * 100 + s.a[0]
    }
    a_mutable_reference_to_what_was_made(x) {
        let r = &mut [x, 2];
        let b = *r;
        r[0] = 50;
        b[0] * 100 + r[0]
    }
    two_of_one_element(x) {
        let a = [x, 2];
        let n = 3;
        let mut m = [(&n, a); 2];
        let k = m;
        m = [(&n, [5, 6]); 2];
        *m[1].0 * 100 + m[0].1[0] * 10 + k[1].1[0]
    }
    an_argument_and_its_receiver(x) {
        let mut s = Pair::new(x);
        s.take(s.a) * 100 + s.a[0]
    }
    an_argument_behind_its_receiver(x) {
        let mut s = Pair::new(x);
        let r = &mut s;
        r.take(r.a) * 100 + s.a[0]
    }
    a_receiver_behind_a_reference_that_ends(x) {
        let mut s = Pair::new(x);
        let r = &mut s;
        r.digits({ s.a[0] = 9; 1 })
    }
    map_behind_a_reference_that_ends(x) {
        let mut a = [x, 2];
        let r = &a;
        let b = r.map(|v| { a[1] = 50; v });
        b[1] * 100 + a[1]
    }
    a_receiver_and_a_closure(x) {
        let mut s = Pair::new(x);
        s.asks(|| { s.a[0] = 9; s.a[1] }) + s.a[0]
    }
    a_label_that_is_left(x) {
        let mut a = [x, 2];
        let t = ('b: { if x > 1 { break 'b a; } [a[1], a[0]] }, { a[0] = 5; 1 });
        t.0[0] * 10 + t.1
    }
    a_reference_that_a_closure_reads(x) {
        let mut a = [x, 2];
        let f = |r: &[u32; 2]| *r;
        let t = (f(&a), { a[0] = 5; 1 });
        t.0[0] * 10 + a[0]
    }
    an_arm_that_changes_its_own(x) {
        let mut a = [x, 2];
        match a {
            [0, n] => n,
            mut b => { a[0] = 9; b[1] = 5; a[0] * 1000 + a[1] * 100 + b[0] * 10 + b[1] }
        }
    }
    an_option_that_an_arm_changes(x) {
        let mut o = Some([x, 2]);
        let mut n = 0;
        if let Some(b) = o {
            o = Some([9, 9]);
            n = b[0] * 10 + o.unwrap()[0];
        }
        while let Some(b) = o {
            o = if b[0] > 11 { None } else { Some([b[0] + 1, b[0]]) };
            n = n * 10 + b[1] % 10;
        }
        n
    }
    an_option_is_taken(x) {
        let mut o = Some(Pair::new(x));
        let old = o.take();
        let was = o.replace(Pair::new(5));
        old.map_or(1, |s| s.digits(1)) + o.map_or(1, |s| s.digits(2)) + u32::from(was.is_some())
    }
    a_struct_that_branches_change(x) {
        let mut s;
        if x % 2 == 0 {
            s = Pair::new(x);
        } else {
            s = Pair::new(7);
        }
        let t = s;
        s.a[0] = 9;
        s.b = t.a;
        s.digits(1) * 2 + t.digits(3)
    }
    a_state_of_a_scan(x) {
        let mut s = 0;
        for a in (0..4).scan([x, 0], |state, v| { state[1] += v; state[0] += 1; Some(*state) }) {
            s = s * 100 + a[0] * 10 + a[1];
        }
        s
    }
    what_closures_of_two_iterators_yield(x) {
        let (mut a, mut s) = ([x, 0], 0);
        let mut b = [1, 1];
        for (p, q) in (0..3).map(|v| { a[1] += v; a }).zip((0..3).map(|v| { b[0] += v; b })) {
            s = s * 100 + p[1] * 10 + q[0];
        }
        s + a[1]
    }
    the_last(x) {
        let mut a = [x, 0];
        let l = (0..4).map(|v| { a[1] += v; a }).last().unwrap();
        let n = (0..4).map(|v| { a[1] += v; a }).nth(1).unwrap();
        l[1] * 100 + n[1] + l[0]
    }
    the_best_by_a_comparison(x) {
        let m = (0..5u32).map(|n| Pair::new(n * (x + 2) % 5)).max_by(|a, b| a.b[1].cmp(&b.b[1])).unwrap();
        let n = (0..5u32).map(|n| Pair::new(n * (x + 3) % 5)).min_by_key(|a| a.a[0]).unwrap();
        m.digits(1) + n.digits(2)
    }
    one_array_in_several_turns(x) {
        let (mut a, mut s) = ([x, 2], 0);
        for _ in 0..3 {
            let b = a;
            a[0] += 1;
            let mut c = b;
            c[0] += 5;
            let d = b;
            s = s * 10 + b[0] + c[0] + d[0] + a[0];
        }
        s
    }
    the_one_before(x) {
        let (mut before, mut s) = ([x, 1], 0);
        for n in 0..4 {
            let now = [n, before[0]];
            let kept = now;
            before = kept;
            s = s * 10 + now[1] + before[0];
        }
        s
    }
    a_shadow(x) {
        let a = [x, 2];
        let b = a;
        let mut a = a;
        a[0] += 7;
        let a = [a[0], b[0]];
        a[0] * 100 + a[1] * 10 + b[1]
    }
    one_passed_twice(x) {
        let mut a = [x, 2];
        let n = two(a, a);
        a[0] = 9;
        n + two(a, [a[1], x])
    }
    a_generic_value(x) {
        let mut a = [x, 2];
        let b = picked(a, [8, 9], x > 1);
        a[0] = 7;
        b[0] * 10 + a[0]
    }
    a_table(x) {
        let mut t = TABLE;
        t[0] += x;
        let u = (TABLE, { t[1] = 9; 1 });
        let s = raised(TABLE, x);
        t[0] * 1000 + u.0[0] * 100 + s[0] * 10 + TABLE[1]
    }
    a_row_behind_a_reference(x) {
        let mut m = [[x, 2], [3, 4]];
        let r = &mut m[x as usize % 2];
        let row = *r;
        r[0] = 9;
        let [ref mut p, q] = m;
        p[1] = 8;
        row[0] * 1000 + q[0] * 100 + m[0][0] * 10 + m[0][1]
    }
    rows_are_moved(x) {
        let mut m = [[x, 2], [3, 4], [1, x]];
        m.swap(0, 1);
        m.rotate_left(1);
        m.reverse();
        let before = m;
        m.sort_unstable_by_key(|row| row[0] * 10 + row[1]);
        before[0][0] * 10_000 + before[2][1] * 1000 + m[0][0] * 100 + m[1][1] * 10 + m[2][0]
    }
    what_is_larger(x) {
        let (mut a, b) = ([x, 2], [2, 1]);
        let c = a.max(b);
        let d = a.min({ a[0] = 7; a });
        a[1] = 5;
        c[0] * 1000 + c[1] * 100 + d[0] * 10 + d[1]
    }
    two_change_places(x) {
        let (mut a, mut b) = ([x, 2], [3, 4]);
        (a, b) = (b, a);
        [a, b] = [b, a];
        (a, b) = (b, [a[1], a[0]]);
        a[0] * 1000 + a[1] * 100 + b[0] * 10 + b[1]
    }
    several_results(x) {
        let (mut p, q) = turned([x, 2], [3, 4]);
        let (r, s) = turned(p, { p[0] = 9; q });
        p[0] * 1000 + q[0] * 100 + r[0] * 10 + s[1]
    }
    an_operator_of_structs(x) {
        let mut s = Pair::new(x);
        let t = s + { s.a[0] = 9; s } + s;
        s += t;
        t.digits(1) + s.digits(2)
    }
    a_large_array(x) {
        let mut a = [x; 40];
        a[39] = 7;
        let t = (a, { a[3] = 9; a }, { a = [1; 40]; a[5] });
        let mut s = 0;
        for v in a {
            a[30] = 2;
            s += v;
        }
        t.0[3] * 10_000 + t.1[3] * 1000 + t.0[39] * 100 + t.2 * 10 + s
    }
    nothing_then_something(x) {
        let mut o: Option<[u32; 2]> = None;
        let mut p = (0, o);
        for n in 0..3 {
            p = (n, o);
            o = if n == 1 { None } else { Some([n, x]) };
        }
        p.1.map_or(9, |a| a[0]) * 100 + o.map_or(9, |a| a[1]) * 10 + p.0
    }
    an_element_of_what_is_assigned(x) {
        let mut s = Pair::new(x);
        s.a[{ s.a = [7, 8]; 1 }] + s.a[0] * 10
    }
}
