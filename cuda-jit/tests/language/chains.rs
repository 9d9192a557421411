//! Chains of iterator methods against the standard library's, with closures that log their arguments in order; and
//! user-defined iterators.

use super::differ;
use cuda_jit::device::grid;
use cuda_jit::{DeviceType, device, kernel};

/// Appends a closure's argument to the log of its earlier ones.
#[device]
fn note(log: &mut u32, v: u32) {
    *log = log.wrapping_mul(31).wrapping_add(v.wrapping_add(1));
}

/// A test for each chain: its results, and the arguments of two closures, for slices of several lengths.
macro_rules! chains {
    ($($name:ident($x:ident, $y:ident, $a:ident, $b:ident) $body:block)*) => { $(
        #[test]
        fn $name() {
            #[kernel]
            fn program($x: &[u32], $y: &[u32], out: &mut [u32]) {
                let (mut $a, mut $b) = (0u32, 0u32);
                note(&mut $a, $x.len() as u32);
                note(&mut $b, $y.len() as u32);
                let yielded: u32 = $body;
                out[0] = yielded;
                out[1] = $a;
                out[2] = $b;
            }
            let numbers = [7u32, 3, 9, 4, 4, 11, 2, 8, 6, 1, 5];
            for (first, second) in [(0, 0), (0, 3), (1, 1), (1, 0), (2, 5), (5, 2), (7, 7), (11, 4), (4, 11)] {
                differ!(program, (1, 1), [&numbers[..first], &numbers[..second]], vec![0u32; 3]);
            }
        }
    )* };
}

chains! {
    map_take_rev(x, y, a, b) {
        x.iter().map(|v| { note(&mut a, *v); v * 2 }).take(2).rev().fold(0, |all, v| { note(&mut b, v); all * 7 + v })
    }
    map_step_by_rev(x, y, a, b) {
        x.iter().map(|v| { note(&mut a, *v); v + 1 }).step_by(3).rev().fold(1, |all, v| { note(&mut b, v); all * 3 + v })
    }
    zip_of_maps_rev(x, y, a, b) {
        x.iter().map(|v| { note(&mut a, *v); *v }).zip(y.iter().map(|v| { note(&mut b, *v); *v }))
            .rev().fold(0, |all, (v, w)| all * 3 + v * w)
    }
    zip_of_maps(x, y, a, b) {
        let mut pairs = x.iter().map(|v| { note(&mut a, *v); *v }).zip(y.iter().map(|v| { note(&mut b, *v); *v }));
        let mut all = 0u32;
        while let Some((v, w)) = pairs.next() {
            all = all.wrapping_mul(5) + v * w;
        }
        all + pairs.next().is_none() as u32
    }
    map_skip_rev(x, y, a, b) {
        x.iter().map(|v| { note(&mut a, *v); *v }).skip(2).rev().map(|v| { note(&mut b, v); v }).sum::<u32>()
    }
    skip_of_map(x, y, a, b) {
        x.iter().map(|v| { note(&mut a, *v); *v }).skip(3).map(|v| { note(&mut b, v); v }).sum::<u32>()
    }
    filter_both_ends(x, y, a, b) {
        let mut even = x.iter().filter(|v| { note(&mut a, **v); **v % 2 == 0 });
        let (first, last) = (even.next().copied().unwrap_or(90), even.next_back().copied().unwrap_or(80));
        even.for_each(|v| note(&mut b, *v));
        first * 100 + last
    }
    filter_map_rev(x, y, a, b) {
        x.iter().filter_map(|v| { note(&mut a, *v); if v % 2 == 1 { Some(v / 2) } else { None } })
            .rev().inspect(|v| note(&mut b, *v)).fold(0, |all, v| all * 2 + v)
    }
    chained(x, y, a, b) {
        x.iter().map(|v| { note(&mut a, *v); *v }).chain(y.iter().map(|v| { note(&mut b, *v); v * 2 })).step_by(2).fold(0, |all, v| all * 3 + v)
    }
    chained_from_the_back(x, y, a, b) {
        x.iter().chain(y).map(|v| { note(&mut a, *v); *v }).rev().take(4).fold(0, |all, v| { note(&mut b, v); all * 3 + v })
    }
    enumerated_from_the_back(x, y, a, b) {
        x.iter().enumerate().map(|(i, v)| { note(&mut a, i as u32); i as u32 * v }).rev().fold(0, |all, v| { note(&mut b, v); all * 3 + v })
    }
    taken_while(x, y, a, b) {
        x.iter().take_while(|v| { note(&mut a, **v); **v > 3 }).map(|v| { note(&mut b, *v); *v }).sum::<u32>()
    }
    skipped_while(x, y, a, b) {
        x.iter().skip_while(|v| { note(&mut a, **v); **v > 3 }).map(|v| { note(&mut b, *v); *v }).sum::<u32>()
    }
    mapped_while(x, y, a, b) {
        let mut all = x.iter().map_while(|v| { note(&mut a, *v); v.checked_sub(3) });
        let first = all.next().unwrap_or(50);
        all.by_ref().take(2).for_each(|v| note(&mut b, v));
        first * 10 + all.next().unwrap_or(70)
    }
    scanned(x, y, a, b) {
        x.iter().scan(1u32, |state, v| { note(&mut a, *v); *state = state.wrapping_mul(*v); if *state > 5000 { None } else { Some(*state) } })
            .fold(0, |all, v| { note(&mut b, v); all ^ v })
    }
    flat_mapped(x, y, a, b) {
        x.iter().flat_map(|v| { note(&mut a, *v); 0..*v % 4 }).map(|v| { note(&mut b, v); v + 1 }).sum::<u32>()
    }
    flat_mapped_both_ends(x, y, a, b) {
        let mut all = x.iter().flat_map(|v| { note(&mut a, *v); y[..(*v as usize).min(y.len())].iter() });
        let ends = all.next().copied().unwrap_or(5) * 100 + all.next_back().copied().unwrap_or(6);
        all.for_each(|v| note(&mut b, *v));
        ends
    }
    peeked(x, y, a, b) {
        let mut all = x.iter().map(|v| { note(&mut a, *v); *v }).peekable();
        let mut groups = 0u32;
        while let Some(v) = all.next() {
            if let Some(next) = all.peek() {
                note(&mut b, *next);
                if *next > v {
                    groups += 1;
                }
            }
        }
        groups
    }
    fused(x, y, a, b) {
        let mut all = x.iter().map_while(|v| { note(&mut a, *v); if *v == 4 { None } else { Some(*v) } }).fuse();
        let mut sum = 0;
        for _ in 0..9 {
            if let Some(v) = all.next() {
                note(&mut b, v);
                sum += v;
            }
        }
        sum
    }
    stepped_and_taken(x, y, a, b) {
        let mut all = x.iter().map(|v| { note(&mut a, *v); *v }).step_by(2);
        let second = all.nth(1).unwrap_or(60);
        note(&mut b, second);
        all.sum::<u32>() + second
    }
    decided(x, y, a, b) {
        let any = x.iter().any(|v| { note(&mut a, *v); *v == 4 });
        let all = y.iter().all(|v| { note(&mut b, *v); *v > 2 });
        any as u32 * 2 + all as u32
    }
    found(x, y, a, b) {
        let first = x.iter().find(|v| { note(&mut a, **v); **v % 2 == 0 }).copied().unwrap_or(77);
        let place = y.iter().position(|v| { note(&mut b, *v); *v == 9 }).unwrap_or(55) as u32;
        first * 100 + place
    }
    found_from_the_back(x, y, a, b) {
        let last = x.iter().rfind(|v| { note(&mut a, **v); **v % 2 == 0 }).copied().unwrap_or(77);
        let place = y.iter().rposition(|v| { note(&mut b, *v); *v == 9 }).unwrap_or(55) as u32;
        last * 100 + place
    }
    found_and_mapped(x, y, a, b) {
        x.iter().find_map(|v| { note(&mut a, *v); v.checked_sub(8) }).unwrap_or(99)
            + y.iter().try_fold(0u32, |all, v| { note(&mut b, *v); if *v == 4 { None } else { Some(all + v) } }).unwrap_or(1000)
    }
    extreme(x, y, a, b) {
        let largest = x.iter().max_by_key(|v| { note(&mut a, **v); **v % 5 }).copied().unwrap_or(44);
        let smallest = y.iter().min_by(|v, w| { note(&mut b, **v * 16 + **w); (**v % 4).cmp(&(**w % 4)) }).copied().unwrap_or(33);
        largest * 100 + smallest + x.iter().max().copied().unwrap_or(7) * 10 + y.iter().min().copied().unwrap_or(8)
    }
    reduced(x, y, a, b) {
        x.iter().copied().reduce(|v, w| { note(&mut a, v * 16 + w); v.wrapping_mul(3) ^ w }).unwrap_or(5)
            ^ y.iter().rfold(0, |all: u32, v| { note(&mut b, *v); all.wrapping_mul(3).wrapping_add(*v) })
    }
    counted(x, y, a, b) {
        let (count, last) = (x.iter().map(|v| note(&mut a, *v)).count(), y.iter().map(|v| { note(&mut b, *v); *v }).last());
        count as u32 * 100 + last.unwrap_or(50)
    }
    windows_and_chunks(x, y, a, b) {
        x.windows(3).rev().for_each(|w| note(&mut a, w[0] + w[2] * 16));
        let mut chunks = y.chunks(3);
        let last = chunks.next_back().map_or(40, |chunk| chunk.len() as u32);
        chunks.for_each(|chunk| note(&mut b, chunk[0] + chunk[2]));
        last + x.chunks_exact(2).map(|pair| pair[0] * pair[1]).sum::<u32>()
    }
    compared(x, y, a, b) {
        let same = x.iter().map(|v| { note(&mut a, *v); *v }).eq(y.iter().map(|v| { note(&mut b, *v); *v }));
        same as u32 + x.iter().is_sorted() as u32 * 2 + y.iter().is_sorted_by_key(|v| *v / 4) as u32 * 4
    }
    ranges(x, y, a, b) {
        let n = x.len() as u32;
        (1..=n).rev().step_by(2).for_each(|v| note(&mut a, v));
        let numbers = n..n + 4;
        for v in numbers.rev().skip(1) {
            note(&mut b, v);
        }
        (250..=255u8).map(|v| u32::from(v)).sum::<u32>() + (3i8..).take(3).map(|v| v as u32).sum::<u32>() + (5..3).count() as u32
    }
    characters(x, y, a, b) {
        let mut count = 0u32;
        for c in '\u{d7fd}'..'\u{e002}' {
            note(&mut a, c as u32);
            count += 1;
        }
        let first = char::from(b'a' + x.len() as u8);
        for c in first..='p' {
            note(&mut b, c as u32);
        }
        count + ('a'..='z').rev().step_by(5).map(|c| c as u32).sum::<u32>()
    }
    by_turns(x, y, a, b) {
        let mut all = x.iter().copied();
        let mut sum = 0;
        for v in all.by_ref().take(3) {
            note(&mut a, v);
            sum += v;
        }
        for v in &mut all {
            note(&mut b, v);
            if v == 4 {
                break;
            }
        }
        sum * 10 + all.count() as u32
    }
    length_is_known(x, y, a, b) {
        let pairs = x.iter().zip(y).enumerate().skip(1);
        note(&mut a, pairs.len() as u32);
        note(&mut b, x.chunks(2).len() as u32);
        (0..x.len()).rev().len() as u32
    }
    cycled(x, y, a, b) {
        let mut all = x.iter().map(|v| *v * 3).filter(|v| v % 4 != 2).cycle();
        note(&mut a, all.next().unwrap_or(1));
        let first = all.by_ref().take(y.len() + 3).fold(0u32, |all, v| all.wrapping_mul(3).wrapping_add(v));
        note(&mut b, y.iter().copied().cycle().skip(2).step_by(3).take(9).sum::<u32>());
        first ^ all.position(|v| v == 27 || v == 21 || v == 3).unwrap_or(99) as u32 ^ all.nth(13).unwrap_or(5)
    }
    tried(x, y, a, b) {
        let option = x.iter().try_fold(0u32, |all, v| { note(&mut a, *v); all.checked_add(*v).filter(|all| *all < 25) });
        let result = y.iter().try_fold(1u32, |all, v| { note(&mut b, *v); if *v == 4 { Err((all, 7u8)) } else { Ok(all.wrapping_mul(*v)) } });
        let second = result.map_or_else(|(all, seven)| all + u32::from(seven), |all| all * 2);
        option.unwrap_or(500) * 3 + second
    }
    tried_for_each(x, y, a, b) {
        let first = x.iter().try_for_each(|v| { note(&mut a, *v); if *v == 9 { None } else { Some(()) } });
        let mut rest = y.iter();
        let second: Result<(), u32> = rest.try_for_each(|v| { note(&mut b, *v); if *v % 2 == 0 { Err(*v) } else { Ok(()) } });
        first.is_some() as u32 * 100 + second.err().unwrap_or(50) + rest.len() as u32 * 1000
    }
    summed_attempts(x, y, a, b) {
        let options: Option<u32> = x.iter().map(|v| { note(&mut a, *v); v.checked_sub(4) }).sum();
        let results: Result<u32, u8> = y.iter().map(|v| { note(&mut b, *v); if *v == 8 { Err(*v as u8) } else { Ok(*v) } }).product();
        let whole = x.iter().map(|v| Some(v + 1)).product::<Option<u32>>();
        options.unwrap_or(77) * 10 + results.map_or_else(u32::from, |v| v * 3).wrapping_add(whole.unwrap_or(5))
    }
    ordered(x, y, a, b) {
        let less = x.iter().map(|v| { note(&mut a, *v); *v }).lt(y.iter().map(|v| { note(&mut b, *v); *v }));
        let greater = x.iter().map(|v| { note(&mut a, *v); *v as f32 }).gt(y.iter().map(|v| { note(&mut b, *v); if *v == 2 { f32::NAN } else { *v as f32 } }));
        let at_most = x.iter().le(y);
        let at_least = x.iter().rev().map(|v| v / 4).ge(y.iter().rev().map(|v| v / 4));
        let order = x.iter().map(|v| { note(&mut a, *v); *v / 2 }).cmp(y.iter().map(|v| { note(&mut b, *v); *v / 2 }));
        let partly = x.iter().map(|v| { note(&mut a, *v); *v as f32 }).partial_cmp(y.iter().map(|v| if *v == 3 { f32::NAN } else { *v as f32 }));
        let orders = (order as i8 + 1) as u32 * 32 + partly.map_or(3, |order| (order as i8 + 1) as u32) * 128;
        orders + less as u32 + greater as u32 * 2 + at_most as u32 * 4 + at_least as u32 * 8 + x.iter().ne(y) as u32 * 16
    }
    options_and_results(x, y, a, b) {
        let flat = x.iter().map(|v| { note(&mut a, *v); v.checked_sub(5) }).flatten().sum::<u32>();
        let ends = y.iter().chain(x.first()).flat_map(|v| { note(&mut b, *v); if *v > 4 { Ok(*v) } else { Err(()) } }).rev();
        flat * 3 + ends.fold(1u32, |all, v| all.wrapping_mul(5).wrapping_add(v))
    }
}

/// A sequence in which each number is the sum of the two before it.
#[derive(Clone, Copy, DeviceType)]
struct Fibonacci {
    now: u32,
    next: u32,
}

#[device]
impl Iterator for Fibonacci {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let now = self.now;
        self.now = self.next;
        self.next = match now.checked_add(self.next) {
            Some(next) => next,
            None => return None,
        };
        Some(now)
    }
}

#[test]
fn iterators_of_the_users_own_have_all_methods() {
    #[kernel]
    fn program(x: &[u32], out: &mut [u32]) {
        let i = grid::<1>();
        let numbers = Fibonacci { now: i as u32, next: 1 };
        let mut all = 0u32;
        for n in numbers {
            all = all.wrapping_add(n);
        }
        for (n, x) in numbers.zip(x).filter(|pair| pair.0 % 2 == 0) {
            all = all.wrapping_mul(3).wrapping_add(n ^ x);
        }
        let mut rest = numbers.skip(3).step_by(2);
        out[i] = all ^ rest.next().unwrap() ^ rest.map(|n| n / 2).take(3).sum::<u32>();
    }
    differ!(program, (1, 4), [&[1, 2, 3, 4, 5][..]], vec![0u32; 4]);
}

/// The numbers from `low` to before `high`, taken from both ends.
#[derive(Clone, Copy, DeviceType)]
struct Between {
    low: i32,
    high: i32,
}

#[device]
impl Iterator for Between {
    type Item = i32;

    fn next(&mut self) -> Option<i32> {
        if self.low >= self.high {
            return None;
        }
        self.low += 1;
        Some(self.low - 1)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = (self.high - self.low).max(0) as usize;
        (left, Some(left))
    }
}

#[device]
impl DoubleEndedIterator for Between {
    fn next_back(&mut self) -> Option<i32> {
        if self.low >= self.high {
            return None;
        }
        self.high -= 1;
        Some(self.high)
    }
}

#[device]
impl ExactSizeIterator for Between {
    fn len(&self) -> usize {
        if self.low < self.high { (self.high - self.low) as usize } else { 0 }
    }
}

#[test]
fn iterators_of_the_users_own_have_two_ends() {
    #[kernel]
    fn program(x: &[i32], out: &mut [i32]) {
        let i = grid::<1>();
        let numbers = Between { low: -3, high: i as i32 * 2 };
        out[i] = numbers.rev().zip(x.iter().rev()).fold(0, |all, (a, b)| all * 5 + a * b)
            + numbers.len() as i32 * 1000
            + numbers.enumerate().rev().map(|(k, v)| k as i32 * v).sum::<i32>();
    }
    differ!(program, (1, 4), [&[1, 2, 3, 4, 5, 6, 7, 8, 9][..]], vec![0i32; 4]);
}
