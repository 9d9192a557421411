//! Random statements: bindings, assignments, branches and loops.
//!
//! Every loop ends, since it counts to a small number regardless of its body.

use std::fmt::Write as _;

use super::expression::{Callee, Ty, Variable, Writer, is_float, is_half};

/// The indentation of a level.
fn spaces(indent: usize) -> String {
    "    ".repeat(indent)
}

impl Writer {
    /// `let name = e;`
    pub(super) fn binding(&mut self, text: &mut String, indent: usize) {
        let (ty, mutable) = (self.ty(), !self.random.one_in(3));
        let value = self.expression(ty, 3);
        let name = self.name();
        let keyword = if mutable { "mut " } else { "" };
        let _ = writeln!(text, "{}let {keyword}{name}: {ty} = {value};", spaces(indent));
        self.declare(name, ty, mutable);
    }

    pub(super) fn statement(&mut self, text: &mut String, indent: usize, depth: usize) {
        let pad = spaces(indent);
        match self.random.below(if depth == 0 { 12 } else { 24 }) {
            0..=1 => self.binding(text, indent),
            2..=3 => self.assign(text, &pad),
            4 => self.closure(text, &pad),
            5 => self.array(text, &pad),
            6 => self.tuple(text, &pad),
            7 => self.reference(text, &pad),
            8 => self.exchange(text, &pad),
            9 => self.structs(text, &pad),
            10 => self.slices(text, &pad),
            11 => self.changing_closure(text, &pad),
            12..=13 => {
                let condition = self.expression("bool", 2);
                let _ = writeln!(text, "{pad}if {condition} {{");
                self.block(text, indent + 1, depth - 1);
                let _ = writeln!(text, "{pad}}} else {{");
                self.block(text, indent + 1, depth - 1);
                let _ = writeln!(text, "{pad}}}");
            }
            14..=15 => self.arms(text, indent, depth),
            16..=17 => self.for_loop(text, indent, depth),
            18..=19 => self.while_loop(text, indent, depth),
            20 => self.while_let(text, indent, depth),
            21..=22 => self.labelled(text, indent, depth),
            _ => self.leaving(text, &pad),
        }
    }

    /// Statements in a scope of their own.
    pub(super) fn block(&mut self, text: &mut String, indent: usize, depth: usize) {
        let (variables, callees) = (self.variables.len(), self.callees.len());
        for _ in 0..1 + self.random.below(3) {
            match self.random.one_in(8) {
                true => self.snippet(text, indent),
                false => self.statement(text, indent, depth),
            }
        }
        self.variables.truncate(variables);
        self.callees.truncate(callees);
    }

    fn assign(&mut self, text: &mut String, pad: &str) {
        let ty = self.ty();
        let Some(name) = self.variable(ty, true) else { return };
        let value = self.expression(ty, 3);
        let op = match ty {
            "bool" => self.random.of(&["=", "&=", "|=", "^="]),
            _ if is_float(ty) || is_half(ty) => self.random.of(&["=", "+=", "-=", "*=", "/="]),
            _ => self.random.of(&["=", "+=", "-=", "*=", "&=", "|=", "^="]),
        };
        let _ = writeln!(text, "{pad}{name} {op} {value};");
    }

    /// A closure of one argument that captures variables.
    fn closure(&mut self, text: &mut String, pad: &str) {
        let (argument, result, name) = (self.ty(), self.ty(), self.name());
        let fixed: Vec<Variable> = self.variables.iter().filter(|variable| !variable.mutable).cloned().collect();
        let around = std::mem::replace(&mut self.variables, fixed);
        self.declare("p".to_owned(), argument, false);
        let body = self.expression(result, 2);
        self.variables = around;
        let keyword = self.random.of(&["", "move "]);
        let _ = writeln!(text, "{pad}let {name} = {keyword}|p: {argument}| -> {result} {{ {body} }};");
        if argument == "i32" && result == "i32" {
            self.callees.push(Callee { open: format!("apply({name}, "), arguments: vec!["i32"], result });
        }
        self.callees.push(Callee { open: format!("{name}("), arguments: vec![argument], result });
    }

    /// A closure that mutates captured variables and is called by another function.
    fn changing_closure(&mut self, text: &mut String, pad: &str) {
        let ty = self.integer();
        let (count, sum, start) = (self.name(), self.name(), self.expression(ty, 1));
        let value = self.with("p", ty, ty, 2);
        let _ = writeln!(
            text,
            "{pad}let mut {count} = 0u32;\n{pad}let {sum} = each([{start}, 1{ty}, {ty}::MAX], {}{ty}, |s: {ty}, p: {ty}| {{\n{pad}    \
             {count} += 1u32;\n{pad}    s ^ {value}\n{pad}}});",
            self.random.below(9)
        );
        self.declare(count, "u32", true);
        self.declare(sum, ty, false);
    }

    /// An array, or an array of arrays, that is written, read and summed up.
    fn array(&mut self, text: &mut String, pad: &str) {
        let ty = self.integer();
        let (name, sum) = (self.name(), self.name());
        let (fill, index, value) = (self.expression(ty, 1), self.expression("usize", 2), self.expression(ty, 2));
        if self.random.one_in(3) {
            let _ = writeln!(
                text,
                "{pad}let mut {name} = [[{fill}; 3]; 4];\n{pad}{name}[{index} % 4usize][i % 3usize] = {value};\n{pad}\
                 {name}.swap(0, 2);\n{pad}let mut {sum} = 0{ty};\n{pad}for row in {name}.iter() {{\n{pad}    for e in row {{ {sum} = \
                 {sum}.rotate_left(1u32) ^ *e; }}\n{pad}}}"
            );
            self.declare(format!("{name}[1][2]"), ty, true);
        } else {
            let _ = writeln!(text, "{pad}let mut {name} = [{fill}; 5];\n{pad}{name}[{index} % 5usize] = {value};");
            let _ = writeln!(text, "{pad}{name}.swap(0, 3);\n{pad}let mut {sum} = 0{ty};");
            let _ = match self.random.below(4) {
                0 => writeln!(text, "{pad}for e in {name}.iter() {{ {sum} = {sum}.wrapping_mul(3{ty}) ^ *e; }}"),
                1 => writeln!(text, "{pad}for e in &mut {name} {{ *e = e.wrapping_add({sum}); {sum} ^= *e; }}"),
                2 => writeln!(
                    text,
                    "{pad}for pair in {name}.chunks_exact(2) {{ {sum} = {sum}.rotate_right(3u32) ^ pair[0] ^ (pair[1] >> 1u32); }}"
                ),
                _ => {
                    writeln!(text, "{pad}for (k, e) in {name}[1..].iter().enumerate() {{ {sum} ^= *e >> (k as u32); }}")
                }
            };
            self.declare(format!("{name}[4]"), ty, true);
        }
        self.declare(sum, ty, true);
    }

    /// Subslices of the words, and of an array.
    fn slices(&mut self, text: &mut String, pad: &str) {
        let (name, sum, at) = (self.name(), self.name(), self.random.below(6));
        let index = self.expression("usize", 1);
        let _ = match self.random.below(5) {
            0 => writeln!(
                text,
                "{pad}let {name} = &x[i * 8usize..i * 8usize + {at}usize];\n{pad}let mut {sum} = {name}.len() as u64;\n{pad}\
                 for w in {name}.iter().rev() {{ {sum} = {sum}.rotate_left(5u32) ^ *w; }}"
            ),
            1 => writeln!(
                text,
                "{pad}let {sum} = match x.get({index} % 300usize) {{ Some(w) if *w > 9u64 => *w, Some(w) => !*w, None => {at}u64 }};"
            ),
            2 => writeln!(
                text,
                "{pad}let {sum} = match &x[i * 8usize..i * 8usize + {index} % 5usize] {{ [] => 1u64, [w] => *w, [w, .., v] if w > v => \
                 w.wrapping_sub(*v), [w, rest @ ..] => *w ^ rest.len() as u64 }};"
            ),
            3 => writeln!(
                text,
                "{pad}let {name} = x.split_at(i * 8usize + {at}usize);\n{pad}let {sum} = {name}.1[0] ^ {name}.0.len() as u64;"
            ),
            _ => writeln!(
                text,
                "{pad}let mut {name} = [0u64; 6];\n{pad}{name}[..{at}].fill({index} as u64);\n{pad}{name}[4..].copy_from_slice(&x[i..i + \
                 2usize]);\n{pad}let {sum} = {name}.first().unwrap().wrapping_mul(3u64) ^ *{name}.last().unwrap() ^ {name}[{index} % 6usize];"
            ),
        };
        self.declare(sum, "u64", false);
    }

    fn tuple(&mut self, text: &mut String, pad: &str) {
        let (ty, other) = (self.ty(), self.ty());
        let (a, b, c) = (self.expression(ty, 2), self.expression(other, 2), self.expression(ty, 0));
        let (first, second, third) = (self.name(), self.name(), self.name());
        let _ = match self.random.below(3) {
            0 => writeln!(text, "{pad}let ({first}, mut {second}) = ({a}, {b});"),
            1 => writeln!(text, "{pad}let ([{first}, {third}, ..], mut {second}) = ([{a}, {c}, {a}], {b});"),
            _ => writeln!(
                text,
                "{pad}let {first}; let mut {second};\n{pad}(({first}, _), {second}) = (({a}, 1u8), {b});"
            ),
        };
        self.declare(first, ty, false);
        self.declare(second, other, true);
    }

    /// A variable that is written through a reference, here or in a function.
    fn reference(&mut self, text: &mut String, pad: &str) {
        let ty = self.number();
        let Some(name) = self.variable(ty, true) else { return };
        let (reference, value) = (self.name(), self.expression(ty, 2));
        let _ = writeln!(text, "{pad}{{\n{pad}    let value = {value};\n{pad}    let {reference} = &mut {name};");
        let _ = match self.random.below(2) {
            0 => writeln!(text, "{pad}    *{reference} = value;\n{pad}}}"),
            _ => writeln!(text, "{pad}    write_if({reference}, value > {}, value);\n{pad}}}", self.constant(ty)),
        };
    }

    /// A literal or an input, for use while variables are borrowed.
    fn constant(&mut self, ty: Ty) -> String {
        let around = std::mem::take(&mut self.variables);
        let text = self.expression(ty, 0);
        self.variables = around;
        text
    }

    /// Swaps of values, by assignment or through `std::mem`.
    fn exchange(&mut self, text: &mut String, pad: &str) {
        let ty = self.number();
        let (Some(first), Some(second)) = (self.variable(ty, true), self.variable(ty, true)) else { return };
        let (value, old) = (self.expression(ty, 1), self.name());
        // Two references must not alias; fields of the same variable are distinguished by their last names.
        let root = |name: &str| name.split(['.', '[']).next().unwrap_or_default().to_owned();
        let _ = match self.random.below(3) {
            0 if root(&first) != root(&second) => writeln!(text, "{pad}std::mem::swap(&mut {first}, &mut {second});"),
            1 if first != second => writeln!(text, "{pad}({first}, {second}) = ({second}, {value});"),
            _ => {
                let _ = writeln!(text, "{pad}let {old} = {value};");
                let _ = writeln!(text, "{pad}let {old} = std::mem::replace(&mut {first}, {old});");
                self.declare(old, ty, false);
                return;
            }
        };
    }

    /// A struct whose fields are variables, and whose methods mutate it.
    fn structs(&mut self, text: &mut String, pad: &str) {
        let Some(structure) = self.structs.last().cloned() else { return };
        let (name, result) = (self.name(), self.name());
        let built = self.construct(&structure, 1);
        let mutable = !self.random.one_in(3);
        let keyword = if mutable { "mut " } else { "" };
        let _ = writeln!(text, "{pad}let {keyword}{name} = {built};");
        let (method, (from, to)) = if mutable { ("set", structure.changing) } else { ("get", structure.reading) };
        let argument = self.expression(from, 1);
        let _ = writeln!(text, "{pad}let {result} = {name}.{method}({argument});");
        self.declare(result, to, false);
        self.parts(&name, &structure, mutable);
        if !mutable {
            self.callees.push(Callee { open: format!("{name}.get("), arguments: vec![from], result: to });
        }
    }

    fn arms(&mut self, text: &mut String, indent: usize, depth: usize) {
        let (pad, of) = (spaces(indent), self.integer());
        let (value, guard, bound) = (self.expression(of, 2), self.expression("bool", 1), self.name());
        let _ = writeln!(text, "{pad}match {value} & 31{of} {{\n{pad}    0{of} => {{");
        self.block(text, indent + 2, depth - 1);
        let _ = writeln!(text, "{pad}    }}\n{pad}    {bound} @ (1{of}..=9{of} | 20{of}) if {guard} => {{");
        self.declare(bound, of, false);
        self.block(text, indent + 2, depth - 1);
        self.variables.pop();
        let _ = writeln!(text, "{pad}    }}\n{pad}    ..=12{of} => {{");
        self.block(text, indent + 2, depth - 1);
        let _ = writeln!(text, "{pad}    }}\n{pad}    _ => {{}}\n{pad}}}");
    }

    fn for_loop(&mut self, text: &mut String, indent: usize, depth: usize) {
        let pad = spaces(indent);
        let (ty, name, bound) = (self.integer(), self.name(), 1 + self.random.below(6));
        let ranges = ["0# .. N#", "(0# ..= N#).rev()", "(0# .. N#).step_by(2)", "(0# .. N#).rev()", "1# ..= N#"];
        let range = self.random.of(&ranges);
        let range =
            range.replace(" .. ", "..").replace(" ..= ", "..=").replace('#', ty).replace('N', &bound.to_string());
        let _ = writeln!(text, "{pad}for {name} in {range} {{");
        self.declare(name, ty, false);
        self.block(text, indent + 1, depth - 1);
        self.variables.pop();
        let _ = writeln!(text, "{pad}}}");
    }

    fn while_loop(&mut self, text: &mut String, indent: usize, depth: usize) {
        let pad = spaces(indent);
        let counter = self.name();
        let condition = self.expression("bool", 1);
        let _ = writeln!(
            text,
            "{pad}let mut {counter} = 0u32;\n{pad}while {counter} < 5 && ({condition} || {counter} < 2) {{"
        );
        let _ = writeln!(text, "{pad}    {counter} += 1;");
        let skip = self.expression("bool", 1);
        let _ = writeln!(text, "{pad}    if {skip} {{ continue; }}");
        self.block(text, indent + 1, depth - 1);
        let _ = writeln!(text, "{pad}}}");
    }

    fn while_let(&mut self, text: &mut String, indent: usize, depth: usize) {
        let pad = spaces(indent);
        let (left, at) = (self.name(), self.name());
        let _ = writeln!(text, "{pad}let mut {left} = Some({}u8);", self.random.below(4));
        let _ = writeln!(text, "{pad}while let Some({at}) = {left} {{\n{pad}    {left} = {at}.checked_sub(1u8);");
        self.declare(at, "u8", false);
        self.block(text, indent + 1, depth - 1);
        self.variables.pop();
        let _ = writeln!(text, "{pad}}}");
    }

    /// Nested labelled loops, of which the inner one can end either, and which yield a value.
    fn labelled(&mut self, text: &mut String, indent: usize, depth: usize) {
        let pad = spaces(indent);
        let (ty, counter, name) = (self.ty(), self.name(), self.name());
        let (condition, value, end) = (self.expression("bool", 2), self.expression(ty, 2), self.expression(ty, 1));
        let _ = writeln!(text, "{pad}let mut {counter} = 0u32;\n{pad}let {name} = 'l{counter}: loop {{");
        let _ = writeln!(text, "{pad}    {counter} += 1;\n{pad}    if {counter} > 4 {{ break {end}; }}");
        let _ = writeln!(text, "{pad}    loop {{\n{pad}        if {condition} {{ break 'l{counter} {value}; }}");
        let _ = writeln!(
            text,
            "{pad}        if {counter} & 1 == 0 {{ continue 'l{counter}; }}\n{pad}        break;\n{pad}    }}"
        );
        self.block(text, indent + 1, depth - 1);
        let _ = writeln!(text, "{pad}}};");
        self.declare(name, ty, false);
    }

    /// Occasionally, an early return.
    fn leaving(&mut self, text: &mut String, pad: &str) {
        let value = self.expression("u64", 1);
        match self.random.below(3) {
            0 => {
                let condition = self.expression("bool", 2);
                let _ = writeln!(text, "{pad}if {condition} && i % 5 == 0 {{\n{pad}    return {value};\n{pad}}}");
            }
            1 => {
                let (ty, name) = (self.integer(), self.name());
                let (a, b) = (self.expression(ty, 1), self.expression(ty, 1));
                let _ = writeln!(
                    text,
                    "{pad}let Some({name}) = ({a} & 15{ty}).checked_add({b}) else {{ return {value} }};"
                );
                self.declare(name, ty, false);
            }
            _ => {}
        }
    }
}
