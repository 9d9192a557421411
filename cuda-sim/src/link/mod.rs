//! Linking: combines several modules into one, and adds the device's own function library.
//!
//! It works on syntax trees, so the result is PTX that can be loaded like any other text. Names without linkage stay
//! local to their module: if two modules use one, the later one gets a new name. Of several definitions of a name, one
//! that is neither `.weak` nor `.common` wins, else the first `.weak` one, else the largest `.common` one; two that are
//! neither are an error.

mod dead_functions;
mod error;
mod rename;
mod results;

pub(crate) use error::LinkError;

use crate::ptx::{
    self, Function, FunctionKind, Item, LAST_WITHOUT_MASKS, Linkage, Modifier, Module, Opcode, Position, Space,
    Statement, Variable,
};
use once_cell::sync::Lazy;
use std::collections::{BTreeSet, HashMap, HashSet};

/// The device library, whose functions CUDA's compilers assume to exist. Its positions are not in a program's text.
static LIBRARY: Lazy<Module> = Lazy::new(|| match ptx::parse_internal(include_str!("library.ptx")) {
    Ok(mut module) => {
        let bodies = module.items.iter_mut().filter_map(|item| match item {
            Item::Function(function) => function.body.as_mut(),
            _ => None,
        });
        for statement in bodies.flatten() {
            if let Statement::Instruction(instruction) = statement {
                instruction.position = Position::default();
            }
        }
        module
    }
    // The text is part of this crate, and a test loads it.
    Err(error) => unreachable!("the device's library: {error}"),
});

/// The strength of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    Declared,
    Common(u64),
    Weak,
    Strong,
}

/// Returns the linkage name of an item, and its strength; `None` for a module's local names.
fn global(item: &Item) -> Option<(&str, Strength)> {
    match item {
        Item::Variable(variable) => {
            let strength = match variable.linkage? {
                Linkage::Extern => Strength::Declared,
                Linkage::Common => Strength::Common(variable.bytes()),
                Linkage::Weak => Strength::Weak,
                Linkage::Visible => Strength::Strong,
            };
            Some((&variable.name, strength))
        }
        Item::Function(function) => {
            let linkage = function.linkage;
            let strength = match (linkage, function.kind, function.body.is_some()) {
                (None, FunctionKind::Func, _) => return None,
                (_, _, false) => Strength::Declared,
                (Some(Linkage::Weak), ..) => Strength::Weak,
                _ => Strength::Strong,
            };
            Some((&function.name, strength))
        }
        _ => None,
    }
}

/// Returns the name of a module-local item.
fn own(item: &Item) -> Option<&str> {
    match item {
        Item::Variable(Variable { linkage: None, name, .. }) => Some(name),
        Item::Function(Function { linkage: None, kind: FunctionKind::Func, name, .. }) => Some(name),
        Item::Alias(alias) => Some(&alias.name),
        _ => None,
    }
}

/// Links modules.
///
/// # Errors
///
/// All names that no module defines, or one that two modules define.
pub(crate) fn link(mut modules: Vec<Module>) -> Result<Module, Vec<LinkError>> {
    rename_locals(&mut modules);
    let without_masks = modules.iter().any(lacks_masks);
    let winners = winners(&modules).map_err(|error| vec![error])?;
    let mut linked = Module { version: (6, 0), targets: Vec::new(), address_size: 64, items: Vec::new() };
    let mut best = 0;
    // The first module that declares each name that none defines.
    let mut declared: HashMap<String, usize> = HashMap::new();
    // Declarations with results of functions that another module defines.
    let mut returning: HashMap<String, Item> = HashMap::new();
    for (m, module) in modules.into_iter().enumerate() {
        linked.version = linked.version.max(module.version);
        let newest = module.capability().unwrap_or(0);
        if linked.targets.is_empty() || newest > best {
            (best, linked.targets) = (newest, module.targets);
        }
        for (i, item) in module.items.into_iter().enumerate() {
            let keep = match global(&item) {
                // One declaration is kept if nothing defines the name.
                Some((name, Strength::Declared)) => {
                    !winners.contains_key(name) && declared.insert(name.to_owned(), m).is_none()
                }
                Some((name, _)) => winners.get(name) == Some(&(m, i)),
                // Positions in the sources of several modules cannot be distinguished.
                None => !matches!(item, Item::Note(_)),
            };
            if keep {
                linked.items.push(item);
            } else if let Item::Function(Function { name, returns, body: None, .. }) = &item
                && !returns.is_empty()
            {
                returning.insert(name.clone(), item);
            }
        }
    }
    let is_library = |name: &str| LIBRARY.items.iter().any(|item| matches!(item, Item::Function(f) if f.name == name));
    dead_functions::drop_dead_functions(&mut linked.items, is_library);
    let undefined = |symbol: String| LinkError::Undefined { module: declared.get(&symbol).copied(), symbol };
    let undefined: Vec<LinkError> = undefined_symbols(&linked.items, is_library).into_iter().map(undefined).collect();
    if !undefined.is_empty() {
        return Err(undefined);
    }
    results::reconcile(&mut linked.items, &returning);
    if without_masks {
        linked.version = linked.version.min(LAST_WITHOUT_MASKS);
    }
    Ok(linked)
}

/// Returns the names of variables that are declared and not defined, and of functions that are called and neither
/// defined nor in the device's library. Dynamic shared memory has no definition.
fn undefined_symbols(items: &[Item], is_library: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let variables = items.iter().filter_map(|item| match item {
        Item::Variable(Variable { linkage: Some(Linkage::Extern), space, name, dimensions, .. }) => {
            (*space != Space::Shared || !dimensions.contains(&None)).then(|| name.clone())
        }
        _ => None,
    });
    let functions = dead_functions::undefined_callees(items).filter(|name| !is_library(name));
    variables.chain(functions.map(str::to_owned)).collect()
}

/// Returns true if votes or shuffles of a module have no lane mask, which newer versions of PTX require.
fn lacks_masks(module: &Module) -> bool {
    let bodies = module.items.iter().filter_map(|item| match item {
        Item::Function(function) => function.body.as_deref(),
        _ => None,
    });
    bodies.flatten().any(|statement| match statement {
        Statement::Instruction(i) => matches!(i.opcode, Opcode::Vote | Opcode::Shfl) && !i.has(Modifier::Sync),
        _ => false,
    })
}

/// Renames local names that several modules use, in all modules but the first.
fn rename_locals(modules: &mut [Module]) {
    let mut taken: HashSet<String> =
        modules.iter().flat_map(|m| &m.items).filter_map(|i| global(i).map(|g| g.0.to_owned())).collect();
    for (m, module) in modules.iter_mut().enumerate() {
        let mut renames = HashMap::new();
        // A declaration and its definition are one name.
        let shared: HashSet<&str> = module.items.iter().filter_map(|i| global(i).map(|g| g.0)).collect();
        let names: HashSet<String> =
            module.items.iter().filter_map(own).filter(|n| !shared.contains(n)).map(str::to_owned).collect();
        for name in names {
            if !taken.contains(&name) {
                taken.insert(name);
                continue;
            }
            let new = (m..).map(|n| format!("{name}$m{n}")).find(|new| !taken.contains(new)).unwrap_or_default();
            taken.insert(new.clone());
            renames.insert(name, new);
        }
        if !renames.is_empty() {
            rename::rename(module, &renames);
        }
    }
}

/// Returns the module and item that define each name.
fn winners(modules: &[Module]) -> Result<HashMap<String, (usize, usize)>, LinkError> {
    let mut winners: HashMap<String, (Strength, usize, usize)> = HashMap::new();
    for (m, module) in modules.iter().enumerate() {
        for (i, item) in module.items.iter().enumerate() {
            let Some((name, strength)) = global(item) else { continue };
            if strength == Strength::Declared {
                continue;
            }
            match winners.get(name) {
                Some((Strength::Strong, first, _)) if strength == Strength::Strong => {
                    return Err(LinkError::MultipleDefinitions { symbol: name.to_owned(), module: m, first: *first });
                }
                Some((old, ..)) if *old >= strength => {}
                _ => {
                    winners.insert(name.to_owned(), (strength, m, i));
                }
            }
        }
    }
    Ok(winners.into_iter().map(|(name, (_, m, i))| (name, (m, i))).collect())
}

/// Adds the functions of the device library that a module declares and does not define.
pub(crate) fn with_library(mut module: Module) -> Module {
    let functions = |items: &[Item], defined: bool| -> HashSet<String> {
        let one = |item: &Item| match item {
            Item::Function(f) if f.body.is_some() == defined => Some(f.name.clone()),
            _ => None,
        };
        items.iter().filter_map(one).collect()
    };
    let declared = functions(&module.items, false);
    if declared.is_empty() {
        return module;
    }
    let defined = functions(&module.items, true);
    let wanted = |item: &Item| match item {
        Item::Function(f) if declared.contains(&f.name) && !defined.contains(&f.name) => {
            let is_declaration = |item: &&Item| matches!(item, Item::Function(d) if d.name == f.name);
            Some(Item::Function(with_results_of(f, module.items.iter().find(is_declaration))))
        }
        _ => None,
    };
    let added: Vec<Item> = LIBRARY.items.iter().filter_map(wanted).collect();
    module.items.extend(added);
    module
}

/// Returns a function of the library with the results that a module's declaration has. The declaration may omit them,
/// or have one that the function never writes: linkers do not compare declarations with the device's own functions.
fn with_results_of(function: &Function, declaration: Option<&Item>) -> Function {
    let mut function = function.clone();
    let Some(Item::Function(declared)) = declaration else { return function };
    match (declared.returns.is_empty(), function.returns.is_empty()) {
        (true, false) => {
            let results = std::mem::take(&mut function.returns).into_iter().map(Statement::Variable);
            function.body = function.body.map(|body| results.chain(body).collect());
        }
        (false, true) => {
            let unnamed =
                |(at, result): (usize, &Variable)| Variable { name: format!("$result{at}"), ..result.clone() };
            function.returns = declared.returns.iter().enumerate().map(unnamed).collect();
        }
        _ => {}
    }
    function
}
