//! The errors of a link, in the words of NVIDIA's linker, which clients search for.

/// A name without a definition, or with several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LinkError {
    /// A name that no module defines, and the module that declares it, if one does.
    Undefined { symbol: String, module: Option<usize> },
    /// A name that two modules define.
    MultipleDefinitions { symbol: String, module: usize, first: usize },
}

impl LinkError {
    /// Formats the error, with the names of the modules in their order.
    pub(crate) fn text(&self, names: &[String]) -> String {
        let name = |module: usize| names.get(module).map_or("the input", String::as_str);
        match self {
            LinkError::Undefined { symbol, module } => {
                format!("Undefined reference to '{symbol}' in '{}'", module.map_or("the input", name))
            }
            LinkError::MultipleDefinitions { symbol, module, first } => {
                format!("Multiple definition of '{symbol}' in '{}', first defined in '{}'", name(*module), name(*first))
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn names_of_symbols_and_modules_are_told() {
        let names = ["a.ptx", "b.ptx"].map(str::to_owned);
        let undefined = |module| LinkError::Undefined { symbol: "f".to_owned(), module }.text(&names);
        assert_eq!(undefined(Some(1)), "Undefined reference to 'f' in 'b.ptx'");
        assert_eq!(undefined(None), "Undefined reference to 'f' in 'the input'");
        let several = LinkError::MultipleDefinitions { symbol: "x".to_owned(), module: 1, first: 0 };
        assert_eq!(several.text(&names), "Multiple definition of 'x' in 'b.ptx', first defined in 'a.ptx'");
    }
}
