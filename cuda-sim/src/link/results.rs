//! Results about which the modules of a link disagree, since linkers compare no declarations with definitions: C++ code that
//! ignores a function's result, and a caller that expects one of a function without.

use super::with_results_of;
use crate::ptx::{Item, Statement};
use std::collections::HashMap;

/// Gives functions the results that declarations in other modules have and they lack, which are never written, and lets
/// calls that take no result discard them. `declarations` are those with results, by name.
pub(super) fn reconcile(items: &mut [Item], declarations: &HashMap<String, Item>) {
    let mut results = HashMap::new();
    for item in &mut *items {
        let Item::Function(function) = item else { continue };
        if function.body.is_some()
            && function.returns.is_empty()
            && let Some(declaration) = declarations.get(&function.name)
        {
            *function = with_results_of(function, Some(declaration));
        }
        results.insert(function.name.clone(), function.returns.len());
    }
    let bodies = items.iter_mut().filter_map(|item| match item {
        Item::Function(function) => function.body.as_mut(),
        _ => None,
    });
    for statement in bodies.flatten() {
        let Statement::Instruction(instruction) = statement else { continue };
        if let Some(call) = instruction.call.as_mut().filter(|call| call.prototype.is_none() && call.returns.is_empty())
        {
            let count = results.get(&call.callee).copied().unwrap_or(0);
            call.returns = vec!["_".to_owned(); count];
        }
    }
}
