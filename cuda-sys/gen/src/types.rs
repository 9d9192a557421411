//! Types and constants in cuda-sys' form: enums, handles, layouts and defaults as calls of its macros. Structures have C's
//! names; anonymous ones are named after the field that holds them.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, bail};
use quote::ToTokens;
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, ForeignItem, Item, Stmt, Type};

use crate::api::Api;

/// A function of the headers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// `name: type` for each parameter, without spaces before the colon.
    pub(crate) parameters: Vec<String>,
    /// The type of its result, `()` for none.
    pub(crate) result: String,
}

/// bindgen's output, taken apart.
pub(crate) struct Split {
    /// The types and constants, not yet formatted.
    pub(crate) text: String,
    pub(crate) functions: Vec<Function>,
    /// The assertions that the types make about the headers, as conditions in C. Each name of a type stands in braces, because
    /// it is not known here whether C needs `struct` before it.
    pub(crate) assertions: Vec<String>,
    /// The size of each structure and union.
    pub(crate) sizes: BTreeMap<String, String>,
    /// The declarations that were left out, with the reasons.
    pub(crate) warnings: Vec<String>,
}

/// Splits bindgen's output into types, functions and assertions.
pub(crate) fn split(api: &Api, mut file: syn::File) -> Result<Split> {
    let mut names = renames(&file.items);
    if !api.is_driver() {
        // Other headers redeclare it under its tag.
        names.insert("CUuuid_st".to_owned(), "CUuuid".to_owned());
    }
    Normalize { names: &names }.visit_file_mut(&mut file);
    let mut out = Output { c_names: c_names(&names), ..Output::default() };
    for item in readable(file.items, &mut out.warnings) {
        out.item(item)?;
    }
    out.finish(api)
}

/// The items without the types that bindgen could not read, and without the items that name these.
///
/// bindgen replaces the fields of such a type by bytes, which C's type does not have.
fn readable(items: Vec<Item>, warnings: &mut Vec<String>) -> Vec<Item> {
    let blobs: Vec<_> = items.iter().filter(|item| is_blob(item)).filter_map(declared).collect();
    if blobs.is_empty() {
        return items;
    }
    let items: Vec<_> = items.into_iter().flat_map(split_foreign).map(|item| (identifiers(&item), item)).collect();
    let mut left_out: BTreeSet<String> = blobs.iter().cloned().collect();
    loop {
        let naming = items.iter().filter(|(words, _)| !words.is_disjoint(&left_out));
        let more: BTreeSet<_> = naming.filter_map(|(_, item)| declared(item)).collect();
        if more.is_subset(&left_out) {
            break;
        }
        left_out.extend(more);
    }
    let with: Vec<_> = left_out.iter().filter(|name| !blobs.contains(name)).map(String::as_str).collect();
    let with = if with.is_empty() { String::new() } else { format!(", and what names it: {}", with.join(", ")) };
    warnings.push(format!("bindgen cannot read the declaration of `{}`; it is left out{with}", blobs.join("`, `")));
    items.into_iter().filter(|(words, _)| words.is_disjoint(&left_out)).map(|(_, item)| item).collect()
}

/// Returns true for a structure or union whose fields bindgen replaced by bytes.
fn is_blob(item: &Item) -> bool {
    let mut fields: Box<dyn Iterator<Item = &syn::Field>> = match item {
        Item::Struct(item) => Box::new(item.fields.iter()),
        Item::Union(item) => Box::new(item.fields.named.iter()),
        _ => return false,
    };
    fields.any(|field| field.ident.as_ref().is_some_and(|name| name == "_bindgen_opaque_blob" || name == "_address"))
}

/// The name that an item declares.
fn declared(item: &Item) -> Option<String> {
    match item {
        Item::Struct(item) => Some(item.ident.to_string()),
        Item::Union(item) => Some(item.ident.to_string()),
        Item::Type(item) => Some(item.ident.to_string()),
        Item::Use(item) => renamed(item).map(|(_, new)| new.to_string()),
        Item::ForeignMod(item) => match item.items.first() {
            Some(ForeignItem::Fn(function)) => Some(function.sig.ident.to_string()),
            _ => None,
        },
        _ => None,
    }
}

/// Splits a block of foreign items into a block for each item.
fn split_foreign(item: Item) -> Vec<Item> {
    match item {
        Item::ForeignMod(block) => {
            let one = |item: &ForeignItem| syn::ItemForeignMod { items: vec![item.clone()], ..block.clone() };
            block.items.iter().map(|item| Item::ForeignMod(one(item))).collect()
        }
        other => vec![other],
    }
}

/// Every identifier in an item.
fn identifiers(item: &Item) -> BTreeSet<String> {
    let text = item.to_token_stream().to_string();
    text.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_owned).collect()
}

/// New names: `CUuuid` for `CUuuid_st`, `CUresult` for `cudaError_enum`, `Parent_field` for an anonymous type.
fn renames(items: &[Item]) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for item in items {
        let alias = match item {
            Item::Type(alias) => type_name(&alias.ty).map(|old| (old, alias.ident.to_string())),
            Item::Use(item) => renamed(item).map(|(old, new)| (old.to_string(), new.to_string())),
            _ => None,
        };
        if let Some((old, new)) = alias
            && ["_st", "_enum", "_union", "_params"].iter().any(|tag| old.ends_with(tag))
        {
            names.entry(old).or_insert(new);
        }
    }
    // A structure that is declared inside a union, such as `Outer_union_Inner_st`.
    for item in items {
        if let Item::Struct(item) = item
            && let old = item.ident.to_string()
            && let Some((_, inner)) = old.split_once("_union_")
            && let Some(inner) = inner.strip_suffix("_st")
        {
            names.entry(old.clone()).or_insert(inner.to_owned());
        }
    }
    // bindgen puts an anonymous type after the one that holds it, so a parent's name is known before its fields' types.
    for item in items {
        let (parent, fields) = match item {
            Item::Struct(item) => (&item.ident, item.fields.iter().collect::<Vec<_>>()),
            Item::Union(item) => (&item.ident, item.fields.named.iter().collect()),
            _ => continue,
        };
        let parent = parent.to_string();
        let parent = names.get(&parent).cloned().unwrap_or(parent);
        for field in fields {
            let (Some(name), Some(old)) = (&field.ident, type_name(innermost(&field.ty))) else { continue };
            if old.contains("__bindgen_ty_") {
                names.entry(old).or_insert(format!("{parent}_{}", name.to_string().trim_start_matches("__bindgen_")));
            }
        }
    }
    names
}

/// C's names of the types that have no typedef: `struct Inner_st`, or `None` for anonymous ones.
fn c_names(names: &BTreeMap<String, String>) -> BTreeMap<String, Option<String>> {
    let anonymous = names.iter().filter(|(old, _)| old.contains("__bindgen_ty_")).map(|(_, new)| (new.clone(), None));
    let inner = names.iter().filter_map(|(old, new)| {
        let (_, tag) = old.split_once("_union_").filter(|_| !old.contains("__bindgen_ty_"))?;
        Some((new.clone(), Some(format!("struct {tag}"))))
    });
    anonymous.chain(inner).collect()
}

/// The names in `pub use self::old as new`, which is how bindgen writes an alias of an enum.
fn renamed(item: &syn::ItemUse) -> Option<(&syn::Ident, &syn::Ident)> {
    let syn::UseTree::Path(path) = &item.tree else { return None };
    let syn::UseTree::Rename(rename) = &*path.tree else { return None };
    Some((&rename.ident, &rename.rename))
}

fn innermost(ty: &Type) -> &Type {
    if let Type::Array(array) = ty { innermost(&array.elem) } else { ty }
}

/// The name of a type that is one identifier.
fn type_name(ty: &Type) -> Option<String> {
    if let Type::Path(path) = ty { path.path.get_ident().map(ToString::to_string) } else { None }
}

/// Renames types, and shortens `::core::ffi::c_int` to `c_int` and `64usize` to `64`.
struct Normalize<'a> {
    names: &'a BTreeMap<String, String>,
}

impl VisitMut for Normalize<'_> {
    fn visit_path_mut(&mut self, path: &mut syn::Path) {
        if path.leading_colon.is_some()
            && let Some(last) = path.segments.last().cloned()
        {
            path.leading_colon = None;
            path.segments = std::iter::once(last).collect();
        }
        visit_mut::visit_path_mut(self, path);
    }

    fn visit_ident_mut(&mut self, ident: &mut syn::Ident) {
        let name = ident.to_string();
        if let Some(new) = self.names.get(&name) {
            *ident = syn::Ident::new(new, ident.span());
        } else if let Some(anonymous) = name.strip_prefix("__bindgen_anon_") {
            *ident = syn::Ident::new(&format!("anon_{anonymous}"), ident.span());
        }
    }

    fn visit_macro_mut(&mut self, item: &mut syn::Macro) {
        if let Ok(mut fields) =
            item.parse_body_with(syn::punctuated::Punctuated::<syn::Path, syn::Token![,]>::parse_terminated)
        {
            fields.iter_mut().for_each(|path| self.visit_path_mut(path));
            item.tokens = fields.into_token_stream();
        }
        visit_mut::visit_macro_mut(self, item);
    }

    fn visit_lit_int_mut(&mut self, literal: &mut syn::LitInt) {
        if literal.suffix() == "usize" {
            *literal = syn::LitInt::new(literal.base10_digits(), literal.span());
        }
    }
}

#[derive(Default)]
struct Output {
    /// The texts of the items in order. The entry of an enum is reserved at its type and filled from its constants.
    items: Vec<String>,
    enumerators: BTreeMap<String, Vec<String>>,
    enums: Vec<(usize, String, String)>,
    opaque: Vec<String>,
    handles: Vec<(String, String)>,
    zeroed: Vec<String>,
    functions: Vec<Function>,
    assertions: Vec<String>,
    sizes: BTreeMap<String, String>,
    c_names: BTreeMap<String, Option<String>>,
    warnings: Vec<String>,
}

impl Output {
    fn item(&mut self, item: Item) -> Result<()> {
        match item {
            Item::Use(item) => {
                if let Some((old, new)) = renamed(&item)
                    && old != new
                {
                    self.items.push(format!("pub type {new} = {old};"));
                }
            }
            Item::Type(alias) => self.alias(&alias),
            // Bit fields are kept as the bytes that hold them, see `structure`.
            Item::Struct(item) if item.ident == "__BindgenBitfieldUnit" => {}
            Item::Impl(item) if self_name(&item).is_none_or(|name| name == "__BindgenBitfieldUnit") => {}
            Item::Struct(item) => self.structure(item)?,
            Item::Impl(item) => self.implementation(&item)?,
            Item::Const(item) if item.ident == "_" => self.layout(&item)?,
            Item::ForeignMod(item) => {
                for item in &item.items {
                    self.function(item)?;
                }
            }
            Item::Const(item) => {
                self.assertions.push(match &*item.expr {
                    Expr::Lit(syn::ExprLit { lit: syn::Lit::ByteStr(text), .. }) => {
                        let text = String::from_utf8_lossy(&text.value()).into_owned();
                        format!("__builtin_strcmp({}, {:?}) == 0", item.ident, text.trim_end_matches('\0'))
                    }
                    value => format!("{} == {}", item.ident, compact(value)),
                });
                self.items.push(item.to_token_stream().to_string());
            }
            Item::Union(item) => {
                self.items.push(item.to_token_stream().to_string());
            }
            other => self.warnings.push(format!(
                "the generator does not support `{}`; it is left out",
                spaced(&other.to_token_stream().to_string())
            )),
        }
        Ok(())
    }

    fn alias(&mut self, alias: &syn::ItemType) {
        let name = alias.ident.to_string();
        if let Type::Ptr(pointer) = &*alias.ty
            && pointer.mutability.is_some()
            && let Some(object) = type_name(&pointer.elem)
            && self.opaque.contains(&object)
            && !self.handles.iter().any(|(_, other)| *other == object)
        {
            self.handles.push((name, object));
        } else if type_name(&alias.ty).as_ref() != Some(&name) {
            self.items.push(alias.to_token_stream().to_string());
        }
    }

    fn structure(&mut self, mut item: syn::ItemStruct) -> Result<()> {
        let name = item.ident.to_string();
        item.fields.iter_mut().for_each(bit_fields);
        match &item.fields {
            syn::Fields::Unnamed(fields) => {
                let integer = compact(&fields.unnamed.first().context("a newtype has a field")?.ty);
                self.assertions.push(format!("sizeof({{{name}}}) == sizeof(int)"));
                self.enums.push((self.items.len(), name, integer));
                self.items.push(String::new());
            }
            fields if fields.iter().any(|field| field.ident.as_ref().is_some_and(|name| name == "_unused")) => {
                self.opaque.push(name);
            }
            _ => self.items.push(item.to_token_stream().to_string()),
        }
        Ok(())
    }

    fn implementation(&mut self, item: &syn::ItemImpl) -> Result<()> {
        let name = type_name(&item.self_ty).context("an implementation is for a named type")?;
        if item.trait_.is_some() {
            // The only implementation that bindgen writes out here is a zeroed `Default`; everything else is derived.
            self.zeroed.push(name);
            return Ok(());
        }
        for part in &item.items {
            // Accessors of bit fields.
            if matches!(part, syn::ImplItem::Fn(_)) {
                continue;
            }
            let syn::ImplItem::Const(part) = part else { bail!("`{name}` has an item that is no constant") };
            let Expr::Call(call) = &part.expr else { bail!("`{}` has no value", part.ident) };
            let value = call.args.first().with_context(|| format!("`{}` has no value", part.ident))?;
            let value = compact(value);
            self.assertions.push(format!("{} == {value}", part.ident));
            self.enumerators.entry(name.clone()).or_default().push(format!("{} = {value},", part.ident));
        }
        Ok(())
    }

    /// Writes bindgen's assertions, such as `["Size of X"][size_of::<X>() - 8];`, as one call of `layout!`.
    fn layout(&mut self, item: &syn::ItemConst) -> Result<()> {
        let Expr::Block(block) = &*item.expr else { bail!("an assertion of layouts is no block") };
        let (mut name, mut size, mut align, mut fields) = (String::new(), String::new(), String::new(), Vec::new());
        for statement in &block.block.stmts {
            let Stmt::Expr(Expr::Index(index), _) = statement else { bail!("an assertion of layouts is no index") };
            let Expr::Binary(difference) = &*index.index else { bail!("an assertion of layouts is no difference") };
            let value = difference.right.to_token_stream().to_string();
            match &*difference.left {
                Expr::Macro(offset) => {
                    let tokens = offset.mac.tokens.to_string();
                    let (_, field) = tokens.split_once(',').context("offset_of! has a field")?;
                    fields.push((field.trim().to_owned(), value));
                }
                Expr::Call(call) => {
                    let text = compact(&call.func);
                    let (function, ty) = text.split_once("::<").context("size_of has a type")?;
                    name = ty.trim_end_matches('>').to_owned();
                    *(if function.ends_with("size_of") { &mut size } else { &mut align }) = value;
                }
                other => bail!("unknown assertion `{}`", other.to_token_stream()),
            }
        }
        self.sizes.insert(name.clone(), size.clone());
        if let Some(c_name) = self.c_names.get(&name).cloned().unwrap_or(Some(format!("{{{name}}}"))) {
            self.assertions.push(format!("sizeof({c_name}) == {size}"));
            self.assertions.push(format!("_Alignof({c_name}) == {align}"));
            let offset = |(field, offset): &(String, String)| {
                // bindgen adds an underscore to a name that is a keyword of Rust, or `str`.
                let reserved = |name: &&str| *name == "str" || syn::parse_str::<syn::Ident>(name).is_err();
                let keyword = field.strip_suffix('_').filter(reserved);
                format!("offsetof({c_name}, {}) == {offset}", keyword.unwrap_or(field))
            };
            self.assertions.extend(fields.iter().map(offset));
        }
        let fields: Vec<_> = fields.iter().map(|(field, offset)| format!("{field}: {offset},")).collect();
        let fields = fields.join(" ");
        self.items.push(format!("layout! {{ {name}: size {size}, align {align}, {{ {fields} }} }}"));
        Ok(())
    }

    fn function(&mut self, item: &ForeignItem) -> Result<()> {
        let ForeignItem::Fn(function) = item else {
            let declaration = spaced(&item.to_token_stream().to_string());
            self.warnings.push(format!("`{declaration}` is no function; it is left out"));
            return Ok(());
        };
        let name = function.sig.ident.to_string();
        let result = match &function.sig.output {
            syn::ReturnType::Default => "()".to_owned(),
            syn::ReturnType::Type(_, ty) => spaced(&ty.to_token_stream().to_string()),
        };
        let parameters = function.sig.inputs.iter().map(|input| {
            let syn::FnArg::Typed(input) = input else { bail!("`{name}` has a receiver") };
            Ok(format!("{}: {}", input.pat.to_token_stream(), spaced(&input.ty.to_token_stream().to_string())))
        });
        self.functions.push(Function { parameters: parameters.collect::<Result<_>>()?, name: name.clone(), result });
        Ok(())
    }

    fn finish(mut self, api: &Api) -> Result<Split> {
        for (at, name, integer) in &self.enums {
            let list = self.enumerators.remove(name).unwrap_or_default();
            self.items[*at] =
                format!("c_enum! {{\n    {name}: {integer} {{\n        {}\n    }}\n}}", list.join("\n        "));
        }
        let mut text = crate::head(api, "types and constants");
        text.push_str("use core::ffi::*;\n");
        let names_drivers = |item: &String| item.split(|c: char| !c.is_alphanumeric() && c != '_').any(is_drivers);
        let handles_of_driver = self.handles.iter().any(|(_, object)| is_drivers(object));
        let uses_driver = !api.is_driver() && (handles_of_driver || self.items.iter().any(names_drivers));
        text.push_str(if uses_driver { "use crate::driver::*;\n\n" } else { "\n" });
        let handles: Vec<_> =
            self.handles.iter().map(|(handle, object)| format!("    {handle} = {object},\n")).collect();
        text.push_str(&format!("handles! {{\n{}}}\n\n", handles.concat()));
        let one_line = |item: &str| item.starts_with("pub const") || item.starts_with("pub type");
        let following = self.items.iter().skip(1).map(String::as_str).chain([""]);
        for (item, next) in self.items.iter().zip(following) {
            text.push_str(item);
            text.push_str(if one_line(item) && one_line(next) { "\n" } else { "\n\n" });
        }
        let zeroed: Vec<_> = self.zeroed.iter().map(|name| format!("    {name},\n")).collect();
        text.push_str(&format!("zeroed_default! {{\n{}}}\n", zeroed.concat()));
        Ok(Split {
            text,
            functions: self.functions,
            assertions: self.assertions,
            sizes: self.sizes,
            warnings: self.warnings,
        })
    }
}

/// Returns true if a name is that of one of the driver's types, such as `CUstream`.
fn is_drivers(name: &str) -> bool {
    name.strip_prefix("CU").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()))
}

/// The name of the type that an `impl` is for.
fn self_name(item: &syn::ItemImpl) -> Option<String> {
    match &*item.self_ty {
        Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
        _ => None,
    }
}

/// Replaces bindgen's type for bit fields by the bytes that hold them.
fn bit_fields(field: &mut syn::Field) {
    if let Type::Path(path) = &field.ty
        && let Some(last) = path.path.segments.last()
        && last.ident == "__BindgenBitfieldUnit"
        && let syn::PathArguments::AngleBracketed(arguments) = &last.arguments
        && let Some(syn::GenericArgument::Type(bytes)) = arguments.args.first()
    {
        field.ty = bytes.clone();
    }
}

/// The tokens without spaces, for paths and values.
fn compact(tokens: &impl ToTokens) -> String {
    tokens.to_token_stream().to_string().replace(' ', "")
}

/// Formats the tokens of a type as rustfmt does.
fn spaced(tokens: &str) -> String {
    tokens.replace("* mut ", "*mut ").replace("* const ", "*const ").replace(" < ", "<").replace(" >", ">")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Split> {
        split(&crate::APIS[0], syn::parse_file(text).unwrap())
    }

    /// bindgen's output for a union that it cannot read, as it was for `CUlaunchAttributeValue`.
    #[test]
    fn a_type_that_bindgen_cannot_read_is_left_out_with_the_items_that_name_it() {
        let split = of("#[repr(C)] pub struct CUvalue { pub _address: u8, }
            pub type CUvalue_v1 = CUvalue; #[repr(C)] pub struct CUkept { pub pad: [u8; 64], }
            unsafe extern \"C\" { pub fn cuSet(value: *mut CUvalue_v1) -> CUresult; pub fn cuKept(k: CUkept) -> CUresult; }")
        .unwrap();
        assert!(split.text.contains("CUkept") && !split.text.contains("CUvalue"), "{}", split.text);
        assert_eq!(split.functions.iter().map(|function| function.name.as_str()).collect::<Vec<_>>(), ["cuKept"]);
        let warning =
            "bindgen cannot read the declaration of `CUvalue`; it is left out, and what names it: CUvalue_v1, cuSet";
        assert_eq!(split.warnings, [warning]);
    }

    #[test]
    fn a_variable_and_an_unknown_item_are_left_out() {
        let split = of("unsafe extern \"C\" { pub static cuDevices: c_int; pub fn cuX() -> CUresult; }
            pub mod inner {} #[repr(C)] pub struct CUx { pub a: u8, }")
        .unwrap();
        assert_eq!((split.functions.len(), split.warnings.len()), (1, 2), "{:?}", split.warnings);
        assert!(split.warnings[0].contains("cuDevices") && split.warnings[1].contains("inner"), "{:?}", split.warnings);
    }

    #[test]
    fn bit_fields_are_the_bytes_that_hold_them() {
        let text =
            of("#[repr(C)] pub struct X { pub _bitfield_1: __BindgenBitfieldUnit<[u8; 4usize]>, }").unwrap().text;
        assert!(text.replace(' ', "").contains("_bitfield_1:[u8;4]"), "{text}");
    }

    #[test]
    fn only_the_first_of_several_handles_declares_their_object() {
        let text = "#[repr(C)] pub struct cudaArray { _unused: [u8; 0], }
            pub type cudaArray_t = *mut cudaArray; pub type cudaArray_const_t = *const cudaArray;";
        let text = of(text).unwrap().text;
        assert!(
            text.contains("    cudaArray_t = cudaArray,\n}") && text.contains("cudaArray_const_t = * const"),
            "{text}"
        );
    }
}
