//! Random programs: functions of statements, and two kernels that call them, at two levels of optimisation.
//!
//! A program yields one number for each thread: a hash of every variable that is in scope at its end. A generated function
//! compares the host's numbers with the device's.

use std::fmt::Write as _;

use super::expression::{Inputs, Variable, Writer, bits};
use super::random::Random;
use super::snippets::Chosen;

/// The lowest number of snippets in a function.
const SNIPPETS: usize = 4;
/// The number of functions of a seed after which the next seed's continue with the snippets.
const IN_TURN: u64 = 19;

/// The text of a program.
pub(super) fn text(seed: u64, number: u64, checked: bool, chosen: &Chosen) -> String {
    let random = Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ number.wrapping_mul(0x9e37_79b9));
    match number % 6 {
        4 => super::block::text(random, number),
        5 => closure(random, number, checked),
        _ => function(random, seed, number, checked, chosen),
    }
}

/// The options of a program's kernels: unoptimised with full debug information, and optimised.
pub(super) fn kernels(checked: bool) -> [(char, String); 2] {
    let checked = if checked { "checked, " } else { "" };
    [('o', "debug"), ('q', "opt = 3")].map(|(name, how)| (name, format!("#[kernel({checked}fma = false, {how})]")))
}

/// Generates a device function `p` with items and statements. Its arguments are words, a matrix, and a row to write.
fn function(random: Random, seed: u64, number: u64, checked: bool, chosen: &Chosen) -> String {
    let mut writer = Writer::new(random, checked, Inputs::WordsAndMatrix);
    let device = if checked { "(checked)" } else { "" };
    let mut text = writer.items(number);
    for word in 0..2 {
        writer.declare(format!("m[{word}]"), "u64", true);
    }
    (writer.number, writer.snippets) = (number, chosen.snippets());
    // The snippets are used in turn, over the programs of a seed that have some and on into the next seed.
    writer.next_snippet = (seed % (1 << 32) * IN_TURN + number - number / 6 * 2) as usize * SNIPPETS;
    let body = writer.body();
    text += &writer.snippet_items;
    let _ = write!(
        text,
        "#[device{device}]\npub fn p{number}(x: &[u64], a: ArrayView2<'_, u32>, mut m: ArrayViewMut1<'_, u64>, i: usize) -> u64 \
         {{\n{body}}}\n\n"
    );
    for (name, attribute) in kernels(checked) {
        let _ = write!(
            text,
            "{attribute}\npub fn {name}{number}(x: &[u64], a: ArrayView2<'_, u32>, mut m: ArrayViewMut2<'_, u64>, out: &mut [u64]) \
             {{\n    let i = grid::<1>();\n    out[i] = p{number}(x, a, m.row_mut(i), i);\n}}\n\n"
        );
    }
    let launch = |name| format!("&|x, a, m, out| {name}{number}::launch((1, THREADS), x, a, m, out)");
    let _ = write!(
        text,
        "pub fn run{number}(session: &mut Session) {{\n    session.compare({number}, &p{number}, [{}, {}]);\n}}\n\n",
        launch('o'),
        launch('q')
    );
    text
}

/// Generates a closure that the launch passes, with its captures.
fn closure(random: Random, number: u64, checked: bool) -> String {
    let mut writer = Writer::new(random, checked, Inputs::Words);
    let mut text = writer.items(number);
    let mut captures = String::new();
    for _ in 0..1 + writer.random.below(4) {
        writer.capture(&mut captures);
    }
    let mut body = String::new();
    for _ in 0..2 {
        writer.binding(&mut body, 2);
    }
    for _ in 0..writer.random.below(3) {
        writer.block(&mut body, 2, 0);
    }
    body += &writer.hash(2);
    for (name, attribute) in kernels(checked) {
        let _ = write!(
            text,
            "{attribute}\npub fn {name}{number}<F: Fn(&[u64], usize) -> u64>(f: F, x: &[u64], out: &mut [u64]) {{\n    \
             let i = grid::<1>();\n    out[i] = f(x, i);\n}}\n\n"
        );
    }
    let launch = |name| format!("&|x, _, _, out| {name}{number}::launch((1, THREADS), f, x, out)");
    let _ = write!(
        text,
        "pub fn run{number}(session: &mut Session) {{\n{captures}    let f = device_fn!(|x: &[u64], i: usize| {{\n{body}    }});\n    \
         session.compare({number}, &|x, _, _, i| (*f.host())(x, i), [{}, {}]);\n}}\n\n",
        launch('o'),
        launch('q')
    );
    text
}

impl Writer {
    fn body(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..4 {
            self.binding(&mut text, 1);
        }
        for _ in 0..4 + self.random.below(8) {
            self.statement(&mut text, 1, 2);
            if self.random.one_in(3) {
                self.snippet(&mut text, 1);
            }
        }
        while self.inserted < SNIPPETS {
            self.snippet(&mut text, 1);
        }
        text + &self.hash(1)
    }

    /// Code that hashes all variables in scope.
    pub(super) fn hash(&self, indent: usize) -> String {
        let pad = "    ".repeat(indent);
        let mut text = format!("{pad}let mut h = 0u64;\n");
        for Variable { name, ty, .. } in &self.variables {
            let _ = writeln!(text, "{pad}h = h.rotate_left(7).wrapping_mul(31u64) ^ ({});", bits(name, ty));
        }
        text + &pad + "h\n"
    }

    /// A captured variable of a closure: a number, an array, a tuple, an option or a struct.
    fn capture(&mut self, text: &mut String) {
        let inputs = std::mem::replace(&mut self.inputs, Inputs::None);
        let around = std::mem::take(&mut self.variables);
        let callees = std::mem::take(&mut self.callees);
        let (ty, name, panic_free) = (self.ty(), self.name(), std::mem::replace(&mut self.panic_free, true));
        let (value, other) = (self.expression(ty, 0), self.expression("i16", 0));
        let mut parts = vec![(name.clone(), ty)];
        let value = match self.random.below(5) {
            0 => {
                parts = vec![(format!("{name}[1]"), ty), (format!("{name}[i % 3usize]"), ty)];
                format!("[{value}, {}, {value}]", self.expression(ty, 0))
            }
            1 => {
                parts = vec![(format!("{name}.0"), ty), (format!("{name}.1.1"), "i16")];
                format!("({value}, (true, {other}))")
            }
            2 => {
                parts = vec![(format!("{name}.unwrap_or({value})"), ty)];
                format!("{}.then_some({value})", self.random.of(&["true", "false"]))
            }
            3 if !self.structs.is_empty() => {
                let structure = self.structs[0].clone();
                parts.clear();
                let built = self.construct(&structure, 0);
                self.variables.clear();
                self.parts(&name, &structure, false);
                built
            }
            _ => value,
        };
        let _ = writeln!(text, "    let {name} = {value};");
        let fields = std::mem::replace(&mut self.variables, around);
        self.variables.extend(fields);
        for (name, ty) in parts {
            self.declare(name, ty, false);
        }
        (self.inputs, self.callees, self.panic_free) = (inputs, callees, panic_free);
    }
}
