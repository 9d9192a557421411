//! Registers and instructions of the ten kernels on sm_90 after NVIDIA's assembler, compared with those of nvcc for the same
//! kernels in CUDA C++ with the same checks.
//!
//! - `codegen.KERNEL.registers` and `.instructions`: ours, from `ptxas -v` and nvdisasm; NOPs are not counted;
//! - `codegen.KERNEL.nvcc_registers` and `.nvcc_instructions`: those of `cuda/KERNEL.cu`;
//! - `codegen.KERNEL.registers_vs_nvcc` and `.instructions_vs_nvcc`: ours divided by nvcc's;
//! - `codegen.KERNEL.local` and `.nvcc_local`: bytes of local memory, if one of the two uses some;
//! - `codegen.PRODUCT.checked_vs_unchecked`: instructions for each multiplication in a matrix product's innermost loop with
//!   bounds checks, divided by those without.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use crate::Tools;
use crate::figures::{print, print_measured};
use crate::kernels::{TILE, matmul_naive, matmul_naive_unchecked, matmul_tiled, matmul_tiled_unchecked};
use crate::suite::{ALL, Kernel};

/// The resources of a kernel.
pub(crate) struct Counts {
    registers: u32,
    /// Bytes of local memory.
    local: u32,
    pub(crate) instructions: u32,
}

pub(crate) fn run(tools: &Tools) -> Result<()> {
    let folder = tempfile::tempdir()?;
    for kernel in ALL {
        let (ours, nvcc) = both(tools, kernel, folder.path()).with_context(|| kernel.name)?;
        let name = |figure: &str| format!("codegen.{}.{figure}", kernel.name);
        print(&name("registers"), ours.registers, "registers");
        print(&name("nvcc_registers"), nvcc.registers, "registers");
        print(&name("instructions"), ours.instructions, "instructions");
        print(&name("nvcc_instructions"), nvcc.instructions, "instructions");
        let ratio = |ours: u32, theirs: u32| f64::from(ours) / f64::from(theirs);
        print_measured(&name("registers_vs_nvcc"), ratio(ours.registers, nvcc.registers), "ratio");
        print_measured(&name("instructions_vs_nvcc"), ratio(ours.instructions, nvcc.instructions), "ratio");
        if ours.local + nvcc.local > 0 {
            print(&name("local"), ours.local, "bytes");
            print(&name("nvcc_local"), nvcc.local, "bytes");
        }
    }
    let products: [(&str, [String; 2]); 2] = [
        (
            "tiled_matmul",
            [matmul_tiled::<TILE>::compile_ptx((9, 0))?, matmul_tiled_unchecked::<TILE>::compile_ptx((9, 0))?],
        ),
        ("naive_matmul", [matmul_naive::compile_ptx((9, 0))?, matmul_naive_unchecked::compile_ptx((9, 0))?]),
    ];
    for (name, ptx) in products {
        let file = folder.path().join("product.ptx");
        let [checked, unchecked] = ptx.map(|ptx| {
            std::fs::write(&file, ptx)?;
            innermost(&disassembled(tools, &file)?.1)
        });
        print_measured(&format!("codegen.{name}.checked_vs_unchecked"), checked? / unchecked?, "ratio");
    }
    crate::iterators::run(tools, folder.path())
}

fn both(tools: &Tools, kernel: &Kernel, folder: &Path) -> Result<(Counts, Counts)> {
    let file = |what: &str| folder.join(format!("{}.{what}", kernel.name));
    let (ours, source, theirs) = (file("ours.ptx"), file("cu"), file("nvcc.ptx"));
    std::fs::write(&ours, (kernel.ptx)()?)?;
    std::fs::write(&source, kernel.cuda())?;
    let mut nvcc = Command::new(tool(tools, "nvcc")?);
    output(nvcc.args(["-ptx", "-O3", "-arch=sm_90", "-o"]).arg(&theirs).arg(&source))?;
    Ok((count(tools, &ours)?, count(tools, &theirs)?))
}

fn tool<'a>(tools: &'a Tools, name: &str) -> Result<&'a PathBuf> {
    tools.get(name).with_context(|| format!("name the toolkit's {name} with --{name}; `cargo xtask bench` does"))
}

/// Assembles PTX with one kernel; returns the output of ptxas and the disassembly.
fn disassembled(tools: &Tools, ptx: &Path) -> Result<(String, String)> {
    let cubin = ptx.with_extension("cubin");
    let mut ptxas = Command::new(tool(tools, "ptxas")?);
    let verbose = output(ptxas.args(["-v", "-arch=sm_90", "-o"]).arg(&cubin).arg(ptx))?;
    Ok((verbose, output(Command::new(tool(tools, "nvdisasm")?).arg("-c").arg(&cubin))?))
}

pub(crate) fn count(tools: &Tools, ptx: &Path) -> Result<Counts> {
    let (verbose, code) = disassembled(tools, ptx)?;
    Ok(Counts {
        registers: number_before(&verbose, " registers")?,
        local: number_before(&verbose, " bytes stack frame")?,
        instructions: instructions(&code)?,
    })
}

/// Runs a command and returns its standard output and error.
fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}: {command:?}\n{text}", output.status);
    Ok(text.into_owned())
}

/// The number before a word, as in `Used 12 registers`.
fn number_before(verbose: &str, word: &str) -> Result<u32> {
    let before = verbose.split_once(word).and_then(|(before, _)| before.rsplit([' ', '\n']).next());
    before.and_then(|number| number.parse().ok()).with_context(|| format!("ptxas counts no{word} in\n{verbose}"))
}

/// The instruction in a line, as in `/*0010*/ MOV R1, c[0x0][0x28] ;`, unless it is a NOP.
fn instruction(line: &str) -> Option<&str> {
    let text = line.trim().strip_prefix("/*")?.split_once("*/")?.1.trim();
    (text.ends_with(';') && !text.starts_with("NOP")).then_some(text)
}

/// The instructions per fused multiply-add in the innermost loop that has most of these. A loop is the code between a label and
/// a later branch to it.
fn innermost(code: &str) -> Result<f64> {
    let lines: Vec<&str> = code.lines().map(str::trim).collect();
    let mut loops: Vec<&[&str]> = Vec::new();
    for (end, line) in lines.iter().enumerate() {
        let target = line.split_once("BRA `(").and_then(|(_, target)| target.split_once(')'));
        let label = target.map(|(label, _)| format!("{label}:"));
        let Some(start) = label.and_then(|label| lines[..end].iter().position(|&line| line == label)) else { continue };
        let inner = lines[start..=end].as_ptr_range();
        loops.retain(|other| !other.as_ptr_range().contains(&inner.start));
        if !loops.iter().any(|other| inner.contains(&other.as_ptr_range().start)) {
            loops.push(&lines[start..=end]);
        }
    }
    let work = |lines: &[&str]| lines.iter().filter(|line| line.contains("FFMA")).count();
    let body = loops.iter().max_by_key(|lines| work(lines)).filter(|lines| work(lines) > 0);
    let body = body.with_context(|| format!("there is no such loop in\n{code}"))?;
    let instructions = body.iter().filter_map(|line| instruction(line)).count();
    Ok(instructions as f64 / work(body) as f64)
}

/// The number of instructions.
fn instructions(code: &str) -> Result<u32> {
    match code.lines().filter_map(instruction).count() {
        0 => bail!("the output of nvdisasm has no instruction:\n{code}"),
        count => Ok(u32::try_from(count)?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_from_the_assembler() {
        let text = "ptxas info    : Function properties for k\n    32 bytes stack frame, 0 bytes spill stores\n\
                    ptxas info    : Used 12 registers, used 0 barriers\n";
        assert_eq!(number_before(text, " registers").unwrap(), 12);
        assert_eq!(number_before(text, " bytes stack frame").unwrap(), 32);
        assert!(number_before("ptxas info", " registers").is_err());
    }

    #[test]
    fn nops_are_not_counted() {
        let text = "\t.text.k:\n        /*0000*/                   LDC R1, c[0x0][0x28] ;\n.L_x_1:\n        \
                    /*0010*/              @P0  EXIT ;\n        /*0020*/                   NOP;\n";
        assert_eq!(instructions(text).unwrap(), 2);
        assert!(instructions(".text.k:").is_err());
    }

    #[test]
    fn the_innermost_loop_is_counted() {
        let code = ".L_x_1:\n/*0000*/ MOV R1, R2 ;\n.L_x_2:\n/*0010*/ FFMA R1, R1, R2, R3 ;\n/*0020*/ NOP;\n\
                    /*0030*/ @P0 BRA `(.L_x_2) ;\n/*0040*/ @P1 BRA `(.L_x_1) ;\n.L_x_3:\n/*0050*/ BRA `(.L_x_3);\n";
        assert_eq!(innermost(code).unwrap(), 2.0);
        assert!(innermost(".L_x_1:\n/*0000*/ EXIT ;").is_err());
    }
}
