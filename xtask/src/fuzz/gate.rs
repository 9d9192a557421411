//! The programs that the gate runs: few that together have every snippet.

use std::collections::{BTreeMap, BTreeSet};

use super::program;
use super::snippets::{Chosen, Snippet};

/// The seeds: with wrapping arithmetic, and with overflow checks.
const SEEDS: [u64; 2] = [4, 5];
/// The number of programs of each seed among which the gate's are chosen.
const CANDIDATES: u64 = 150;

/// The numbers of the programs by seed. Again and again the program with the most missing snippets is taken.
pub(super) fn programs() -> BTreeMap<u64, Vec<u64>> {
    let mut missing: BTreeSet<usize> = (0..Chosen::supported().snippets().len()).collect();
    let candidates = SEEDS.into_iter().flat_map(|seed| (0..CANDIDATES).map(move |number| (seed, number)));
    let mut candidates: Vec<_> = candidates.map(|program| (program, snippets_of(program))).collect();
    let mut programs = BTreeMap::<u64, Vec<u64>>::new();
    loop {
        candidates.sort_by_key(|(_, snippets)| snippets.intersection(&missing).count());
        let Some(((seed, number), snippets)) = candidates.pop() else { break };
        if snippets.is_disjoint(&missing) {
            break;
        }
        missing.retain(|snippet| !snippets.contains(snippet));
        programs.entry(seed).or_default().push(number);
    }
    programs
}

/// The supported snippets that a program has, by their numbers.
fn snippets_of((seed, number): (u64, u64)) -> BTreeSet<usize> {
    let supported = Chosen::supported();
    let text = program::text(seed, number, seed % 2 == 1, &supported).replace("#[device(checked)]", "#[device]");
    let snippets = supported.snippets().into_iter().enumerate();
    snippets.filter(|(_, snippet)| text.contains(beginning(snippet))).map(|(at, _)| at).collect()
}

/// The text of a snippet's items, or of its body if it has no items, up to the first placeholder.
pub(super) fn beginning(snippet: &Snippet) -> &str {
    let text = if snippet.items.is_empty() { snippet.body } else { snippet.items };
    text.split(['@', '$']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_have_every_snippet() {
        let programs = programs();
        let all = programs.iter().flat_map(|(&seed, numbers)| numbers.iter().map(move |&number| (seed, number)));
        let generated: BTreeSet<usize> = all.flat_map(snippets_of).collect();
        for (at, snippet) in Chosen::supported().snippets().into_iter().enumerate() {
            assert!(generated.contains(&at), "{}", beginning(snippet));
        }
        assert_eq!(programs.len(), SEEDS.len(), "a seed has no program");
    }
}
