//! Debug variables: their names, types and locations, read back from the PTX's DWARF sections and, if NVIDIA's
//! assembler is found, from the machine code's.

use cuda_jit::device::{grid, thread_idx};
use cuda_jit::{Constant, DeviceType, Kernel, device, inspect, kernel, kir_of, shared};
use gimli::constants::{
    DW_TAG_enumerator, DW_TAG_formal_parameter, DW_TAG_inlined_subroutine, DW_TAG_lexical_block, DW_TAG_member,
    DW_TAG_pointer_type, DW_TAG_subprogram, DW_TAG_variable,
};
use ndarray::{ArrayView2, ArrayViewMut1};

use crate::device::{context, on_device, on_host};
use crate::support::dwarf::{self, Found, Sections};

/// cuda-gdb's address classes.
const GLOBAL: u64 = 5;
const LOCAL: u64 = 6;
const SHARED: u64 = 8;

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Particle {
    mass: f64,
    at: [f32; 3],
    number: i32,
}

#[derive(Clone, Copy, PartialEq, DeviceType)]
#[repr(i8)]
enum Kind {
    Fixed = -1,
    Free = 3,
}

#[device]
fn apply<F: Fn(f32) -> f32>(value: f32, f: F) -> f32 {
    let before = value * 2.0;
    f(before)
}

#[device]
fn weight(particle: &Particle, factor: f64) -> f64 {
    let product = particle.mass * factor;
    product + 1.0
}

static FACTORS: Constant<[f32; 2]> = Constant::new([0.5, 4.0]);

const LINE: u32 = line!() + 2;
#[kernel(debug)]
fn inspected(particles: &[Particle], view: ArrayView2<'_, f32>, out: &mut [f32], scale: f32) {
    let i = grid::<1>();
    let tile = shared!([f32; 32]);
    let mut sums = [0.0f32; 4];
    let mut total = 0;
    let pair = (scale, i as u16);
    let later: f32;
    let particle = particles[i];
    let offset = 1.5f32;
    let kind = if particle.number == 0 { Kind::Fixed } else { Kind::Free };
    if let [.., last] = &out[..] {
        sums[1] = *last;
    }
    for turn in 0..4u32 {
        let total = sums[turn as usize] + pair.0 * FACTORS.get()[1];
        sums[turn as usize] = total;
    }
    total += thread_idx().x as i32;
    let maybe = if total > 3 { Some(total) } else { None };
    let mut moved = particle;
    moved.at[0] = 2.0;
    tile[i] = view[[0, 0]];
    later = apply(tile[i], |inner| inner + offset + weight(&particle, 2.0) as f32);
    if kind == Kind::Free && maybe.is_some() {
        out[i] = later + sums[1] + pair.1 as f32 + moved.at[0];
    }
}

/// Name, type and line of each variable and parameter of `inspected` and of the functions inlined into it.
const VARIABLES: [(&str, &str, u32); 23] = [
    ("particles", "&[Particle]", 0),
    ("view", "ArrayView2<f32>", 0),
    ("out", "&mut [f32]", 0),
    ("scale", "f32", 0),
    ("i", "usize", 1),
    ("tile", "&mut [f32; 32]", 2),
    ("sums", "[f32; 4]", 3),
    ("total", "i32", 4),
    ("pair", "(f32, u16)", 5),
    ("later", "f32", 6),
    ("particle", "Particle", 7),
    ("offset", "f32", 8),
    ("kind", "Kind", 9),
    ("last", "&f32", 10),
    ("turn", "u32", 13),
    ("total", "f32", 14),
    ("maybe", "Option<i32>", 18),
    ("moved", "Particle", 19),
    ("inner", "f32", 22),
    ("value", "f32", u32::MAX),
    ("before", "f32", u32::MAX),
    ("f", "closure", u32::MAX),
    ("self", "Option<i32>", u32::MAX),
];

fn is_variable(found: &Found) -> bool {
    (found.tag == DW_TAG_variable || found.tag == DW_TAG_formal_parameter) && !found.location.is_empty()
}

/// The entries of a function, starting with itself.
fn function<'f>(found: &'f [Found], name: &str) -> &'f [Found] {
    let is_it = |found: &Found| found.tag == DW_TAG_subprogram && found.name == name && found.range.is_some();
    let start = found.iter().position(is_it).unwrap_or_else(|| panic!("no `{name}` in {found:?}"));
    let behind = found[start + 1..].iter().position(|other| other.depth <= found[start].depth);
    &found[start..behind.map_or(found.len(), |behind| start + 1 + behind)]
}

/// Asserts that every variable of `inspected` is found, in local memory that no other variable uses.
fn check_variables(sections: &Sections) -> Vec<Found> {
    let found = dwarf::found(sections);
    let inspected = function(&found, "inspected");
    let mut told: Vec<(&str, &str, u32)> = inspected
        .iter()
        .filter(|found| is_variable(found))
        .map(|found| (found.name.as_str(), found.ty.as_str(), (found.line as u32).wrapping_sub(LINE)))
        .map(|(name, ty, line)| (name, ty, if line < 100 { line } else { u32::MAX }))
        .collect();
    let mut expected = VARIABLES.to_vec();
    told.sort_unstable();
    expected.sort_unstable();
    assert_eq!(told, expected);
    let mut places = Vec::new();
    for variable in inspected.iter().filter(|found| is_variable(found)) {
        assert_eq!(variable.class, Some(LOCAL), "{variable:?}");
        places.push(&variable.location);
    }
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), VARIABLES.len(), "two variables share a place");
    found
}

/// Names, types and locations of the fields of a type.
fn parts(found: &[Found], name: &str, size_first: &str) -> Vec<(String, String, u8)> {
    let is_it = |pair: &[Found]| pair[0].name == name && pair[1].tag == DW_TAG_member && pair[1].name == size_first;
    let start = found.windows(2).position(is_it).unwrap_or_else(|| panic!("no `{name}`"));
    let members = found[start + 1..].iter().take_while(|part| part.tag == DW_TAG_member);
    members.map(|part| (part.name.clone(), part.ty.clone(), part.location[1])).collect()
}

fn part(name: &str, ty: &str, offset: u8) -> (String, String, u8) {
    (name.to_owned(), ty.to_owned(), offset)
}

#[test]
fn a_debugger_finds_the_variables_with_their_types() {
    let ptx = inspected::compile_ptx((9, 0)).unwrap();
    let found = check_variables(&dwarf::of_ptx(&ptx));
    let expected = [part("data_ptr", "*const Particle", 0), part("length", "usize", 8)];
    assert_eq!(parts(&found, "&[Particle]", "data_ptr"), expected);
    let expected = [part("mass", "f64", 0), part("at", "[f32; 3]", 8), part("number", "i32", 20)];
    assert!(found.windows(2).any(|pair| pair[0].name == "Particle" && pair[1].name == "mass"));
    let layouts = [
        expected.clone(),
        expected.map(|(name, ty, at)| match name.as_str() {
            "at" => (name, "&mut [f32; 3]".to_owned(), 8),
            "number" => (name, ty, 16),
            _ => (name, ty, at),
        }),
    ];
    assert!(layouts.contains(&parts(&found, "Particle", "mass").try_into().unwrap()));
    let expected = [part("ptr", "*const f32", 0), part("dim", "[usize; 2]", 8), part("strides", "[isize; 2]", 24)];
    assert_eq!(parts(&found, "ArrayView2<f32>", "ptr"), expected);
    assert_eq!(parts(&found, "(f32, u16)", "__0"), [part("__0", "f32", 0), part("__1", "u16", 4)]);
    assert_eq!(parts(&found, "Option<i32>", "is_some"), [part("is_some", "bool", 0), part("value", "i32", 4)]);
    let names = found.iter().filter(|found| found.tag == DW_TAG_enumerator);
    let names: Vec<_> = names.map(|found| (found.name.as_str(), found.value)).collect();
    assert_eq!(names, [("Fixed", Some(-1)), ("Free", Some(3))]);
    let kir = kir_of::<inspected>().unwrap().to_string();
    assert!(kir.contains(r#"enum i8 {"Fixed" 255, "Free" 3}"#), "{kir}");
}

/// rustc reorders its fields.
#[derive(Clone, Copy, DeviceType)]
struct Reordered {
    small: u8,
    large: f64,
    middle: u16,
}

#[device]
impl Reordered {
    fn sum(self, r#in: f64) -> f64 {
        self.small as f64 + self.large + self.middle as f64 + r#in
    }
}

#[kernel(debug)]
fn reordered(out: &mut [f64]) {
    let mut value = Reordered { small: 1, large: 2.5, middle: 3 };
    value.middle += 1;
    let mut größe = 0.0;
    größe += value.sum(0.25);
    out[0] = größe;
}

#[test]
fn structs_have_rustcs_layout() {
    let found = dwarf::found(&dwarf::of_ptx(&reordered::compile_ptx((9, 0)).unwrap()));
    let offset = |offset: usize| u8::try_from(offset).unwrap();
    let expected = [
        part("small", "u8", offset(std::mem::offset_of!(Reordered, small))),
        part("large", "f64", offset(std::mem::offset_of!(Reordered, large))),
        part("middle", "u16", offset(std::mem::offset_of!(Reordered, middle))),
    ];
    assert_eq!(parts(&found, "Reordered", "small"), expected);
    assert!(function(&found, "reordered").iter().any(|found| is_variable(found) && found.name == "größe"));
    let sum = found.iter().position(|found| found.tag == DW_TAG_subprogram && found.name.contains("sum")).unwrap();
    let told: Vec<_> =
        found[sum..].iter().filter(|found| is_variable(found)).map(|found| found.name.as_str()).collect();
    assert_eq!(told, ["self", "in"]);
    let _selected = context().select();
    let mut out = on_device(&[0.0]);
    reordered::launch((1, 1), &mut out).unwrap();
    assert_eq!(on_host(&out), [7.75]);
}

#[derive(Clone, Copy, DeviceType)]
struct Span {
    start: usize,
    by: isize,
    length: u64,
}

#[device]
fn last(span: Span, of: usize) -> usize {
    let end = span.start + of;
    end - 1
}

#[kernel(debug)]
fn spelled(spans: &[usize], out: &mut [i64], wide: u64, two: [&[isize]; 2], mut view: ArrayViewMut1<'_, f32>) {
    let mixed = (wide as u8, spans);
    view[0] = two[1][0] as f32 + mixed.1[0] as f32;
    let mut counts = [1usize; 3];
    let span = Span { start: spans[0], by: -1, length: wide };
    let mut moved = span;
    moved.by += 2;
    let pair = (wide, counts[1]);
    let maybe = if wide > 1 { Some(span.start) } else { None };
    let end = last(span, 5);
    counts[0] = end;
    let by_closure = |step: isize| step + moved.by;
    out[0] = by_closure(3) as i64 + (counts[0] + pair.1 + maybe.unwrap_or(0)) as i64 + span.length as i64;
}

#[test]
fn sizes_have_their_names_and_numbers_of_64_bits_theirs() {
    let found = dwarf::found(&dwarf::of_ptx(&spelled::compile_ptx((9, 0)).unwrap()));
    let told: Vec<_> =
        found.iter().filter(|found| is_variable(found)).map(|found| (found.name.as_str(), found.ty.as_str())).collect();
    for expected in [
        ("spans", "&[usize]"),
        ("out", "&mut [i64]"),
        ("wide", "u64"),
        ("two", "[&[isize]; 2]"),
        ("view", "ArrayViewMut1<f32>"),
        ("mixed", "(u8, &[usize])"),
        ("counts", "[usize; 3]"),
        ("pair", "(u64, usize)"),
        ("maybe", "Option<usize>"),
        ("end", "usize"),
        ("step", "isize"),
        ("of", "usize"),
    ] {
        assert!(told.contains(&expected), "{expected:?} in {told:?}");
    }
    let fields: Vec<_> = parts(&found, "Span", "start").into_iter().map(|(name, ty, _)| (name, ty)).collect();
    let field = |name: &str, ty: &str| (name.to_owned(), ty.to_owned());
    assert_eq!(fields, [field("start", "usize"), field("by", "isize"), field("length", "u64")]);
    assert_eq!(parts(&found, "&[usize]", "data_ptr")[0].1, "*const usize");
    let mixed: Vec<_> = parts(&found, "(u8, &[usize])", "__0").into_iter().map(|(_, _, at)| at).collect();
    assert_eq!(mixed, [0, 8], "aligned as a pointer is");
    let kir = kir_of::<spelled>().unwrap().to_string();
    let two = kir.lines().find(|line| line.contains("variable \"two\"")).expect("it is told");
    let places = two.split(" at ").nth(1).expect("its places").split(' ').skip(1).step_by(2).collect::<Vec<_>>();
    assert_eq!(places, ["0", "8", "16", "24"], "{two}");
    let (spans, mut out) = (on_device(&[7usize]), on_device(&[0i64]));
    let (signed, mut view) = (on_device(&[-2isize]), on_device(&[0.0f32]));
    spelled::launch((1, 1), &spans, &mut out, 100, [&signed, &signed], &mut view).unwrap();
    assert_eq!((on_host(&out), on_host(&view)), (vec![4 + 11 + 1 + 7 + 100], vec![5.0]));
}

#[test]
fn pointers_say_which_memory_they_point_into() {
    let found = dwarf::found(&dwarf::of_ptx(&inspected::compile_ptx((9, 0)).unwrap()));
    let class = |name: &str| {
        let pointer = found.iter().find(|found| found.tag == DW_TAG_pointer_type && found.name == name);
        pointer.unwrap_or_else(|| panic!("no `{name}`")).class
    };
    assert_eq!(class("&mut [f32; 32]"), Some(SHARED));
    assert_eq!(class("*mut f32"), Some(GLOBAL));
    assert_eq!(class("&f32"), Some(GLOBAL));
}

#[test]
fn a_name_is_seen_only_where_it_means_the_variable() {
    let ptx = inspected::compile_ptx((9, 0)).unwrap();
    let found = dwarf::found(&dwarf::of_ptx(&ptx));
    let inspected = function(&found, "inspected");
    // the code range of the scope of a variable
    let covers = |name: &str, ty: &str| {
        let at = inspected.iter().position(|found| is_variable(found) && found.name == name && found.ty == ty);
        let at = at.unwrap_or_else(|| panic!("no `{name}: {ty}`"));
        let scope = inspected[..at].iter().rfind(|found| found.depth < inspected[at].depth).expect("a scope");
        scope.range.unwrap_or_else(|| panic!("`{name}` lies in {scope:?}"))
    };
    let (outer, inner) = (covers("total", "i32"), covers("total", "f32"));
    assert!(outer.0 < inner.0 && inner.1 < outer.1, "{outer:?} {inner:?}");
    let (last, turn) = (covers("last", "&f32"), covers("turn", "u32"));
    assert!(last.1 <= turn.0, "{last:?} {turn:?}");
    assert_eq!(covers("scale", "f32"), inspected[0].range.expect("the function's code"));
    // where `later` is read it has a location, and before its `let` it has none
    let (first, _) = covers("later", "f32");
    let line = |number: u32| {
        let place = format!(" {} ", LINE + number);
        ptx.lines().position(|text| text.contains(".loc") && text.contains(&place)).expect("a place") as u64 + 1
    };
    assert!(line(4) < first && first < line(9), "{} {first} {}", line(4), line(9));
}

#[test]
fn inlined_functions_have_their_own_variables() {
    let found = dwarf::found(&dwarf::of_ptx(&inspected::compile_ptx((9, 0)).unwrap()));
    let inspected = function(&found, "inspected");
    let call = inspected.iter().position(|found| found.tag == DW_TAG_inlined_subroutine).expect("the call");
    assert_eq!(inspected[call].name, "apply");
    let within: Vec<&str> = inspected[call + 1..]
        .iter()
        .take_while(|found| found.depth > inspected[call].depth)
        .filter(|found| is_variable(found))
        .map(|found| found.name.as_str())
        .collect();
    assert_eq!(within, ["value", "f", "before"]);
    // a closure's scope is nested in those of the variables that it uses
    let scopes = |name: &str| {
        let at = inspected.iter().position(|found| is_variable(found) && found.name == name).expect(name);
        inspected[at].depth
    };
    assert!(scopes("inner") > scopes("offset"));
    let weight = function(&found, "weight");
    let told: Vec<_> = weight.iter().filter(|found| is_variable(found)).map(|found| found.name.as_str()).collect();
    assert_eq!(told, ["particle", "factor", "product"]);
    assert!(weight.iter().any(|found| found.tag == DW_TAG_lexical_block));
}

/// Machine code, if NVIDIA's assembler is found.
fn machine_code<K: Kernel>(cc: &str) -> Option<Vec<u8>> {
    match inspect::assemble::<K>(cc) {
        Ok(assembled) => Some(assembled.cubin),
        Err(error) => {
            assert!(error.to_string().starts_with("found no `ptxas`"), "{error}");
            None
        }
    }
}

/// The debug sections of machine code, if NVIDIA's assembler is found.
fn of_machine_code<K: Kernel>(cc: &str) -> Option<Sections> {
    use object::{Object, ObjectSection};
    let code = machine_code::<K>(cc)?;
    let file = object::File::parse(&*code).expect("an ELF file");
    let section =
        |section: object::Section<'_, '_>| Some((section.name().ok()?.to_owned(), section.data().ok()?.to_vec()));
    Some(file.sections().filter_map(section).collect())
}

#[test]
fn the_assembler_keeps_them() {
    for cc in ["7.5", "8.0", "9.0", "10.0", "12.0"] {
        let Some(sections) = of_machine_code::<inspected>(cc) else { continue };
        assert!(sections.contains_key(".debug_line"), "{:?}", sections.keys());
        check_variables(&sections);
    }
}

/// The host's debugger reads the machine code's debug sections, if it and the assembler are found. It does not know
/// GPUs, so the file's header is patched to the host's machine, which does not affect the sections.
#[test]
fn gdb_reads_types_functions_and_lines() {
    const MACHINE: usize = 18;
    let Some(mut file) = machine_code::<inspected>("9.0") else { return };
    let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    // the ELF header's operating system and machine
    file[7] = own[7];
    file[MACHINE..MACHINE + 2].copy_from_slice(&own[MACHINE..MACHINE + 2]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("inspected.elf");
    std::fs::write(&path, file).unwrap();
    let line = format!("info line variables.rs:{}", LINE + 1);
    let asked = ["set language rust", "ptype Particle", "ptype Kind", "info functions inspected", line.as_str()];
    let mut gdb = std::process::Command::new("gdb");
    gdb.args(["-batch", "-nx"]).args(asked.into_iter().flat_map(|command| ["-ex", command])).arg(path);
    let output = match gdb.output() {
        Ok(output) => output,
        Err(error) => return assert_eq!(error.kind(), std::io::ErrorKind::NotFound, "{error}"),
    };
    let said = String::from_utf8_lossy(&output.stdout);
    for expected in [
        "struct Particle {\n  mass: f64,\n  at: [f32; 3],\n  number: i32,\n}",
        "fn inspected(&[Particle], ArrayView2<f32>, &mut [f32], f32)",
        "starts at address",
        "enum Kind {\n  Fixed,\n  Free,\n}",
    ] {
        assert!(said.contains(expected), "no `{expected}` in {said}{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[kernel(debug, opt = 3)]
fn optimized(x: &mut [f32], scale: f32) {
    let i = grid::<1>();
    let mut sum = (0.0f32, 1u8);
    for turn in 0..3 {
        sum.0 += x[i] * scale + turn as f32;
        sum.1 += 1;
    }
    x[i] = sum.0 + sum.1 as f32;
}

#[test]
fn optimised_code_keeps_their_names() {
    for cc in ["7.5", "8.0", "9.0", "10.0", "12.0"] {
        let found = dwarf::found(&dwarf::of_ptx(&optimized::compile_ptx(cc).unwrap()));
        let known = |name: &str, ty: &str| found.iter().any(|found| found.name == name && found.ty == ty);
        assert!(known("x", "&mut [f32]") && known("sum", "(f32, u8)") && known("turn", "i32"), "{found:?}");
        of_machine_code::<optimized>(cc);
    }
}

#[kernel(lineinfo)]
fn profiled(x: &mut [f32], scale: f32) {
    let i = grid::<1>();
    x[i] *= scale;
}

#[test]
fn without_debug_options_there_is_no_debug_information() {
    let text = kir_of::<profiled>().unwrap().to_string();
    assert!(text.contains("  line ") && !text.contains("variable ") && !text.contains("\ntype "), "{text}");
    let ptx = profiled::compile_ptx((9, 0)).unwrap();
    assert!(!ptx.contains(".debug_info") && !ptx.contains(".debug_abbrev"), "{ptx}");
}

#[test]
fn a_kernel_with_variables_computes_the_same() {
    let context = context();
    let _selected = context.select();
    let particle = |number| Particle { mass: 2.0, at: [1.0, 2.0, 3.0], number };
    let particles = on_device(&[particle(0), particle(1), particle(2), particle(3), particle(4), particle(5)]);
    let view = cuda_mem::to_device(&context, &ndarray::arr2(&[[3.0_f32, 1.0], [1.0, 1.0]])).unwrap();
    // The last element is read by all threads, and written by none.
    let mut out = on_device(&[1.0_f32; 7]);
    inspected::launch((1, 6), &particles, &view, &mut out, 0.5).unwrap();
    // later = 3 * 2 + 1.5 + 5, sums[1] = 1 + 0.5 * 4
    let value = |i: f32| 12.5 + 3.0 + i + 2.0;
    assert_eq!(on_host(&out), [1.0, 1.0, 1.0, 1.0, value(4.0), value(5.0), 1.0]);
    let mut x = on_device(&[1.0_f32, 2.0]);
    optimized::launch((1, 2), &mut x, 2.0).unwrap();
    assert_eq!(on_host(&x), [13.0, 19.0]);
}
