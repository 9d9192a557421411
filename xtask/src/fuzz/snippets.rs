//! Snippets: what random expressions do not come upon. Names that shadow each other, values that change while they are passed
//! on, impls that differ from what a derive would write, macros with names of their own.
//!
//! A snippet is a text whose numbers, types and expressions are drawn when it is written. Each belongs to a feature, and a
//! feature that the language does not yet mean as rustc does is [`State::Open`]: only `--features` writes it, until it is
//! mended. In a snippet `@` stands for what tells it from all others, `$k` for a small number, `$u32` and other types'
//! names for an expression of that type, `$T` for one type of integers and `$e` for an expression of it, `$at` for `@`.

use super::expression::{Inputs, Ty, Writer};

/// Snippets whose device results are compared with rustc's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It does: a difference is a finding.
    Mended,
    /// It does not, or the macros refuse what rustc takes.
    Open,
}

/// A text to be completed.
pub(super) struct Snippet {
    /// Items beside the function.
    pub(super) items: &'static str,
    /// Statements of its body.
    pub(super) body: &'static str,
    /// The names that these bind, for other expressions to read; all go into the program's number.
    pub(super) yields: &'static [(&'static str, Ty)],
}

/// Snippets of one kind.
pub(super) struct Feature {
    /// Its name for `--features`.
    pub(super) name: &'static str,
    pub(super) state: State,
    pub(super) snippets: &'static [Snippet],
}

/// The features whose snippets are written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chosen(Vec<&'static str>);

impl Chosen {
    /// Those that are mended, and `more`; if `only` names some, those alone.
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
            [] => feature.state == State::Mended || asked(more, feature),
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
    /// Writes a snippet: its items to the program's, its statements to `text`.
    pub(super) fn snippet(&mut self, text: &mut String, indent: usize) {
        self.written += 1;
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
        let (total, callees) = (std::mem::replace(&mut self.total, true), std::mem::take(&mut self.callees));
        let items = self.completed(snippet.items, &own, ty);
        self.beside += &items;
        (self.inputs, self.variables, self.total, self.callees) = (inputs, around, total, callees);
        for line in self.completed(snippet.body, &own, ty).lines() {
            *text += &format!("{}{line}\n", "    ".repeat(indent));
        }
        for (name, of) in snippet.yields {
            let of = if *of == "T" { ty } else { of };
            self.declare(name.replace('@', &own), of, false);
        }
    }

    /// A text whose gaps are filled.
    fn completed(&mut self, text: &str, own: &str, ty: Ty) -> String {
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
                    // a name of a macro's
                    None => format!("${gap}"),
                },
            };
            written += &rest.replace('@', own);
        }
        written.replace("#[device]", self.device())
    }
}
