//! Dead-function elimination: functions that no kernel reaches and that call an undefined one are dropped, as nvlink
//! does.

use crate::ptx::{Function, FunctionKind, Init, Item, Operand, Statement};
use std::collections::{HashMap, HashSet};

/// Returns the functions that a body calls by name.
fn called(function: &Function) -> impl Iterator<Item = &str> {
    function.body.iter().flatten().flat_map(|statement| match statement {
        Statement::Instruction(instruction) => {
            let direct = instruction.call.iter().filter(|call| call.prototype.is_none());
            direct.map(|call| call.callee.as_str()).collect::<Vec<_>>()
        }
        Statement::CallTargets(_, targets) => targets.iter().map(String::as_str).collect(),
        _ => Vec::new(),
    })
}

/// Returns the names whose addresses a body takes.
fn named(function: &Function) -> impl Iterator<Item = &str> {
    function
        .body
        .iter()
        .flatten()
        .flat_map(|statement| match statement {
            Statement::Instruction(instruction) => instruction.operands.as_slice(),
            _ => &[],
        })
        .filter_map(|operand| match operand {
            Operand::Name(name) => Some(name.as_str()),
            _ => None,
        })
}

fn of_init<'i>(init: &'i Init, found: &mut Vec<&'i str>) {
    match init {
        Init::List(items) => items.iter().for_each(|item| of_init(item, found)),
        Init::Symbol(name, ..) => found.push(name),
        Init::Byte(_, address) => of_init(address, found),
        _ => {}
    }
}

/// Returns the names that kernels reach by calls and addresses, and those in initialisers and aliases.
fn reached(items: &[Item]) -> HashSet<String> {
    let mut functions: HashMap<&str, &Function> = HashMap::new();
    let mut open = Vec::new();
    for item in items {
        match item {
            Item::Function(function) if function.kind == FunctionKind::Entry => {
                open.extend(called(function).chain(named(function)));
            }
            Item::Function(function) if function.body.is_some() => drop(functions.insert(&function.name, function)),
            Item::Variable(variable) => variable.init.iter().for_each(|init| of_init(init, &mut open)),
            Item::Alias(alias) => open.push(&alias.function),
            _ => {}
        }
    }
    let mut found = HashSet::new();
    while let Some(name) = open.pop() {
        let function = functions.get(name).filter(|_| found.insert(name.to_owned()));
        open.extend(function.into_iter().flat_map(|function| called(function).chain(named(function))));
    }
    found
}

/// Returns the names of functions and aliases with a definition.
fn defined(items: &[Item]) -> impl Iterator<Item = &str> {
    items.iter().filter_map(|item| match item {
        Item::Function(function) => function.body.is_some().then_some(function.name.as_str()),
        Item::Alias(alias) => Some(alias.name.as_str()),
        _ => None,
    })
}

/// Returns the names that are called by functions and that no item defines.
pub(super) fn undefined_callees(items: &[Item]) -> impl Iterator<Item = &str> {
    let defined: HashSet<&str> = defined(items).collect();
    let functions = items.iter().filter_map(|item| match item {
        Item::Function(function) => Some(function),
        _ => None,
    });
    functions.flat_map(called).filter(move |name| !defined.contains(name))
}

/// Drops the functions that no kernel reaches and that call one that is neither defined here nor `known`, and the
/// unreached callers of those.
pub(super) fn drop_dead_functions(items: &mut Vec<Item>, known: impl Fn(&str) -> bool) {
    let reached = reached(items);
    let mut defined: HashSet<String> = defined(items).map(str::to_owned).collect();
    loop {
        let lacks = |item: &Item| match item {
            Item::Function(function) if function.kind == FunctionKind::Func && !reached.contains(&function.name) => {
                called(function).any(|name| !defined.contains(name) && !known(name))
            }
            _ => false,
        };
        let Some(at) = items.iter().position(lacks) else { return };
        if let Item::Function(function) = items.remove(at) {
            defined.remove(&function.name);
        }
    }
}
