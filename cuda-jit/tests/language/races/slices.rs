//! Elements and parts of slices that a thread takes by methods: `get_mut`, `nth`, `chunks_mut`, `split_at_mut`, and ranges.

use super::{analysed, assert_proved, assert_refused};
use cuda_jit::device::grid;
use cuda_jit::kernel;

#[kernel]
fn element_by_get_mut(out: &mut [u32]) {
    let i = grid::<1>();
    if let Some(v) = out.get_mut(i) {
        *v = 1;
    }
}

#[kernel]
fn element_unwrapped(out: &mut [u32]) {
    let i = grid::<1>();
    *out.get_mut(i).unwrap() = 1;
}

#[kernel]
fn elements_of_two_slices(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    if let (Some(p), Some(v)) = (out.get_mut(i), x.get(i)) {
        *p = *v;
    }
}

#[kernel]
fn element_or_return(out: &mut [u32]) {
    let i = grid::<1>();
    let Some(p) = out.get_mut(2 * i + 1) else { return };
    *p += 1;
}

#[kernel]
fn two_elements_by_get_mut(out: &mut [u32]) {
    let i = grid::<1>();
    if let Some(p) = out.get_mut(2 * i) {
        *p += 1;
    }
    if let Some(p) = out.get_mut(2 * i + 1) {
        *p += 1;
    }
}

#[kernel]
fn element_of_an_iterator(out: &mut [u32]) {
    let i = grid::<1>();
    if let Some(p) = out.iter_mut().nth(i) {
        *p = 1;
    }
}

#[kernel]
fn element_from_the_end(out: &mut [u32]) {
    let i = grid::<1>();
    if let Some(p) = out.iter_mut().rev().nth(i) {
        *p = 1;
    }
}

#[kernel]
fn four_elements_in_a_loop(out: &mut [u32]) {
    let i = grid::<1>();
    if 4 * i + 4 <= out.len() {
        for v in &mut out[4 * i..4 * i + 4] {
            *v = 1;
        }
    }
}

#[kernel]
fn four_elements_by_index(out: &mut [u32]) {
    let i = grid::<1>();
    let s = &mut out[4 * i..4 * i + 4];
    s[0] = 1;
    s[3] = 2;
    for k in 0..s.len() {
        s[k] += 1;
    }
}

#[kernel]
fn part_of_a_given_length(k: usize, out: &mut [u32]) {
    let i = grid::<1>();
    for v in &mut out[i * k..(i + 1) * k] {
        *v = 1;
    }
}

#[kernel]
fn first_of_a_chunk(out: &mut [u32]) {
    let i = grid::<1>();
    if let Some(c) = out.chunks_mut(4).nth(i) {
        c[0] = 1;
    }
}

#[kernel]
fn chunk_of_a_given_length(k: usize, out: &mut [u32]) {
    let i = grid::<1>();
    if let Some(c) = out.chunks_mut(k).nth(i) {
        for v in c {
            *v = 1;
        }
    }
}

#[kernel]
fn exact_chunk(out: &mut [u32]) {
    let i = grid::<1>();
    if let Some(c) = out.chunks_exact_mut(4).nth(i) {
        for k in 0..4 {
            c[k] = 1;
        }
    }
}

#[kernel]
fn two_halves(out: &mut [u32]) {
    let i = grid::<1>();
    let n = out.len() / 2;
    let (a, b) = out.split_at_mut(n);
    if i < a.len() && i < b.len() {
        a[i] = 1;
        b[i] = 2;
    }
}

#[kernel]
fn two_parts(k: usize, out: &mut [u32]) {
    let i = grid::<1>();
    let (a, b) = out.split_at_mut(k);
    if i < a.len() {
        a[i] = 1;
    }
    if i < b.len() {
        b[i] = 2;
    }
}

#[kernel]
fn elements_of_two_parts(k: usize, out: &mut [u32]) {
    let i = grid::<1>();
    let (a, b) = out.split_at_mut(k);
    if let Some(p) = a.get_mut(i) {
        *p = 1;
    }
    if let Some(p) = b.get_mut(i) {
        *p = 1;
    }
}

#[kernel]
fn two_elements_by_a_range(out: &mut [u32]) {
    let i = grid::<1>();
    if let Some(p) = out.get_mut(2 * i..2 * i + 2) {
        p[0] = 1;
        p[1] = 2;
    }
}

#[kernel]
fn previous_element(out: &mut [u32]) {
    let i = grid::<1>();
    match i.checked_sub(1) {
        Some(j) => {
            if j < out.len() {
                out[j] = 1;
            }
        }
        None => {}
    }
}

#[kernel]
fn flag_of_another_branch(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let (mut f, mut j) = (false, i);
    if x[i] > 0 {
        f = true;
        j = i / 2;
    }
    if !f {
        out[j] = 1;
    }
}

#[kernel]
fn half_by_get_mut(out: &mut [u32]) {
    let i = grid::<1>();
    if let Some(p) = out.get_mut(i / 2) {
        *p = 1;
    }
}

#[kernel]
fn two_elements_that_overlap(out: &mut [u32]) {
    let i = grid::<1>();
    if let Some(p) = out.get_mut(2 * i) {
        *p += 1;
    }
    if let Some(p) = out.get_mut(2 * i + 2) {
        *p += 1;
    }
}

#[kernel]
fn this_or_the_next_by_get_mut(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    if let Some(p) = if x[i] > 0 { out.get_mut(i) } else { out.get_mut(i + 1) } {
        *p = 1;
    }
}

#[kernel]
fn first_element_too(out: &mut [u32]) {
    let i = grid::<1>();
    let p = match out.get_mut(i) {
        Some(p) => p,
        None => {
            return;
        }
    };
    *p = 1;
    out[0] = 2;
}

#[kernel]
fn half_of_an_iterator(out: &mut [u32]) {
    let i = grid::<1>();
    if let Some(p) = out.iter_mut().nth(i / 2) {
        *p = 1;
    }
}

#[kernel]
fn five_elements_in_steps_of_four(out: &mut [u32]) {
    let i = grid::<1>();
    if 4 * i + 5 <= out.len() {
        for v in &mut out[4 * i..4 * i + 5] {
            *v = 1;
        }
    }
}

#[kernel]
fn five_elements_by_an_inclusive_range(out: &mut [u32]) {
    let i = grid::<1>();
    if 4 * i + 5 <= out.len() {
        for v in &mut out[4 * i..=4 * i + 4] {
            *v = 1;
        }
    }
}

#[kernel]
fn nine_elements_in_steps_of_eight(out: &mut [u32]) {
    let i = grid::<1>();
    let n = out.len();
    let (a, b) = ((i * 8).min(n), (i * 8 + 9).min(n));
    for v in &mut out[a..b] {
        *v = 1;
    }
}

#[kernel]
fn part_that_is_one_too_long(k: usize, out: &mut [u32]) {
    let i = grid::<1>();
    for v in &mut out[i * k..(i + 1) * k + 1] {
        *v = 1;
    }
}

#[kernel]
fn chunk_for_two_threads(out: &mut [u32]) {
    let i = grid::<1>();
    if let Some(c) = out.chunks_mut(4).nth(i / 2) {
        for v in c {
            *v = 1;
        }
    }
}

#[kernel]
fn chunks_of_two_lengths(out: &mut [u32]) {
    let i = grid::<1>();
    if let Some(c) = out.chunks_mut(4).nth(i) {
        c[0] = 1;
    }
    if let Some(c) = out.chunks_mut(2).nth(i) {
        c[0] = 1;
    }
}

#[kernel]
fn half_of_the_second_part(k: usize, out: &mut [u32]) {
    let i = grid::<1>();
    let (a, b) = out.split_at_mut(k);
    if i < a.len() {
        a[i] = 1;
    }
    if i < b.len() {
        b[i / 2] = 2;
    }
}

#[kernel]
fn first_for_two_threads(out: &mut [u32]) {
    let i = grid::<1>();
    match i.checked_sub(1) {
        Some(j) => {
            if j < out.len() {
                out[j] = 1;
            }
        }
        None => {
            out[0] = 2;
        }
    }
}

#[kernel]
fn windows(out: &mut [u32]) {
    let i = grid::<1>();
    if let Some(p) = out.get_mut(i..i + 2) {
        p[0] = 1;
        p[1] = 2;
    }
}

#[kernel]
fn element_and_the_first(out: &mut [u32]) {
    let i = grid::<1>();
    if let Some(p) = out.get_mut(i) {
        *p = 1;
    }
    if let Some(p) = out.first_mut() {
        *p = 2;
    }
}

#[kernel]
fn parts_that_depend_on_data(x: &[u32], k: usize, out: &mut [u32]) {
    let i = grid::<1>();
    let (a, b) = out.split_at_mut(k);
    let (a, b) = if x[i] > 0 { (a, b) } else { (b, a) };
    if i < a.len() {
        a[i] = 1;
    }
    if i / 2 < b.len() {
        b[i / 2] = 1;
    }
}

#[kernel]
fn option_of_a_loop(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let mut at = None;
    for k in 0..3 {
        if x[k] > 0 {
            at = Some(i + k);
        }
    }
    if let Some(j) = at {
        out[j] = 1;
    }
}

#[kernel]
fn option_that_is_replaced(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let mut at = Some(i);
    if x[i] > 0 {
        at = Some(i + 1);
    }
    if let Some(j) = at {
        out[j] = 1;
    }
}

#[kernel]
fn flag_with_half_the_index(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let (mut f, mut j) = (false, i);
    if x[i] > 0 {
        f = true;
        j = i / 2;
    }
    if f {
        out[j] = 1;
    }
}

#[kernel]
fn flag_of_the_iteration_before(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let (mut f, mut j) = (false, 0);
    for k in 0..9 {
        if f {
            out[j] = 1;
        }
        if x[i] == k {
            f = true;
            j = i;
        } else {
            f = x[i] > k;
            j = k as usize;
        }
    }
}

#[kernel]
fn flag_with_another_index(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let mut j = 0;
    for k in 0..9 {
        let f;
        if x[k] > 3 {
            f = true;
        } else {
            f = false;
            j = k;
        }
        if f {
            out[j] = 1;
        }
        j = i;
    }
}

#[kernel]
fn index_of_the_iteration_before(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let mut j = i;
    for k in 0..9 {
        let (f, at);
        if x[k] > 3 {
            (f, at) = (true, j);
        } else {
            (f, at) = (false, 0);
        }
        if f {
            out[at] = 1;
        }
        j = j / 2;
    }
}

#[kernel]
fn index_that_grows(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let mut j = i;
    for k in 0..2 {
        let (f, at);
        if x[k] > 3 {
            (f, at) = (true, j);
        } else {
            (f, at) = (false, 0);
        }
        if f {
            out[at] = 1;
        }
        j = j + 1;
    }
}

#[kernel]
fn one_of_three_indices(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let (mut f, mut j) = (0, i);
    if x[i] == 1 {
        f = 1;
        j = i + 1;
    } else if x[i] == 2 {
        f = 2;
        j = i + 2;
    }
    if f < 2 {
        out[j] = 1;
    }
}

#[kernel]
fn chunk_and_the_next(out: &mut [u32]) {
    let i = grid::<1>();
    if let Some(c) = out.chunks_mut(4).nth(i) {
        c[0] = 1;
    }
    if let Some(c) = out.chunks_mut(4).nth(i + 1) {
        c[0] = 2;
    }
}

#[kernel]
fn chunks_from_both_ends(out: &mut [u32]) {
    let i = grid::<1>();
    if let Some(c) = out.chunks_mut(4).nth(i) {
        c[0] = 1;
    }
    if let Some(c) = out.chunks_mut(4).rev().nth(i) {
        c[1] = 2;
        c[0] = 3;
    }
}

#[test]
fn they_are_proved() {
    assert_proved(&analysed![
        element_by_get_mut,
        element_unwrapped,
        elements_of_two_slices,
        element_or_return,
        two_elements_by_get_mut,
        element_of_an_iterator,
        element_from_the_end,
        four_elements_in_a_loop,
        four_elements_by_index,
        part_of_a_given_length,
        first_of_a_chunk,
        chunk_of_a_given_length,
        exact_chunk,
        two_halves,
        two_parts,
        elements_of_two_parts,
        two_elements_by_a_range,
        previous_element,
        flag_of_another_branch,
    ]);
}

#[test]
fn none_with_a_race_is_proved() {
    assert_refused(&analysed![
        half_by_get_mut,
        two_elements_that_overlap,
        this_or_the_next_by_get_mut,
        first_element_too,
        half_of_an_iterator,
        five_elements_in_steps_of_four,
        five_elements_by_an_inclusive_range,
        nine_elements_in_steps_of_eight,
        part_that_is_one_too_long,
        chunk_for_two_threads,
        chunks_of_two_lengths,
        half_of_the_second_part,
        first_for_two_threads,
        windows,
        element_and_the_first,
        parts_that_depend_on_data,
        option_of_a_loop,
        option_that_is_replaced,
        flag_with_half_the_index,
        flag_of_the_iteration_before,
        flag_with_another_index,
        index_of_the_iteration_before,
        index_that_grows,
        one_of_three_indices,
        chunk_and_the_next,
        chunks_from_both_ends,
    ]);
}
