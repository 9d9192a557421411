//! Slices and arrays.

use super::*;

/// The elements with their indices.
#[device]
fn numbered(all: &[u32; 10]) -> [(u32, u32); 10] {
    let mut index = 0;
    all.map(|v| {
        index += 1;
        (v, index)
    })
}

methods! {
    |x, log, also| {
        let (mut all, other, n) = (elements::<10>(x), elements::<10>(&x[2..]), (x[4] >> 8) as usize % 7);
        let (length, wanted) = (x[4] as usize % 11, (x[5] % 8) as u32);
        let at = (x[5] >> 8) as usize % (length + 1);
        let mut part = &mut all[..length];
    }
    len: part.len(), all.len();
    is_empty: part.is_empty(), all.is_empty();
    first: read(part.first()), read(all.first());
    first_mut: { if let Some(v) = part.first_mut() { *v += 9 }; if let Some(v) = all.first_mut() { *v += 1 }; all };
    last: read(part.last()), read(all.last());
    last_mut: { if let Some(v) = part.last_mut() { *v += 9 }; if let Some(v) = all.last_mut() { *v += 1 }; all };
    get:
        read(part.get(n)), hash_of(part.get(n..at)), hash_of(part.get(..=n)), hash_of(part.get(n..)),
        hash_of(all.get(n..=at)), hash_of(all.get(..at));
    get_mut: {
        if let Some(v) = part.get_mut(n) { *v += 9 }
        if let Some(inner) = part.get_mut(n..at) { for v in inner { *v += 17 } }
        if let Some(inner) = part.get_mut(at..=n) { for v in inner { *v += 33 } }
        all
    };
    split_first: {
        if let Some((v, rest)) = part.split_first() { note(&mut log, *v); note(&mut log, hash(rest)) }
        match all.split_first() { Some((v, rest)) => *v + rest[8], None => 77 }
    };
    split_first_mut: { if let Some((v, rest)) = part.split_first_mut() { *v += 9; for w in rest { *w += *v } }; all };
    split_last: {
        if let Some((v, rest)) = part.split_last() { note(&mut log, *v); note(&mut log, hash(rest)) }
        match all.split_last() { Some((v, rest)) => *v + rest[0], None => 77 }
    };
    split_last_mut: { if let Some((v, rest)) = part.split_last_mut() { *v += 9; for w in rest { *w += *v } }; all };
    split_at: hash(part.split_at(at).0), hash(part.split_at(at).1), { let (a, b) = all.split_at(n); (hash(a), hash(b)) };
    split_at_mut: { let (a, b) = part.split_at_mut(at); for v in a { *v += 9 }; for v in b { *v *= 5 }; all };
    split_at_checked: {
        if let Some((a, b)) = part.split_at_checked(n) { note(&mut log, (hash(a), hash(b))) }
        all.split_at_checked(at).is_some()
    };
    split_at_mut_checked: {
        if let Some((a, b)) = part.split_at_mut_checked(n) { for v in a { *v += 9 }; for v in b { *v *= 5 } }
        all
    };
    contains: part.contains(&wanted), all.contains(&wanted);
    starts_with: part.starts_with(&other[..n]), other.starts_with(&other[..n]), part.starts_with(&[wanted & 1]);
    ends_with: part.ends_with(&other[n..]), other.ends_with(&other[n..]), part.ends_with(&[wanted & 1]);
    strip_prefix: hash_of(part.strip_prefix(&[wanted & 1])), hash_of(other.strip_prefix(&other[..n]));
    strip_suffix: hash_of(part.strip_suffix(&[wanted & 1])), hash_of(other.strip_suffix(&other[n..]));
    first_chunk: { if let Some(v) = part.first_chunk::<3>() { note(&mut log, *v) }; all.first_chunk::<10>().is_some() };
    first_chunk_mut: { if let Some(v) = part.first_chunk_mut::<3>() { v[1] += 9 }; all };
    last_chunk_mut: { if let Some([v, w]) = part.last_chunk_mut() { *v += 9; *w += *v }; all };
    split_first_chunk: {
        if let Some((v, rest)) = part.split_first_chunk::<3>() { note(&mut log, *v); note(&mut log, hash(rest)) }
        all.split_first_chunk::<11>().is_some()
    };
    split_first_chunk_mut: {
        if let Some((v, rest)) = part.split_first_chunk_mut::<2>() { v[1] += 9; for w in rest { *w += v[1] } }
        all
    };
    split_last_chunk: {
        if let Some((rest, v)) = part.split_last_chunk::<3>() { note(&mut log, *v); note(&mut log, hash(rest)) }
        all.split_last_chunk::<11>().is_some()
    };
    split_last_chunk_mut: {
        if let Some((rest, v)) = part.split_last_chunk_mut::<2>() { v[1] += 9; for w in rest { *w += v[1] } }
        all
    };
    as_array: if let Some([a, .., b]) = part.as_array::<4>() { note(&mut log, (*a, *b)) }, all[n..].as_array::<7>().is_some();
    as_mut_array: { if let Some(v) = part.as_mut_array::<5>() { v[2] += 9 }; all };
    as_chunks: { let (v, rest) = part.as_chunks::<3>(); (hash(v), hash(rest), v.len()) };
    as_chunks_mut: {
        let (v, rest) = part.as_chunks_mut::<3>();
        for (k, [a, _, c]) in v.iter_mut().enumerate() { *a += k as u32; *c += *a }
        for w in rest { *w += 9 }
        all
    };
    as_rchunks: { let (rest, v) = part.as_rchunks::<4>(); (hash(v), hash(rest), v.len()) };
    as_rchunks_mut: {
        let (rest, v) = part.as_rchunks_mut::<4>();
        for chunk in v { chunk[3] += chunk[0]; chunk.reverse() }
        for w in rest { *w += 9 }
        all
    };
    as_flattened: {
        let rows = [[all[0], all[1], all[2]], [all[3], all[4], all[5]], [wanted, 1, 2]];
        (hash(rows.as_flattened()), hash(rows[1..].as_flattened()))
    };
    as_flattened_mut: {
        let mut rows = [[all[0], all[1], all[2]], [all[3], all[4], all[5]], [wanted, 1, 2]];
        for (k, v) in rows[..2].as_flattened_mut().iter_mut().enumerate() { *v += 9 * k as u32 }
        rows
    };
    as_slice: hash(all.as_slice());
    as_mut_slice: { all.as_mut_slice()[n] += 9; all };
    each_ref: { let refs = all.each_ref(); (*refs[n], *refs[9]) };
    each_mut: { let refs = all.each_mut(); for (k, v) in refs.into_iter().enumerate() { *v += 9 * k as u32 }; all };
    last_chunk: { if let Some([v, w]) = part.last_chunk() { note(&mut log, (*v, *w)) }; all.last_chunk::<11>().is_some() };
    is_sorted: part[..at.min(3)].is_sorted(), { part.sort_unstable(); part.is_sorted() };
    binary_search: { part.sort_unstable(); (part.binary_search(&wanted), part.binary_search(&9)) };
    swap: { if at < length { part.swap(at, length - 1); part.swap(0, at) }; all };
    reverse: { part.reverse(); all };
    rotate_left: { part.rotate_left(at); all };
    rotate_right: { part.rotate_right(at); all };
    fill: { part.fill(wanted); all };
    copy_within: {
        if at + n <= length { part.copy_within(at..at + n, length - n); part.copy_within(..n, at); part.copy_within(at.., 0) }
        part.copy_within(.., 0);
        all.copy_within(n..=9, 10 - (10 - n));
        all.copy_within(..=n, 2);
        all
    };
    copy_from_slice: { part.copy_from_slice(&other[10 - length..]); all };
    clone_from_slice: { part.clone_from_slice(&other[10 - length..]); all };
    swap_with_slice: { let mut others = other; part.swap_with_slice(&mut others[10 - length..]); (all, others) };
    sort: { part.sort(); all };
    sort_by: { let mut pairs = numbered(&all); pairs[..length].sort_by(|v, w| w.0.cmp(&v.0)); pairs };
    sort_by_key: { let mut pairs = numbered(&all); pairs[..length].sort_by_key(|v| v.0 % 4); pairs };
    sort_of_many: {
        let mut pairs = [(0u32, 0u32); 75];
        for k in 0..75 { pairs[k] = ((x[k % 6] >> (k / 6 * 4)) as u32 % 16, k as u32); }
        let count = x[5] as usize % 76;
        pairs[..count].sort_by_key(|v| v.0);
        hash(&pairs)
    };
    sort_unstable: { part.sort_unstable(); all };
    sort_unstable_by: { part.sort_unstable_by(|v, w| w.cmp(v)); all };
    sort_unstable_by_key: { part.sort_unstable_by_key(|v| (*v % 3, *v)); all };
    select_nth_unstable: if at < length {
        let (before, v, after) = part.select_nth_unstable(at);
        note(&mut log, *v);
        before.sort_unstable();
        after.sort_unstable();
        all
    } else { all };
    select_nth_unstable_by: if at < length {
        let (before, v, after) = part.select_nth_unstable_by(at, |v, w| w.cmp(v));
        note(&mut log, (before.len(), *v, after.len()));
        part.sort_unstable();
        all
    } else { all };
    select_nth_unstable_by_key: if at < length {
        note(&mut log, *part.select_nth_unstable_by_key(at, |v| (*v % 3, *v)).1);
        part.sort_unstable();
        all
    } else { all };
    is_sorted_by: part[..n.min(length)].is_sorted_by(|v, w| { note(&mut log, (*v, *w)); *v <= *w + 4 });
    is_sorted_by_key: part[..n.min(length)].is_sorted_by_key(|v| { note(&mut log, *v); *v / 4 });
    binary_search_by: { part.sort_unstable(); part.binary_search_by(|v| { note(&mut log, *v); v.cmp(&wanted) }) };
    binary_search_by_key: {
        part.sort_unstable();
        part.binary_search_by_key(&(wanted / 2), |v| { note(&mut log, *v); *v / 2 })
    };
    partition_point: { part.sort_unstable(); part.partition_point(|v| { note(&mut log, *v); *v < wanted }) };
    fill_with: { let mut v = wanted; part.fill_with(|| { append(&mut log, 5); v += 2; v }); all };
    map: all.map(|v| { note(&mut log, v); (v as u8, v + wanted) });
    eq: *part == other[..length], &all[..n] == &other[..n], all == other, all == all;
    try_from:
        match <&[u32; 4]>::try_from(&all[n..(n + 4).min(length).max(n)]) { Ok(v) => v[3], Err(_) => 77 },
        match <[u32; 3]>::try_from(&other[..at]) { Ok(v) => v[2], Err(_) => 78 };
    try_into: {
        let found: Result<&[u32; 3], _> = other[..at].try_into();
        match found { Ok(v) => v[0] * 8 + v[2], Err(_) => 78 }
    };
}
