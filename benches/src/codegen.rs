//! What NVIDIA's assembler makes of the vector add's PTX for sm_90, beside what nvcc makes of the same in CUDA C++.
//!
//! - `.registers` and `.instructions`: ours, as `ptxas -v` and nvdisasm count them; a NOP is no instruction;
//! - `.registers_vs_nvcc` and `.instructions_vs_nvcc`: ours divided by nvcc's, for `cuda/vector_add.cu`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use crate::Tools;
use crate::figures::{print, print_measured};
use crate::kernels::vector_add;

/// The CUDA C++ that does the same, checks included.
const TWIN: &str = include_str!("../cuda/vector_add.cu");

/// What a kernel needs.
struct Counts {
    registers: u32,
    instructions: u32,
}

pub(crate) fn run(tools: &Tools) -> Result<()> {
    let folder = std::env::temp_dir().join(format!("cuda-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let counted = both(tools, &folder);
    std::fs::remove_dir_all(&folder)?;
    let (ours, nvcc) = counted?;
    print("codegen.vector_add.registers", ours.registers, "registers");
    print("codegen.vector_add.instructions", ours.instructions, "instructions");
    print("codegen.vector_add.nvcc_registers", nvcc.registers, "registers");
    print("codegen.vector_add.nvcc_instructions", nvcc.instructions, "instructions");
    let ratio = |ours: u32, theirs: u32| f64::from(ours) / f64::from(theirs);
    print_measured("codegen.vector_add.registers_vs_nvcc", ratio(ours.registers, nvcc.registers), "ratio");
    print_measured("codegen.vector_add.instructions_vs_nvcc", ratio(ours.instructions, nvcc.instructions), "ratio");
    Ok(())
}

fn both(tools: &Tools, folder: &Path) -> Result<(Counts, Counts)> {
    let ours = folder.join("ours.ptx");
    std::fs::write(&ours, vector_add::<f32>::compile_ptx((9, 0))?)?;
    let (source, theirs) = (folder.join("twin.cu"), folder.join("twin.ptx"));
    std::fs::write(&source, TWIN)?;
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
    Ok(Counts { registers: registers(&verbose)?, instructions: instructions(&code)? })
}

/// Both outputs of a command that succeeds.
fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}: {command:?}\n{text}", output.status);
    Ok(text.into_owned())
}

/// The number in `Used 12 registers`.
fn registers(verbose: &str) -> Result<u32> {
    let after = verbose.split("Used ").nth(1).and_then(|rest| rest.split(' ').next());
    after.and_then(|number| number.parse().ok()).with_context(|| format!("ptxas counts no registers in\n{verbose}"))
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
    fn registers_are_read_from_the_assembler() {
        let text = "ptxas info    : Compiling entry function 'k'\nptxas info    : Used 12 registers, used 0 barriers\n";
        assert_eq!(registers(text).unwrap(), 12);
        assert!(registers("ptxas info").is_err());
    }

    #[test]
    fn instructions_are_counted_without_those_that_do_nothing() {
        let text = "\t.text.k:\n        /*0000*/                   LDC R1, c[0x0][0x28] ;\n.L_x_1:\n        \
                    /*0010*/              @P0  EXIT ;\n        /*0020*/                   NOP;\n";
        assert_eq!(instructions(text).unwrap(), 2);
        assert!(instructions(".text.k:").is_err());
    }
}
