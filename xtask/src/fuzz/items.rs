//! Items of a program: device functions, structs with methods, enums, traits and generic functions.
//!
//! The functions and types of an item are added to the writer's scope, so that later items can use them.

use std::fmt::Write as _;

use super::expression::{Callee, FLOATS, HALVES, Inputs, Ty, Variable, Writer};

/// A struct's name and fields.
#[derive(Clone)]
pub(super) struct Struct {
    pub(super) name: String,
    fields: Vec<Field>,
    /// The types of the argument and the result of its method of `&mut self`.
    pub(super) changing: (Ty, Ty),
    /// The types of the argument and the result of its method of `self`.
    pub(super) reading: (Ty, Ty),
}

/// The type of a field; fields are named `f0`, `f1` and so on.
#[derive(Clone, Copy)]
enum Field {
    Plain(Ty),
    Array(Ty),
    Tuple(Ty, Ty),
    Nested(Ty),
    Optional(Ty),
}

impl Field {
    fn ty(&self) -> String {
        match self {
            Field::Plain(ty) => (*ty).to_owned(),
            Field::Array(ty) => format!("[{ty}; 3]"),
            Field::Tuple(first, second) => format!("({first}, {second})"),
            Field::Nested(ty) => format!("Pair<{ty}>"),
            Field::Optional(ty) => format!("Option<{ty}>"),
        }
    }

    /// Its fields and elements: the suffix after its name, the type, and whether it can be assigned to.
    fn parts(&self) -> Vec<(String, Ty, bool)> {
        let part = |text: &str, ty| (text.to_owned(), ty, true);
        match *self {
            Field::Plain(ty) => vec![part("", ty)],
            Field::Array(ty) => vec![part("[0]", ty), part("[2]", ty)],
            Field::Tuple(first, second) => vec![part(".0", first), part(".1", second)],
            Field::Nested(ty) => vec![part(".a", ty), part(".b", "u32")],
            Field::Optional(ty) => vec![(".unwrap_or_default()".to_owned(), ty, false)],
        }
    }
}

/// An enum's name and its integer type.
#[derive(Clone)]
pub(super) struct Enum {
    name: String,
    of: Ty,
}

impl Writer {
    /// Generates some items, whose names end in that number.
    pub(super) fn items(&mut self, number: u64) -> String {
        let inputs = std::mem::replace(&mut self.inputs, Inputs::None);
        let mut text = String::new();
        for helper in 0..self.random.below(3) {
            text += &self.helper(&format!("h{number}_{helper}"));
        }
        if self.random.one_in(2) {
            text += &self.enumeration(number);
        }
        if self.random.one_in(2) {
            text += &self.structure(number);
            if self.random.one_in(2) {
                text += &self.dispatched(number);
            }
        }
        match self.random.below(5) {
            0 => text += &self.generic(number),
            1 => text += &self.generic_float(number),
            2 => text += &self.recursive(number),
            _ => {}
        }
        self.inputs = inputs;
        text
    }

    /// The attribute of device functions.
    pub(super) fn device(&self) -> &'static str {
        if self.checked { "#[device(checked)]" } else { "#[device]" }
    }

    /// Generates an expression over these variables only.
    fn over(&mut self, variables: &[(&str, Ty)], ty: Ty, depth: usize) -> String {
        let of = |&(name, ty): &(&str, Ty)| Variable { name: name.to_owned(), ty, mutable: false };
        let around = std::mem::replace(&mut self.variables, variables.iter().map(of).collect());
        let text = self.expression(ty, depth);
        self.variables = around;
        text
    }

    fn callable(&mut self, open: String, arguments: Vec<Ty>, result: Ty) {
        self.callees.push(Callee { open, arguments, result });
    }

    /// A device function of one or two arguments, which may return early.
    fn helper(&mut self, name: &str) -> String {
        let (argument, other, result) = (self.ty(), self.ty(), self.ty());
        let scope = [("p", argument), ("q", other)];
        let condition = self.over(&scope, "bool", 2);
        let (early, late) = (self.over(&scope, result, 2), self.over(&scope, result, 2));
        self.callable(format!("{name}("), vec![argument, other], result);
        format!(
            "{}\nfn {name}(p: {argument}, q: {other}) -> {result} {{\n    if {condition} {{\n        return {early};\n    }}\n    \
             {late}\n}}\n\n",
            self.device()
        )
    }

    /// A function that calls itself a few times.
    fn recursive(&mut self, number: u64) -> String {
        let (ty, name) = (self.ty(), format!("r{number}"));
        let (end, next) = (self.over(&[("p", ty)], ty, 2), self.over(&[("p", ty), ("q", ty)], ty, 2));
        self.callable(format!("{name}(3u32, "), vec![ty], ty);
        format!(
            "{}\nfn {name}(n: u32, p: {ty}) -> {ty} {{\n    if n == 0u32 {{\n        return {end};\n    }}\n    \
             let q = {name}(n - 1u32, p);\n    {next}\n}}\n\n",
            self.device()
        )
    }

    fn enumeration(&mut self, number: u64) -> String {
        let (name, of) = (format!("E{number}"), self.random.of(&["i8", "u8", "u16", "i32"]));
        let first = self.random.below(5);
        let text = format!(
            "#[derive(Clone, Copy, PartialEq, DeviceType)]\n#[from_repr]\n#[repr({of})]\npub enum {name} {{\n    A = {first},\n    B,\n    \
             C = {},\n    D = 60,\n}}\n\n",
            first + 3
        );
        self.enums.push(Enum { name, of });
        text
    }

    /// A number from a variant of an enum.
    pub(super) fn of_enum(&mut self, ty: Ty, depth: usize) -> Option<String> {
        let Enum { name, of } = self.enums.last()?.clone();
        let (value, number) = (self.expression(of, depth), self.name());
        let [a, b, c] = [(), (), ()].map(|()| self.expression(ty, 0));
        let inside = self.with(&format!("({number} as {of})"), of, ty, depth);
        Some(format!(
            "(match {name}::from_repr({value} & 7{of}) {{ Some({name}::A) => {a}, Some({name}::B | {name}::D) => {b}, \
             Some({number}) if {number} == {name}::C => {inside}, Some({number}) => {inside}, None => {c} }})"
        ))
    }

    /// A struct with methods of `self` and `&mut self`, and a function without either.
    fn structure(&mut self, number: u64) -> String {
        let name = format!("S{number}");
        let count = 2 + self.random.below(3);
        let mut fields = vec![Field::Plain(self.ty())];
        fields.extend((1..count).map(|_| self.field()));
        let [from, to, taken, given] = [(), (), (), ()].map(|()| self.ty());
        let structure = Struct { name: name.clone(), fields, changing: (taken, given), reading: (from, to) };
        let mut text = String::from("#[derive(Clone, Copy, DeviceType)]\n");
        if self.random.one_in(2) {
            text += "#[repr(C)]\n";
        }
        let _ = writeln!(text, "pub struct {name} {{");
        for (index, field) in structure.fields.iter().enumerate() {
            let _ = writeln!(text, "    f{index}: {},", field.ty());
        }
        let _ = writeln!(text, "}}\n\n{}\nimpl {name} {{", self.device());
        let around = std::mem::take(&mut self.variables);
        self.parts("self", &structure, false);
        self.declare("p".to_owned(), from, false);
        let reading = self.expression(to, 2);
        self.variables.clear();
        self.parts("self", &structure, true);
        self.declare("p".to_owned(), taken, false);
        let (changed, ty) = self.assignable(&structure);
        let (value, given_back) = (self.expression(ty, 2), self.expression(given, 1));
        self.variables = around;
        let _ = writeln!(
            text,
            "    pub fn get(self, p: {from}) -> {to} {{\n        {reading}\n    }}\n\n    pub fn set(&mut self, p: {taken}) -> {given} {{\n        \
             {changed} = {value};\n        {given_back}\n    }}\n}}\n"
        );
        self.structs.push(structure);
        text
    }

    fn field(&mut self) -> Field {
        let ty = self.ty();
        match self.random.below(6) {
            0 => Field::Array(ty),
            1 => Field::Tuple(ty, self.ty()),
            2 => Field::Nested(self.number()),
            3 => Field::Optional(self.integer()),
            _ => Field::Plain(ty),
        }
    }

    /// Adds a struct's fields and elements to the scope.
    pub(super) fn parts(&mut self, name: &str, structure: &Struct, mutable: bool) {
        for (index, field) in structure.fields.iter().enumerate() {
            for (part, ty, assignable) in field.parts() {
                self.declare(format!("{name}.f{index}{part}"), ty, mutable && assignable);
            }
        }
    }

    /// A field or element of `self` that can be assigned to, and its type.
    fn assignable(&mut self, structure: &Struct) -> (String, Ty) {
        let parts: Vec<(String, Ty)> = (0..)
            .zip(&structure.fields)
            .flat_map(|(index, field): (usize, _)| field.parts().into_iter().map(move |part| (index, part)))
            .filter(|(_, part)| part.2)
            .map(|(index, (text, ty, _))| (format!("self.f{index}{text}"), ty))
            .collect();
        parts[self.random.below(parts.len())].clone()
    }

    /// Generates `S { f0: .., f1: .. }`.
    pub(super) fn construct(&mut self, structure: &Struct, depth: usize) -> String {
        let mut text = format!("{} {{ ", structure.name);
        for (index, field) in structure.fields.iter().enumerate() {
            let value = match *field {
                Field::Plain(ty) => self.expression(ty, depth),
                Field::Array(ty) => match self.random.below(2) {
                    0 => format!("[{}; 3]", self.expression(ty, depth)),
                    _ => format!(
                        "[{}, {}, {}]",
                        self.expression(ty, depth),
                        self.expression(ty, 0),
                        self.expression(ty, 0)
                    ),
                },
                Field::Tuple(first, second) => {
                    format!("({}, {})", self.expression(first, depth), self.expression(second, 0))
                }
                Field::Nested(ty) => {
                    format!("Pair {{ a: {}, b: {} }}", self.expression(ty, depth), self.expression("u32", 0))
                }
                Field::Optional(ty) => {
                    format!("{}.checked_add({})", self.expression(ty, depth), self.expression(ty, 0))
                }
            };
            let _ = write!(text, "f{index}: {value}, ");
        }
        text + "}"
    }

    /// A field of a new struct, or the result of its method.
    pub(super) fn of_struct(&mut self, ty: Ty, depth: usize) -> Option<String> {
        let structure = self.structs.last()?.clone();
        let built = self.construct(&structure, depth);
        if structure.reading.1 == ty {
            return Some(format!("({built}).get({})", self.expression(structure.reading.0, depth)));
        }
        let name = self.name();
        let around = self.variables.len();
        self.parts(&name, &structure, false);
        let inside = self.expression(ty, 1);
        self.variables.truncate(around);
        Some(format!("({{ let {name} = {built}; {inside} }})"))
    }

    /// A trait that two structs implement, and a function that is generic over it.
    fn dispatched(&mut self, number: u64) -> String {
        let Some(structure) = self.structs.last().cloned() else { return String::new() };
        let (ty, device) = (self.ty(), self.device());
        let around = std::mem::take(&mut self.variables);
        self.parts("self", &structure, false);
        self.declare("p".to_owned(), ty, false);
        let first = self.expression(ty, 2);
        self.variables = around;
        let second = self.over(&[("p", ty), ("self.0", "u16"), ("Self::K", "u32")], ty, 2);
        let generic = self.over(&[("p", ty), ("S::K", "u32"), ("s.turn(p)", ty), ("s.twice(p)", ty)], ty, 2);
        for open in [format!("t{number}({}, ", self.construct(&structure, 0)), format!("t{number}(U{number}(7u16), ")] {
            self.callable(open, vec![ty], ty);
        }
        format!(
            "{device}\npub trait T{number} {{\n    const K: u32;\n    fn turn(&self, p: {ty}) -> {ty};\n    \
             fn twice(&self, p: {ty}) -> {ty} {{\n        self.turn(self.turn(p))\n    }}\n}}\n\n\
             #[derive(Clone, Copy, DeviceType)]\n#[repr(C)]\npub struct U{number}(u16);\n\n\
             {device}\nimpl T{number} for {} {{\n    const K: u32 = 3;\n    fn turn(&self, p: {ty}) -> {ty} {{\n        {first}\n    }}\n}}\n\n\
             {device}\nimpl T{number} for U{number} {{\n    const K: u32 = 5;\n    fn turn(&self, p: {ty}) -> {ty} {{\n        {second}\n    }}\n    \
             fn twice(&self, p: {ty}) -> {ty} {{\n        self.turn(p)\n    }}\n}}\n\n\
             {device}\nfn t{number}<S: T{number} + Copy>(s: S, p: {ty}) -> {ty} {{\n    {generic}\n}}\n\n",
            structure.name
        )
    }

    /// A function that is generic over an integer type and a length.
    fn generic(&mut self, number: u64) -> String {
        let op = |writer: &mut Self| writer.random.of(&["+", "-", "*", "&", "|", "^"]);
        let (first, second, third) = (op(self), op(self), op(self));
        let shift = self.random.below(7);
        for _ in 0..2 {
            let (ty, len) = (self.integer(), 1 + self.random.below(4));
            let (fill, start) = (self.over(&[], ty, 1), self.over(&[], ty, 1));
            self.callable(format!("g{number}::<{ty}, {len}>([{fill}; {len}], {start}, "), vec![ty], ty);
        }
        format!(
            "{}\nfn g{number}<T: Integer, const N: usize>(x: [T; N], p: T, q: T) -> T {{\n    let mut s = p;\n    for k in 0..N {{\n        \
             s = (s {first} x[k]) {second} (q >> {shift}u32);\n        if s > q {{\n            s = !s;\n        }} else if N > 2 {{\n            \
             s = s {third} T::ONE;\n        }}\n    }}\n    s\n}}\n\n",
            self.device()
        )
    }

    /// A function that is generic over a float type.
    fn generic_float(&mut self, number: u64) -> String {
        let mut step = || {
            let unary = self.random.of(&["abs", "sqrt", "floor", "ceil", "trunc"]);
            match self.random.below(4) {
                0 => format!("s = s {} q;", self.random.of(&["+", "-", "*", "/", "%"])),
                1 => format!("s = s.{unary}();"),
                2 => "s = s.mul_add(p, q);".to_owned(),
                _ => format!("if s {} p {{\n        s = -s;\n    }}", self.random.of(&["<", ">=", "!="])),
            }
        };
        let steps = [step(), step(), step(), step()].join("\n    ");
        for _ in 0..2 {
            let ty = if self.random.one_in(2) { self.random.of(&HALVES) } else { self.random.of(&FLOATS) };
            self.callable(format!("of{number}::<{ty}>("), vec![ty, ty], ty);
        }
        format!(
            "{}\nfn of{number}<T: Float>(p: T, q: T) -> T {{\n    let mut s = p;\n    {steps}\n    if s.is_nan() {{ T::ONE }} else {{ s }}\n}}\n\n",
            self.device()
        )
    }
}
