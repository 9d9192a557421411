//! Snippets: code that random expressions do not produce, such as names that shadow each other, values that change while they
//! are passed, impls that differ from a derived one, and macros that declare names.
//!
//! A snippet is a template whose numbers, types and expressions are drawn when it is instantiated. Each belongs to a feature. A
//! feature that behaves differently from rustc is a [`State::KnownFailure`], which only `--features` generates until it is
//! fixed. In a snippet `@` stands for a suffix that makes its names unique, `$k` for a small number, `$u32` and other types'
//! names for an expression of that type, `$T` for an integer type and `$e` for an expression of it, `$at` for `@`.

use super::expression::{Inputs, Ty, Writer};

/// The state of a feature: whether device and host agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// They agree: a difference is a finding.
    Supported,
    /// They are known to differ, or the macros refuse code that rustc accepts.
    KnownFailure,
}

/// A template of code.
pub(super) struct Snippet {
    /// Items outside of the function.
    pub(super) items: &'static str,
    /// Statements of its body.
    pub(super) body: &'static str,
    /// The variables that the body declares, for use by other expressions; all are part of the program's hash.
    pub(super) yields: &'static [(&'static str, Ty)],
}

/// Snippets of one kind.
pub(super) struct Feature {
    /// Its name for `--features`.
    pub(super) name: &'static str,
    pub(super) state: State,
    pub(super) snippets: &'static [Snippet],
}

/// The names of the features whose snippets are generated.
#[derive(Clone, Debug)]
pub(crate) struct Chosen(Vec<&'static str>);

impl Chosen {
    /// The supported features.
    pub(super) fn supported() -> Self {
        let supported = super::features::all().filter(|feature| feature.state == State::Supported);
        Self(supported.map(|feature| feature.name).collect())
    }

    /// The supported features and `more`; only those in `only` if it names some.
    ///
    /// # Errors
    ///
    /// If there is no such feature.
    pub(crate) fn new(more: &[String], only: &[String]) -> anyhow::Result<Self> {
        let all = super::features::all;
        for name in more.iter().chain(only) {
            let known: Vec<&str> = all().map(|feature| feature.name).collect();
            anyhow::ensure!(
                name == "all" || known.contains(&name.as_str()),
                "there is no feature `{name}`: {}",
                known.join(", ")
            );
        }
        let asked =
            |names: &[String], feature: &Feature| names.iter().any(|name| name == "all" || *name == feature.name);
        let chosen = all().filter(|feature| match only {
            [] => feature.state == State::Supported || asked(more, feature),
            only => asked(only, feature),
        });
        Ok(Self(chosen.map(|feature| feature.name).collect()))
    }

    /// The snippets of the features.
    pub(super) fn snippets(&self) -> Vec<&'static Snippet> {
        let all = super::features::all().filter(|feature| self.0.contains(&feature.name));
        all.flat_map(|feature| feature.snippets).collect()
    }
}

impl Writer {
    /// Inserts a snippet: its items among the program's, its statements into `text`.
    pub(super) fn snippet(&mut self, text: &mut String, indent: usize) {
        self.inserted += 1;
        if self.snippets.is_empty() {
            return;
        }
        let snippet = self.snippets[self.next_snippet % self.snippets.len()];
        self.next_snippet += 1;
        self.names += 1;
        let own = format!("{}_{}", self.number, self.names);
        let ty = self.integer();
        let inputs = std::mem::replace(&mut self.inputs, Inputs::None);
        let around = std::mem::take(&mut self.variables);
        let (panic_free, callees) = (std::mem::replace(&mut self.panic_free, true), std::mem::take(&mut self.callees));
        let items = self.instantiate(snippet.items, &own, ty);
        self.snippet_items += &items;
        (self.inputs, self.variables, self.panic_free, self.callees) = (inputs, around, panic_free, callees);
        for line in self.instantiate(snippet.body, &own, ty).lines() {
            *text += &format!("{}{line}\n", "    ".repeat(indent));
        }
        for (name, of) in snippet.yields {
            let of = if *of == "T" { ty } else { of };
            self.declare(name.replace('@', &own), of, false);
        }
    }

    /// Fills the placeholders of a template.
    fn instantiate(&mut self, text: &str, own: &str, ty: Ty) -> String {
        const TYPES: [Ty; 6] = ["u32", "i32", "u64", "bool", "f32", "usize"];
        let mut parts = text.split('$');
        let mut written = parts.next().unwrap_or_default().replace('@', own);
        for part in parts {
            let end = part.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(part.len());
            let (gap, rest) = part.split_at(end);
            written += &match gap {
                "k" => (1 + self.random.below(9)).to_string(),
                "T" => ty.to_owned(),
                "e" => self.expression(ty, 2),
                "at" => "@".to_owned(),
                "" => "$".to_owned(),
                gap => match TYPES.into_iter().find(|ty| *ty == gap) {
                    Some(ty) => self.expression(ty, 2),
                    // A metavariable of a macro.
                    None => format!("${gap}"),
                },
            };
            written += &rest.replace('@', own);
        }
        written.replace("#[device]", self.device())
    }
}
