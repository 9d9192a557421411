//! `embed_kernels!("FILE")`: finds the bundle file below the package's folder.
//!
//! The macro does not read the file. The expansion includes the file's bytes, and a constant asserts that they are a
//! bundle.

use std::path::Path;

use proc_macro2::TokenStream;
use quote::quote;
use syn::LitStr;

/// Expands to an expression of `Result<()>`.
pub(crate) fn expand(root: &TokenStream, tokens: TokenStream) -> TokenStream {
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    match syn::parse2::<LitStr>(tokens) {
        Ok(file) => of_file(root, Path::new(&folder), &file),
        Err(error) => {
            let text = format!("{error}; `embed_kernels!` takes the path of a bundle's file, as a string literal");
            syn::Error::new(error.span(), text).to_compile_error()
        }
    }
}

fn of_file(root: &TokenStream, folder: &Path, file: &LitStr) -> TokenStream {
    let path = folder.join(file.value());
    let literal = LitStr::new(&path.to_string_lossy(), file.span());
    if path.is_file() { quote!(#root::embedded_bundle!(#literal)) } else { quote!(#root::missing_bundle!(#literal)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(folder: &Path, name: &str) -> String {
        of_file(&quote!(root), folder, &LitStr::new(name, proc_macro2::Span::call_site())).to_string()
    }

    #[test]
    fn a_file_that_is_there_is_embedded_and_another_is_missing() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
        assert_eq!(expanded(folder, "Cargo.toml"), format!("root :: embedded_bundle ! ({:?})", path("Cargo.toml")));
        assert_eq!(expanded(folder, "no.bundle"), format!("root :: missing_bundle ! ({:?})", path("no.bundle")));
    }

    #[test]
    fn what_is_no_path_is_told_so() {
        let reported = expand(&quote!(root), quote!(kernels.bundle)).to_string();
        assert!(reported.contains("takes the path of a bundle's file, as a string literal"), "{reported}");
    }
}
