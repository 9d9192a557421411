//! Translates the output of `llvm-config` to directives for cargo. Only the build script uses it; it is a module of the crate so
//! that it has tests.

use std::path::{Path, PathBuf};

/// A library that `llvm-config` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Library<'a> {
    /// `-lz`: a name that the linker searches for.
    Named(&'a str),
    /// `/usr/lib/x86_64-linux-gnu/libz3.so`: a file.
    File(&'a Path),
}

/// Parses the output of `llvm-config --libs` or `--system-libs`. Flags other than `-l` and `-pthread` are ignored.
///
/// # Errors
///
/// A word that is neither a flag nor a library's file.
pub(crate) fn libraries(printed: &str) -> Result<Vec<Library<'_>>, String> {
    let words = printed.split_whitespace();
    words.filter_map(|word| library(word).transpose()).collect()
}

fn library(word: &str) -> Result<Option<Library<'_>>, String> {
    if let Some(name) = word.strip_prefix("-l") {
        return Ok(Some(Library::Named(name)));
    }
    if word.starts_with('-') {
        return Ok((word == "-pthread").then_some(Library::Named("pthread")));
    }
    let file = Path::new(word);
    match file.is_absolute() && (is_archive(file) || archive_beside(file).is_some()) {
        true => Ok(Some(Library::File(file))),
        false => Err(format!("`{word}` is neither a flag nor a library's file")),
    }
}

fn is_archive(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "a")
}

/// The path of the archive beside a shared library, `libz3.so` or `libz3.so.4`; `None` if `file` is not a shared library.
fn archive_beside(file: &Path) -> Option<PathBuf> {
    let name = file.file_name()?.to_str()?;
    let (stem, version) = name.split_once(".so")?;
    (version.is_empty() || version.starts_with('.')).then(|| file.with_file_name(format!("{stem}.a")))
}

/// The libraries that belong to the C library: linking their archives would link a second C library.
const ALWAYS_SHARED: &[&str] = &["c", "m", "dl", "rt", "pthread"];

/// The directives that link one of the system's libraries, statically if there is an archive of it, so that the executable runs on
/// other machines. `find` is the compiler's search for an archive by its name, `exists` tests for a file.
pub(crate) fn directives(
    library: Library<'_>,
    find: impl Fn(&str) -> Option<PathBuf>,
    exists: impl Fn(&Path) -> bool,
) -> Vec<String> {
    match library {
        Library::Named(name) if ALWAYS_SHARED.contains(&name) => vec![format!("rustc-link-lib=dylib={name}")],
        Library::Named(name) => match find(&format!("lib{name}.a")) {
            Some(archive) => vec![search(&archive), format!("rustc-link-lib=static={name}")],
            None => vec![format!("rustc-link-lib=dylib={name}")],
        },
        Library::File(file) => {
            let archive = archive_beside(file).filter(|archive| exists(archive));
            let file = archive.as_deref().unwrap_or(file);
            let kind = if is_archive(file) { "static" } else { "dylib" };
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            vec![search(file), format!("rustc-link-lib={kind}:+verbatim={name}")]
        }
    }
}

/// The directive that adds a file's folder to the linker's search path.
fn search(file: &Path) -> String {
    format!("rustc-link-search=native={}", file.parent().unwrap_or(file).display())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> Library<'_> {
        Library::File(Path::new(path))
    }

    const Z3: &str = "/usr/lib/x86_64-linux-gnu/libz3.so";

    #[test]
    fn names_and_files_are_read_in_their_order() {
        let printed =
            "-lrt -ldl -lm /usr/lib/x86_64-linux-gnu/libz3.so -lz /opt/lib/libzstd.a\n-lxml2 -pthread -Wl,--as-needed";
        let archive = file("/opt/lib/libzstd.a");
        let named = Library::Named;
        assert_eq!(
            libraries(printed).unwrap(),
            [named("rt"), named("dl"), named("m"), file(Z3), named("z"), archive, named("xml2"), named("pthread")]
        );
        assert_eq!(libraries(" \n"), Ok(Vec::new()));
    }

    #[test]
    fn a_versioned_shared_library_is_a_file() {
        assert_eq!(libraries("/lib/libz3.so.4"), Ok(vec![file("/lib/libz3.so.4")]));
    }

    #[test]
    fn a_word_that_is_no_library_is_an_error_that_names_it() {
        for word in ["libz3.so", "/usr/lib/z3.txt", "/lib/libz3.sock", "z3"] {
            assert_eq!(
                libraries(&format!("-lm {word}")),
                Err(format!("`{word}` is neither a flag nor a library's file"))
            );
        }
    }

    #[test]
    fn archives_are_preferred_except_those_of_the_c_library() {
        let find = |name: &str| Some(Path::new("/usr/lib/gcc").join(name));
        let linked = |library: Library<'_>| directives(library, find, |_| true);
        assert_eq!(linked(Library::Named("m")), ["rustc-link-lib=dylib=m"]);
        assert_eq!(
            linked(Library::Named("zstd")),
            ["rustc-link-search=native=/usr/lib/gcc", "rustc-link-lib=static=zstd"]
        );
        assert_eq!(
            linked(file(Z3)),
            ["rustc-link-search=native=/usr/lib/x86_64-linux-gnu", "rustc-link-lib=static:+verbatim=libz3.a"]
        );
    }

    #[test]
    fn libraries_without_archives_are_linked_as_shared_libraries() {
        let linked = |library: Library<'_>| directives(library, |_| None, |_| false);
        assert_eq!(linked(Library::Named("zstd")), ["rustc-link-lib=dylib=zstd"]);
        for name in ["libz3.so", "libz3.so.4"] {
            assert_eq!(
                linked(file(&format!("/usr/lib/{name}"))),
                ["rustc-link-search=native=/usr/lib".to_owned(), format!("rustc-link-lib=dylib:+verbatim={name}")]
            );
        }
        let archive = file("/opt/lib/libzstd.a");
        assert_eq!(linked(archive), ["rustc-link-search=native=/opt/lib", "rustc-link-lib=static:+verbatim=libzstd.a"]);
    }
}
