//! Slices and arrays.

use super::*;

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
    last_chunk: { if let Some([v, w]) = part.last_chunk() { note(&mut log, (*v, *w)) }; all.last_chunk::<11>().is_some() };
    is_sorted: part[..at.min(3)].is_sorted(), { part.sort_unstable(); part.is_sorted() };
    binary_search: { part.sort_unstable(); (part.binary_search(&wanted), part.binary_search(&9)) };
    swap: { if at < length { part.swap(at, length - 1); part.swap(0, at) }; all };
    reverse: { part.reverse(); all };
    rotate_left: { part.rotate_left(at); all };
    rotate_right: { part.rotate_right(at); all };
    fill: { part.fill(wanted); all };
    copy_from_slice: { part.copy_from_slice(&other[10 - length..]); all };
    clone_from_slice: { part.clone_from_slice(&other[10 - length..]); all };
    swap_with_slice: { let mut others = other; part.swap_with_slice(&mut others[10 - length..]); (all, others) };
    sort_unstable: { part.sort_unstable(); all };
    sort_unstable_by: { part.sort_unstable_by(|v, w| w.cmp(v)); all };
    sort_unstable_by_key: { part.sort_unstable_by_key(|v| (*v % 3, *v)); all };
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
