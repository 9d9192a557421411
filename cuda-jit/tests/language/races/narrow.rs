//! Indices of 32 bits, of which no launch that is accepted wraps.

use super::{analysed, assert_proved, assert_refused};
use cuda_jit::device::{block_dim, grid, grid_size};
use cuda_jit::kernel;

#[kernel]
fn odd_elements(out: &mut [u32]) {
    let i = grid::<1>() as u32;
    out[(i * 2 + 1) as usize] = 1;
}

#[kernel]
fn by_a_limit(n: u32, out: &mut [u32]) {
    let i = grid::<1>() as u32;
    if i < n {
        out[i as usize] = 1;
    }
}

#[kernel]
fn rows(w: u32, h: u32, out: &mut [u32]) {
    let (c, r) = grid::<2>();
    let (c, r) = (c as u32, r as u32);
    if r < h && c < w {
        out[(r * w + c) as usize] = 1;
    }
}

#[kernel]
fn rows_of_signed_numbers(w: i32, h: i32, out: &mut [u32]) {
    let (c, r) = grid::<2>();
    let (c, r) = (c as i32, r as i32);
    if r < h && c < w {
        out[(r * w + c) as usize] = 1;
    }
}

#[kernel]
fn rows_by_an_index_before_the_guard(w: u32, h: u32, out: &mut [u32]) {
    let (c, r) = grid::<2>();
    let (c, r) = (c as u32, r as u32);
    let at = r * w + c;
    if r < h && c < w && (at as usize) < out.len() {
        out[at as usize] = 1;
    }
}

#[kernel]
fn signed(n: i32, out: &mut [u32]) {
    let i = grid::<1>() as i32;
    if i < n {
        out[i as usize] = 1;
    }
}

#[kernel]
fn signed_difference(n: i32, out: &mut [u32]) {
    let i = grid::<1>() as i32 - 1;
    if i >= 0 && i < n {
        out[i as usize] = 1;
    }
}

#[kernel]
fn backwards(n: u32, out: &mut [u32]) {
    let i = grid::<1>() as u32;
    if i < n {
        out[(n - 1 - i) as usize] = 1;
    }
}

#[kernel]
fn grid_stride_loop(n: u32, out: &mut [u32]) {
    let mut i = grid::<1>() as u32;
    while i < n {
        out[i as usize] = 1;
        i += grid_size::<1>() as u32;
    }
}

#[kernel]
fn grid_stride_loop_to_the_length(out: &mut [u32]) {
    let mut i = grid::<1>() as u32;
    while (i as usize) < out.len() {
        out[i as usize] = 1;
        i += grid_size::<1>() as u32;
    }
}

#[kernel]
fn segments(k: u32, n: u32, out: &mut [u32]) {
    let i = grid::<1>() as u32;
    if i < n {
        for j in 0..k {
            out[(i * k + j) as usize] = 1;
        }
    }
}

#[kernel]
fn columns(n: u32, out: &mut [u32]) {
    let i = grid::<1>() as u32;
    if i < n {
        for k in 0..8 {
            out[(k * n + i) as usize] = 1;
        }
    }
}

#[kernel]
fn pairs(out: &mut [u32]) {
    let i = grid::<1>() as u32;
    let n = out.len() as u32;
    if i < n / 2 {
        out[(2 * i) as usize] = 1;
        out[(2 * i + 1) as usize] = 1;
    }
}

#[kernel]
fn checked_product(out: &mut [u32]) {
    let i = grid::<1>() as u32;
    if let Some(j) = i.checked_mul(3) {
        out[j as usize] = 1;
    }
}

#[kernel]
fn checked_product_with_a_factor(k: u32, out: &mut [u32]) {
    let i = grid::<1>() as u32;
    if k > 0 {
        if let Some(j) = i.checked_mul(k) {
            out[j as usize] = 1;
        }
    }
}

#[kernel]
fn wrapping_product(out: &mut [u32]) {
    let i = grid::<1>() as u32;
    out[i.wrapping_mul(0x8000_0001) as usize & 0xff] = 1;
}

#[kernel]
fn rows_with_a_wide_guard(w: u32, h: u32, out: &mut [u32]) {
    let (c, r) = grid::<2>();
    let (c, r) = (c as u32, r as u32);
    if r < h && c <= w {
        out[(r * w + c) as usize] = 1;
    }
}

#[kernel]
fn rows_by_the_height(w: u32, h: u32, out: &mut [u32]) {
    let (c, r) = grid::<2>();
    let (c, r) = (c as u32, r as u32);
    if r < h && c < w {
        out[(r * h + c) as usize] = 1;
    }
}

#[kernel]
fn wrapping_rows(w: u32, _h: u32, out: &mut [u32]) {
    let (c, r) = grid::<2>();
    let (c, r) = (c as u32, r as u32);
    if c < w {
        out[(r.wrapping_mul(w).wrapping_add(c) & 0xffff) as usize] = 1;
    }
}

#[kernel]
fn stride_of_the_block(n: u32, out: &mut [u32]) {
    let mut i = grid::<1>() as u32;
    while i < n {
        out[i as usize] = 1;
        i += block_dim().x as u32;
    }
}

#[kernel]
fn segments_that_overlap(k: u32, n: u32, out: &mut [u32]) {
    let i = grid::<1>() as u32;
    if i < n {
        for j in 0..=k {
            out[(i * k + j) as usize] = 1;
        }
    }
}

#[kernel]
fn sixteen_bits(out: &mut [u32]) {
    let i = grid::<1>() as u16;
    out[(i * 2 + 1) as usize] = 1;
}

#[kernel]
fn bits_shifted_out(out: &mut [u32]) {
    let i = grid::<1>() as u32;
    out[(i << 31) as usize >> 25] = 1;
}

#[kernel]
fn checked_product_with_zero(k: u32, out: &mut [u32]) {
    let i = grid::<1>() as u32;
    if let Some(j) = i.checked_mul(k) {
        out[j as usize] = 1;
    }
}

#[kernel]
fn one_of_two_guards(w: u32, h: u32, out: &mut [u32]) {
    let (c, r) = grid::<2>();
    let (c, r) = (c as u32, r as u32);
    if r < h || c < w {
        out[(r * w + c) as usize] = 1;
    }
}

#[kernel]
fn signed_wrapping_product(w: i32, out: &mut [u32]) {
    let i = grid::<1>() as i32;
    let j = i.wrapping_mul(w);
    if j >= 0 && w > 0 {
        out[(j & 0xff) as usize] = 1;
    }
}

#[kernel]
fn wrapped_product_below_a_limit(w: u32, out: &mut [u32]) {
    let i = grid::<1>() as u32;
    if w > 0 && i.wrapping_mul(w) < 100 {
        out[i.wrapping_mul(w) as usize] = 1;
    }
}

#[kernel]
fn product_of_sixteen_bits(w: u16, out: &mut [u32]) {
    let i = grid::<1>() as u16;
    let j = i.wrapping_mul(w);
    if w > 0 && i < 300 {
        out[j as usize] = 1;
    }
}

#[kernel]
fn guard_of_eight_bits(n: u8, out: &mut [u32]) {
    let i = grid::<1>();
    if (i as u8) < n {
        out[(i as u8) as usize] = 1;
    }
}

#[kernel]
fn distance(out: &mut [u32]) {
    let i = grid::<1>() as i32;
    let j = if i > 5 { i - 5 } else { 5 - i };
    out[j as usize] = 1;
}

#[kernel]
fn absolute_value(out: &mut [u32]) {
    let i = grid::<1>() as i32;
    out[(i - 5).unsigned_abs() as usize] = 1;
}

#[kernel]
fn square(n: u32, out: &mut [u32]) {
    let i = grid::<1>() as u32;
    if i < n {
        out[((i - 3) * (i - 3)) as usize & 0xff] = 1;
    }
}

#[kernel]
fn checked_product_or_a_constant(out: &mut [u32]) {
    let i = grid::<1>() as u32;
    let j = i.checked_mul(0x4000_0000).unwrap_or(7);
    out[(j >> 20) as usize] = 1;
}

#[kernel]
fn product_that_does_not_overflow(k: u32, out: &mut [u32]) {
    let i = grid::<1>() as u32;
    let (j, over) = i.overflowing_mul(k);
    if !over {
        out[j as usize] = 1;
    }
}

#[kernel]
fn product_that_overflows(k: u32, out: &mut [u32]) {
    let i = grid::<1>() as u32;
    let (j, over) = i.overflowing_mul(k);
    if over && k > 0 {
        out[j as usize & 0xff] = 1;
    }
}

#[kernel]
fn nine_of_eight(out: &mut [u32]) {
    let i = grid::<1>();
    let n = out.len();
    for j in (i * 8).min(n)..(i * 8 + 8 + 1).min(n) {
        out[j] = 1;
    }
}

#[test]
fn they_are_proved() {
    assert_proved(&analysed![
        odd_elements,
        by_a_limit,
        rows,
        rows_of_signed_numbers,
        rows_by_an_index_before_the_guard,
        signed,
        signed_difference,
        backwards,
        grid_stride_loop,
        grid_stride_loop_to_the_length,
        segments,
        columns,
        pairs,
        checked_product,
        checked_product_with_a_factor,
    ]);
}

#[test]
fn none_with_a_race_is_proved() {
    assert_refused(&analysed![
        wrapping_product,
        rows_with_a_wide_guard,
        rows_by_the_height,
        wrapping_rows,
        stride_of_the_block,
        segments_that_overlap,
        sixteen_bits,
        bits_shifted_out,
        checked_product_with_zero,
        one_of_two_guards,
        signed_wrapping_product,
        wrapped_product_below_a_limit,
        product_of_sixteen_bits,
        guard_of_eight_bits,
        distance,
        absolute_value,
        square,
        checked_product_or_a_constant,
        product_that_does_not_overflow,
        product_that_overflows,
        nine_of_eight,
    ]);
}
