//! What NVIDIA's assembler makes of the ten kernels' PTX for sm_90, beside what nvcc makes of the same in CUDA C++ with
//! the same checks.
//!
//! - `codegen.KERNEL.registers` and `.instructions`: ours, as `ptxas -v` and nvdisasm count them; a NOP is no instruction;
//! - `codegen.KERNEL.nvcc_registers` and `.nvcc_instructions`: those of `cuda/KERNEL.cu`;
//! - `codegen.KERNEL.registers_vs_nvcc` and `.instructions_vs_nvcc`: ours divided by nvcc's;
//! - `codegen.KERNEL.local` and `.nvcc_local`: bytes of local memory, where one of the two has some.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use crate::Tools;
use crate::figures::{print, print_measured};
use crate::ten::{ALL, Kernel};

/// What a kernel needs.
struct Counts {
    registers: u32,
    /// Bytes of local memory.
    local: u32,
    instructions: u32,
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
    Ok(())
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

/// Assembles PTX that holds one kernel and counts.
fn count(tools: &Tools, ptx: &Path) -> Result<Counts> {
    let cubin = ptx.with_extension("cubin");
    let mut ptxas = Command::new(tool(tools, "ptxas")?);
    let verbose = output(ptxas.args(["-v", "-arch=sm_90", "-o"]).arg(&cubin).arg(ptx))?;
    let code = output(Command::new(tool(tools, "nvdisasm")?).arg("-c").arg(&cubin))?;
    Ok(Counts {
        registers: number_before(&verbose, " registers")?,
        local: number_before(&verbose, " bytes stack frame")?,
        instructions: instructions(&code)?,
    })
}

/// Both outputs of a command that succeeds.
fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}: {command:?}\n{text}", output.status);
    Ok(text.into_owned())
}

/// The number that stands before a word, as in `Used 12 registers`.
fn number_before(verbose: &str, word: &str) -> Result<u32> {
    let before = verbose.split_once(word).and_then(|(before, _)| before.rsplit([' ', '\n']).next());
    before.and_then(|number| number.parse().ok()).with_context(|| format!("ptxas counts no{word} in\n{verbose}"))
}

/// The lines with an instruction, `/*0010*/ MOV R1, c[0x0][0x28] ;`, without those that do nothing.
fn instructions(code: &str) -> Result<u32> {
    let instruction = |line: &str| Some(line.trim().strip_prefix("/*")?.split_once("*/")?.1.trim().to_owned());
    let found = code.lines().filter_map(instruction).filter(|text| text.ends_with(';'));
    match found.filter(|text| !text.starts_with("NOP")).count() {
        0 => bail!("nvdisasm shows no instruction in\n{code}"),
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
    fn instructions_are_counted_without_those_that_do_nothing() {
        let text = "\t.text.k:\n        /*0000*/                   LDC R1, c[0x0][0x28] ;\n.L_x_1:\n        \
                    /*0010*/              @P0  EXIT ;\n        /*0020*/                   NOP;\n";
        assert_eq!(instructions(text).unwrap(), 2);
        assert!(instructions(".text.k:").is_err());
    }
}
