//! Renaming of a module's local symbols and all references to them.
//!
//! A function body may declare the same name; inside that scope the name is not renamed.

use crate::ptx::{AddressBase, Function, Init, Instruction, Item, Module, Operand, Statement, Variable};
use std::collections::{HashMap, HashSet};

type Names = HashMap<String, String>;

/// Renames symbols of a module.
pub(super) fn rename(module: &mut Module, names: &Names) {
    for item in &mut module.items {
        match item {
            Item::Variable(variable) => {
                replace(&mut variable.name, names);
                if let Some(init) = &mut variable.init {
                    initial(init, names);
                }
            }
            Item::Function(f) => {
                replace(&mut f.name, names);
                function(f, names);
            }
            Item::Alias(alias) => {
                replace(&mut alias.name, names);
                replace(&mut alias.function, names);
            }
            Item::Note(_) => {}
        }
    }
}

fn replace(name: &mut String, names: &Names) {
    if let Some(new) = names.get(name.as_str()) {
        name.clone_from(new);
    }
}

fn initial(init: &mut Init, names: &Names) {
    match init {
        Init::List(items) => items.iter_mut().for_each(|item| initial(item, names)),
        Init::Symbol(name, ..) => replace(name, names),
        Init::Byte(_, address) => initial(address, names),
        _ => {}
    }
}

/// Returns the names that a statement declares in its scope.
fn declared(statement: &Statement) -> Vec<String> {
    match statement {
        Statement::Variable(variable) => vec![variable.name.clone()],
        // A range %r<5> declares %r0 to %r4, which cannot be names of a module's symbols.
        Statement::Registers(decl) => decl.names.iter().map(|(name, _)| name.clone()).collect(),
        Statement::Label(name, _) => vec![name.clone()],
        _ => Vec::new(),
    }
}

/// Returns the names that each scope declares, in the order in which the scopes open.
fn scopes(body: &[Statement], first: HashSet<String>) -> Vec<HashSet<String>> {
    let (mut scopes, mut open) = (vec![first], vec![0]);
    for statement in body {
        match statement {
            Statement::Open => {
                open.push(scopes.len());
                scopes.push(HashSet::new());
            }
            Statement::Close => {
                open.pop();
            }
            other => {
                if let Some(scope) = open.last() {
                    scopes[*scope].extend(declared(other));
                }
            }
        }
    }
    scopes
}

/// Returns the names that no open scope shadows.
fn visible(names: &Names, scopes: &[HashSet<String>], open: &[usize]) -> Names {
    let hidden = |name: &str| open.iter().any(|scope| scopes[*scope].contains(name));
    names.iter().filter(|n| !hidden(n.0)).map(|(a, b)| (a.clone(), b.clone())).collect()
}

fn function(function: &mut Function, names: &Names) {
    let Some(body) = &mut function.body else { return };
    let formals: HashSet<String> =
        function.returns.iter().chain(&function.params).map(|v: &Variable| v.name.clone()).collect();
    let scopes = scopes(body, formals);
    let (mut open, mut opened) = (vec![0], 0);
    for statement in body {
        match statement {
            Statement::Open => {
                opened += 1;
                open.push(opened);
            }
            Statement::Close => {
                open.pop();
            }
            Statement::Instruction(instruction) => {
                operands(instruction, &visible(names, &scopes, &open));
            }
            Statement::Variable(Variable { init: Some(init), .. }) => initial(init, &visible(names, &scopes, &open)),
            Statement::CallTargets(_, targets) => targets.iter_mut().for_each(|t| replace(t, names)),
            _ => {}
        }
    }
}

fn operands(instruction: &mut Instruction, names: &Names) {
    if let Some(call) = &mut instruction.call {
        replace(&mut call.callee, names);
    }
    for operand in &mut instruction.operands {
        match operand {
            Operand::Name(name)
            | Operand::SymbolOffset(name, _)
            | Operand::Element(name, _)
            | Operand::Address(AddressBase::Name(name), _) => replace(name, names),
            _ => {}
        }
    }
}
