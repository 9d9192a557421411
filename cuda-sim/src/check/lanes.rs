//! Loops over the addresses that the threads of a block have recorded, in vectors.
//!
//! # Safety
//!
//! A function for wider vectors is called after the processor was asked for them.

use crate::codegen::abi::NOT_ACCESSED;

/// Defines a function with the widest vectors of the processor, whose body is `$body`.
macro_rules! in_vectors {
    ($(#[$doc:meta])* $name:ident = $body:ident($($argument:ident: $ty:ty),*) -> $result:ty) => {
        $(#[$doc])*
        #[inline]
        pub(super) fn $name($($argument: $ty),*) -> $result {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
                fn of_512_bits($($argument: $ty),*) -> $result {
                    $body($($argument),*)
                }
                #[target_feature(enable = "avx2")]
                fn of_256_bits($($argument: $ty),*) -> $result {
                    $body($($argument),*)
                }
                use std::arch::is_x86_feature_detected as has;
                if has!("avx512bw") && has!("avx512dq") && has!("avx512vl") {
                    // SAFETY: the processor has the features; each implies `avx512f`.
                    return unsafe { of_512_bits($($argument),*) };
                }
                if has!("avx2") {
                    // SAFETY: the processor has the feature.
                    return unsafe { of_256_bits($($argument),*) };
                }
            }
            $body($($argument),*)
        }
    };
}

/// The addresses that are compared at a time.
const LANES: usize = 16;

in_vectors! {
    /// Returns the number of leading addresses that continue as the first one plus multiples of `step`.
    leading = leading_in(addresses: &[u64], step: u64) -> usize
}

#[inline(always)]
fn leading_in(addresses: &[u64], step: u64) -> usize {
    let next = &addresses[1..];
    let mut at = 0;
    while let (Some((from, _)), Some((to, _))) =
        (addresses[at..].split_first_chunk::<LANES>(), next[at..].split_first_chunk::<LANES>())
    {
        // A bit for each difference that is another one, without a branch in between.
        let mut others = 0;
        for lane in 0..LANES {
            others |= u32::from(to[lane].wrapping_sub(from[lane]) != step) << lane;
        }
        if others != 0 {
            return at + others.trailing_zeros() as usize + 1;
        }
        at += LANES;
    }
    while at < next.len() && next[at].wrapping_sub(addresses[at]) == step {
        at += 1;
    }
    at + 1
}

/// The lowest and the highest address of a row, and the bits that are set in one of them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) bits: u64,
}

in_vectors! {
    /// Returns the extent of the addresses that were accessed.
    extent = extent_in(addresses: &[u64]) -> Extent
}

#[inline(always)]
fn extent_in(addresses: &[u64]) -> Extent {
    // An address that was not accessed is the highest one, and its successor is 0.
    let (mut first, mut end, mut bits) = (NOT_ACCESSED, 0, 0);
    for address in addresses {
        first = first.min(*address);
        end = end.max(address.wrapping_add(1));
        bits |= if *address == NOT_ACCESSED { 0 } else { *address };
    }
    Extent { first, last: end.wrapping_sub(1), bits }
}

in_vectors! {
    /// Returns true if all addresses are multiples of `align` from `start` on and at most `most` after it, which is less than half
    /// of the address space, and then makes them [`NOT_ACCESSED`]. Addresses of threads that made no access are not.
    take_within = take_within_in(addresses: &mut [u64], start: u64, most: u64, align: u64) -> bool
}

#[inline(always)]
fn take_within_in(addresses: &mut [u64], start: u64, most: u64, align: u64) -> bool {
    // The highest bit is set if an offset is negative or too large.
    let mut bits = 0;
    for address in &*addresses {
        let offset = address.wrapping_sub(start);
        bits |= offset | most.wrapping_sub(offset) & (1 << 63);
    }
    let is_within = bits & (1 << 63 | (align - 1)) == 0;
    if is_within {
        addresses.fill(NOT_ACCESSED);
    }
    is_within
}

/// The offset of an address that is not in the page.
pub(super) const NOT_IN_PAGE: u16 = u16::MAX;

in_vectors! {
    /// Writes the offsets of addresses in a page of at most 32 KiB, and [`NOT_IN_PAGE`] for those that are not in it.
    offsets = offsets_in(addresses: &[u64], page: u64, bytes: u64, to: &mut [u16]) -> ()
}

#[inline(always)]
fn offsets_in(addresses: &[u64], page: u64, bytes: u64, to: &mut [u16]) {
    for (address, to) in addresses.iter().zip(to) {
        let offset = address.wrapping_sub(page);
        *to = if offset < bytes { offset as u16 } else { NOT_IN_PAGE };
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn leading_addresses_are_counted_up_to_the_first_that_differs() {
        for (count, step) in [(1, 4), (15, 4), (16, 8), (17, 0), (64, 4), (100, 0)] {
            let mut addresses: Vec<u64> = (0..count).map(|at| 4096 + at * step).collect();
            assert_eq!(leading(&addresses, step), count as usize);
            for at in 1..count as usize {
                addresses[at] += 1;
                assert_eq!(leading(&addresses, step), at, "{count} {step}");
                addresses[at] -= 1;
            }
        }
    }
    #[test]
    fn an_extent_leaves_out_threads_that_made_no_access() {
        for count in [1, 7, 16, 100] {
            let addresses: Vec<u64> = (0..count).map(|at| 4096 + (at * 37 % 64) * 4).collect();
            let expected = |all: &[u64]| Extent {
                first: all.iter().copied().min().unwrap_or(NOT_ACCESSED),
                last: all.iter().copied().max().unwrap_or(NOT_ACCESSED),
                bits: all.iter().fold(0, |bits, address| bits | address),
            };
            assert_eq!(extent(&addresses), expected(&addresses));
            for left_out in 0..addresses.len() {
                let mut some = addresses.clone();
                some[left_out] = NOT_ACCESSED;
                let others: Vec<u64> = some.iter().copied().filter(|address| *address != NOT_ACCESSED).collect();
                assert_eq!(extent(&some), expected(&others), "{count} {left_out}");
            }
        }
    }

    #[test]
    fn addresses_are_within_a_range_if_each_one_is() {
        let addresses: Vec<u64> = (0..37).map(|at| 4096 + at * 8).collect();
        let most = 36 * 8;
        let are_within = |addresses: &[u64], start: u64, most: u64| {
            let mut taken = addresses.to_vec();
            let is_within = take_within(&mut taken, start, most, 8);
            assert!(if is_within { taken.iter().all(|at| *at == NOT_ACCESSED) } else { taken == addresses });
            is_within
        };
        assert!(are_within(&addresses, 4096, most));
        assert!(!are_within(&addresses, 4104, most) && !are_within(&addresses, 4096, most - 1));
        for at in 0..addresses.len() {
            for wrong in [0, 4088, 4096 + most + 8, 4097, NOT_ACCESSED, 1 << 63, (1 << 63) + 4096] {
                let mut some = addresses.clone();
                some[at] = wrong;
                assert!(!are_within(&some, 4096, most), "{at} {wrong:#x}");
            }
        }
    }

    #[test]
    fn offsets_are_those_of_addresses_in_the_page() {
        let addresses: Vec<u64> = (0..100).map(|at| 4096 * 7 - 200 + at * 44).chain([NOT_ACCESSED, 0]).collect();
        let mut found = vec![0; addresses.len()];
        offsets(&addresses, 4096 * 7, 4096, &mut found);
        let expected = |at: &u64| if at / 4096 == 7 { (at % 4096) as u16 } else { NOT_IN_PAGE };
        assert_eq!(found, addresses.iter().map(expected).collect::<Vec<_>>());
        assert!(found.iter().filter(|at| **at == NOT_IN_PAGE).count() > 3);
    }
}
