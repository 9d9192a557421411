//! Programs: a device function of statements, and two kernels that call it, at two levels of optimisation.
//!
//! Loops end: each counts to a small number, whatever its body does. A program yields one number that every variable
//! in scope at its end went into.

use std::fmt::Write as _;

use super::expression::{Ty, Variable, Writer, is_float};
use super::random::Random;

/// The text of a program: a function `p` on the host and the device, kernels `o` without optimisation and `q` with it.
pub(super) fn text(seed: u64, number: u64, checked: bool) -> String {
    let random = Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ number.wrapping_mul(0x9e37_79b9));
    let mut writer = Writer { random, variables: Vec::new(), callees: Vec::new(), names: 0, checked };
    let (device, kernel) = if checked { ("(checked)", "checked, ") } else { ("", "") };
    let mut text = String::new();
    for helper in 0..writer.random.below(3) {
        text += &writer.helper(&format!("h{number}_{helper}"), device);
    }
    let body = writer.body();
    let _ = write!(
        text,
        "#[device{device}]\npub fn p{number}(x: &[u64], i: usize) -> u64 {{\n{body}}}\n\n\
         #[kernel({kernel}fma = false, opt = 0)]\npub fn o{number}(x: &[u64], out: &mut [u64]) {{\n    \
         let i = grid::<1>();\n    out[i] = p{number}(x, i);\n}}\n\n\
         #[kernel({kernel}fma = false, opt = 3)]\npub fn q{number}(x: &[u64], out: &mut [u64]) {{\n    \
         let i = grid::<1>();\n    out[i] = p{number}(x, i);\n}}\n\n"
    );
    text
}

impl Writer {
    /// A device function of one argument, which may return early. It has no inputs of its own.
    fn helper(&mut self, name: &str, device: &str) -> String {
        let (argument, result) = (self.ty(), self.ty());
        self.variables = vec![Variable { name: "p".to_owned(), ty: argument, mutable: false }];
        let condition = self.without_inputs("bool");
        let (early, late) = (self.without_inputs(result), self.without_inputs(result));
        self.variables.clear();
        self.callees.push((name.to_owned(), argument, result));
        format!(
            "#[device{device}]\nfn {name}(p: {argument}) -> {result} {{\n    if {condition} {{\n        return {early};\n    }}\n    \
             {late}\n}}\n\n"
        )
    }

    /// An expression of variables and literals alone.
    fn without_inputs(&mut self, ty: Ty) -> String {
        loop {
            let text = self.expression(ty, 2);
            if !text.contains("x[") {
                return text;
            }
        }
    }

    fn body(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..4 {
            self.declare(&mut text, 1);
        }
        for _ in 0..4 + self.random.below(8) {
            self.statement(&mut text, 1, 2);
        }
        let variables = self.variables.clone();
        text += "    let mut h = 0u64;\n";
        for Variable { name, ty, .. } in variables {
            let bits = match ty {
                "f32" => format!("(if {name}.is_nan() {{ 0x7fc0_0000u32 }} else {{ {name}.to_bits() }}) as u64"),
                "f64" => format!("if {name}.is_nan() {{ 0x7ff8_0000_0000_0000u64 }} else {{ {name}.to_bits() }}"),
                _ => format!("{name} as u64"),
            };
            let _ = writeln!(text, "    h = h.rotate_left(7).wrapping_mul(31u64) ^ ({bits});");
        }
        text + "    h\n"
    }

    /// `let name = e;`
    fn declare(&mut self, text: &mut String, indent: usize) {
        let (ty, mutable) = (self.ty(), !self.random.one_in(3));
        let value = self.expression(ty, 3);
        let name = self.name();
        let keyword = if mutable { "mut " } else { "" };
        let _ = writeln!(text, "{}let {keyword}{name}: {ty} = {value};", "    ".repeat(indent));
        self.variables.push(Variable { name, ty, mutable });
    }

    fn statement(&mut self, text: &mut String, indent: usize, depth: usize) {
        let pad = "    ".repeat(indent);
        match self.random.below(if depth == 0 { 6 } else { 14 }) {
            0..=1 => self.declare(text, indent),
            2..=3 => self.assign(text, &pad),
            4 => self.closure(text, &pad),
            5 => self.array(text, &pad),
            6 => {
                let condition = self.expression("bool", 2);
                let _ = writeln!(text, "{pad}if {condition} {{");
                self.block(text, indent + 1, depth - 1);
                let _ = writeln!(text, "{pad}}} else {{");
                self.block(text, indent + 1, depth - 1);
                let _ = writeln!(text, "{pad}}}");
            }
            7 => {
                let of = self.integer();
                let value = self.expression(of, 2);
                let _ = writeln!(text, "{pad}match {value} % 3{of} {{\n{pad}    0{of} => {{");
                self.block(text, indent + 2, depth - 1);
                let _ = writeln!(text, "{pad}    }}\n{pad}    1{of}..=2{of} => {{");
                self.block(text, indent + 2, depth - 1);
                let _ = writeln!(text, "{pad}    }}\n{pad}    _ => {{}}\n{pad}}}");
            }
            8 => self.for_loop(text, indent, depth),
            9 => self.while_loop(text, indent, depth),
            10 => self.labelled(text, indent, depth),
            11 => {
                let (ty, other) = (self.ty(), self.ty());
                let (a, b) = (self.expression(ty, 2), self.expression(other, 2));
                let (first, second) = (self.name(), self.name());
                let _ = writeln!(text, "{pad}let ({first}, mut {second}) = ({a}, {b});");
                self.variables.push(Variable { name: first, ty, mutable: false });
                self.variables.push(Variable { name: second, ty: other, mutable: true });
            }
            12 => {
                let ty = self.number();
                let Some(name) = self.variable(ty, true) else { return };
                let reference = self.name();
                let value = self.expression(ty, 2);
                let _ =
                    writeln!(text, "{pad}{{\n{pad}    let value = {value};\n{pad}    let {reference} = &mut {name};");
                let _ = writeln!(text, "{pad}    *{reference} = value;\n{pad}}}");
            }
            _ => {
                let condition = self.expression("bool", 2);
                let value = self.expression("u64", 1);
                if self.random.one_in(3) {
                    let _ = writeln!(text, "{pad}if {condition} && i % 5 == 0 {{\n{pad}    return {value};\n{pad}}}");
                }
            }
        }
    }

    /// Statements in a scope of their own.
    fn block(&mut self, text: &mut String, indent: usize, depth: usize) {
        let (variables, callees) = (self.variables.len(), self.callees.len());
        for _ in 0..1 + self.random.below(3) {
            self.statement(text, indent, depth);
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
            _ if is_float(ty) => self.random.of(&["=", "+=", "-=", "*=", "/="]),
            _ => self.random.of(&["=", "+=", "-=", "*=", "&=", "|=", "^="]),
        };
        let _ = writeln!(text, "{pad}{name} {op} {value};");
    }

    /// A closure of one argument that uses what is around it.
    fn closure(&mut self, text: &mut String, pad: &str) {
        let (argument, result, name) = (self.ty(), self.ty(), self.name());
        let fixed: Vec<Variable> = self.variables.iter().filter(|variable| !variable.mutable).cloned().collect();
        let around = std::mem::replace(&mut self.variables, fixed);
        self.variables.push(Variable { name: "p".to_owned(), ty: argument, mutable: false });
        let body = self.expression(result, 2);
        self.variables = around;
        let _ = writeln!(text, "{pad}let {name} = |p: {argument}| -> {result} {{ {body} }};");
        self.callees.push((name, argument, result));
    }

    /// An array that is written, read and summed up.
    fn array(&mut self, text: &mut String, pad: &str) {
        let ty = self.integer();
        let (name, sum) = (self.name(), self.name());
        let (fill, index, value) = (self.expression(ty, 1), self.expression("usize", 2), self.expression(ty, 2));
        let _ = writeln!(text, "{pad}let mut {name} = [{fill}; 5];\n{pad}{name}[{index} % 5usize] = {value};");
        let _ = writeln!(text, "{pad}{name}.swap(0, 3);\n{pad}let mut {sum} = 0{ty};");
        let _ = match self.random.below(3) {
            0 => writeln!(text, "{pad}for e in {name}.iter() {{ {sum} = {sum}.wrapping_mul(3{ty}) ^ *e; }}"),
            1 => writeln!(text, "{pad}for e in &mut {name} {{ *e = e.wrapping_add({sum}); {sum} ^= *e; }}"),
            _ => writeln!(text, "{pad}for (k, e) in {name}[1..].iter().enumerate() {{ {sum} ^= *e >> (k as u32); }}"),
        };
        self.variables.push(Variable { name: sum, ty, mutable: true });
    }

    fn for_loop(&mut self, text: &mut String, indent: usize, depth: usize) {
        let pad = "    ".repeat(indent);
        let (ty, name, bound) = (self.integer(), self.name(), 1 + self.random.below(6));
        let range = self.random.of(&["0# .. N#", "(0# ..= N#).rev()", "(0# .. N#).step_by(2)", "(0# .. N#).rev()"]);
        let range =
            range.replace(" .. ", "..").replace(" ..= ", "..=").replace('#', ty).replace('N', &bound.to_string());
        let _ = writeln!(text, "{pad}for {name} in {range} {{");
        self.variables.push(Variable { name, ty, mutable: false });
        self.block(text, indent + 1, depth - 1);
        self.variables.pop();
        let _ = writeln!(text, "{pad}}}");
    }

    fn while_loop(&mut self, text: &mut String, indent: usize, depth: usize) {
        let pad = "    ".repeat(indent);
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

    /// A loop in a loop, of which either is left from within, and which yields a value.
    fn labelled(&mut self, text: &mut String, indent: usize, depth: usize) {
        let pad = "    ".repeat(indent);
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
        self.variables.push(Variable { name, ty, mutable: false });
    }
}
