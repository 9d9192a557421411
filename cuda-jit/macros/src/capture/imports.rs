//! Names that the typing probe imports or declares beside the body: hidden methods and functions, aliases of functions,
//! macros.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{ExprPath, Ident, Path};

use super::call::PRIMITIVES;
use super::callee::{alias_prefix, function_of_type, of_type, primitive_check};
use super::scopes::Scopes;
use super::span::begin_path;
use super::witnesses::names_crate;

/// The number of functions for which `non_device` has a placeholder. One more is declared by an import in a block of its
/// own.
const MOST_ALIASES: usize = 11;

/// Types whose values lie on the heap.
const ON_THE_HEAP: &[&str] = &[
    "Vec",
    "VecDeque",
    "Box",
    "String",
    "Rc",
    "Arc",
    "HashMap",
    "HashSet",
    "BTreeMap",
    "BTreeSet",
    "BinaryHeap",
    "Cow",
];

/// A free function that the typing probe calls by another name.
struct Alias {
    /// The path as written, without generic arguments.
    path: Path,
    name: Ident,
}

impl Alias {
    /// The import that declares the alias. If the probe has a copy of the body, an unresolved name is an error in the copy
    /// alone, so that the alias then resolves to a macro, unless the name is one of the macros that the function calls.
    fn import(&self, has_body_copy: bool, macros: &[Ident]) -> TokenStream {
        let Alias { path, name } = self;
        let silent = path.get_ident().filter(|ident| has_body_copy && !macros.contains(ident));
        let silent = silent.map(|ident| quote_spanned!(name.span() => macro_rules! #ident { () => {} }));
        quote_spanned!(name.span() => #silent use #path as #name;)
    }
}

/// A hidden function of a type.
struct OfType {
    hidden: Ident,
    /// Its name in the source.
    name: Ident,
    /// The number of arguments of its calls.
    count: usize,
    /// The advice if the type does not have it.
    hint: String,
    /// True if a path names it of a reference type.
    of_reference: bool,
}

impl OfType {
    /// The hidden function, with this prefix, of the function that a path names.
    fn new(prefix: &str, path: &ExprPath, count: usize) -> Option<Self> {
        let name = function_of_type(path)?;
        let ty = path.path.segments.iter().rev().nth(1).map(|ty| ty.ident.to_string()).unwrap_or_default();
        let hint = match ty.as_str() {
            ty if ON_THE_HEAP.contains(&ty) => {
                "a thread has no heap: use an array, `[0.0; 16]`, or write to a `&mut [T]` parameter".to_owned()
            }
            "Instant" | "SystemTime" => "kernels read the time with `clock64()` and `globaltimer()`".to_owned(),
            ty if PRIMITIVES.contains(&ty) => "write a `#[device]` function that computes it".to_owned(),
            _ if name == "default" => {
                "write `#[device]` before the type's `impl Default`; a trait whose `Self` has one is `trait Name: DeviceDefault`"
                    .to_owned()
            }
            _ => format!("write `#[device]` before the `impl` that has `{name}`"),
        };
        let of_reference = path.qself.as_ref().is_some_and(|of| matches!(*of.ty, syn::Type::Reference(_)));
        let hidden = format_ident!("{}_{}", prefix, name, span = Span::mixed_site());
        Some(OfType { hidden, name, count, hint, of_reference })
    }

    /// A trait that has the function for references, and an error for all other types. The result type is unconstrained, so
    /// that the error causes no others.
    fn refusal(&self, root: &TokenStream) -> TokenStream {
        let OfType { hidden, name, count, hint, of_reference } = self;
        let of = unique("DeviceFunction", name);
        let message = format!("kernels cannot call `{{Self}}::{name}`, which is not a `#[device]` function");
        let args: Vec<_> = (0..*count).map(|index| format_ident!("A{}", index)).collect();
        let outer = if *of_reference { quote!(&&) } else { quote!(&) };
        quote! {
            #[diagnostic::on_unimplemented(message = #message, label = "not a device function", note = #hint)]
            trait #of<Of> {
                fn #hidden<#(#args,)* R>(#(_: #args),*) -> R {
                    loop {}
                }
            }
            #[diagnostic::do_not_recommend]
            impl<T: ?Sized, Of: #root::non_device::Open> #of<Of> for #outer T {}
        }
    }
}

/// The names by which a typing probe calls.
#[derive(Default)]
pub(crate) struct Imports {
    /// True if the typing probe has a copy of the body as written.
    has_body_copy: bool,
    /// The type parameters of the function, and those of its `impl` if so.
    type_params: Vec<Ident>,
    /// The methods that are called by their hidden names, each name once.
    methods: Vec<Ident>,
    /// The functions of types that are called by their hidden names, each name once.
    functions: Vec<OfType>,
    /// The free functions that are called by other names.
    aliases: Vec<Alias>,
    /// The macros, each name once.
    macros: Vec<Ident>,
    /// The primitive types whose functions are called outside blocks with items, each name once.
    primitives: Vec<Ident>,
}

impl Imports {
    /// The imports of a typing probe, which has a copy of the body if `has_body_copy`, of a function with these type
    /// parameters.
    pub(super) fn new(has_body_copy: bool, type_params: Vec<Ident>) -> Self {
        Imports { has_body_copy, type_params, ..Imports::default() }
    }

    /// Makes a path to a function of a type parameter depend on the copy of the body: if that does not compile, the function
    /// is not reported a second time.
    pub(super) fn checked_param(&self, path: &mut ExprPath) {
        let segments = &path.path.segments;
        let (Some(first), 2, None) = (segments.first(), segments.len(), &path.qself) else { return };
        if self.has_body_copy && self.is_type_param(&first.ident) {
            let (param, function) = (&first.ident, &segments[1]);
            let span = param.span();
            if let Ok(checked) = syn::parse2(quote_spanned!(span => <__cuda_jit_Same<#param>>::#function)) {
                *path = checked;
            }
        }
    }

    /// Returns true for a type parameter of the function.
    pub(super) fn is_type_param(&self, name: &Ident) -> bool {
        self.type_params.contains(name)
    }

    /// Returns true if the typing probe has a copy of the body as written.
    pub(super) fn has_body_copy(&self) -> bool {
        self.has_body_copy
    }

    /// The name of the hidden method that replaces a method in calls.
    pub(super) fn method(&mut self, name: &Ident) -> Ident {
        if !self.methods.contains(name) {
            self.methods.push(name.clone());
        }
        format_ident!("__call_{}", name, span = name.span())
    }

    /// The name of the hidden function that replaces a type's function in calls with `count` arguments.
    pub(super) fn function_of_type(&mut self, path: &ExprPath, name: &Ident, count: usize) -> Ident {
        self.ask_of_type("__call", path, count);
        format_ident!("__call_{}", name, span = name.span())
    }

    /// Adds a check that reports a type which lacks the hidden function.
    fn ask_of_type(&mut self, prefix: &str, path: &ExprPath, count: usize) {
        let Some(function) = OfType::new(prefix, path, count) else { return };
        match self.functions.iter_mut().find(|known| known.hidden == function.hidden) {
            Some(known) => known.of_reference |= function.of_reference,
            None => self.functions.push(function),
        }
    }

    /// Imports the macro that the language knows by a name.
    pub(super) fn known_macro(&mut self, name: &Ident) {
        if !self.macros.contains(name) {
            self.macros.push(Ident::new(&name.to_string(), Span::mixed_site()));
        }
    }

    /// Adds a check that a name is the primitive type.
    pub(super) fn primitive(&mut self, name: &Ident) {
        if !self.primitives.contains(name) {
            self.primitives.push(name.clone());
        }
    }

    /// The path by which the typing probe names a function. The import that declares the alias is returned beside it for a
    /// single name, in a block with items of its own, and if there are many functions.
    ///
    /// If an attribute macro wrote an item, here the type beside a function, an import also finds an item of the same name
    /// that a glob of the same module brings in, and rustc reports the ambiguity. In a block that imports all names of the
    /// module by a glob, the import resolves as the name itself does.
    pub(super) fn alias(&mut self, path: &ExprPath, scopes: &Scopes) -> (ExprPath, Option<TokenStream>) {
        if of_type(path) {
            self.ask_of_type("__fn", path, 0);
        }
        // the type beside an inner function, which a macro writes, and an outer name are ambiguous for an import
        let inner = path.path.segments.first().is_some_and(|first| scopes.is_inner_function(&first.ident));
        let silent = self.has_body_copy && path.path.segments.len() == 1;
        let prefix = if inner { None } else { alias_prefix(path, silent) };
        let aliased = prefix.and_then(|prefix| self.aliased(path, prefix, scopes.block() == 0));
        let (alias, import) = aliased.unwrap_or_else(|| (path.clone(), None));
        let by_module = scopes.block() == 0 && path.path.segments.len() == 1;
        let module = by_module.then(|| quote_spanned!(begin_path(path) => use self::*;));
        (alias, import.map(|import| quote!(#module #import)))
    }

    fn aliased(
        &mut self,
        path: &ExprPath,
        prefix: &str,
        is_outermost: bool,
    ) -> Option<(ExprPath, Option<TokenStream>)> {
        let (mut bare, span) = (path.path.clone(), begin_path(path));
        let arguments = std::mem::take(&mut bare.segments.last_mut()?.arguments);
        let same = |known: &&Alias| {
            let is_prefix = known.name.to_string().starts_with(prefix);
            is_prefix && known.path == bare && !names_crate(&bare)
        };
        let mut import = None;
        let is_shared = is_outermost && bare.segments.len() > 1;
        let known = self.aliases.iter().find(same).filter(|_| is_shared);
        let mut name = match known {
            Some(known) => known.name.clone(),
            None if is_shared && self.aliases.len() < MOST_ALIASES => {
                let name = format_ident!("{}{}", prefix, self.aliases.len(), span = span);
                self.aliases.push(Alias { path: bare, name: name.clone() });
                name
            }
            None => {
                let name = format_ident!("{}{}", prefix, MOST_ALIASES, span = span);
                import = Some(Alias { path: bare, name: name.clone() }.import(self.has_body_copy, &[]));
                name
            }
        };
        name.set_span(span);
        let segment = syn::PathSegment { ident: name, arguments };
        Some((ExprPath { attrs: Vec::new(), qself: None, path: segment.into() }, import))
    }

    /// The declarations of all names. For a call that is not supported on the device, they resolve to items whose error
    /// says so.
    pub(crate) fn declared(&self, root: &TokenStream) -> TokenStream {
        let methods = last_resort(root, &self.methods);
        let functions = self.functions.iter().map(|function| function.refusal(root));
        let imports = self.aliases.iter().map(|alias| alias.import(self.has_body_copy, &self.macros));
        let macros = self.macros.iter().map(|name| quote!(use #root::macros::#name::*;));
        let macros = (!self.macros.is_empty()).then(|| quote!(use #root::macros as __cuda_jit_macros; #(#macros)*));
        let primitives = self.primitives.iter().map(primitive_check);
        quote!(use #root::non_device::names::*; #macros #(#primitives)* #(#imports)* #methods #(#functions)*)
    }
}

/// The path of a function that is passed by itself, and the declarations that report it if it is no device function.
pub(crate) fn named_alone(root: &TokenStream, path: &ExprPath) -> (ExprPath, TokenStream) {
    let mut imports = Imports::default();
    let (named, import) = imports.alias(path, &Scopes::default());
    let declared = imports.declared(root);
    (named, quote!(#[allow(unused_imports)] #declared #import))
}

/// Declares a hidden method of each name that no type implements, so that the error explains a method that no `#[device]
/// impl` has.
fn last_resort(root: &TokenStream, methods: &[Ident]) -> TokenStream {
    let Some(first) = methods.first() else { return TokenStream::new() };
    let of = unique("DeviceMethods", first);
    let methods = methods.iter().map(|method| {
        let hidden = format_ident!("__call_{}", method, span = Span::mixed_site());
        quote!(fn #hidden(&mut self) -> #root::Callee<#root::NoCallee> { #root::Callee::new() })
    });
    quote! {
        trait #of { #(#methods)* }
        impl<T: #root::MarkedWithDevice + ?Sized> #of for T {}
    }
}

/// A trait's name with the source location of its subject: rustc prints names without their paths if they are unique.
fn unique(name: &str, of: &Ident) -> Ident {
    let start = of.span().start();
    format_ident!("{}_{}_{}", name, start.line, start.column + 1, span = Span::mixed_site())
}
