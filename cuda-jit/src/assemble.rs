//! Machine code without a driver: NVIDIA's `ptxas` assembles a kernel's PTX and reports its resources, `nvdisasm`
//! disassembles it.
//!
//! Both are searched as [`cuda_sys::toolkit`] describes.

use std::path::{Path, PathBuf};
use std::process::Command;

use cuda_sys::toolkit::Environment;
use object::{Object, ObjectSection};

use crate::error::{Error, Result};
use crate::target::Target;

/// A kernel's machine code, and its resources as reported by `ptxas`.
///
/// # Examples
///
/// ```
/// use cuda_jit::inspect::{self, Assembled};
/// use cuda_jit::{Result, kernel};
///
/// #[kernel]
/// fn first(out: &mut [u32]) {
///     out[0] = 1;
/// }
///
/// fn uses_few_registers(kernel: &Assembled) -> Result<bool> {
///     println!("{}", kernel.sass()?);
///     Ok(kernel.registers <= 32)
/// }
///
/// match inspect::assemble::<first>((9, 0)).and_then(|kernel| uses_few_registers(&kernel)) {
///     Ok(few) => assert!(few),
///     Err(error) => println!("{error}"), // no toolkit
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Assembled {
    /// The machine code, an ELF file.
    pub cubin: Vec<u8>,
    /// Registers per thread.
    pub registers: u32,
    /// Static shared memory per block, in bytes.
    pub shared_bytes: u32,
    /// Local memory per thread, in bytes.
    pub local_bytes: u32,
    /// Constant memory, the parameters' included, in bytes.
    pub const_bytes: u32,
}

impl Assembled {
    pub(crate) fn new(ptx: &str, target: Target) -> Result<Self> {
        let ptxas = tool("ptxas")?;
        let folder = tempfile::tempdir().map_err(|error| Error::Tool(format!("no temporary folder: {error}")))?;
        let (source, cubin) = (folder.path().join("kernel.ptx"), folder.path().join("kernel.cubin"));
        std::fs::write(&source, ptx).map_err(|error| unusable(&source, &error))?;
        let mut command = Command::new(ptxas);
        if ptx.lines().any(|line| line.starts_with(".target") && line.ends_with(", debug")) {
            command.arg("-g");
        }
        let verbose = run(command.arg("-v").arg(format!("-arch={target}")).arg("-o").arg(&cubin).arg(&source))?;
        let bytes = std::fs::read(&cubin).map_err(|error| unusable(&cubin, &error))?;
        Ok(Self::read(&verbose, bytes))
    }

    /// Parses the figures of `ptxas -v`, and reads those that are only in the machine code.
    fn read(verbose: &str, cubin: Vec<u8>) -> Self {
        let sum = |unit: &str| numbers_before(verbose, unit).sum();
        Assembled {
            registers: numbers_before(verbose, " registers").next().unwrap_or(0),
            shared_bytes: sum(" bytes smem"),
            local_bytes: sum(" bytes stack frame"),
            const_bytes: const_bytes(&cubin),
            cubin,
        }
    }

    /// The machine code as text, by NVIDIA's `nvdisasm`.
    ///
    /// # Errors
    ///
    /// [`Error::Tool`] if it is missing, with the places that were searched, or fails.
    pub fn sass(&self) -> Result<String> {
        self.disassembled("-c")
    }

    /// The control-flow graph of the machine code, in the language of Graphviz, by NVIDIA's `nvdisasm`: one node for each
    /// basic block.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::{Error, inspect, kernel};
    ///
    /// #[kernel]
    /// fn first(out: &mut [u32]) {
    ///     out[0] = 1;
    /// }
    ///
    /// match inspect::assemble::<first>((9, 0)).and_then(|assembled| assembled.sass_cfg()) {
    ///     Ok(graph) => assert!(graph.starts_with("digraph") && graph.contains("first")),
    ///     Err(error) => assert!(matches!(error, Error::Tool(_)), "{error}"),
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// The same as [`sass`](Assembled::sass).
    pub fn sass_cfg(&self) -> Result<String> {
        self.disassembled("-cfg")
    }

    fn disassembled(&self, form: &str) -> Result<String> {
        let nvdisasm = tool("nvdisasm")?;
        let file =
            tempfile::NamedTempFile::new().map_err(|error| Error::Tool(format!("no temporary file: {error}")))?;
        std::fs::write(file.path(), &self.cubin).map_err(|error| unusable(file.path(), &error))?;
        run(Command::new(nvdisasm).arg(form).arg(file.path()))
    }
}

/// The sizes of the banks of constant memory; newer versions of `ptxas` do not print them.
fn const_bytes(cubin: &[u8]) -> u32 {
    let Ok(file) = object::File::parse(cubin) else { return 0 };
    let banks = file.sections().filter(|section| section.name().is_ok_and(|name| name.starts_with(".nv.constant")));
    banks.map(|bank| u32::try_from(bank.size()).unwrap_or(u32::MAX)).sum()
}

/// The numbers right before a unit.
fn numbers_before<'a>(text: &'a str, unit: &'a str) -> impl Iterator<Item = u32> + 'a {
    text.match_indices(unit)
        .filter_map(move |(at, _)| text[..at].rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok())
}

fn tool(name: &str) -> Result<PathBuf> {
    Environment::from_process().tool(name).map_err(|missing| Error::Tool(missing.to_string()))
}

fn unusable(path: &Path, error: &std::io::Error) -> Error {
    Error::Tool(format!("{}: {error}", path.display()))
}

/// Both outputs of a tool; an error if it fails.
fn run(command: &mut Command) -> Result<String> {
    let program = PathBuf::from(command.get_program());
    let failed = |why: String| Error::Tool(format!("{}: {why}", program.display()));
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => return Err(failed(error.to_string())),
    };
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(text.into_owned()) } else { Err(failed(format!("{}\n{text}", output.status))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_of_ptxas_are_read() {
        let verbose = "ptxas info    : Compiling entry function 'k' for 'sm_90'\n\
                       ptxas info    : Function properties for k\n    \
                       48 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
                       ptxas info    : Used 12 registers, used 1 barriers, 48 bytes cumulative stack size, \
                       1024 bytes smem\n";
        let read = Assembled::read(verbose, Vec::new());
        assert_eq!((read.registers, read.shared_bytes, read.local_bytes), (12, 1024, 48));
    }

    #[test]
    fn a_tool_that_fails_says_what_it_said() {
        let error = run(Command::new("sh").args(["-c", "echo no such arch >&2; exit 3"])).unwrap_err().to_string();
        assert!(error.starts_with("sh: exit status: 3\n") && error.contains("no such arch"), "{error}");
        let error = run(&mut Command::new("/nowhere/ptxas")).unwrap_err().to_string();
        assert!(error.starts_with("/nowhere/ptxas: "), "{error}");
    }
}
