//! Tests of the file tests: every mistake in a file is found.

use super::header::launches;
use super::{Compiled, Outcome, examine, read_outcomes};

/// Adds 1 to each element, and panics for indices out of bounds.
const ADD: &str = "\
kir 1
site 0 \"a.rs\":1:1 \"{0} of {1}\"
kernel f(v0 x: ptr global u8 readwrite, v1 len: u32, v2 y: ptr global f32 readwrite) {
b0:
  v3: u32 = special thread_idx.x
  v4: bool = lt v3, v1
  branch v4, b1, b2
b1:
  v5: u64 = cast v3 to u64
  v6: ptr global u8 = offset v0, v5
  v7: u8 = load v6
  v8: u8 = const u8 1
  v9: u8 = add v7, v8
  store v6, v9
  return
b2:
  v10: u64 = cast v3 to u64
  v11: u64 = cast v1 to u64
  panic 0 (v10, v11)
}
";

/// A file with these header lines that executes [`ADD`].
fn file(header: &[&str]) -> String {
    let lines: String = header.iter().map(|line| format!("; {line}\n")).collect();
    format!("; run: ptx sm_75\n{lines}{ADD}")
}

/// Executes a file in this process, and compares its results with those stated.
fn judge(header: &[&str]) -> Result<String, String> {
    let source = file(header);
    let compiled = Compiled::read(&source)?;
    let run = |(launch, level)| compiled.execute(launch, level);
    let outcomes = compiled.runs().map(run).collect::<Result<Vec<Outcome>, String>>()?;
    compiled.check_outcomes(&source, &[("regions", outcomes)])
}

/// The header of a launch with all arguments and these results.
fn launched<'a>(block: &'a str, results: &[&'a str]) -> Vec<&'a str> {
    let launch = [block, "argument: v0 = [254, 255, 7]", "argument: v1 = 2", "argument: v2 = [1.5, 0x7fc00001]"];
    [&launch, results].concat()
}

#[test]
fn right_results_pass() {
    let header = launched("launch: block 2", &["result: v0 = [255, 0, 7]"]);
    assert_eq!(judge(&header), Ok(file(&header)));
    let panic = "result: panic = site 0 [2, 2] in block (0, 0, 0), thread (2, 0, 0)";
    let header = launched("launch: block 3", &["result: v0 = [255, 0, 7]", panic]);
    assert_eq!(judge(&header), Ok(file(&header)));
}

#[test]
fn wrong_results_fail() {
    let found = "\n  expected [255, 1, 7]\n  found    [255, 0, 7]";
    let wrong = launched("launch: block 2", &["result: v0 = [255, 1, 7]"]);
    assert_eq!(judge(&wrong), Err(format!("regions, o0: line 6: `v0`{found}")));

    let unsaid = launched("launch: block 2", &["result: panic = none"]);
    let found = "\n  expected [254, 255, 7]\n  found    [255, 0, 7]";
    assert_eq!(judge(&unsaid), Err(format!("regions, o0: line 2: `v0`{found}")));

    // a single different bit of a NaN is a difference
    let nan = launched("launch: block 2", &["result: v0 = [255, 0, 7]", "result: v2 = [1.5, 0x7fc00000]"]);
    let found = "\n  expected [1.5, 0x7fc00000]\n  found    [1.5, 0x7fc00001]";
    assert_eq!(judge(&nan), Err(format!("regions, o0: line 7: `v2`{found}")));

    let panics = launched("launch: block 3", &["result: v0 = [255, 0, 7]"]);
    let found = "\n  expected none\n  found    site 0 [2, 2] in block (0, 0, 0), thread (2, 0, 0)";
    assert_eq!(judge(&panics), Err(format!("regions, o0: line 2: `panic`{found}")));

    let silent = launched("launch: block 2", &["result: v0 = [255, 0, 7]", "result: panic = site 0 [2, 2]"]);
    let found = "\n  expected site 0 [2, 2]\n  found    none";
    assert_eq!(judge(&silent), Err(format!("regions, o0: line 7: `panic`{found}")));
}

#[test]
fn missing_values_are_blessed_and_no_others() {
    let missing = launched("launch: block 2", &["result: v0", "result: v2 = [1.5, 0x7fc00001]"]);
    let blessed = launched("launch: block 2", &["result: v0 = [255, 0, 7]", "result: v2 = [1.5, 0x7fc00001]"]);
    // the test fails because the file would change, unless it is blessed
    assert_eq!(judge(&missing), Ok(file(&blessed)));
    let wrong = launched("launch: block 2", &["result: v0", "result: v2 = [1.5, 2.5]"]);
    let found = "\n  expected [1.5, 2.5]\n  found    [1.5, 0x7fc00001]";
    assert_eq!(judge(&wrong), Err(format!("regions, o0: line 7: `v2`{found}")));
}

#[test]
fn runs_that_differ_or_do_not_end_fail() {
    let source = file(&launched("launch: block 2", &["result: v0"]));
    let compiled = Compiled::read(&source).unwrap();
    let outcome = |value: &str| vec![("v0".to_owned(), value.to_owned())];
    let runs = vec![outcome("[255, 0, 7]"), outcome("[255, 1, 7]")];
    let why = "line 6: the runs differ: ; result: v0 = [255, 0, 7], ; result: v0 = [255, 1, 7]";
    assert_eq!(compiled.check_outcomes(&source, &[("regions", runs.clone())]), Err(why.to_owned()));
    let engines = [("regions", vec![runs[0].clone(); 2]), ("fibers", vec![runs[1].clone(); 2])];
    assert_eq!(compiled.check_outcomes(&source, &engines), Err(why.to_owned()));
    let engines = [("regions", vec![runs[0].clone(); 2]), ("fibers", vec![runs[0].clone()])];
    let why = "1 runs on fibers have ended, of 2";
    assert_eq!(compiled.check_outcomes(&source, &engines), Err(why.to_owned()));
    let why = "regions, o0: line 6: the run tells nothing of `v0`";
    assert_eq!(compiled.check_outcomes(&source, &[("regions", vec![Vec::new(); 2])]), Err(why.to_owned()));
}

#[test]
fn printed_text_is_distinguished_from_results() {
    let run = "#begin\na = 1\nlast#end\nv0 = [1]\npanic = none\n#done\n";
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let outcome = vec![pair("v0", "[1]"), pair("panic", "none"), pair("prints", "\"a = 1\\nlast\"")];
    assert_eq!(read_outcomes(&format!("test f ... {run}{run}ok")), [outcome.clone(), outcome.clone()]);
    assert_eq!(read_outcomes(&format!("{run}#begin\na#end\nv0 = [1]\n")), [outcome]);
}

/// Asserts the error of a file with this header.
#[track_caller]
fn refused(header: &[&str], why: &str) {
    let source = file(header);
    let module = cuda_jit::kir::text::parse(&source).unwrap();
    assert_eq!(launches(&source, &module).unwrap_err(), why, "{header:?}");
}

#[test]
fn malformed_headers_are_errors_with_their_line() {
    let neither = "the header is to have launches with results, or a line `; not executed: REASON`";
    refused(&[], neither);
    refused(&["A comment: and no more."], neither);
    refused(&[&["not executed: why"], &launched("launch:", &["result: v0"])[..]].concat(), neither);
    refused(&["not executed:"], "line 2: a reason is to follow `not executed:`");
    let words = "absent, argument, check, error, expect, launch, not executed, result, run";
    refused(&["lanch: block 2"], &format!("line 2: `lanch` begins no line of a header; these do: {words}"));
    let spaces = "line 2: a line of a header is `; check: ..`, with one space before the word and one behind";
    refused(&["check:ld.global"], spaces);
    refused(&[" check: ld.global"], spaces);
    refused(&["argument: v0 = [1]"], "line 2: `argument` stands before the first `launch`");
    refused(&["result: v0"], "line 2: `result` stands before the first `launch`");

    refused(&["launch: block"], "line 2: `block` has no value");
    refused(&["launch: blocks 2"], "line 2: a launch has no `blocks`; it has `grid`, `block`, `cluster` and `shared`");
    refused(&["launch: grid 1x2x3x4"], "line 2: `1x2x3x4` are no extents, such as `2` or `8x4x1`");
    refused(&["launch: shared x"], "line 2: `x` is no number of bytes");

    refused(&["launch:", "argument: v1 = 1"], "line 3: the value of `v0` is to stand here, as `v0 = VALUE`");
    refused(&["launch:", "argument: v0 = 1"], "line 3: `1` is no list, such as `[1, 2]`");
    refused(&["launch:", "argument: v0 = [1, 256]"], "line 3: `256` is no literal of u8");
    refused(&["launch:", "argument: v0 = [0x100]"], "line 3: `0x100` is no literal of u8");
    refused(&["launch:", "argument: v0 = [1, ]"], "line 3: `` is no literal of u8");
    refused(&["launch:", "argument: v0 = [x of 1]"], "line 3: `x` is no number of elements");
    refused(&["launch:", "argument: v0 = [2 of 1.5]"], "line 3: `1.5` is no literal of u8");
    let short = ["launch: block 2", "argument: v0 = [1]", "argument: v1 = 1"];
    refused(&short, "line 2: the launch lacks `v2`, the parameter `y`");
    let all = launched("launch:", &["argument: v3 = 1"]);
    refused(&all, "line 6: the kernel has 3 parameters");
    refused(&launched("launch:", &[]), "line 2: the launch has no `; result:`");

    let result = |lines: &[&'static str], why| refused(&launched("launch:", lines), why);
    result(&["result: v0 = [1, 2]"], "line 6: `v0` has 3 elements, and 2 are given");
    result(&["result: v0 = [1, 2, -1]"], "line 6: `-1` is no literal of u8");
    result(&["result: v1 = 2"], "line 6: `v1` is no result; buffers, `panic` and `prints` are");
    result(&["result: v0", "result: v0"], "line 7: `v0` has a result already");
}

#[test]
fn values_come_from_rules() {
    let header = ["launch:", "argument: v0 = [7, 2 of 0x10, 4 from 250 by 3]", "argument: v1 = 0"];
    let rest =
        ["argument: v2 = [3 from 1.5 by -0.5]", "result: panic = site 0 [0, 0] in block (0, 0, 0), thread (0, 0, 0)"];
    let source = file(&[&header[..], &rest].concat());
    let launches = Compiled::read(&source).unwrap().launches;
    assert_eq!(launches[0].arguments[0].bytes(), [7, 16, 16, 250, 253, 0, 3]);
    let floats: Vec<u8> = [1.5_f32, 1.0, 0.5].iter().flat_map(|value| value.to_le_bytes()).collect();
    assert_eq!(launches[0].arguments[2].bytes(), floats);
}

#[test]
fn unknown_commands_are_refused() {
    let why = |source: &str| examine("none", source).unwrap_err();
    assert_eq!(why("kir 1\n"), "no `; run:` line");
    assert_eq!(why("; run: sass\n"), "unknown command `sass`");
    assert_eq!(why(&format!("; run: ptx sm_75 level\n{ADD}")), "option `level`");
}
