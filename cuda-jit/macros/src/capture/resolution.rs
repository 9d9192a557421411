//! Names of bindings and labels: which declaration each use means.
//!
//! In a function that is written in one place, the scopes that the walk tracks tell it: a name means the innermost declaration of
//! its spelling. What a macro has put together can have two names of one spelling, which rustc tells apart by their spans and a
//! macro cannot. There rustc is asked, by a probe with the scopes of the body and nothing else: each declaration is a `let` of
//! a value whose type has the declaration's number, each use is shown to an observer. The types of the observers are constants,
//! which stand beside the encoding: a number of the captured syntax is then the place of an answer.
//!
//! A name in a refutable pattern may be a constant's, which has a type of its own. Such a use means the constant that the pattern
//! has by that name, and gets the number of the pattern's binding, which the compiler gives the constant's value.
//!
//! # Functions that are written in one place
//!
//! A group of tokens is, if it reads as the text of the source that its span covers. Tokens of `macro_rules!` have the place at which
//! they are written, in the macro or in its input. A group that is written in a macro holds what the macro inserts as `$name`,
//! in the text and not in the tokens, closing delimiters included; one that is input is inserted as a whole. So all of its
//! tokens come from one expansion. A procedural macro that changes a group changes its tokens too, or else gives new ones the very
//! places and spelling of the old.
//!
//! Signature and body are two groups, and a macro may insert the second alone (`$body:block`). They are written together if
//! all tokens from `fn` on follow each other on a line with at most one character between: between what a macro writes and its
//! input there is at least the end of the macro.

use proc_macro2::{Group, LineColumn, Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Ident, Item, Lifetime};

use super::{BindingKind, Capture, s};

/// Returns true if no macro can have put a function, or the functions of an `impl` or trait, together.
pub(crate) fn is_in_one_place(item: &TokenStream) -> bool {
    let is_function = |token: &TokenTree| matches!(token, TokenTree::Ident(ident) if ident == "fn");
    if item.clone().into_iter().any(|token| is_function(&token)) {
        return is_run(item.clone().into_iter().skip_while(|token| !is_function(token)));
    }
    matches!(item.clone().into_iter().last(), Some(TokenTree::Group(group)) if is_as_written(&group))
}

/// Returns true if tokens follow each other on a line and their groups are as written.
pub(crate) fn is_run(tokens: impl IntoIterator<Item = TokenTree>) -> bool {
    let mut before: Option<(LineColumn, String)> = None;
    tokens.into_iter().all(|token| {
        let (first, last) = match &token {
            TokenTree::Group(group) if !is_as_written(group) => return false,
            TokenTree::Group(group) => (group.span_open(), group.span_close()),
            token => (token.span(), token.span()),
        };
        let (start, file) = (first.start(), first.file());
        let follows = before.as_ref().is_none_or(|(end, before)| {
            *before == file && end.line == start.line && (end.column..=end.column + 1).contains(&start.column)
        });
        before = Some((last.end(), file));
        follows
    })
}

/// Returns true if a group's tokens are those of the source text that its span covers.
fn is_as_written(group: &Group) -> bool {
    let text = group.span().source_text();
    let lexed = text.and_then(|text| text.parse::<TokenStream>().ok()).and_then(|lexed| lexed.into_iter().next());
    match lexed {
        Some(TokenTree::Group(lexed)) => {
            lexed.delimiter() == group.delimiter() && lexed.stream().to_string() == group.stream().to_string()
        }
        _ => false,
    }
}

/// A probe, as the walk writes it.
pub(super) struct Probe {
    /// The content of each scope that is open.
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

/// An assumption that the captured syntax of a use makes.
#[derive(Clone, Copy)]
enum Expected {
    /// A binding of the same kind as this one.
    Alike(u32),
    /// This binding.
    Binding(u32),
    /// Nothing: any loop or block.
    Label,
}

impl Probe {
    pub(super) fn new() -> Self {
        Probe { scopes: vec![TokenStream::new()], uses: Vec::new() }
    }

    fn write(&mut self, tokens: TokenStream) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.extend(tokens);
        }
    }

    /// An observer, and its number.
    fn observer(&mut self, span: Span, name: String, expected: Expected) -> (Ident, u32) {
        let number = self.uses.len() as u32;
        self.uses.push(Use { span, name, expected });
        (observer(number, span), number)
    }
}

/// The observer of a use.
fn observer(number: u32, span: Span) -> Ident {
    format_ident!("__cuda_jit_u{}", number, span = span)
}

/// The slot of a binding that may be a constant, a name that no macro of the user's has.
fn slot(number: u32) -> Ident {
    format_ident!("slot{}", number, span = Span::mixed_site())
}

/// The array of answers, a name that no macro of the user's has.
fn array() -> Ident {
    Ident::new("answers", Span::mixed_site())
}

/// The spelling of a name, by which the walk compares: `r#x` is `x`.
pub(super) fn spelling(ident: &Ident) -> String {
    ident.unraw().to_string()
}

impl Capture {
    /// Declares a binding. A name in a refutable pattern may be a constant's: then the slot has the constant's type.
    pub(super) fn probe_binding(&mut self, number: u32, ident: &Ident) {
        let is_refutable = self.refutable;
        let Some(probe) = &mut self.probe else { return };
        let slot = slot(number);
        probe.write(match is_refutable {
            true => quote_spanned!(ident.span() =>
                let #slot = ::core::ptr::null();
                let #ident = __cuda_jit_of(#slot) else { loop {} };
                let _ = || __cuda_jit_Slot::<_, #number>(#slot).__cuda_jit_declare();
            ),
            false => quote_spanned!(ident.span() => let #ident = __cuda_jit_Name::<#number>;),
        });
    }

    /// The name of a binding where it is used, which the walk has found to be this one.
    pub(super) fn used(&mut self, ident: &Ident, found: u32) -> s::Name {
        let is_carried = self.bindings[found as usize].kind == BindingKind::Carried;
        let used = if is_carried { None } else { self.use_of(ident, Expected::Alike(found)) };
        let (name, spelled) = (used.map_or(s::Name::from(found), s::Name::asked), spelling(ident));
        if let Some((first, taken)) = &mut self.moved {
            let is_outside = match used {
                None => found < *first,
                Some(_) => self.bindings[..*first as usize].iter().any(|info| spelling(&info.ident) == spelled),
            };
            if is_outside && !taken.contains(&name) {
                taken.push(name);
            }
        }
        name
    }

    /// Asks that a name, which is bound again, is this binding's.
    pub(super) fn rebound(&mut self, ident: &Ident, found: u32) {
        self.use_of(ident, Expected::Binding(found));
    }

    fn use_of(&mut self, ident: &Ident, expected: Expected) -> Option<u32> {
        let (Expected::Alike(found) | Expected::Binding(found)) = expected else { return None };
        let may_be_constant = self.bindings[found as usize].asked.is_some();
        let probe = self.probe.as_mut()?;
        let (observer, number) = probe.observer(ident.span(), spelling(ident), expected);
        let slot = slot(found);
        probe.write(match may_be_constant {
            true => quote_spanned!(ident.span() =>
                let _ = || __cuda_jit_Use(&#ident, __cuda_jit_Slot::<_, #found>(#slot)).__cuda_jit_means(#observer);
            ),
            false => quote_spanned!(ident.span() => __cuda_jit_is(#observer, &#ident);),
        });
        Some(number)
    }

    /// Runs `walk` in a scope of the probe's, which is the label's block if there is one.
    pub(super) fn probed<T>(&mut self, label: Option<(&Lifetime, u32)>, walk: impl FnOnce(&mut Self) -> T) -> T {
        if let Some(probe) = &mut self.probe {
            probe.scopes.push(TokenStream::new());
        }
        let result = walk(self);
        if let Some(probe) = &mut self.probe {
            let scope = probe.scopes.pop();
            probe.write(match label {
                Some((label, number)) => quote_spanned!(label.span() => #label: { #scope __cuda_jit_Name::<#number> };),
                None => quote!({ #scope }),
            });
        }
        result
    }

    /// The number of a loop or block where a label is used, which the walk has found to be this one.
    pub(super) fn used_label(&mut self, label: Option<&Lifetime>, found: u32) -> s::Name {
        let (Some(probe), Some(label)) = (&mut self.probe, label) else { return found.into() };
        let (observer, number) = probe.observer(label.span(), label.ident.to_string(), Expected::Label);
        probe.write(quote_spanned!(label.span() => if true { break #label __cuda_jit_of(#observer); }));
        s::Name::asked(number)
    }

    /// Declares an item of a block: only its name matters.
    pub(super) fn probe_item(&mut self, item: &Item) {
        let Some(probe) = &mut self.probe else { return };
        let name = match item {
            Item::Const(item) => &item.ident,
            Item::Static(item) => &item.ident,
            Item::Fn(item) => &item.sig.ident,
            Item::Struct(item) => &item.ident,
            Item::Enum(item) => {
                let (name, variants) = (&item.ident, item.variants.iter().map(|variant| &variant.ident));
                return probe.write(quote!(enum #name { #(#variants),* }));
            }
            Item::Use(item) => return probe.write(quote!(#item)),
            _ => return,
        };
        probe.write(match item {
            Item::Fn(_) => quote!(fn #name() {}),
            Item::Struct(_) => quote!(struct #name;),
            _ => quote!(const #name: () = ();),
        });
    }

    /// The probe as a constant array of answers, if there is one.
    pub(super) fn answers(&mut self) -> Option<Answers> {
        let Probe { mut scopes, uses } = self.probe.take()?;
        let body = scopes.pop();
        let observers: Vec<_> = (0u32..).zip(&uses).map(|(number, of)| observer(number, of.span)).collect();
        let numbers = observers.iter().map(|observer| quote_spanned!(observer.span() => __cuda_jit_number(#observer)));
        let checks = (0usize..).zip(&uses).filter_map(|(number, of)| self.check(number, of));
        let answers = array();
        (!uses.is_empty()).then(|| Answers {
            count: uses.len(),
            probe: quote! {
                #(let #observers = ::core::ptr::null();)*
                if false { #body }
                let #answers = [#(#numbers),*];
                #(#checks)*
                #answers
            },
        })
    }

    /// An assertion that a use means what the captured syntax relies on, where it may mean something else.
    fn check(&self, number: usize, of: &Use) -> Option<TokenStream> {
        let all = (0u32..).zip(&self.bindings).filter(|(_, info)| spelling(&info.ident) == of.name);
        let kind = |number: u32| match self.bindings[number as usize].kind {
            BindingKind::Closure => 1,
            _ => 0,
        };
        let (fitting, others): (Vec<u32>, Vec<u32>) = match of.expected {
            Expected::Label => return None,
            Expected::Binding(one) => all.map(|(number, _)| number).partition(|number| *number == one),
            Expected::Alike(one) => all.map(|(number, _)| number).partition(|other| kind(*other) == kind(one)),
        };
        let message = format!(
            "`{}` is two names here, of different macros, which kernels cannot tell apart: rename one",
            of.name
        );
        let answers = array();
        let check =
            quote_spanned!(of.span => ::core::assert!(::core::matches!(#answers[#number], #(#fitting)|*), #message););
        (!others.is_empty()).then_some(check)
    }
}

/// The answers of a probe.
pub(crate) struct Answers {
    count: usize,
    probe: TokenStream,
}

impl Answers {
    /// The answers as a reference to a constant.
    pub(crate) fn constant(&self, root: &TokenStream) -> TokenStream {
        let Answers { count, probe } = self;
        quote! {{
            #[allow(warnings, clippy::all)]
            const NAMES: [u32; #count] = {
                use #root::names::{
                    Name as __cuda_jit_Name, Slot as __cuda_jit_Slot, Use as __cuda_jit_Use, UseOfConstant as _,
                    DeclareConstant as _, is as __cuda_jit_is, number as __cuda_jit_number, of as __cuda_jit_of,
                };
                #probe
            };
            &NAMES
        }}
    }
}
