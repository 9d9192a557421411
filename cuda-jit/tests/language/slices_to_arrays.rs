//! Slices converted to arrays, and arrays by `array::from_fn` with its generic arguments.

use cuda_jit::device::grid;
use cuda_jit::kernel;

use super::differ;

#[kernel]
fn arrays_of_slices(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let made = std::array::from_fn::<_, 3, _>(|k| x[k] + i as u32);
    out[i] = made[0] + made[2] * 100;
    let named = core::array::from_fn::<u32, 2, _>(|k| k as u32 + 1);
    out[i] += named[1];
    let part = &x[i..];
    if let Ok(four) = <&[u32; 4]>::try_from(part.get(..4).unwrap_or(part)) {
        out[i] += four[3] * 10000;
    }
    let three: Result<[u32; 3], _> = x[..3].try_into();
    out[i] += three.unwrap()[1] * 100000;
    let [a, b]: [u32; 2] = x[i..i + 2].try_into().unwrap();
    out[i] += a + b;
    let two: &[u32; 2] = x[i..i + 2].try_into().unwrap();
    out[i] += two[0] + two[1];
    let all = <[u32; 2]>::try_from(&x[i..i + 2]).map_or(5, |two| two[0] * two[1]);
    out[i] += all + <[u32; 9]>::try_from(x).is_err() as u32;
}

#[test]
fn slices_are_tried_as_arrays() {
    differ!(arrays_of_slices, (1, 7), [&[3u32, 1, 4, 1, 5, 9, 2, 6][..]], vec![0u32; 7]);
}

#[kernel]
fn arrays_that_are_written(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let mut own = [1u32, 2, 3, 4];
    let first: &mut [u32; 2] = (&mut own[..2]).try_into().unwrap();
    first[1] = x[i];
    let rest = <&mut [u32; 3]>::try_from(&mut own[1..]).unwrap();
    rest[2] += rest[0];
    out[i] = own[0] + own[1] * 10 + own[2] * 100 + own[3] * 1000;
}

#[test]
fn mutable_slices_are_tried_as_arrays() {
    differ!(arrays_that_are_written, (1, 7), [&[3u32, 1, 4, 1, 5, 9, 2, 6][..]], vec![0u32; 7]);
}

#[kernel]
fn lengths_by_name(x: &[u32], out: &mut [u32]) {
    const LEN: usize = 2;
    let i = grid::<1>();
    let made = std::array::from_fn::<u32, LEN, _>(|k| x[k + i]);
    let inner = std::array::from_fn::<_, { LEN + 1 }, _>(|k| std::array::from_fn::<_, 2, _>(|l| (k * 10 + l) as u32));
    out[i] = made[0] * made[1] + inner[2][1] * 100;
    let tried = x.chunks(3).map(<[u32; 3]>::try_from).filter_map(|three| three.ok());
    out[i] += tried.map(|[a, b, c]| a * 100 + b * 10 + c).sum::<u32>() * 1000;
}

#[test]
fn lengths_are_constants_by_name() {
    differ!(lengths_by_name, (1, 7), [&[3u32, 1, 4, 1, 5, 9, 2, 6][..]], vec![0u32; 7]);
}
