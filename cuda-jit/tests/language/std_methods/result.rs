//! `Result`.

use super::*;

/// An error of a multiple of 3.
#[device]
fn result(v: u64) -> Result<u32, i32> {
    if v % 3 == 0 { Err((v % 11) as i32 - 5) } else { Ok((v % 7) as u32) }
}

methods! {
    |x, log, also| {
        let (mut a, b, n) = (result(x[0]), result(x[1]), (x[2] % 5) as u32);
        let error = x[3] as i32 % 6;
    }
    is_ok: a.is_ok();
    is_err: a.is_err();
    ok: a.ok();
    err: a.err();
    as_ref: match a.as_ref() { Ok(v) => *v as i32, Err(v) => *v * 16 }, a;
    as_mut: { match a.as_mut() { Ok(v) => *v += n, Err(v) => *v -= 1 }; a };
    and: a.and(if n == 0 { Err(error) } else { Ok(b) });
    or: a.or(if n < 2 { Err(b) } else { Ok(n) });
    unwrap: if x[0] % 3 == 0 { n } else { a.unwrap() };
    unwrap_err: if x[0] % 3 == 0 { a.unwrap_err() } else { error };
    unwrap_or: a.unwrap_or(n);
    unwrap_or_default: a.unwrap_or_default();
    expect: if x[0] % 3 == 0 { n } else { a.expect("a number") };
    expect_err: if x[0] % 3 == 0 { a.expect_err("an error") } else { error };
    copied: a.as_ref().map_err(|v| *v).copied(), a.as_mut().map_err(|v| *v).copied();
    cloned: a.as_ref().map_err(|v| *v).cloned(), a.as_mut().map_err(|v| *v).cloned();
    iter: a.iter().rev().map(|v| *v + n).sum::<u32>(), a.iter().len();
    iter_mut: { for v in a.iter_mut() { *v += n }; a };
    unwrap_unchecked: if x[0] % 3 == 0 { n } else { unsafe { a.unwrap_unchecked() } };
    unwrap_err_unchecked: if x[0] % 3 == 0 { unsafe { a.unwrap_err_unchecked() } } else { error };
    flatten: if n == 0 { Err(error) } else { Ok(a) }.flatten();
    transpose: a.map(|v| if v > n { Some(v) } else { None }).transpose();
    is_ok_and: a.is_ok_and(|v| { note(&mut log, v); v > n });
    is_err_and: a.is_err_and(|v| { note(&mut log, v); v > error });
    map: a.map(|v| { note(&mut log, v); v as i32 + error });
    map_or: a.map_or(error, |v| { note(&mut log, v); v as i32 });
    map_or_else: a.map_or_else(|v| { note(&mut log, v); v as u32 }, |v| { note(&mut also, v); v + n });
    map_err: a.map_err(|v| { note(&mut log, v); (v, n) });
    inspect: a.inspect(|v| note(&mut log, *v));
    inspect_err: a.inspect_err(|v| note(&mut log, *v));
    and_then: a.and_then(|v| { note(&mut log, v); if v > n { Ok((v, n)) } else { Err(error) } });
    or_else: a.or_else(|v| { note(&mut log, v); if v > error { Ok(n) } else { Err((v, n)) } });
    unwrap_or_else: a.unwrap_or_else(|v| { note(&mut log, v); n.wrapping_add(v as u32) });
}
