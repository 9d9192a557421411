//! A rule of `tidy`: public items need an example that runs, in the crates that are listed here.
//!
//! An item has an example in its own documentation, or is used by its name in another example of its file: a method as `.name`,
//! an associated function as `Type::name`, other items as the word. Items that are hidden from the documentation need none, with
//! the functions of hidden types and all of hidden modules that nothing re-exports; nor do those of macros and inline modules.
//! The rule reads lines, not syntax: files are formatted, and other steps run the examples.

use std::collections::BTreeSet;

use crate::error_texts::split_tests;

/// The folders in which every public item has an example.
const COMPLETE: &[&str] = &[
    "cuda-sys/src/",
    "cuda-driver/src/",
    "cuda-mem/src/",
    "cuda-nccl/src/",
    "cuda-jit/src/",
    "cuda-jit/cache/src/",
    "cuda-jit/compiler/src/",
    "cuda-jit/kir/src/",
    "cuda-jit/lang/src/",
    "cuda-jit/syntax/src/",
    "cuda-prelude/src/",
    "interop/cudarc/src/",
];

/// The attributes that hide an item from the documentation. The second one does not hide it from rustc, which in its errors names
/// hidden items by their whole paths.
const HIDES: [&str; 2] = ["#[doc(hidden)]", "#[cfg_attr(doc, doc(hidden))]"];

/// The kinds of items to which the rule applies.
const KINDS: &[&str] = &["fn", "struct", "enum", "union", "trait", "type", "const", "static"];

/// The positions of the public items that have no example.
pub(crate) fn lacking(files: &[(String, String)]) -> Vec<String> {
    let complete = |name: &str| COMPLETE.iter().any(|folder| name.starts_with(folder)) && !name.contains("/generated/");
    let files: Vec<_> = files.iter().filter(|(name, _)| name.ends_with(".rs") && complete(name)).collect();
    let hidden: Vec<Hidden<'_>> = files.iter().flat_map(|(name, text)| Hidden::declared(name, text)).collect();
    let in_file = |(name, text): &&(String, String)| {
        lacking_in(name, text, hidden.iter().find(|module| module.paths.iter().any(|path| name.starts_with(path))))
    };
    files.iter().copied().flat_map(|file| in_file(&file)).collect()
}

/// A module that is hidden from the documentation.
struct Hidden<'a> {
    /// The paths that its files start with.
    paths: [String; 2],
    /// The names of its items that its parent re-exports, which the documentation shows there.
    shown: BTreeSet<&'a str>,
}

impl<'a> Hidden<'a> {
    /// The hidden modules that a file declares, but for those that it re-exports whole.
    fn declared(name: &str, text: &'a str) -> Vec<Self> {
        let folder = name.strip_suffix("/lib.rs").or_else(|| name.strip_suffix("/mod.rs"));
        let folder = folder.or_else(|| name.strip_suffix(".rs")).unwrap_or(name);
        let begins = HIDES.iter().flat_map(|attribute| {
            let begin = format!("\n{attribute}\npub mod ");
            text.split(&begin).skip(1).collect::<Vec<_>>()
        });
        let declared = begins.filter_map(|rest| {
            let module = rest.split_once(';').map(|(module, _)| module).filter(|module| module.chars().all(is_word))?;
            let uses: Vec<&str> = re_exports(text, module).collect();
            let shown = uses.iter().flat_map(|list| list.split(|c| !is_word(c))).collect();
            let paths = [".rs", "/"].map(|end| format!("{folder}/{module}{end}"));
            (!uses.contains(&"*")).then_some(Hidden { paths, shown })
        });
        declared.collect()
    }

    /// Returns true if the documentation shows an item of this module.
    fn shows(&self, item: &str, owner: Option<&str>) -> bool {
        self.shown.contains(owner.unwrap_or(item))
    }
}

/// The paths in a module that a file re-exports and shows.
fn re_exports<'a>(text: &'a str, module: &str) -> impl Iterator<Item = &'a str> {
    let start = format!("\npub use {module}::");
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let at = rest.find(&start)?;
            let is_hidden = HIDES.iter().any(|attribute| rest[..at].ends_with(&format!("\n{attribute}")));
            rest = &rest[at + start.len()..];
            let (list, _) = rest.split_once(';')?;
            if !is_hidden {
                return Some(list);
            }
        }
    })
}

/// The positions of a file's public items that have no example; `hidden` is the hidden module that the file belongs to.
fn lacking_in(name: &str, text: &str, hidden: Option<&Hidden<'_>>) -> Vec<String> {
    let text = split_tests(text).0;
    let (lines, shown) = (text.lines().collect::<Vec<_>>(), run(text));
    let (mut faults, mut owner, mut documented) = (Vec::new(), None, 0);
    let (mut hidden_types, mut in_attribute) = (BTreeSet::new(), false);
    for (at, line) in lines.iter().enumerate() {
        let word = line.trim_start();
        if word.starts_with("#[") || in_attribute {
            in_attribute = !word.ends_with(']');
            continue;
        } else if word.starts_with("///") {
            continue;
        } else if let Some(of) = implementing(line) {
            owner = Some(of);
        } else if *line == "}" {
            owner = None;
        }
        // The lines before an item, back to the previous item, belong to it.
        let own = &lines[std::mem::replace(&mut documented, at + 1)..at];
        let inside = line.starts_with(' ') && owner.is_none();
        let Some((kind, item)) = public(word).filter(|_| !inside) else { continue };
        let is_hidden = own.iter().any(|line| HIDES.contains(&line.trim_start()));
        if is_hidden && owner.is_none() {
            hidden_types.insert(item);
        }
        let is_unseen = is_hidden
            || owner.is_some_and(|owner| hidden_types.contains(owner))
            || hidden.is_some_and(|module| !module.shows(item, owner));
        let has_example =
            || !run(&own.join("\n")).is_empty() || pattern(kind, item, owner, &lines[at..]).is_shown(&shown);
        if !is_unseen && !has_example() {
            let of = owner.map(|owner| format!("{owner}::")).unwrap_or_default();
            faults.push(format!("{name}:{}: no example shows `{of}{item}`", at + 1));
        }
    }
    faults
}

/// Returns true if a line of documentation opens an example that is run.
fn is_run(line: &str) -> bool {
    let line = line.trim_start().trim_start_matches(['/', '!']).trim();
    line == "```" || line == "```should_panic"
}

/// The code of a file's examples.
pub(crate) fn run(text: &str) -> String {
    let (mut code, mut open) = (String::new(), None);
    for line in text.lines().map(str::trim_start).filter(|line| line.starts_with("//")) {
        open = match open {
            None if line.contains("```") => Some(is_run(line)),
            Some(_) if line.contains("```") => None,
            open => open,
        };
        if open == Some(true) {
            code.extend([line.trim_start_matches(['/', '!']), "\n"]);
        }
    }
    code
}

/// The type of the `impl` block that the line opens, if it opens one.
fn implementing(line: &str) -> Option<&str> {
    let header = line.strip_prefix("unsafe ").unwrap_or(line).strip_prefix("impl")?;
    if header.ends_with('}') {
        return None;
    }
    let header = header.rsplit_once(" for ").map_or(header, |(_, of)| of);
    // Skips the generic parameters of the `impl`.
    let of = if header.starts_with('<') { header.split_once("> ")?.1 } else { header.trim_start() };
    of.split(['<', ' ', '{']).next()
}

/// The kind and the name of the public item that the line opens, if it opens one.
fn public(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix("pub ")?.trim_start_matches("const unsafe ").trim_start_matches("unsafe ");
    let rest = if rest.starts_with("const fn") { rest.trim_start_matches("const ") } else { rest };
    let (kind, rest) = rest.split_once(' ')?;
    let name = rest.split(|c: char| !is_word(c)).next()?;
    KINDS.contains(&kind).then_some((kind, name))
}

/// The texts by which code uses an item.
struct Pattern(Vec<String>);

fn pattern(kind: &str, name: &str, owner: Option<&str>, from: &[&str]) -> Pattern {
    let mut signature =
        from.iter().take_while(|line| !line.ends_with('{')).chain(from.iter().find(|l| l.ends_with('{')));
    let takes_self = signature.any(|line| line.contains("self)") || line.contains("self,"));
    Pattern(match owner {
        Some(_) if kind == "fn" && takes_self => [".", "::"].map(|before| format!("{before}{name}")).to_vec(),
        // The second one where the type has parameters: `Type::<u8>::name`.
        Some(owner) => vec![format!("{owner}::{name}"), format!(">::{name}")],
        None => vec![name.to_owned()],
    })
}

impl Pattern {
    fn is_shown(&self, code: &str) -> bool {
        self.0.iter().any(|used| {
            code.match_indices(used.as_str()).any(|(at, _)| {
                let (before, after) = (code[..at].chars().next_back(), code[at + used.len()..].chars().next());
                let begins = used.starts_with(['.', ':', '>']) || !before.is_some_and(is_word);
                begins && !after.is_some_and(is_word)
            })
        })
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_files(files: &[(&str, &str)]) -> Vec<String> {
        lacking(&files.iter().map(|(name, text)| (String::from(*name), String::from(*text))).collect::<Vec<_>>())
    }

    #[track_caller]
    fn lacks(text: &str, names: &[&str]) {
        let faults = of_files(&[("cuda-sys/src/a.rs", text)]);
        let found: Vec<_> = faults.iter().map(|fault| fault.split('`').nth(1).unwrap_or_default()).collect();
        assert_eq!(found, names, "{faults:?}");
    }

    /// A type with functions, and the documentation before it.
    fn of_type(docs: &str) -> String {
        let functions =
            "impl A {\n    pub fn new() -> A {\n    }\n    pub const fn b(\n        &self,\n    ) -> u8 {\n    }\n}\n";
        format!("{docs}pub struct A;\n\n{functions}")
    }

    #[test]
    fn an_item_needs_an_example_that_uses_it() {
        lacks(&of_type(""), &["A", "A::new", "A::b"]);
        lacks(&of_type("/// ```\n/// let a = A::new();\n/// ```\n"), &["A::b"]);
        lacks(&of_type("/// ```\n/// A::new().b();\n/// ```\n"), &[]);
        lacks(&of_type("/// ```\n/// A::<u8>::new().b();\n/// ```\n"), &[]);
        lacks(&of_type("/// ```\n/// A::newer().bb();\n/// ```\n"), &["A::new", "A::b"]);
        lacks("/// It.\n///\n/// ```\n/// assert!(true);\n/// ```\n#[must_use]\npub fn own() {\n}\n", &[]);
        lacks("/// It.\npub const fn own() {\n}\npub unsafe trait T {\n}\n", &["own", "T"]);
        lacks(
            "//! ```\n//! own(C);\n//! ```\npub fn own(c: u8) {\n}\npub const C: u8 = 1;\npub type D = u8;\n",
            &["D"],
        );
    }

    #[test]
    fn an_example_that_is_not_run_does_not_count() {
        lacks(&of_type("/// A::new().b()\n"), &["A", "A::new", "A::b"]);
        lacks(&of_type("/// ```text\n/// A::new().b()\n/// ```\n"), &["A", "A::new", "A::b"]);
        lacks(&of_type("/// ```compile_fail\n/// A::new().b()\n/// ```\n"), &["A", "A::new", "A::b"]);
    }

    #[test]
    fn an_item_that_is_not_documented_needs_no_example() {
        lacks("#[doc(hidden)]\npub fn a() {\n}\npub(crate) fn b() {\n}\nfn c() {\n}\npub use a::b;\n", &[]);
        lacks("#[doc(hidden)]\n#[expect(\n    unused,\n    reason = \"it is\"\n)]\npub fn a() {\n}\n", &[]);
        lacks("mod sealed {\n    pub trait Sealed {}\n}\n", &[]);
        lacks("#[cfg(test)]\nmod tests {\n}\npub fn a() {\n}\n", &[]);
        for hides in HIDES {
            lacks(&of_type(&format!("{hides}\n")), &[]);
        }
        for exempt in ["cuda-sim/src/a.rs", "cuda-sys/src/generated/a.rs", "cuda-sys/src/a.md"] {
            assert_eq!(of_files(&[(exempt, &of_type(""))]), Vec::<String>::new());
        }
    }

    #[test]
    fn the_items_of_a_hidden_module_need_examples_where_they_are_re_exported() {
        let faults = |parent: &str, file| {
            let found = of_files(&[("cuda-sys/src/lib.rs", parent), (file, &of_type("pub struct B;\n"))]);
            found.iter().map(|fault| fault.split('`').nth(1).unwrap_or_default().to_owned()).collect::<Vec<_>>()
        };
        for hides in HIDES {
            let declared = &format!("//! It.\n\n{hides}\npub mod a;\n");
            for file in ["cuda-sys/src/a.rs", "cuda-sys/src/a/b.rs"] {
                assert!(faults(declared, file).is_empty());
                assert!(faults(&format!("{declared}#[doc(hidden)]\npub use a::{{A, B}};\n"), file).is_empty());
                assert_eq!(faults(&format!("{declared}pub use a::{{\n    A,\n}};\n"), file), ["A", "A::new", "A::b"]);
                assert_eq!(faults(&format!("{declared}pub use a::b::B;\n"), file), ["B"]);
                assert_eq!(faults(&format!("{declared}pub use a::*;\n"), file), ["B", "A", "A::new", "A::b"]);
            }
            assert_eq!(faults(declared, "cuda-sys/src/ab.rs").len(), 4);
        }
    }

    #[test]
    fn functions_belong_to_the_type_that_is_implemented() {
        let name = |line| implementing(line).unwrap_or_default();
        assert_eq!(name("impl<'a, T: Into<u8>> From<T> for Deep<'a> {"), "Deep");
        assert_eq!((name("impl Graph {"), name("unsafe impl Send for Raw {")), ("Graph", "Raw"));
        assert_eq!(implementing("impl std::error::Error for LoadError {}"), None);
    }
}
