//! NVTX' list of functions: one line per function, with the slot by which a tool finds it.
//!
//! NVTX is not a library: a program calls a pointer that a tool has set. The header numbers the pointers by enumerators,
//! `NVTX_CBID_CORE2_DomainMarkEx = 1` for `nvtxDomainMarkEx` of the module `CORE2`.

use std::fmt::Write as _;

use anyhow::Result;

use crate::api::Api;
use crate::types::{Function, Split};

pub(crate) fn render(api: &Api, split: &Split, warnings: &mut Vec<String>) -> Result<String> {
    let mut text = crate::head(api, "functions: name, signature, module, number");
    text.push_str("table! {\n");
    for Function { name, parameters, result } in &split.functions {
        let Some((module, number)) = slot(name, &split.text) else {
            warnings.push(format!("`{name}` has no number among the enumerators of {}; it is left out", api.title));
            continue;
        };
        let parameters = parameters.join(", ");
        writeln!(text, "    fn {name}({parameters}) -> {result} = {module}, {number};")?;
    }
    text.push_str("}\n");
    Ok(text)
}

/// The module and slot number of a function, from the enumerators in `text`.
fn slot(name: &str, text: &str) -> Option<(String, u32)> {
    text.lines().find_map(|line| {
        let (module, rest) = line.trim().strip_prefix("NVTX_CBID_")?.split_once('_')?;
        let (function, number) = rest.split_once(" = ")?;
        let number = number.trim_end_matches(',').parse().ok()?;
        (Some(function) == name.strip_prefix("nvtx")).then(|| (module.to_owned(), number))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_functions_slot_is_the_value_of_its_enumerator() {
        let text = "    NVTX_CBID_CORE_MarkA = 2,\n    NVTX_CBID_CORE2_DomainMarkEx = 1,\n";
        assert_eq!(slot("nvtxDomainMarkEx", text), Some(("CORE2".to_owned(), 1)));
        assert_eq!(slot("nvtxMarkA", text), Some(("CORE".to_owned(), 2)));
        assert_eq!(slot("nvtxMark", text), None);
    }
}
