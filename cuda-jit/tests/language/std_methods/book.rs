//! The book's list of methods and the tests name the same.

use super::*;

/// The page with the list.
const PAGE: &str = include_str!("../../../../docs/book/src/language.md");
/// The tests of iterators, whose sources and adaptors are lines `name |x, n, log| ..`.
const ITERATOR_STEPS: &str = include_str!("../iterator_steps.rs");
/// The tests of functions whose results are not exact.
const MATH: &str = include_str!("../math/mod.rs");
/// The tests of loops.
const ITERATORS: &str = include_str!("../iterators.rs");

/// The tests of each row of the tables, by the row's first cell.
const TESTS: &[(&str, &[&[&str]])] = &[
    ("slices, arrays", &[slice::NAMES]),
    ("slices", &[slice::NAMES]),
    ("views", &[view::NAMES]),
    ("`Option`", &[option::NAMES]),
    ("`Option` and `Result`", &[option::NAMES, result::NAMES]),
    ("`Result`", &[result::NAMES]),
    ("`ControlFlow`", &[control_flow::NAMES]),
    ("`Saturating`", &[wrapping::saturating::NAMES]),
    ("`bool`", &[boolean::NAMES]),
    ("all values", &[comparison::pairs::NAMES]),
    ("ranges", &[range::ordered::NAMES]),
    ("all numbers", &[comparison::pairs::NAMES, float::order::NAMES]),
    ("whatever is ordered", &[comparison::pairs::NAMES, comparison::operators::NAMES, ordering::NAMES]),
    ("floats", &[float::rounding::NAMES, float::classes::NAMES]),
    (
        "integers",
        &[
            integer::bits::NAMES,
            integer::shifts::NAMES,
            integer::sums::NAMES,
            integer::products::NAMES,
            integer::quotients::NAMES,
            integer::division::NAMES,
            integer::powers::NAMES,
            integer::conversion::NAMES,
            integer::bytes::NAMES,
            integer::strict::NAMES,
        ],
    ),
    ("signed integers", &[integer::signed::NAMES, integer::signed_with_unsigned::NAMES]),
    (
        "unsigned integers",
        &[integer::unsigned::NAMES, integer::unsigned_with_signed::NAMES, integer::wide_products::NAMES],
    ),
    ("`u8`, `char`", &[text::codes::NAMES]),
    ("`char`", &[text::characters::NAMES]),
    ("`[u8]`", &[text::slices::NAMES]),
    ("types", &[integer::bytes::NAMES, integer::conversion::NAMES, float::classes::NAMES, text::characters::NAMES]),
    ("begin with", &[source::slices::NAMES, source::functions::NAMES, source::views::NAMES]),
    ("adaptors", &[source::functions::NAMES]),
    (
        "consumers",
        &[
            consumer::search::NAMES,
            consumer::walk::NAMES,
            consumer::order::NAMES,
            control_flow::NAMES,
            source::slices::NAMES,
        ],
    ),
    ("their functions", &[]),
];

/// Methods with tests of another kind: the row, the methods, and the text of the file that has the tests.
const ELSEWHERE: &[(&str, &str, &str)] = &[
    (
        "floats",
        "cbrt hypot powf exp exp2 exp_m1 ln ln_1p log log2 log10 sin cos sin_cos tan asin acos atan atan2",
        MATH,
    ),
    ("floats", "sinh cosh tanh asinh acosh atanh", MATH),
    ("consumers", "for", ITERATORS),
    ("their functions", "max", ITERATORS),
];

/// The rows of the table behind a line that begins so: the first cell, and the names of methods in the second.
fn rows(before: &str) -> Vec<(&'static str, Vec<&'static str>)> {
    let (_, table) = PAGE.split_once(before).unwrap_or_else(|| panic!("the page has {before:?}"));
    let lines = table.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let cells = lines.skip(2).map(|line| line.trim_matches(['|', ' ']).split_once(" | ").expect("two cells"));
    cells.map(|(first, second)| (first, names(second))).collect()
}

/// The names of methods in a cell: of `a.cmp(b)`, `.iter()`, `f32::max` and `max` the last part. A capital letter begins the
/// name of a type, a single one is a variable.
fn names(cell: &'static str) -> Vec<&'static str> {
    let quoted = cell.split('`').skip(1).step_by(2).map(|code| code.split('(').next().unwrap_or(code));
    let last = quoted.map(|code| code.rsplit([':', '.']).next().unwrap_or(code));
    let is_method =
        |name: &&str| name.len() > 1 && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'));
    last.filter(is_method).filter(|name| *name != "char" && *name != "half").collect()
}

/// True if a test of the name is among those of a row.
fn has_test(row: &str, name: &str) -> bool {
    let is_row = |known: &str| row == known || known == "whatever is ordered" && row.starts_with(known);
    let mut tests = TESTS.iter().filter(|(known, _)| is_row(known)).flat_map(|(_, tests)| tests.iter());
    let mut elsewhere = ELSEWHERE.iter().filter(|(known, _, _)| is_row(known));
    let step = format!("\n    {name} |x, n, log|");
    tests.any(|names| names.contains(&name))
        || elsewhere.any(|(_, names, text)| names.split(' ').any(|known| known == name) && text.contains(name))
        || matches!(row, "begin with" | "adaptors" | "consumers") && ITERATOR_STEPS.contains(&step)
}

/// Each method that the book lists has a test of its name.
#[test]
fn the_book_lists_methods_that_are_tested() {
    let rows = [rows("\nMethods, on the types that have them in Rust"), rows("\n## Iterators")].concat();
    assert!(rows.len() >= 20 && rows.iter().map(|(_, names)| names.len()).sum::<usize>() > 300, "{rows:?}");
    let pairs = rows.iter().flat_map(|(row, names)| names.iter().map(move |name| (*row, *name)));
    let untested: Vec<_> = pairs.filter(|(row, name)| !has_test(row, name)).collect();
    assert!(untested.is_empty(), "without a test: {untested:?}");
}
