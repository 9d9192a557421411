//! Source locations of instructions: the lines of a program's own source that `.file` and `.loc` specify.
//!
//! Invariant: an instruction belongs to the last `.loc` before it in its function's text, if there is one.

use crate::ptx::{Item, Module, Statement};
use std::collections::{BTreeMap, HashMap};

/// The files and lines of a module.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    files: HashMap<u32, String>,
    /// The file and line for all instructions from a line of the PTX on.
    lines: BTreeMap<u32, Option<(u32, u32)>>,
}

impl Sources {
    pub(crate) fn new(module: &Module) -> Sources {
        let mut this = Sources::default();
        for item in &module.items {
            match item {
                Item::Note(text) => this.file(text),
                Item::Function(function) => {
                    let mut last = None;
                    this.lines.insert(function.position.line, None);
                    for statement in function.body.iter().flatten() {
                        match statement {
                            Statement::Note(text) if text.starts_with(".loc") => last = Some(location(text)),
                            Statement::Note(text) => this.file(text),
                            Statement::Instruction(instruction) if last.is_some() => {
                                this.lines.insert(instruction.position.line, last.take().flatten());
                            }
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        this
    }

    /// `.file 1 "path"`
    fn file(&mut self, text: &str) {
        let Some(rest) = text.strip_prefix(".file") else { return };
        let mut parts = rest.split('"');
        if let (Some(Ok(number)), Some(path)) = (parts.next().map(|n| n.trim().parse()), parts.next()) {
            self.files.insert(number, path.to_owned());
        }
    }

    /// Returns `file:line` for a line of the PTX.
    pub(crate) fn of(&self, line: u32) -> Option<String> {
        let (file, line) = (*self.lines.range(..=line).next_back()?.1)?;
        Some(format!("{}:{line}", self.files.get(&file)?))
    }
}

/// Parses `.loc 1 42 7`, possibly with further fields. Line 0 means that the following instructions have no source
/// line.
fn location(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.strip_prefix(".loc")?.split([' ', '\t', ',']).filter(|part| !part.is_empty());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok().filter(|line| *line != 0)?))
}
