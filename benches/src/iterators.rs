//! Iterator chains and methods of `Option`, each compared with a hand-written loop or `match`, for sm_90.
//!
//! - `codegen.iterators.CHAIN.instructions` and `.loop_instructions`: those of the chain and of the loop;
//! - `codegen.iterators.CHAIN.vs_loop`: the first divided by the second;
//! - `codegen.options.METHODS.*`: the same, compared with a `match`.

use std::path::Path;

use anyhow::{Context as _, Result};
use cuda_jit::device::grid;
use cuda_jit::kernel;

use crate::Tools;
use crate::codegen::count;
use crate::figures::{print, print_measured};

/// Declares pairs of kernels: a name, and the two bodies, which compute a number from the thread's index and two slices.
macro_rules! pairs {
    ($($name:ident = $group:literal $i:ident $x:ident $y:ident $chain:block $by_hand:block)*) => {
        $(
            mod $name {
                use super::*;

                #[kernel]
                pub(super) fn chain($x: &[f32], $y: &[f32], out: &mut [f32]) {
                    let $i = grid::<1>();
                    if $i < out.len() {
                        out[$i] = $chain;
                    }
                }

                #[kernel]
                pub(super) fn by_hand($x: &[f32], $y: &[f32], out: &mut [f32]) {
                    let $i = grid::<1>();
                    if $i < out.len() {
                        out[$i] = $by_hand;
                    }
                }
            }
        )*

        /// The group and name of each pair, and their PTX.
        fn all() -> Result<Vec<(&'static str, &'static str, [String; 2])>> {
            Ok(vec![$((
                $group,
                stringify!($name),
                [$name::chain::compile_ptx((9, 0))?, $name::by_hand::compile_ptx((9, 0))?],
            )),*])
        }
    };
}

pairs! {
    zip_map_sum = "iterators" i x y {
        x[i..].iter().zip(y).map(|(a, b)| a * b).sum::<f32>()
    } {
        let (x, mut sum) = (&x[i..], 0.0);
        for k in 0..x.len().min(y.len()) {
            sum += x[k] * y[k];
        }
        sum
    }

    windows = "iterators" i x y {
        x[i..].windows(3).map(|w| w[0] * y[0] + w[1] * y[1] + w[2] * y[2]).sum::<f32>()
    } {
        let (x, mut sum) = (&x[i..], 0.0);
        if x.len() >= 3 {
            for k in 0..x.len() - 2 {
                sum += x[k] * y[0] + x[k + 1] * y[1] + x[k + 2] * y[2];
            }
        }
        sum
    }

    chunks = "iterators" i x y {
        let mut sum = y[0];
        for chunk in x[i..].chunks(4) {
            let mut product = 1.0;
            for v in chunk {
                product *= v;
            }
            sum += product;
        }
        sum
    } {
        let (x, mut sum, mut first) = (&x[i..], y[0], 0);
        while first < x.len() {
            let mut product = 1.0;
            for k in first..x.len().min(first + 4) {
                product *= x[k];
            }
            sum += product;
            first += 4;
        }
        sum
    }

    filter = "iterators" i x y {
        x[i..].iter().filter(|v| **v > y[0]).map(|v| v * v).sum::<f32>()
    } {
        let (x, mut sum) = (&x[i..], 0.0);
        for k in 0..x.len() {
            let v = x[k];
            if v > y[0] {
                sum += v * v;
            }
        }
        sum
    }

    take_while = "iterators" i x y {
        x[i..].iter().take_while(|v| **v < y[0]).count() as f32
    } {
        let (x, mut count) = (&x[i..], 0);
        while count < x.len() && x[count] < y[0] {
            count += 1;
        }
        count as f32
    }

    rev = "iterators" i x y {
        x[i..].iter().rev().fold(y[0], |sum, v| sum * 0.5 + v)
    } {
        let (x, mut sum) = (&x[i..], y[0]);
        let mut k = x.len();
        while k > 0 {
            k -= 1;
            sum = sum * 0.5 + x[k];
        }
        sum
    }

    enumerate = "iterators" i x y {
        x[i..].iter().enumerate().map(|(k, v)| v * k as f32).fold(y[0], |a, b| a + b)
    } {
        let (x, mut sum) = (&x[i..], y[0]);
        for k in 0..x.len() {
            sum += x[k] * k as f32;
        }
        sum
    }

    position = "iterators" i x y {
        x[i..].iter().position(|v| *v == y[0]).map_or(-1.0, |k| k as f32)
    } {
        let (x, mut found) = (&x[i..], -1.0);
        for k in 0..x.len() {
            if x[k] == y[0] {
                found = k as f32;
                break;
            }
        }
        found
    }

    step_by = "iterators" i x y {
        (i..x.len()).step_by(32).map(|k| x[k] * y[0]).sum::<f32>()
    } {
        let (mut k, mut sum) = (i, 0.0);
        while k < x.len() {
            sum += x[k] * y[0];
            k += 32;
        }
        sum
    }

    get_map = "options" i x y {
        x.get(i + 1).map(|v| v * 2.0).or(y.get(i).copied()).unwrap_or(0.5)
    } {
        if i + 1 < x.len() {
            x[i + 1] * 2.0
        } else if i < y.len() {
            y[i]
        } else {
            0.5
        }
    }

    checked = "options" i x y {
        let mut sum = y[0];
        for k in 0..x.len() {
            sum += k.checked_sub(i).and_then(|k| x.get(k)).filter(|v| **v > 1.0).map_or(0.25, |v| v * 3.0);
        }
        sum
    } {
        let mut sum = y[0];
        for k in 0..x.len() {
            sum += if k >= i && x[k - i] > 1.0 { x[k - i] * 3.0 } else { 0.25 };
        }
        sum
    }

    largest = "options" i x y {
        let mut largest: Option<f32> = None;
        for v in &x[i..] {
            largest = Some(largest.map_or(*v, |l| if *v > l { *v } else { l }));
        }
        largest.unwrap_or(y[0])
    } {
        let (mut largest, mut any) = (0.0, false);
        for v in &x[i..] {
            largest = if any && largest >= *v { largest } else { *v };
            any = true;
        }
        if any { largest } else { y[0] }
    }
}

pub(crate) fn run(tools: &Tools, folder: &Path) -> Result<()> {
    for (group, name, ptx) in all()? {
        let file = folder.join("chain.ptx");
        let [chain, by_hand] = ptx.map(|ptx| {
            std::fs::write(&file, ptx)?;
            count(tools, &file)
        });
        let (chain, by_hand) = (chain.context(name)?.instructions, by_hand.context(name)?.instructions);
        let figure = |figure: &str| format!("codegen.{group}.{name}.{figure}");
        print(&figure("instructions"), chain, "instructions");
        print(&figure("loop_instructions"), by_hand, "instructions");
        print_measured(&figure("vs_loop"), f64::from(chain) / f64::from(by_hand), "ratio");
    }
    Ok(())
}
