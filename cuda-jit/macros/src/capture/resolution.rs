//! Resolution of bindings and labels: the declaration that each use refers to.
//!
//! In a function whose tokens come from one expansion, the scopes that the walk tracks resolve a name to the innermost
//! declaration of its spelling. A function that a macro has assembled can have two names of one spelling, which rustc
//! distinguishes by hygiene and a macro cannot. There rustc is queried, by a probe with the scopes of the body and nothing
//! else: each declaration is a `let` of a value whose type has the declaration's number, and each use is unified with a
//! witness. The witnesses' types become constants in an array beside the encoding; a number in the captured syntax is then
//! an index into that array.
//!
//! A name in a refutable pattern may be a constant's, which has another type. Such a use refers to the pattern's constant
//! of that name, and gets the number of the pattern's binding, to which the compiler assigns the constant's value.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Ident, Item, Lifetime};

use super::scopes::{BindingInfo, BindingKind, spelling};
use super::{Capture, s};

/// The name probe as the walk writes it; empty where spellings resolve all names.
#[derive(Default)]
pub(super) struct NameProbe {
    /// The content of each open scope; empty if rustc is not queried.
    scopes: Vec<TokenStream>,
    uses: Vec<Use>,
}

/// A use of a name.
struct Use {
    span: Span,
    name: String,
    /// The walk's assumption about it.
    expected: Expected,
}

/// The assumption that the captured syntax makes about a use.
#[derive(Clone, Copy)]
enum Expected {
    /// A binding of the same kind as this one.
    Alike(u32),
    /// Exactly this binding.
    Binding(u32),
    /// None: any loop or block.
    Label,
}

impl NameProbe {
    /// The name probe, which queries rustc if `asks`.
    pub(super) fn new(asks: bool) -> Self {
        NameProbe { scopes: asks.then(TokenStream::new).into_iter().collect(), uses: Vec::new() }
    }

    fn asks(&self) -> bool {
        !self.scopes.is_empty()
    }

    fn write(&mut self, tokens: TokenStream) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.extend(tokens);
        }
    }

    /// Adds a witness; returns its name and number.
    fn witness(&mut self, span: Span, name: String, expected: Expected) -> (Ident, u32) {
        let number = self.uses.len() as u32;
        self.uses.push(Use { span, name, expected });
        (witness(number, span), number)
    }

    /// Declares a binding. A name in a refutable pattern may be a constant's: then the slot has the constant's type.
    pub(super) fn declare(&mut self, number: u32, ident: &Ident, is_refutable: bool) {
        if !self.asks() {
            return;
        }
        let slot = slot(number);
        self.write(match is_refutable {
            true => quote_spanned!(ident.span() =>
                let #slot = ::core::ptr::null();
                let #ident = __cuda_jit_of(#slot) else { loop {} };
                let _ = || __cuda_jit_Slot::<_, #number>(#slot).__cuda_jit_declare();
            ),
            false => quote_spanned!(ident.span() => let #ident = __cuda_jit_Name::<#number>;),
        });
    }

    /// The index of the answer for a name's use, if rustc is queried. The walk has found `found`, or a binding of the same
    /// kind.
    fn use_of(&mut self, ident: &Ident, found: u32, may_be_constant: bool, expected: Expected) -> Option<u32> {
        if !self.asks() {
            return None;
        }
        let (witness, number) = self.witness(ident.span(), spelling(ident), expected);
        let slot = slot(found);
        self.write(match may_be_constant {
            true => quote_spanned!(ident.span() =>
                let _ = || __cuda_jit_Use(&#ident, __cuda_jit_Slot::<_, #found>(#slot)).__cuda_jit_means(#witness);
            ),
            false => quote_spanned!(ident.span() => __cuda_jit_is(#witness, &#ident);),
        });
        Some(number)
    }

    /// Begins a scope.
    pub(super) fn enter(&mut self) {
        if self.asks() {
            self.scopes.push(TokenStream::new());
        }
    }

    /// Ends a scope, which is the label's block if there is one.
    pub(super) fn leave(&mut self, label: Option<(&Lifetime, u32)>) {
        if !self.asks() {
            return;
        }
        let scope = self.scopes.pop();
        self.write(match label {
            Some((label, number)) => quote_spanned!(label.span() => #label: { #scope __cuda_jit_Name::<#number> };),
            None => quote!({ #scope }),
        });
    }

    /// The number of a loop or block where a label is used; the walk has found `found`.
    pub(super) fn used_label(&mut self, label: Option<&Lifetime>, found: u32) -> s::Name {
        let Some(label) = label.filter(|_| self.asks()) else { return found.into() };
        let (witness, number) = self.witness(label.span(), label.ident.to_string(), Expected::Label);
        self.write(quote_spanned!(label.span() => if true { break #label __cuda_jit_of(#witness); }));
        s::Name::answer(number)
    }

    /// Declares an item of a block: only its name matters.
    pub(super) fn declare_item(&mut self, item: &Item) {
        let name = match item {
            Item::Const(item) => &item.ident,
            Item::Static(item) => &item.ident,
            Item::Fn(item) => &item.sig.ident,
            Item::Struct(item) => &item.ident,
            Item::Enum(item) => {
                let (name, variants) = (&item.ident, item.variants.iter().map(|variant| &variant.ident));
                return self.write(quote!(enum #name { #(#variants),* }));
            }
            Item::Use(item) => return self.write(quote!(#item)),
            _ => return,
        };
        self.write(match item {
            Item::Fn(_) => quote!(fn #name() {}),
            Item::Struct(_) => quote!(struct #name;),
            _ => quote!(const #name: () = ();),
        });
    }

    /// The probe as a constant array of answers, if there are any queries.
    pub(super) fn answers(mut self, bindings: &[BindingInfo]) -> Option<Answers> {
        let body = self.scopes.pop()?;
        let uses = &self.uses;
        let witnesses: Vec<_> = (0u32..).zip(uses).map(|(number, of)| witness(number, of.span)).collect();
        let numbers = witnesses.iter().map(|witness| quote_spanned!(witness.span() => __cuda_jit_number(#witness)));
        let checks = (0usize..).zip(uses).filter_map(|(number, of)| of.check(number, bindings));
        let answers = array();
        (!uses.is_empty()).then(|| Answers {
            count: uses.len(),
            probe: quote! {
                #(let #witnesses = ::core::ptr::null();)*
                if false { #body }
                let #answers = [#(#numbers),*];
                #(#checks)*
                #answers
            },
        })
    }
}

/// The witness of a use.
fn witness(number: u32, span: Span) -> Ident {
    format_ident!("__cuda_jit_u{}", number, span = span)
}

/// The slot of a binding that may be a constant; no macro of the user's has this name.
fn slot(number: u32) -> Ident {
    format_ident!("slot{}", number, span = Span::mixed_site())
}

/// The array of answers; no macro of the user's has this name.
fn array() -> Ident {
    Ident::new("answers", Span::mixed_site())
}

impl Capture {
    /// The name of a binding at its use; the walk has found `found`.
    pub(super) fn used(&mut self, ident: &Ident, found: u32) -> s::Name {
        let is_host_capture = self.scopes.binding(found).kind == BindingKind::HostCapture;
        let used = if is_host_capture { None } else { self.use_of(ident, found, Expected::Alike(found)) };
        let name = used.map_or(s::Name::from(found), s::Name::answer);
        self.scopes.note_use(ident, found, name, used.is_some());
        name
    }

    /// Adds a query that a name which an alternative binds again is this binding's.
    pub(super) fn rebound(&mut self, ident: &Ident, found: u32) {
        self.use_of(ident, found, Expected::Binding(found));
    }

    fn use_of(&mut self, ident: &Ident, found: u32, expected: Expected) -> Option<u32> {
        let may_be_constant = self.scopes.binding(found).query.is_some();
        self.names.use_of(ident, found, may_be_constant, expected)
    }
}

impl Use {
    /// An assertion that a use refers to the declaration that the captured syntax relies on, unless that is certain.
    fn check(&self, number: usize, bindings: &[BindingInfo]) -> Option<TokenStream> {
        let all = (0u32..).zip(bindings).filter(|(_, info)| spelling(&info.ident) == self.name);
        let kind = |number: u32| match bindings[number as usize].kind {
            BindingKind::Closure => 1,
            _ => 0,
        };
        let (fitting, others): (Vec<u32>, Vec<u32>) = match self.expected {
            Expected::Label => return None,
            Expected::Binding(one) => all.map(|(number, _)| number).partition(|number| *number == one),
            Expected::Alike(one) => all.map(|(number, _)| number).partition(|other| kind(*other) == kind(one)),
        };
        let message = format!(
            "`{}` is two names here, from different macros, which kernels cannot distinguish: rename one",
            self.name
        );
        let answers = array();
        let check =
            quote_spanned!(self.span => ::core::assert!(::core::matches!(#answers[#number], #(#fitting)|*), #message););
        (!others.is_empty()).then_some(check)
    }
}

/// The answers of a name probe.
pub(crate) struct Answers {
    count: usize,
    probe: TokenStream,
}

impl Answers {
    /// The answers as a reference to a constant.
    pub(crate) fn constant(&self, root: &TokenStream) -> TokenStream {
        let (Answers { count, probe }, silent) = (self, crate::emit::silent());
        quote! {{
            #silent
            const NAMES: [u32; #count] = {
                use #root::names::{
                    Name as __cuda_jit_Name, Slot as __cuda_jit_Slot, Use as __cuda_jit_Use, UseOfConstant as _,
                    DeclareConstant as _, is as __cuda_jit_is, declared_number as __cuda_jit_number, of as __cuda_jit_of,
                };
                #probe
            };
            &NAMES
        }}
    }
}
