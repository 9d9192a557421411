//! Emits `function_name` and `inlined_at` in `.loc` directives for inlined instructions.
//!
//! LLVM 22 has the information but does not print it for PTX. So each inlined location gets a unique, otherwise unused
//! line number ([`marked`] in the module's text), and [`with_inlined_at`] replaces that line in the PTX by the real
//! location.
//!
//! Nested inlining emits one `.loc` for each level, the outermost first.

use std::collections::HashMap;
use std::fmt::Write;

/// The first of the line numbers that no source uses.
const FIRST: u32 = 0x4000_0000;

/// A location in LLVM's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Location {
    line: u32,
    column: u32,
    /// The metadata numbers of the function, and of the location at which it is inlined.
    scope: u32,
    inlined_at: Option<u32>,
}

/// A function in LLVM's text.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Scope {
    name: String,
    file: String,
}

/// The locations and scopes in a module's text.
#[derive(Debug, Default)]
pub(super) struct Inlined {
    locations: HashMap<u32, Location>,
    scopes: HashMap<u32, Scope>,
    /// The locations with line numbers of their own, in order.
    marked: Vec<Location>,
}

/// Returns a module's text with a unique line for each inlined location, and the locations that these stand for.
pub(super) fn marked(text: &str) -> (String, Inlined) {
    let mut inlined = Inlined::read(text);
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let location = node(line, "DILocation").and_then(|(number, _)| inlined.locations.get(&number).copied());
        match location.filter(|location| location.inlined_at.is_some()) {
            Some(location) => {
                let (number, _) = line.split_once(" =").unwrap_or_default();
                let (own, scope) = (FIRST + inlined.marked.len() as u32, inlined.outermost(location).scope);
                let _ = writeln!(out, "{number} = distinct !DILocation(line: {own}, column: 1, scope: !{scope})");
                inlined.marked.push(location);
            }
            None => out.push_str(line),
        }
    }
    (out, inlined)
}

/// Returns PTX with `.loc` directives for inlined locations.
pub(super) fn with_inlined_at(ptx: String, inlined: &Inlined) -> String {
    if inlined.marked.is_empty() {
        return ptx;
    }
    let mut tables = Tables::of(&ptx);
    let mut out = String::with_capacity(ptx.len() * 2);
    for line in ptx.split_inclusive('\n') {
        let own = line.trim().strip_prefix(".loc").and_then(|rest| rest.split_whitespace().nth(1)?.parse::<u32>().ok());
        let place = own.and_then(|own| inlined.marked.get(own.checked_sub(FIRST)? as usize));
        match place {
            Some(place) => inlined.write_loc(*place, &mut tables, &mut out),
            None => out.push_str(line),
        }
    }
    out + &tables.added()
}

impl Inlined {
    fn read(text: &str) -> Self {
        let (mut files, mut scopes, mut locations) = (HashMap::new(), HashMap::new(), HashMap::new());
        let mut blocks = HashMap::new();
        for line in text.lines().filter(|line| line.starts_with('!')) {
            if let Some((number, fields)) = node(line, "DIFile") {
                files.insert(number, quoted(fields, "filename"));
            } else if let Some((number, fields)) = node(line, "DISubprogram") {
                scopes.insert(number, (quoted(fields, "name"), reference(fields, "file")));
            } else if let Some((number, fields)) = node(line, "DILexicalBlock") {
                blocks.insert(number, (reference(fields, "scope"), reference(fields, "file")));
            } else if let Some((number, fields)) = node(line, "DILocation") {
                let (line, column) = (value(fields, "line").unwrap_or(0), value(fields, "column").unwrap_or(0));
                let Some(scope) = reference(fields, "scope") else { continue };
                locations.insert(number, Location { line, column, scope, inlined_at: reference(fields, "inlinedAt") });
            }
        }
        // a lexical block belongs to the function that encloses it
        for (number, (parent, file)) in &blocks {
            let outer = |scope: &u32| blocks.get(scope).and_then(|(parent, _): &(Option<u32>, Option<u32>)| *parent);
            let function = std::iter::successors(*parent, outer).last().and_then(|function| scopes.get(&function));
            if let Some((name, _)) = function {
                let name: String = name.clone();
                scopes.insert(*number, (name, *file));
            }
        }
        let scope = |(number, (name, file)): (u32, (String, Option<u32>))| {
            let file = file.and_then(|file| files.get(&file)).cloned().unwrap_or_default();
            (number, Scope { name, file })
        };
        Inlined { locations, scopes: scopes.into_iter().map(scope).collect(), marked: Vec::new() }
    }

    fn caller(&self, location: Location) -> Option<Location> {
        location.inlined_at.and_then(|number| self.locations.get(&number)).copied()
    }

    /// The location in the outermost function.
    fn outermost(&self, location: Location) -> Location {
        std::iter::successors(Some(location), |location| self.caller(*location)).last().unwrap_or(location)
    }

    /// Writes the `.loc` of a location after those of its callers.
    fn write_loc(&self, location: Location, tables: &mut Tables, out: &mut String) {
        let place = |location: &Location, tables: &mut Tables| {
            let file = self.scopes.get(&location.scope).map_or("", |scope| &scope.file);
            format!("{} {} {}", tables.file(file), location.line, location.column)
        };
        let caller = self.caller(location);
        if let Some(caller) = caller {
            self.write_loc(caller, tables, out);
        }
        let _ = write!(out, "\t.loc\t{}", place(&location, tables));
        if let (Some(caller), Some(scope)) = (caller, self.scopes.get(&location.scope)) {
            let (name, at) = (tables.name(&scope.name), place(&caller, tables));
            let _ = write!(out, ", function_name {name}, inlined_at {at}");
        }
        out.push('\n');
    }
}

/// The file numbers and name labels that `.loc` directives refer to.
struct Tables {
    files: HashMap<String, u32>,
    /// The files that the PTX does not declare yet.
    new: Vec<(u32, String)>,
    names: Vec<String>,
}

impl Tables {
    fn of(ptx: &str) -> Self {
        let entry = |line: &str| {
            let (number, name) = line.trim().strip_prefix(".file")?.trim().split_once([' ', '\t'])?;
            Some((unescaped(name.trim().trim_matches('"'), 3, 8), number.parse().ok()?))
        };
        Tables { files: ptx.lines().filter_map(entry).collect(), new: Vec::new(), names: Vec::new() }
    }

    fn file(&mut self, name: &str) -> u32 {
        if let Some(number) = self.files.get(name) {
            return *number;
        }
        let number = self.files.values().max().map_or(1, |most| most + 1);
        self.files.insert(name.to_owned(), number);
        self.new.push((number, name.to_owned()));
        number
    }

    fn name(&mut self, name: &str) -> String {
        let known = self.names.iter().position(|known| known == name);
        let number = known.unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        format!("$L__inlined{number}")
    }

    /// The declarations to add to the PTX.
    fn added(&self) -> String {
        let mut text = String::new();
        for (number, name) in &self.new {
            let _ = writeln!(text, "\t.file\t{number} \"{}\"", escaped(name));
        }
        text.push_str("\t.section\t.debug_str\n\t{\n");
        for (number, name) in self.names.iter().enumerate() {
            let bytes: Vec<String> = name.bytes().chain([0]).map(|byte| byte.to_string()).collect();
            let _ = writeln!(text, "$L__inlined{number}:\n.b8 {}", bytes.join(","));
        }
        text + "\t}\n"
    }
}

/// The number and the fields of a metadata definition of a kind.
fn node<'t>(line: &'t str, kind: &str) -> Option<(u32, &'t str)> {
    let (number, rest) = line.strip_prefix('!')?.split_once(" = ")?;
    let rest = rest.strip_prefix("distinct ").unwrap_or(rest);
    let fields = rest.strip_prefix('!')?.strip_prefix(kind)?.strip_prefix('(')?;
    Some((number.parse().ok()?, fields))
}

/// The value of a field.
fn field<'t>(fields: &'t str, name: &str) -> Option<&'t str> {
    let start = fields.match_indices(name).find(|(at, _)| {
        let after = fields[at + name.len()..].starts_with(": ");
        after && (*at == 0 || fields[..*at].ends_with(", "))
    });
    start.map(|(at, _)| &fields[at + name.len() + 2..])
}

fn value(fields: &str, name: &str) -> Option<u32> {
    let text = field(fields, name)?;
    text[..text.find([',', ')'])?].parse().ok()
}

fn reference(fields: &str, name: &str) -> Option<u32> {
    let text = field(fields, name)?.strip_prefix('!')?;
    text[..text.find([',', ')'])?].parse().ok()
}

fn quoted(fields: &str, name: &str) -> String {
    let text = field(fields, name).and_then(|text| text.strip_prefix('"')?.split_once('"'));
    text.map(|(text, _)| unescaped(text, 2, 16)).unwrap_or_default()
}

/// Unescapes a string's bytes: two digits after a backslash in LLVM's text, three in PTX.
fn unescaped(text: &str, digits: usize, radix: u32) -> String {
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let [first, after @ ..] = rest {
        let number = after.get(..digits).and_then(|digits| std::str::from_utf8(digits).ok());
        let number = number.and_then(|digits| u8::from_str_radix(digits, radix).ok());
        let (byte, left) = match (first, number, after) {
            (b'\\', Some(byte), _) => (byte, &after[digits..]),
            (b'\\', None, [byte, left @ ..]) => (*byte, left),
            _ => (*first, after),
        };
        bytes.push(byte);
        rest = left;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Escapes a string for PTX.
fn escaped(name: &str) -> String {
    let spelled = |byte: u8| match byte {
        b'\\' => "\\\\".to_owned(),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\{byte:03o}"),
    };
    name.bytes().map(spelled).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_spelled_as_llvm_and_ptx_spell_them() {
        assert_eq!(unescaped(r"\C3\A9 \\c.rs", 2, 16), r"é \c.rs");
        assert_eq!(unescaped(r"\303\251 \\c.rs", 3, 8), r"é \c.rs");
        assert_eq!(escaped(r"é \c.rs"), r"\303\251 \\c.rs");
        assert_eq!(unescaped("é\\", 3, 8), "é\\");
    }

    #[test]
    fn a_location_in_a_block_has_its_file_and_function_name() {
        let text = "!1 = !DIFile(filename: \"a.rs\", directory: \"\")\n!2 = !DIFile(filename: \"\\C3\\A9.rs\", directory: \"\")\n\
                    !3 = distinct !DISubprogram(name: \"k\", scope: !1, file: !1, line: 1)\n\
                    !4 = distinct !DILexicalBlock(scope: !3, file: !2, line: 8, column: 2)\n\
                    !5 = distinct !DILexicalBlock(scope: !4, file: !1, line: 9, column: 2)\n";
        let scopes = Inlined::read(text).scopes;
        assert_eq!((&*scopes[&4].name, &*scopes[&4].file), ("k", "é.rs"));
        assert_eq!((&*scopes[&5].name, &*scopes[&5].file), ("k", "a.rs"));
    }

    #[test]
    fn nested_inlined_locations_are_listed_from_the_outermost() {
        let text = "!1 = !DIFile(filename: \"a.rs\", directory: \"\")\n!2 = !DIFile(filename: \"b.rs\", directory: \"\")\n\
                    !3 = distinct !DISubprogram(name: \"k\", scope: !1, file: !1, line: 1)\n\
                    !4 = distinct !DISubprogram(name: \"f\", scope: !2, file: !2, line: 8)\n\
                    !5 = distinct !DISubprogram(name: \"g\", scope: !2, file: !2, line: 9)\n\
                    !6 = !DILocation(line: 20, column: 3, scope: !3)\n\
                    !7 = distinct !DILocation(line: 9, scope: !4, inlinedAt: !6)\n\
                    !8 = !DILocation(line: 10, column: 5, scope: !5, inlinedAt: !7)\n";
        let (marked, inlined) = marked(text);
        assert!(marked.contains("!6 = !DILocation(line: 20, column: 3, scope: !3)\n"), "{marked}");
        let own = format!("!8 = distinct !DILocation(line: {}, column: 1, scope: !3)\n", FIRST + 1);
        assert!(marked.contains(&own), "{marked}");
        let ptx = format!("\t.loc\t1 20 3\n\tret;\n\t.loc\t1 {} 1\n\tret;\n\t.file\t1 \"a.rs\"\n", FIRST + 1);
        let expected = "\t.loc\t1 20 3\n\tret;\n\t.loc\t1 20 3\n\
                        \t.loc\t2 9 0, function_name $L__inlined0, inlined_at 1 20 3\n\
                        \t.loc\t2 10 5, function_name $L__inlined1, inlined_at 2 9 0\n\tret;\n\t.file\t1 \"a.rs\"\n\
                        \t.file\t2 \"b.rs\"\n\t.section\t.debug_str\n\t{\n$L__inlined0:\n.b8 102,0\n\
                        $L__inlined1:\n.b8 103,0\n\t}\n";
        assert_eq!(with_inlined_at(ptx, &inlined), expected);
    }

    #[test]
    fn text_without_inlined_locations_is_unchanged() {
        let (text, inlined) = marked("!6 = !DILocation(line: 20, column: 3, scope: !3)\nret\n");
        assert_eq!(text, "!6 = !DILocation(line: 20, column: 3, scope: !3)\nret\n");
        assert_eq!(with_inlined_at("\t.loc\t1 20 3\n".to_owned(), &inlined), "\t.loc\t1 20 3\n");
    }
}
