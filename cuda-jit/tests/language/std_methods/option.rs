//! `Option`.

use super::*;

/// `None` of a multiple of 3.
#[device]
fn option(v: u64) -> Option<u32> {
    if v % 3 == 0 { None } else { Some((v % 7) as u32) }
}

methods! {
    |x, log, also| {
        let (mut a, b, n) = (option(x[0]), option(x[1]), (x[2] % 5) as u32);
        let error = x[3] as i32;
    }
    is_some: a.is_some();
    is_none: a.is_none();
    unwrap: if x[0] % 3 == 0 { n } else { a.unwrap() };
    expect: if x[0] % 3 == 0 { n } else { a.expect("a number") };
    unwrap_or: a.unwrap_or(n);
    unwrap_or_default: a.unwrap_or_default();
    copied: a.as_ref().copied(), a.as_mut().copied();
    cloned: a.as_ref().cloned(), a.as_mut().cloned();
    or: a.or(b);
    xor: a.xor(b);
    and: a.and(Some(b));
    zip: a.zip(b);
    unzip: a.zip(b).unzip();
    flatten: if n == 0 { None } else { Some(a) }.flatten();
    take: a.take(), a;
    iter: a.iter().rev().map(|v| *v + n).sum::<u32>(), a.iter().len();
    iter_mut: { for v in a.iter_mut() { *v += n }; a };
    get_or_insert_default: { *a.get_or_insert_default() += n; a };
    unwrap_unchecked: if x[0] % 3 == 0 { n } else { unsafe { a.unwrap_unchecked() } };
    replace: a.replace(n), a;
    insert: { *a.insert(n) += 1; a };
    get_or_insert: { *a.get_or_insert(n) += 1; a };
    as_ref: read(a.as_ref()), a.as_ref().map(|v| *v + 1);
    as_mut: { if let Some(v) = a.as_mut() { *v += n }; a };
    ok_or: a.ok_or(error);
    transpose: match a { Some(v) => Some(if v > n { Ok(v) } else { Err(error) }), None => None }.transpose();
    map: a.map(|v| { note(&mut log, v); v + n });
    map_or: a.map_or(error, |v| { note(&mut log, v); v as i32 });
    map_or_else: a.map_or_else(|| { append(&mut log, 5); error }, |v| { note(&mut also, v); v as i32 });
    and_then: a.and_then(|v| { note(&mut log, v); if v > n { Some(error) } else { None } });
    or_else: a.or_else(|| { append(&mut log, 5); b });
    unwrap_or_else: a.unwrap_or_else(|| { append(&mut log, 5); n });
    filter: a.filter(|v| { note(&mut log, *v); *v > n });
    is_some_and: a.is_some_and(|v| { note(&mut log, v); v > n });
    is_none_or: a.is_none_or(|v| { note(&mut log, v); v > n });
    inspect: a.inspect(|v| note(&mut log, *v));
    get_or_insert_with: { *a.get_or_insert_with(|| { append(&mut log, 5); n }) += 1; a };
    take_if: a.take_if(|v| { note(&mut log, *v); *v += 1; *v > n }), a;
    ok_or_else: a.ok_or_else(|| { append(&mut log, 5); error });
}
