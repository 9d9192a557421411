//! [`JitError`]: the driver's compile error for a module, with its position.
//!
//! The driver's log is kept whole. The line is parsed from it, in the forms that drivers write (`ptxas application ptx
//! input, line 7; error : ...`, `line 7, column 3`); it is `None` if the log has none.

use std::fmt;

use cuda_sys::CUresult;

/// The driver's compiler refused a module.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// use cuda_driver::{Driver, Error, Module};
///
/// let context = Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let ptx = ".version 7.8\n.target sm_75\n.address_size 64\nnonsense\n";
/// // SAFETY: the module is refused, so nothing of it can run.
/// let Err(Error::Jit(error)) = (unsafe { Module::load_ptx(&context, ptx) }) else { panic!() };
/// assert_eq!(error.line, Some(4));
/// println!("{error}");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JitError {
    /// The driver's status code.
    pub code: CUresult,
    /// The code's name as the driver gives it.
    pub name: String,
    /// The driver's log; empty if it wrote none.
    pub log: String,
    /// The first line of the PTX that the log names, from 1.
    pub line: Option<u32>,
    /// The column in that line, from 1, where the log names one.
    pub column: Option<u32>,
}

impl JitError {
    pub(crate) fn new(code: CUresult, name: String, log: String) -> Self {
        let line = number_after(&log, "line");
        let column = line.and_then(|_| number_after(&log, "column"));
        JitError { code, name, log, line, column }
    }
}

impl fmt::Display for JitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the driver refuses the module: {} ({})", self.name, self.code.0)?;
        if let Some(line) = self.line {
            write!(f, " at line {line}")?;
        }
        if let Some(column) = self.column {
            write!(f, ", column {column}")?;
        }
        match self.log.trim_end() {
            "" => f.write_str("; it wrote no log"),
            log => write!(f, "; its log:\n{log}"),
        }
    }
}

impl std::error::Error for JitError {}

/// The number after the first occurrence of `word` that a number follows.
fn number_after(text: &str, word: &str) -> Option<u32> {
    text.match_indices(word).find_map(|(at, _)| {
        let rest = text[at + word.len()..].trim_start_matches([' ', ':']);
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        rest[..digits].parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(log: &str) -> JitError {
        JitError::new(CUresult::CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX".into(), log.into())
    }

    #[test]
    fn the_line_is_read_from_a_log_of_ptxas() {
        let error = error("ptxas application ptx input, line 7; fatal   : Parsing error near 'nonsense': syntax error");
        assert_eq!((error.line, error.column), (Some(7), None));
        assert!(error.to_string().contains("CUDA_ERROR_INVALID_PTX (218) at line 7; its log:\nptxas application"));
    }

    #[test]
    fn line_and_column_are_read_where_both_are_named() {
        assert_eq!(
            (error("guideline: see line 12, column 5").line, error("line 12, column 5").column),
            (Some(12), Some(5))
        );
    }

    #[test]
    fn a_log_without_line_has_none() {
        let error = error("");
        assert_eq!((error.line, error.column), (None, None));
        assert_eq!(error.to_string(), "the driver refuses the module: CUDA_ERROR_INVALID_PTX (218); it wrote no log");
    }
}
