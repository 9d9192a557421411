//! Consumers of iterators: the closures of the iterator have one log, those of the consumer the other.

use super::*;

/// Small numbers.
#[device]
fn elements(v: u64) -> [u32; 10] {
    let mut all = [0u32; 10];
    for k in 0..10 {
        all[k] = (v >> (6 * k) & 7) as u32;
    }
    all
}

methods! {
    for [u64] |x, log, also| {
        let (all, other, n) = (elements(x[0]), elements(x[1]), (x[2] % 8) as u32);
        let (length, skipped) = ((x[3] % 11) as usize, (x[3] >> 8) as usize % 12);
        let mut items = all[..length].iter().map(|v| { note(&mut log, *v); *v });
    }
    mod search {
        all: items.all(|v| { note(&mut also, v); v < n });
        any: items.any(|v| { note(&mut also, v); v == n });
        find: (items.find(|v| { note(&mut also, *v); *v > n }), items.next());
        find_map: (items.find_map(|v| { note(&mut also, v); v.checked_sub(n) }), items.next());
        position: (items.position(|v| { note(&mut also, v); v == n }), items.next());
        rfind: (items.rfind(|v| { note(&mut also, *v); *v > n }), items.next_back());
        rposition: (items.rposition(|v| { note(&mut also, v); v == n }), items.next());
        max: items.max();
        min: items.min();
        max_by: items.enumerate().max_by(|v, w| { note(&mut also, (*v, *w)); v.1.cmp(&w.1) });
        min_by: items.enumerate().min_by(|v, w| { note(&mut also, (*v, *w)); v.1.cmp(&w.1) });
        max_by_key: items.enumerate().max_by_key(|v| { note(&mut also, *v); v.1 / 2 });
        min_by_key: items.enumerate().min_by_key(|v| { note(&mut also, *v); v.1 / 2 });
        is_sorted: items.take(skipped % 4).is_sorted();
        is_sorted_by: items.take(skipped % 4).is_sorted_by(|v, w| { note(&mut also, (*v, *w)); *v <= *w + 2 });
        is_sorted_by_key: items.take(skipped % 4).is_sorted_by_key(|v| { note(&mut also, v); v / 3 });
    }
    mod walk {
        count: items.count();
        fold: items.fold(n, |sum, v| { note(&mut also, sum); sum * 3 + v });
        for_each: { items.for_each(|v| note(&mut also, v)); n };
        last: items.last();
        len: (items.len(), items.nth(skipped), items.len());
        next: (items.next(), items.next(), items.count());
        next_back: (items.next_back(), items.next(), (items.next_back(), items.count()));
        nth: (items.nth(skipped), items.nth(skipped / 2), items.next());
        nth_back: (items.nth_back(skipped), items.nth_back(skipped / 2), items.next_back());
        rfold: items.rfold(n, |sum, v| { note(&mut also, sum); sum * 3 + v });
        reduce: items.reduce(|v, w| { note(&mut also, (v, w)); (v * 3 + w) % 100 });
        sum: items.sum::<u32>();
        product: items.map(|v| v as u64).product::<u64>();
        try_fold: (items.try_fold(n, |sum, v| { note(&mut also, v); if sum > 20 { None } else { Some(sum + v) } }), items.next());
        try_for_each:
            (
                items.try_for_each(|v| { note(&mut also, v); if v > n { Err(v) } else { Ok(()) } }),
                (items.try_for_each(|v| { append(&mut also, 5); if v == n { None } else { Some(()) } }), items.next()),
            );
    }
    mod order {
        eq: items.eq(other[..length].iter().copied()), all[..length].iter().eq(all[..skipped.min(10)].iter());
        ne: items.ne(other[..length].iter().copied()), all[..length].iter().ne(all[..skipped.min(10)].iter());
        lt: items.lt(other.iter().copied()), all[..length].iter().lt(all[..skipped.min(10)].iter());
        le: items.le(other.iter().copied()), all[..length].iter().le(all[..skipped.min(10)].iter());
        gt: items.gt(other.iter().copied()), all[..length].iter().gt(all[..skipped.min(10)].iter());
        ge: items.ge(other.iter().copied()), all[..length].iter().ge(all[..skipped.min(10)].iter());
    }
}
