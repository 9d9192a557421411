//! Errors that only the front end can report, since they depend on types or on the memories of references: each has a
//! location and a hint, when the kernel is compiled.

use cuda_jit::device::{grid, shared};
use cuda_jit::{DeviceType, device, kernel};

/// The error of a kernel.
macro_rules! refusal {
    ($kernel:ident) => {
        $kernel::compile_ptx((9, 0)).expect_err("it is refused").to_string()
    };
}

#[derive(Clone, Copy, DeviceType)]
struct Meters(f32);

impl std::ops::Add for Meters {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Meters(self.0 + other.0)
    }
}

#[kernel]
fn unlisted(out: &mut [f32]) {
    let sum = Meters(1.0) + Meters(2.0);
    out[0] = sum.0;
}

#[kernel]
fn without_address(x: &[f32], out: &mut [f32]) {
    let (tile, double) = (shared!([f32; 4]), x[0] * 2.0);
    let i = grid::<1>();
    let chosen: &f32 = if i > 2 { &double } else { &tile[0] };
    out[0] = *chosen;
}

#[kernel]
fn mutable_holder<'a>(x: &'a [f32], out: &mut [f32]) {
    let (mut pair, mut other): ((&'a [f32], u32), (&'a [f32], u32)) = ((x, 1), (x, 2));
    let held = if x.len() > 1 { &mut pair } else { &mut other };
    held.1 += 1;
    out[0] = pair.0[0] + other.1 as f32;
}

#[device]
fn deepest(x: &[f32], n: usize) -> &[f32] {
    if n == 0 { x } else { deepest(&x[1..], n - 1) }
}

#[kernel]
fn endless(x: &[f32], out: &mut [f32]) {
    out[0] = deepest(x, 2)[0];
}

#[derive(Clone, Copy, DeviceType)]
struct Reader<'a> {
    text: &'a [f32],
}

#[device]
impl<'a> Reader<'a> {
    fn peek(&self) -> Option<f32> {
        self.text.first().copied()
    }

    fn nested(&mut self) -> Option<f32> {
        if self.peek()? < 0.0 {
            self.text = &self.text[1..];
            return Some(self.nested()? + 1.0);
        }
        Some(self.text.len() as f32)
    }
}

#[kernel]
fn reader(x: &[f32], out: &mut [f32]) {
    out[0] = Reader { text: x }.nested().unwrap_or(-1.0);
}

#[derive(Clone, Copy, PartialEq, PartialOrd, DeviceType)]
struct Level(f32);

#[kernel]
fn ordered(out: &mut [f32]) {
    if Level(1.0) < Level(2.0) {
        out[0] = 1.0;
    }
}

#[kernel]
fn chosen_iterator(x: &[u32], out: &mut [u32]) {
    let mut rows = [x[..2].iter(), x[2..].iter()];
    rows[x[0] as usize].next();
    out[0] = rows[0].len() as u32;
}

#[kernel]
fn borrowed_iterator(x: &[u32], out: &mut [u32]) {
    let mut rows = [(x[..2].iter(), 1), (x[2..].iter(), 2)];
    let row = &mut rows[x[0] as usize].0;
    row.next();
    out[0] = rows[0].0.len() as u32;
}

#[test]
fn refusals_name_the_place_and_the_way_out() {
    let text = refusal!(unlisted);
    assert!(text.contains("lowering.rs:26:15: in `unlisted`: `Meters` has no device operator `Add`"), "{text}");
    assert!(text.contains("`#[operators(Add)]`"), "{text}");
    let text = refusal!(without_address);
    assert!(text.contains("lowering.rs:34:50: in `without_address`: this `&f32` is to a value"), "{text}");
    assert!(text.contains("bind it as an array, `let v = [v]`"), "{text}");
    let text = refusal!(mutable_holder);
    assert!(text.contains("pass it by value and return it"), "{text}");
    assert!(refusal!(chosen_iterator).contains("only where its index is written as a number"));
    assert!(refusal!(borrowed_iterator).contains("only where its index is written as a number"));
    assert!(refusal!(endless).contains("`deepest` takes closures, or returns or changes references"));
    let text = refusal!(reader);
    assert!(
        text.contains("lowering.rs:70:30: in `nested`: `nested` takes closures, or returns or changes references"),
        "{text}"
    );
    let text = refusal!(ordered);
    assert!(text.contains("`Level` has no device operator `PartialOrd`"), "{text}");
    assert!(text.contains("or `#[derived(PartialEq, PartialOrd)]` to compare its fields"), "{text}");
}

#[device]
fn tripled(v: Meters) -> Meters {
    Meters(v.0 * 3.0)
}

#[kernel]
fn named(out: &mut [f32]) {
    out[0] = tripled(Meters(1.0)).0;
}

#[test]
fn a_struct_is_returned_through_memory() {
    let module = cuda_jit::kir_of::<named>().unwrap();
    let callee = &module.functions[1];
    assert_eq!((callee.name.as_str(), callee.result), ("tripled", None));
    assert_eq!(callee.params[0].name, "result");
    cuda_jit::valid::verify(&module).unwrap();
    assert_eq!(cuda_jit::kir::text::parse(&module.to_string()).unwrap(), module);
}
