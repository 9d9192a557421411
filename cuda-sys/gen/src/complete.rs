//! Completes the bindings of a toolkit's headers with the committed declarations that these headers lack.
//!
//! The crates above cuda-sys are written for the committed bindings, and compile with those of any older headers by these rules:
//!
//! - Of a declaration that both have, the newer CUDA's is taken. The symbol of a function names its version. Within one
//!   version, structures grow only into reserved bytes (their own, or those of the union that holds them), and enumerations
//!   only gain values; the committed table relies on that too where an older driver serves it. The only values that change
//!   are counts and masks (`CU_DEVICE_ATTRIBUTE_MAX`), which follow from the additions.
//! - The version (`CUDA_VERSION`) is that of the headers.
//! - A declaration that only the newer CUDA has is added; a driver without the function reports it as missing.
//! - A declaration that only the older CUDA has is added, unless it names a type that the newer one declares differently: no
//!   function takes a structure with the layout of another version.
//!
//! Libraries whose symbols name no version (NVRTC, nvJitLink, NVML) are not completed: their structures and codes change
//! under the same names. No crate above uses them.
//!
//! Invariant: declarations that refer to each other are of the same version.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, bail};
use quote::ToTokens;
use syn::Item;

/// The texts of `types.rs` and `table.rs`.
pub(crate) type Texts = [String; 2];

/// The constants that hold the headers' CUDA version.
const VERSIONS: [&str; 2] = ["CUDA_VERSION", "CUDART_VERSION"];

/// Completes the bindings of headers of version `version` with the `committed` ones, of version `known`.
pub(crate) fn completed(headers: Texts, version: u32, committed: &Texts, known: u32) -> Result<Texts> {
    let [types, table] = &headers;
    let (own, other) = (Types::parse(types)?, Types::parse(&committed[0])?);
    let is_newest = version >= known;
    let (newer, older) = if is_newest { (&own, &other) } else { (&other, &own) };
    let (newer_table, older_table) = if is_newest { (table, &committed[1]) } else { (&committed[1], table) };
    let mut changed = changed(newer, older);
    let mut added: BTreeMap<&str, &Declaration> = older.only(newer);
    // A declaration that names an omitted one is omitted too.
    loop {
        let (kept, left_out): (BTreeMap<_, _>, BTreeMap<_, _>) =
            added.into_iter().partition(|(_, declaration)| declaration.identifiers().is_disjoint(&changed));
        added = kept;
        if left_out.is_empty() {
            break;
        }
        changed.extend(left_out.into_iter().flat_map(|(name, declaration)| declaration.names(name)));
    }
    let mut result = Types { head: newer.head.clone(), ..Types::default() };
    result.constants = older.constants.clone();
    result.constants.extend(newer.constants.clone());
    let versions = own.constants.iter().filter(|(name, _)| VERSIONS.contains(&name.as_str()));
    result.constants.extend(versions.map(|(name, text)| (name.clone(), text.clone())));
    let objects: BTreeSet<&str> = newer.declarations.values().filter_map(Declaration::object).collect();
    let added = added.iter().map(|(name, declaration)| (*name, declaration.with_unique_handle(name, &objects)));
    let both = newer.declarations.iter().map(|(name, declaration)| (name.as_str(), declaration.clone())).chain(added);
    for (name, declaration) in both {
        let declaration = match (declaration, older.declarations.get(name)) {
            (Declaration::Enum { integer, values }, Some(Declaration::Enum { values: older, .. })) => {
                Declaration::Enum { integer, values: merged(values, older) }
            }
            (declaration, _) => declaration,
        };
        result.declarations.insert(name.to_owned(), declaration);
    }
    Ok([result.render(), tables(newer_table, older_table, &changed)])
}

/// The version that a file of types declares, where it does.
pub(crate) fn version(types: &str) -> Option<u32> {
    let constants = types.lines().filter_map(|line| line.trim().strip_prefix("pub const "));
    let mut versions = constants.filter_map(|constant| {
        let (name, value) = constant.split_once(": u32 = ")?;
        VERSIONS.contains(&name).then(|| value.trim_end_matches(';').parse().ok())?
    });
    versions.next()
}

/// The types that both files declare differently, and the types that name one of these.
fn changed(newer: &Types, older: &Types) -> BTreeSet<String> {
    let mut changed = BTreeSet::new();
    for (name, new) in &newer.declarations {
        if let Some(old) = older.declarations.get(name)
            && !new.agrees(old)
        {
            changed.extend([new, old].into_iter().flat_map(|declaration| declaration.names(name)));
        }
    }
    loop {
        let common = newer.declarations.iter().filter(|(name, _)| older.declarations.contains_key(*name));
        let naming = common
            .filter(|(name, declaration)| !changed.contains(*name) && !declaration.identifiers().is_disjoint(&changed));
        let more: Vec<String> = naming.flat_map(|(name, declaration)| declaration.names(name)).collect();
        if more.is_empty() {
            return changed;
        }
        changed.extend(more);
    }
}

/// The newer enumerators, followed by those that only the older file has.
fn merged(mut newer: Enumerators, older: &Enumerators) -> Enumerators {
    let rest: Vec<_> = older.iter().filter(|(name, _)| newer.iter().all(|(known, _)| known != name)).cloned().collect();
    newer.extend(rest);
    newer
}

/// The lines of the newer table, followed by the lines of the older table that it lacks and that name no changed type.
fn tables(newer: &str, older: &str, changed: &BTreeSet<String>) -> String {
    let known: BTreeSet<_> = newer.lines().filter_map(function).collect();
    let lacking = older.lines().filter(|line| function(line).is_some_and(|name| !known.contains(name)));
    let lacking: Vec<_> = lacking.filter(|line| identifiers(line).is_disjoint(changed)).collect();
    match newer.trim_end().strip_suffix('}') {
        Some(newer) if !lacking.is_empty() => format!("{newer}{}\n}}\n", lacking.join("\n")),
        _ => newer.to_owned(),
    }
}

/// The name of the function in a line of a table.
fn function(line: &str) -> Option<&str> {
    Some(line.trim().strip_prefix("fn ")?.split_once('(')?.0)
}

fn identifiers(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_owned).collect()
}

/// The declarations of a file of types.
#[derive(Default)]
struct Types {
    /// The comment and the imports.
    head: String,
    /// By name, each as its Rust text.
    constants: BTreeMap<String, String>,
    declarations: BTreeMap<String, Declaration>,
}

/// Names and values.
type Enumerators = Vec<(String, i64)>;

#[derive(Clone, Debug, PartialEq)]
enum Declaration {
    /// The object that it points to.
    Handle(String),
    Enum {
        integer: String,
        values: Enumerators,
    },
    Type(Definition),
}

/// A structure, union or alias.
#[derive(Clone, Debug, Default, PartialEq)]
struct Definition {
    text: String,
    /// The call of `layout!`.
    layout: String,
    /// True if its `Default` is all zeros.
    zeroed: bool,
}

impl Types {
    fn parse(text: &str) -> Result<Types> {
        let comment = text.lines().take_while(|line| line.starts_with("//"));
        let head = comment.map(|line| format!("{line}\n")).collect::<String>() + "\n";
        let mut types = Types { head, ..Types::default() };
        for item in syn::parse_file(text).context("the bindings are not Rust")?.items {
            let text = item.to_token_stream().to_string();
            match item {
                Item::Use(_) => types.head += &format!("{text}\n"),
                Item::Const(item) => drop(types.constants.insert(item.ident.to_string(), text)),
                Item::Type(item) => types.definition(&item.ident.to_string()).text = text,
                Item::Struct(item) => types.definition(&item.ident.to_string()).text = text,
                Item::Union(item) => types.definition(&item.ident.to_string()).text = text,
                Item::Macro(item) => types.call(&item.mac).with_context(|| text)?,
                _ => bail!("`{text}` is no declaration of the bindings"),
            }
        }
        Ok(types)
    }

    /// The structure, union or alias of this name, empty where there is none yet.
    fn definition(&mut self, name: &str) -> &mut Definition {
        let empty = || Declaration::Type(Definition::default());
        let entry = self.declarations.entry(name.to_owned()).or_insert_with(empty);
        if !matches!(entry, Declaration::Type(_)) {
            *entry = empty();
        }
        match entry {
            Declaration::Type(definition) => definition,
            Declaration::Handle(_) | Declaration::Enum { .. } => unreachable!("it was just made one"),
        }
    }

    /// Parses a call of one of the macros of `c.rs`.
    fn call(&mut self, call: &syn::Macro) -> Result<()> {
        let text = call.tokens.to_string();
        let list = |text: &str| -> Vec<String> {
            text.split(',').map(|part| part.replace(' ', "")).filter(|part| !part.is_empty()).collect()
        };
        match call.path.to_token_stream().to_string().as_str() {
            "handles" => {
                for handle in list(&text.replace('\n', " ")) {
                    let (handle, object) = handle.split_once('=').context("a handle has an object")?;
                    self.declarations.insert(handle.to_owned(), Declaration::Handle(object.to_owned()));
                }
            }
            "c_enum" => {
                let (name, rest) = text.split_once(':').context("an enum has an integer")?;
                let (integer, values) = rest.split_once('{').context("an enum has a block")?;
                let values = list(&values.trim().trim_end_matches('}').replace('\n', " ")).into_iter().map(|value| {
                    let (name, value) = value.split_once('=').context("an enumerator has a value")?;
                    Ok((name.to_owned(), value.parse()?))
                });
                let values = values.collect::<Result<_>>()?;
                let integer = integer.trim().to_owned();
                self.declarations.insert(name.trim().to_owned(), Declaration::Enum { integer, values });
            }
            "layout" => {
                let name = text.split(':').next().unwrap_or_default().trim().to_owned();
                let text = text.replace(" :", ":").replace(" ,", ",");
                self.definition(&name).layout = format!("layout! {{ {text} }}");
            }
            "zeroed_default" => {
                list(&text.replace('\n', " ")).iter().for_each(|name| self.definition(name).zeroed = true)
            }
            other => bail!("`{other}!` is no macro of the bindings"),
        }
        Ok(())
    }

    /// The declarations whose names the other file lacks.
    fn only<'a>(&'a self, other: &Types) -> BTreeMap<&'a str, &'a Declaration> {
        let lacking = self.declarations.iter().filter(|(name, _)| !other.declarations.contains_key(*name));
        lacking.map(|(name, declaration)| (name.as_str(), declaration)).collect()
    }

    fn render(&self) -> String {
        let (mut handles, mut items, mut zeroed_names) = (String::new(), String::new(), String::new());
        for (name, declaration) in &self.declarations {
            match declaration {
                Declaration::Handle(object) => handles += &format!("    {name} = {object},\n"),
                Declaration::Enum { integer, values } => {
                    let values = values
                        .iter()
                        .map(|(name, value)| format!("        {name} = {},\n", reinterpreted(*value, integer)));
                    items +=
                        &format!("c_enum! {{\n    {name}: {integer} {{\n{}    }}\n}}\n\n", values.collect::<String>());
                }
                Declaration::Type(Definition { text, layout, zeroed }) => {
                    items += &format!("{text}\n\n");
                    if !layout.is_empty() {
                        items += &format!("{layout}\n\n");
                    }
                    if *zeroed {
                        zeroed_names += &format!("    {name},\n");
                    }
                }
            }
        }
        let constants: String = self.constants.values().map(|text| format!("{text}\n")).collect();
        format!("{}\nhandles! {{\n{handles}}}\n\n{constants}\n{items}zeroed_default! {{\n{zeroed_names}}}\n", self.head)
    }
}

/// Reinterprets a 32-bit value in the integer type of an enum, which can be signed in one version of CUDA and unsigned in another.
fn reinterpreted(value: i64, integer: &str) -> i64 {
    match integer {
        "c_int" if value > i64::from(i32::MAX) => value - (1 << 32),
        "c_uint" if value < 0 => value + (1 << 32),
        _ => value,
    }
}

impl Declaration {
    /// The object of a handle.
    fn object(&self) -> Option<&str> {
        if let Declaration::Handle(object) = self { Some(object) } else { None }
    }

    /// The names that it declares.
    fn names(&self, name: &str) -> Vec<String> {
        [Some(name), self.object()].into_iter().flatten().map(str::to_owned).collect()
    }

    /// The identifiers that it uses or declares, none for an enum.
    fn identifiers(&self) -> BTreeSet<String> {
        match self {
            Declaration::Handle(object) => BTreeSet::from([object.clone()]),
            Declaration::Enum { .. } => BTreeSet::new(),
            Declaration::Type(Definition { text, .. }) => identifiers(text),
        }
    }

    /// Returns true if both declare the same type. Two enums always agree, since their values are merged.
    fn agrees(&self, other: &Declaration) -> bool {
        // rustfmt adds trailing commas where it breaks lines.
        let compact =
            |text: &str| text.replace(", )", ")").replace(", }", "}").replace(", >", ">").replace([' ', '\n'], "");
        match (self, other) {
            (Declaration::Enum { .. }, Declaration::Enum { .. }) => true,
            (Declaration::Type(own), Declaration::Type(other)) => {
                compact(&own.text) == compact(&other.text) && compact(&own.layout) == compact(&other.layout)
            }
            _ => self == other,
        }
    }

    /// Turns a handle into an alias if one of `objects`, for which there is a handle already, is its object.
    fn with_unique_handle(&self, name: &str, objects: &BTreeSet<&str>) -> Declaration {
        match self {
            Declaration::Handle(object) if objects.contains(object.as_str()) => {
                let text = format!("pub type {name} = *mut {object};");
                Declaration::Type(Definition { text, ..Definition::default() })
            }
            other => other.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: &str = "// head\n\nuse core::ffi::*;\n\nhandles! {\n    CUa = CUa_st,\n}\n\npub const CU_VALUE: u32 = 9;\n\
        pub const CU_NEW: u32 = 1;\npub const CUDA_VERSION: u32 = 13050;\n\
        #[repr(C)]\npub struct CUgrown {\n    pub old: c_int,\n    pub new: c_int,\n}\n\
        layout! { CUgrown: size 8, align 4, { old: 0, new: 4, } }\n\
        pub type CUsame = CUgrown;\npub struct CUnew {\n    pub a: CUa,\n}\n\
        c_enum! {\n    CUkind: c_int {\n        CU_BAD = -1,\n        CU_ONE = 1,\n        CU_TWO = 2,\n        CU_MAX = 2,\n    }\n}\n\
        zeroed_default! {\n    CUnew,\n}\n";
    const OLD: &str = "use core :: ffi :: * ;\nhandles! { CUa = CUa_st, CUb = CUa_st, }\npub const CU_VALUE: u32 = 5;\n\
        pub const CUDA_VERSION: u32 = 12000;\n\
        # [repr (C)] pub struct CUgrown { pub old : c_int , }\nlayout! { CUgrown: size 4, align 4, { old: 0, } }\n\
        pub type CUsame = CUgrown ;\npub struct CUgone { pub b : CUb , }\npub struct CUholds { pub g : CUsame , }\n\
        c_enum! { CUkind: c_uint { CU_ONE = 1, CU_MAX = 1, CU_GONE = 4294967295, } }\nzeroed_default! { }\n";
    const NEW_TABLE: &str = "table! {\n    fn cuBoth(g: *mut CUgrown, more: c_int);\n    fn cuNew();\n}\n";
    const OLD_TABLE: &str =
        "table! {\n    fn cuBoth(g: *mut CUgrown);\n    fn cuGone(k: CUkind);\n    fn cuTakes(g: CUsame);\n}\n";

    fn texts(types: &str, table: &str) -> Texts {
        [types.to_owned(), table.to_owned()]
    }

    fn compact(text: &str) -> String {
        text.replace([' ', '\n'], "")
    }

    #[test]
    fn older_headers_are_completed_and_keep_their_version() {
        let [types, table] =
            completed(texts(OLD, OLD_TABLE), 12000, &texts(NEW, NEW_TABLE), version(NEW).unwrap()).unwrap();
        let types = compact(&types);
        // The version of the headers, everything else of the newer.
        for part in
            ["CU_VALUE:u32=9;", "CU_NEW:u32=1;", "CUDA_VERSION:u32=12000;", "pubnew:c_int", "size8", "CUgone", "CUnew"]
        {
            assert!(types.contains(part), "{part}: {types}");
        }
        assert!(types.contains("CUkind:c_int{CU_BAD=-1,CU_ONE=1,CU_TWO=2,CU_MAX=2,CU_GONE=-1,}"), "{types}");
        assert!(types.contains("handles!{CUa=CUa_st,}") && types.contains("pubtypeCUb=*mutCUa_st;"), "{types}");
        // They name, one through an alias, a structure that has another layout now.
        assert!(!types.contains("CUholds") && !table.contains("cuTakes"), "{types}{table}");
        assert_eq!(
            table,
            "table! {\n    fn cuBoth(g: *mut CUgrown, more: c_int);\n    fn cuNew();\n    fn cuGone(k: CUkind);\n}\n"
        );
    }

    #[test]
    fn the_newest_headers_are_not_changed() {
        let own = texts(NEW, NEW_TABLE);
        let [types, table] = completed(own.clone(), 13050, &own, 13050).unwrap();
        let identifiers = |text: &str| -> Vec<String> { identifiers(text).into_iter().collect() };
        assert_eq!((identifiers(&types), table), (identifiers(NEW), NEW_TABLE.to_owned()));
    }

    #[test]
    fn newer_headers_keep_their_declarations() {
        let [types, table] = completed(texts(NEW, NEW_TABLE), 13050, &texts(OLD, OLD_TABLE), 12000).unwrap();
        let types = compact(&types);
        for part in ["CU_VALUE:u32=9;", "CUDA_VERSION:u32=13050;", "pubnew:c_int", "CUgone"] {
            assert!(types.contains(part), "{part}: {types}");
        }
        assert!(types.contains("CUkind:c_int{CU_BAD=-1,CU_ONE=1,CU_TWO=2,CU_MAX=2,CU_GONE=-1,}"), "{types}");
        assert!(table.contains("cuGone") && !table.contains("cuTakes"), "{table}");
    }

    #[test]
    fn what_is_no_declaration_of_the_bindings_is_an_error() {
        assert!(Types::parse("fn x() {}").is_err() && Types::parse("other! { a }").is_err());
        assert!(Types::parse("c_enum! { CUx: c_int { CU_A = b, } }").is_err());
    }
}
