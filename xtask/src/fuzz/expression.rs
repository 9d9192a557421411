//! Expressions of every type of the kernel language, at random.
//!
//! Everything is in parentheses and every literal has its suffix, so that a text means the same whatever it stands in.

use super::random::Random;

/// A type, by its name.
pub(super) type Ty = &'static str;

pub(super) const SIGNED: [Ty; 5] = ["i8", "i16", "i32", "i64", "isize"];
pub(super) const UNSIGNED: [Ty; 5] = ["u8", "u16", "u32", "u64", "usize"];
const FLOATS: [Ty; 2] = ["f32", "f64"];

/// A variable in scope.
#[derive(Clone)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) ty: Ty,
    pub(super) mutable: bool,
}

/// What is being written: random choices, and what is in scope.
pub(super) struct Writer {
    pub(super) random: Random,
    pub(super) variables: Vec<Variable>,
    /// Device functions and closures that can be called, each of one argument: name, argument, result.
    pub(super) callees: Vec<(String, Ty, Ty)>,
    pub(super) names: usize,
    pub(super) checked: bool,
}

pub(super) fn is_float(ty: Ty) -> bool {
    FLOATS.contains(&ty)
}

fn is_signed(ty: Ty) -> bool {
    SIGNED.contains(&ty)
}

impl Writer {
    pub(super) fn ty(&mut self) -> Ty {
        match self.random.below(8) {
            0..=2 => self.random.of(&SIGNED),
            3..=4 => self.random.of(&UNSIGNED),
            5..=6 => self.random.of(&FLOATS),
            _ => "bool",
        }
    }

    pub(super) fn integer(&mut self) -> Ty {
        if self.random.one_in(2) { self.random.of(&SIGNED) } else { self.random.of(&UNSIGNED) }
    }

    pub(super) fn number(&mut self) -> Ty {
        if self.random.one_in(3) { self.random.of(&FLOATS) } else { self.integer() }
    }

    /// A new name.
    pub(super) fn name(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    /// A variable of that type.
    pub(super) fn variable(&mut self, ty: Ty, mutable: bool) -> Option<String> {
        let suits = |variable: &&Variable| variable.ty == ty && (variable.mutable || !mutable);
        let suiting: Vec<&Variable> = self.variables.iter().filter(suits).collect();
        if suiting.is_empty() { None } else { Some(suiting[self.random.below(suiting.len())].name.clone()) }
    }

    /// An expression of a type; the greater `depth`, the larger.
    pub(super) fn expression(&mut self, ty: Ty, depth: usize) -> String {
        if depth == 0 || self.random.one_in(6) {
            return self.leaf(ty);
        }
        match self.random.below(10) {
            0 => self.branching(ty, depth - 1),
            1 => self.composed(ty, depth - 1),
            2 => self.called(ty, depth - 1),
            _ if ty == "bool" => self.condition(depth - 1),
            _ if is_float(ty) => self.float(ty, depth - 1),
            _ => self.whole(ty, depth - 1),
        }
    }

    /// A variable, a literal or an input.
    fn leaf(&mut self, ty: Ty) -> String {
        match (self.random.below(4), self.variable(ty, false)) {
            (0..=1, Some(name)) => name,
            (2, _) => self.literal(ty),
            _ => self.input(ty),
        }
    }

    fn input(&mut self, ty: Ty) -> String {
        let word = format!("x[i * 8 + {}]", self.random.below(8));
        match ty {
            "bool" => format!("({word} & 1 == 1)"),
            "f32" => format!("f32::from_bits({word} as u32)"),
            "f64" => format!("f64::from_bits({word})"),
            _ => format!("({word} as {ty})"),
        }
    }

    fn literal(&mut self, ty: Ty) -> String {
        if ty == "bool" {
            return self.random.of(&["true", "false"]).to_owned();
        }
        if is_float(ty) {
            let special = ["NAN", "INFINITY", "NEG_INFINITY", "MIN_POSITIVE", "EPSILON", "MAX"];
            return match self.random.below(6) {
                0 => format!("{ty}::{}", self.random.of(&special)),
                1 => format!("(-{}.25{ty})", self.random.below(100)),
                2 => format!("{}e{}{ty}", 1 + self.random.below(9), self.random.below(30)),
                _ => format!("{}.5{ty}", self.random.below(10)),
            };
        }
        match self.random.below(5) {
            0 => format!("{ty}::{}", self.random.of(&["MIN", "MAX"])),
            1 if is_signed(ty) => format!("(-{}{ty})", self.random.below(128)),
            _ => format!("{}{ty}", self.random.below(100)),
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        match self.random.below(7) {
            0 => format!("({} && {})", self.expression("bool", depth), self.expression("bool", depth)),
            1 => format!("({} || {})", self.expression("bool", depth), self.expression("bool", depth)),
            2 => format!("(!{})", self.expression("bool", depth)),
            3 => {
                let op = self.random.of(&["^", "&", "|", "==", "!="]);
                format!("({} {op} {})", self.expression("bool", depth), self.expression("bool", depth))
            }
            4 => {
                let ty = self.random.of(&FLOATS);
                let method = self.random.of(&["is_nan", "is_finite", "is_infinite"]);
                format!("{}.{method}()", self.expression(ty, depth))
            }
            _ => {
                let ty = self.number();
                let op = self.random.of(&["<", "<=", ">", ">=", "==", "!="]);
                format!("({} {op} {})", self.expression(ty, depth), self.expression(ty, depth))
            }
        }
    }

    fn float(&mut self, ty: Ty, depth: usize) -> String {
        let a = self.expression(ty, depth);
        match self.random.below(10) {
            0..=4 => {
                let op = self.random.of(&["+", "-", "*", "/", "%"]);
                format!("({a} {op} {})", self.expression(ty, depth))
            }
            5 => {
                let methods = ["sqrt", "abs", "floor", "ceil", "trunc", "round", "round_ties_even", "fract"];
                format!("{a}.{}()", self.random.of(&methods))
            }
            6 => format!("{a}.mul_add({}, {})", self.expression(ty, depth), self.expression(ty, depth)),
            7 => format!("(-{a})"),
            // of two zeros either may be the greater: adding one more makes them alike
            8 => {
                let method = self.random.of(&["min", "max"]);
                format!("({a}.{method}({}) + 0.0{ty})", self.expression(ty, depth))
            }
            _ => self.cast(ty, depth),
        }
    }

    /// `e as T`
    fn cast(&mut self, ty: Ty, depth: usize) -> String {
        let from = if is_float(ty) || !self.random.one_in(6) { self.number() } else { "bool" };
        format!("({} as {ty})", self.expression(from, depth))
    }

    fn whole(&mut self, ty: Ty, depth: usize) -> String {
        let a = self.expression(ty, depth);
        match self.random.below(16) {
            0..=3 => {
                let op = self.random.of(&["+", "-", "*", "&", "|", "^"]);
                format!("({a} {op} {})", self.expression(ty, depth))
            }
            4 => {
                // mostly by what is not zero
                let by = self.expression(ty, depth);
                let by = if self.random.one_in(8) { by } else { format!("({by} | 1{ty})") };
                match self.random.below(4) {
                    0 => format!("{a}.rem_euclid({by})"),
                    1 => format!("{a}.div_euclid({by})"),
                    _ => format!("({a} {} {by})", self.random.of(&["/", "%"])),
                }
            }
            5 => {
                let by = self.expression("u32", depth);
                let by = if self.random.one_in(8) { by } else { format!("({by} & 7u32)") };
                format!("({a} {} {by})", self.random.of(&["<<", ">>"]))
            }
            6 => {
                let names = [
                    "wrapping_add",
                    "wrapping_sub",
                    "wrapping_mul",
                    "saturating_add",
                    "saturating_sub",
                    "saturating_mul",
                    "min",
                    "max",
                ];
                let name = self.random.of(&names);
                format!("{a}.{name}({})", self.expression(ty, depth))
            }
            7 => {
                let name = self.random.of(&["checked_add", "checked_sub", "checked_mul", "checked_div", "checked_rem"]);
                format!("{a}.{name}({}).unwrap_or({})", self.expression(ty, depth), self.expression(ty, depth))
            }
            8 => {
                let name = self.random.of(&["overflowing_add", "overflowing_sub", "overflowing_mul"]);
                format!("{a}.{name}({}).0", self.expression(ty, depth))
            }
            9 => {
                let name = self.random.of(&["rotate_left", "rotate_right", "wrapping_shl", "wrapping_shr"]);
                format!("{a}.{name}({})", self.expression("u32", depth))
            }
            10 => {
                let names =
                    ["count_ones", "count_zeros", "leading_zeros", "trailing_zeros", "leading_ones", "trailing_ones"];
                format!("({a}.{}() as {ty})", self.random.of(&names))
            }
            11 => format!("{a}.{}()", self.random.of(&["swap_bytes", "reverse_bits", "wrapping_neg"])),
            12 => format!("(!{a})"),
            13 if is_signed(ty) => {
                format!("{a}.{}()", self.random.of(&["wrapping_abs", "signum"]))
            }
            14 => {
                let power = self.random.below(4);
                format!(
                    "{a}.{}({power}u32)",
                    if self.checked { "wrapping_pow" } else { self.random.of(&["pow", "wrapping_pow"]) }
                )
            }
            _ => self.cast(ty, depth),
        }
    }

    /// `if`, `match`, `if let` and blocks as values.
    fn branching(&mut self, ty: Ty, depth: usize) -> String {
        let (a, b) = (self.expression(ty, depth), self.expression(ty, depth));
        match self.random.below(5) {
            0 => format!("(if {} {{ {a} }} else {{ {b} }})", self.expression("bool", depth)),
            1 => {
                let (of, c) = (self.integer(), self.expression(ty, depth));
                let value = self.expression(of, depth);
                let guard = self.expression("bool", depth);
                format!(
                    "(match {value} & 7{of} {{ 0{of} => {a}, 1{of} | 2{of} => {b}, k if {guard} => {c}, 3{of}..=5{of} => {a}, _ => {b} }})"
                )
            }
            2 => {
                let of = self.integer();
                let (left, right, name) = (self.expression(of, depth), self.expression(of, depth), self.name());
                self.variables.push(Variable { name: name.clone(), ty: of, mutable: false });
                let inside = self.expression(ty, depth);
                self.variables.pop();
                format!("(if let Some({name}) = {left}.checked_add({right}) {{ {inside} }} else {{ {a} }})")
            }
            3 => {
                let (of, name) = (self.ty(), self.name());
                let value = self.expression(of, depth);
                self.variables.push(Variable { name: name.clone(), ty: of, mutable: false });
                let inside = self.expression(ty, depth);
                self.variables.pop();
                format!("({{ let {name} = {value}; {inside} }})")
            }
            _ => {
                let (condition, guard) = (self.expression("bool", depth), self.expression("bool", depth));
                format!(
                    "(match (if {condition} {{ Some({a}) }} else {{ None }}) {{ Some(k) if {guard} => k, Some(k) => k, None => {b} }})"
                )
            }
        }
    }

    /// Parts of tuples, arrays, structs, `Option`.
    fn composed(&mut self, ty: Ty, depth: usize) -> String {
        let (a, b) = (self.expression(ty, depth), self.expression(ty, depth));
        match self.random.below(5) {
            0 => {
                let other = self.ty();
                format!("({}, {a}).1", self.expression(other, depth))
            }
            1 => {
                let index = self.expression("usize", depth);
                let many = if self.random.one_in(10) { 4 } else { 3 };
                format!("[{a}, {b}, {a}][{index} % {many}usize]")
            }
            2 => format!("(Pair {{ a: {a}, b: {} }}).a", self.expression("u32", depth)),
            3 => format!("(Pair {{ a: {a}, b: {} }}).mix({b})", self.expression("u32", depth)),
            _ => format!("Some({a}).unwrap_or({b})"),
        }
    }

    /// A call of a device function or closure.
    fn called(&mut self, ty: Ty, depth: usize) -> String {
        let suiting: Vec<(String, Ty, Ty)> = self.callees.iter().filter(|callee| callee.2 == ty).cloned().collect();
        if suiting.is_empty() {
            return self.expression(ty, depth);
        }
        let (name, argument, _) = suiting[self.random.below(suiting.len())].clone();
        format!("{name}({})", self.expression(argument, depth))
    }
}
