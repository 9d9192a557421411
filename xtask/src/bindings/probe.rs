//! The ABI probe: asks the machine's C compiler whether what the bindings claim of the headers is so.
//!
//! bindgen's view is libclang's. Sizes, alignments, offsets, values of enumerators, and which version each symbol has are
//! handed to `cc` as static assertions over the same headers; nothing is run.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::workspace::{Scratch, output};

/// Compiles the facts against the headers in `include`; how many there were.
pub(crate) fn probe(include: &Path, facts: &[String]) -> Result<usize> {
    let scratch = Scratch::new("probe")?;
    let file = scratch.path().join("probe.c");
    let mut text = String::from("#include <stddef.h>\n");
    for header in ["cuda.h", "cudaProfiler.h", "cudaTypedefs.h", "cudaProfilerTypedefs.h"] {
        text += &format!("#include <{header}>\n");
    }
    for fact in facts {
        text += &format!("_Static_assert({fact}, \"\");\n");
    }
    std::fs::write(&file, text)?;
    let mut cc = Command::new("cc");
    cc.args(["-std=c11", "-fsyntax-only", "-I"]).arg(include).args(super::headers::MACROS).arg(&file);
    output(&mut cc).context("the C compiler does not agree with the bindings")?;
    Ok(facts.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_false_fact_is_an_error_that_shows_it() {
        let include = Scratch::new("probe-headers").unwrap();
        std::fs::write(include.path().join("cuda.h"), "struct pair { char a; int b; };").unwrap();
        for header in ["cudaProfiler.h", "cudaTypedefs.h", "cudaProfilerTypedefs.h"] {
            std::fs::write(include.path().join(header), "").unwrap();
        }
        let facts =
            |size: u32| vec![format!("sizeof(struct pair) == {size}"), "offsetof(struct pair, b) == 4".to_owned()];
        assert_eq!(probe(include.path(), &facts(8)).unwrap(), 2);
        let error = format!("{:#}", probe(include.path(), &facts(5)).unwrap_err());
        assert!(error.contains("sizeof(struct pair) == 5"), "{error}");
    }
}
