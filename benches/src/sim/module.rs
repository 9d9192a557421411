//! A module of many kernels of which a program launches one: its load compared with the parser alone, and the first launch.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::hint::black_box;

use anyhow::{Context as _, Result};
use cuda_sim::ptx::{self, Item};

use super::large::{attention, conjugate_gradient};
use super::load::fastest;
use crate::figures::{print_measured, time};
use crate::kernels::{TILE, matmul_tiled, vector_add};
use crate::suite::softmax;

/// Copies of each kernel.
const COPIES: usize = 16;

/// Measures the module in new processes.
pub(super) fn figures() -> Result<()> {
    let (text, kernel) = module()?;
    let megabytes = text.len() as f64 / 1e6;
    let parse = time(3, 21, || drop(black_box(ptx::parse(black_box(&text)))));
    let folder = tempfile::tempdir()?;
    let new = fastest(&kernel, &text, None)?;
    fastest(&kernel, &text, Some(folder.path()))?;
    let kept = fastest(&kernel, &text, Some(folder.path()))?;
    let print = |what: &str, value, unit| print_measured(&format!("sim.module.{what}"), value, unit);
    print("megabytes", megabytes, "MB");
    print("parse_ms", parse * 1e3, "ms");
    print("load_ms", new.load * 1e3, "ms");
    print("load_vs_parse", new.load / parse, "x");
    print("first_launch_ms", new.launch * 1e3, "ms");
    print("kept_load_ms", kept.load * 1e3, "ms");
    print("kept_launch_ms", kept.launch * 1e3, "ms");
    Ok(())
}

/// A module of all copies of all kernels, and the name of the kernel that is launched.
fn module() -> Result<(String, String)> {
    const TARGET: (u32, u32) = (9, 0);
    let kernels = [
        vector_add::<f32>::compile_ptx(TARGET)?,
        matmul_tiled::<TILE>::compile_ptx(TARGET)?,
        softmax::compile_ptx(TARGET)?,
        attention::compile_ptx(TARGET)?,
        conjugate_gradient::compile_ptx(TARGET)?,
    ];
    let (head, _) = split(&kernels[0])?;
    let (mut text, mut launched) = (head.to_owned(), None);
    for (index, kernel) in kernels.iter().enumerate() {
        let items = ptx::parse(kernel).context("the device reads what our compiler writes")?.items;
        let entry = items.iter().find_map(|item| match item {
            Item::Function(function) => Some(&function.name),
            _ => None,
        });
        launched = launched.or_else(|| Some(format!("{}_0_0", entry?)));
        let names = items.iter().filter_map(|item| match item {
            Item::Function(function) => Some(function.name.as_str()),
            Item::Variable(variable) => Some(variable.name.as_str()),
            _ => None,
        });
        let names = names.collect();
        for copy in 0..COPIES {
            writeln!(text, "{}", renamed(split(kernel)?.1, &names, &format!("_{index}_{copy}")))?;
        }
    }
    Ok((text, launched.context("there is no kernel")?))
}

/// Splits a text after its directives, the last of which is the address size.
fn split(text: &str) -> Result<(&str, &str)> {
    const LAST: &str = ".address_size 64";
    let at = text.find(LAST).with_context(|| format!("no {LAST} in\n{text}"))? + LAST.len();
    Ok(text.split_at(at))
}

/// Adds a suffix to these names in a text.
fn renamed(text: &str, names: &HashSet<&str>, suffix: &str) -> String {
    let belongs = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%');
    let mut renamed = String::with_capacity(text.len() + text.len() / 8);
    for piece in text.split_inclusive(|c| !belongs(c)) {
        let (name, rest) = piece.split_at(piece.trim_end_matches(|c| !belongs(c)).len());
        renamed.push_str(name);
        if names.contains(name) {
            renamed.push_str(suffix);
        }
        renamed.push_str(rest);
    }
    renamed
}
