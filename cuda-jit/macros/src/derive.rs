//! `#[derive(DeviceType)]`: structs with the layout that rustc gave them, C-like enums, and enums with fields.
//!
//! A struct is a value if its fields are, and plain data if they are and it has no padding. If a bound does not hold, the
//! error is reported at its use: the bounds are behind a `for<'__d>`, which rustc does not evaluate before.
//!
//! # Safety
//!
//! Nothing here runs `unsafe` code. The emitted code implements an `unsafe` trait, justified by bounds that rustc checks.

mod closures;
mod compare;
mod default;
mod fields;
mod operators;
mod representative;
mod sum;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Data, DataEnum, DeriveInput, Fields, GenericParam, Generics, Member, Type};

use crate::signature::{has_lifetime, without_lifetimes};
use compare::{Compared, comparisons, derived};
use fields::{constructor, field_name};
use operators::Operators;
use representative::representative;

/// The integer types that an enum's `repr` can be.
const INTEGERS: &[&str] = &["i8", "i16", "i32", "i64", "isize", "u8", "u16", "u32", "u64", "usize"];

/// Expands the derive. A mistake in an attribute is one error: the type is derived without the attribute too, so that its
/// uses are none.
pub(crate) fn expand(root: &TokenStream, input: TokenStream) -> TokenStream {
    let input = match syn::parse2::<DeriveInput>(input) {
        Ok(input) => input,
        Err(error) => return error.to_compile_error(),
    };
    device_type(root, &input).unwrap_or_else(|error| {
        let mut expanded = error.to_compile_error();
        expanded.extend(ATTRIBUTES.iter().find_map(|name| device_type(root, &without(&input, name)).ok()));
        expanded
    })
}

fn device_type(root: &TokenStream, input: &DeriveInput) -> syn::Result<TokenStream> {
    let root = &named_root(root, input)?;
    let mut expanded = match &input.data {
        Data::Struct(data) => structure(root, input, &data.fields),
        Data::Enum(data) => enumeration(root, input, data),
        Data::Union(data) => {
            Err(syn::Error::new(data.union_token.span(), "kernels support structs and enums, but no unions"))
        }
    }?;
    expanded.extend(without_deref(root, input));
    expanded.extend(default::implementation(root, input)?);
    Ok(expanded)
}

/// The attributes that the derive reads.
const ATTRIBUTES: &[&str] = &["repr", "derived", "operators", "from_repr", "device_type"];

/// The input without an attribute; in place of `repr`, one that is right for each type.
fn without(input: &DeriveInput, name: &str) -> DeriveInput {
    let mut input = input.clone();
    input.attrs.retain(|attribute| attribute.path().get_ident().is_none_or(|ident| ident.unraw() != name));
    if name == "repr" {
        input.attrs.push(syn::parse_quote!(#[repr(C, isize)]));
    }
    input
}

/// Refuses a type that implements `Deref`: the device does not follow it, so fields and methods behind it would exist on
/// the host alone.
fn without_deref(root: &TokenStream, input: &DeriveInput) -> TokenStream {
    let (name, generics) = (&input.ident, &input.generics);
    let lifetimes: Vec<_> = generics.lifetimes().map(|_| quote!('static)).collect();
    let message = format!(
        "`{name}` implements `Deref`, which kernels do not follow: name the field behind it, or write a `#[device]` \
         method in place of the `impl`"
    );
    if lifetimes.len() != generics.params.len() {
        let (impl_generics, ty_generics, bounds) = generics.split_for_impl();
        return quote_spanned! {name.span()=>
            impl #impl_generics #root::KernelsFollowNoDeref for #name #ty_generics #bounds {}
        };
    }
    quote_spanned! {name.span()=>
        #[allow(clippy::all)]
        const _: () = {
            use #root::NoDeref as _;
            ::core::assert!(!#root::Derefs::<#name<#(#lifetimes),*>>::HOLDS, #message);
        };
    }
}

/// The path of the crate that the expansion names: that of `#[device_type(crate = path)]`, if it is given.
fn named_root(default: &TokenStream, input: &DeriveInput) -> syn::Result<TokenStream> {
    let mut root = default.clone();
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("device_type")) {
        let rest;
        (root, rest) = crate::options::root(root, attribute.parse_args()?)?;
        if !rest.is_empty() {
            return Err(syn::Error::new_spanned(rest, "`#[device_type(..)]` takes `crate = path` only"));
        }
    }
    Ok(root)
}

/// The maximum alignment in device memory, in bytes.
const MAX_ALIGN: u64 = 256;

/// The content of `#[repr(..)]`.
#[derive(Default)]
struct Repr {
    words: Vec<String>,
}

impl Repr {
    /// Reads the attributes; names are compared as rustc does, raw ones included.
    fn of(input: &DeriveInput) -> syn::Result<Self> {
        let mut repr = Repr::default();
        let is_repr = |path: &syn::Path| path.get_ident().is_some_and(|ident| ident.unraw() == "repr");
        for attribute in input.attrs.iter().filter(|attribute| is_repr(attribute.path())) {
            attribute.parse_nested_meta(|meta| {
                let word = meta.path.get_ident().map(|ident| ident.unraw().to_string()).unwrap_or_default();
                if meta.input.peek(syn::token::Paren) {
                    let inner;
                    syn::parenthesized!(inner in meta.input);
                    let bytes = inner.parse::<syn::LitInt>()?;
                    if word == "align" && bytes.base10_parse::<u64>()? > MAX_ALIGN {
                        let hint = format!(
                            "`align({bytes})`: the alignment is at most {MAX_ALIGN} bytes, as that of device memory"
                        );
                        return Err(syn::Error::new(bytes.span(), hint));
                    }
                }
                repr.words.push(word);
                Ok(())
            })?;
        }
        Ok(repr)
    }

    fn says(&self, word: &str) -> bool {
        self.words.iter().any(|said| said == word)
    }
}

/// The generics, with `DeviceType` or a value bound on each type parameter; other parameters as written.
fn bounded(root: &TokenStream, generics: &Generics) -> Generics {
    let mut generics = generics.clone();
    for param in generics.type_params_mut() {
        param.default = None;
    }
    for param in &mut generics.params {
        if let GenericParam::Const(param) = param {
            param.default = None;
        }
    }
    let types: Vec<Ident> = generics.type_params().map(|param| param.ident.clone()).collect();
    let clause = generics.make_where_clause();
    clause
        .predicates
        .extend(types.iter().map(|ty| -> syn::WherePredicate { syn::parse_quote!(#ty: #root::ValueType) }));
    generics
}

fn structure(root: &TokenStream, input: &DeriveInput, fields: &Fields) -> syn::Result<TokenStream> {
    let name = &input.ident;
    if let Some(attribute) = input.attrs.iter().find(|attribute| attribute.path().is_ident("from_repr")) {
        return Err(syn::Error::new(attribute.span(), "`#[from_repr]` stands before enums"));
    }
    let closures = crate::signature::closures(&input.generics);
    if !closures.is_empty() {
        return closures::closure_struct(root, input, fields, &closures);
    }
    let repr = Repr::of(input)?;
    let (operators, derived) = (Operators::of(input), derived(input)?);
    let key = static_key(name, &input.generics);
    let generics = operators.bounded(root, bounded(root, &input.generics), &key);
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    let members: Vec<Member> = fields.members().collect();
    let static_types: Vec<Type> = fields.iter().map(|field| without_lifetimes(&field.ty)).collect();
    let borrows = input.generics.lifetimes().next().is_some() || fields.iter().any(|field| has_lifetime(&field.ty));
    let without = without_lifetime_generics(&generics);
    let (key_generics, _, key_clause) = without.split_for_impl();
    let described = members.iter().zip(&static_types).map(|(member, ty)| {
        let text = field_name(member);
        let part = quote_spanned!(ty.span() => #root::field_type::<#ty>());
        quote!(#root::Field { name: #text, ty: #part.ty(), offset: ::core::mem::offset_of!(Self, #member) })
    });
    let cells = members.iter().zip(fields.iter().map(|field| &field.ty)).map(|(member, ty)| {
        let part = quote_spanned!(ty.span() => #root::field_type::<#ty>());
        quote!(#part.cells(&self.#member, __push);)
    });
    let lists = operators.lists(root, name, &input.generics);
    let (listed, arithmetic) = operators.described(root, derived);
    let constructor = constructor(root, input, fields);
    let compared = derived.map(|derived| {
        let types: Vec<&Type> = fields.iter().map(|field| &field.ty).collect();
        comparisons(name, &bounded(root, &input.generics), &types, derived, &Compared::of_struct(fields))
    });
    let representative = representative(root, name, &input.generics, &TokenStream::new());
    let value = fields.iter().map(|field| {
        let ty = &field.ty;
        quote_spanned!(ty.span() => #root::field_type::<#ty>().value())
    });
    let values = quote!(::std::vec![{
        let __value = || ::core::option::Option::Some(Self { #(#members: #value?),* });
        __value()
    }]);
    let passed = if borrows {
        arguments(root, input, &members, &static_types, (&key, &without))
    } else {
        value_impls(root, input, &repr, fields, &generics)
    };
    Ok(quote! {
        // SAFETY: `offset_of!`, `size_of` and `align_of` give the fields and layout, as rustc computes them.
        unsafe impl #key_generics #root::Key for #key #key_clause {
            fn ty() -> #root::Ty {
                #root::Ty::Struct(::std::sync::Arc::new(#root::StructTy {
                    name: ::core::any::type_name::<Self>(),
                    fields: ::std::vec![#(#described),*],
                    size: ::core::mem::size_of::<Self>(),
                    align: ::core::mem::align_of::<Self>(),
                    operators: #listed,
                    arithmetic: #arithmetic,
                }))
            }
        }

        // SAFETY: the key is the type's own.
        #[diagnostic::do_not_recommend]
        unsafe impl #impl_generics #root::DeviceType for #name #ty_generics #where_clause {
            type K = #key;

            fn __cells(&self, __push: &mut dyn ::core::ops::FnMut(u128)) {
                #(#cells)*
            }

            fn __variants() -> ::std::vec::Vec<::core::option::Option<Self>> {
                #values
            }
        }

        #[diagnostic::do_not_recommend]
        impl #impl_generics #root::KernelParam for #name #ty_generics #where_clause {}

        #representative

        #constructor

        #compared
        #lists

        #passed
    })
}

/// The type with every lifetime `'static`.
fn static_key(name: &Ident, generics: &Generics) -> TokenStream {
    let arguments = generics.params.iter().map(|param| match param {
        GenericParam::Lifetime(_) => quote!('static),
        GenericParam::Type(param) => {
            let name = &param.ident;
            quote!(#name)
        }
        GenericParam::Const(param) => {
            let name = &param.ident;
            quote!(#name)
        }
    });
    quote!(#name<#(#arguments),*>)
}

fn without_lifetime_generics(generics: &Generics) -> Generics {
    let mut generics = generics.clone();
    let kept = |param: &GenericParam| !matches!(param, GenericParam::Lifetime(_));
    generics.params = generics.params.into_iter().filter(kept).collect();
    generics
}

/// Implements the traits of structs without references: values, and plain data.
fn value_impls(
    root: &TokenStream,
    input: &DeriveInput,
    repr: &Repr,
    fields: &Fields,
    generics: &Generics,
) -> TokenStream {
    let name = &input.ident;
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    let predicates = where_clause.map(|clause| &clause.predicates);
    let predicates = predicates.map(|predicates| quote!(#predicates)).filter(|tokens| !tokens.is_empty());
    let comma = predicates.as_ref().map(|tokens| if tokens.to_string().ends_with(',') { quote!() } else { quote!(,) });
    let types: Vec<&Type> = fields.iter().map(|field| &field.ty).collect();
    let holds = |bound: TokenStream| {
        let each = types.iter().map(|ty| quote_spanned!(ty.span() => for<'__d> #ty: #bound,));
        quote!(where #predicates #comma for<'__d> Self: ::core::marker::Copy, #(#each)*)
    };
    let (value, element) = (holds(quote!(#root::ValueType)), holds(quote!(#root::ElementType)));
    let memory = holds(quote!(#root::Element));
    let full = if input.generics.type_params().next().is_none() && input.generics.const_params().next().is_none() {
        quote!({ ::core::mem::size_of::<#name>() == 0 #(+ ::core::mem::size_of::<#types>())* })
    } else {
        // Without `align`, the size of a struct whose fields have one type is the sum of theirs, whatever that type is.
        let same = types.windows(2).all(|pair| innermost(pair[0]) == innermost(pair[1]));
        let full = same && !repr.says("align");
        quote!(#full)
    };
    let pinned = (repr.says("C") || repr.says("transparent")) && !repr.says("packed");
    quote! {
        // SAFETY: the cells are those of the fields, in order.
        unsafe impl #impl_generics #root::ValueType for #name #ty_generics #value {
            const CELLS: usize = 0 #(+ <#types as #root::ValueType>::CELLS)*;
        }

        #root::argument!([#impl_generics] [#name #ty_generics] [#value]);

        // SAFETY: the fields are plain data by the bounds, and the key has their offsets.
        #[diagnostic::do_not_recommend]
        unsafe impl #impl_generics #root::ElementType for #name #ty_generics #element {}

        // SAFETY: the bounds guarantee that its layout is pinned, its fields are plain data, and their sizes sum up to its
        // own.
        unsafe impl #impl_generics #root::Element for #name #ty_generics #memory
            for<'__d> #root::MemoryLayout<#pinned>: #root::PinnedLayout,
            for<'__d> #root::MemoryLayout<#full>: #root::NoPadding,
        {}
    }
}

/// The element type of an array, nested or not.
fn innermost(ty: &Type) -> &Type {
    match ty {
        Type::Array(array) => innermost(&array.elem),
        other => other,
    }
}

/// The struct of launch arguments for a struct with references, which is passed field by field.
fn arguments(
    root: &TokenStream,
    input: &DeriveInput,
    members: &[Member],
    types: &[Type],
    (key, generics): (&TokenStream, &Generics),
) -> TokenStream {
    let (vis, name) = (&input.vis, &input.ident);
    let passed = format_ident!("{}Args", name);
    let doc = format!("The arguments of a launch for a parameter of type [`{name}`]: one for each of its fields.");
    let params: Vec<Ident> = (0..members.len()).map(|index| format_ident!("A{}", index)).collect();
    let mut bounded = generics.clone();
    for (param, ty) in params.iter().zip(types) {
        bounded.params.push(syn::parse_quote!(#param: #root::KernelArg<#ty>));
    }
    let (impl_generics, _, clause) = bounded.split_for_impl();
    let indices = (0..members.len()).map(syn::Index::from);
    let fields = match members.first() {
        Some(Member::Named(_)) => quote!({ #(#[doc = "The field's argument."] pub #members: #params,)* }),
        _ => quote!((#(#[doc = "The field's argument."] pub #params),*);),
    };
    quote! {
        #[doc = #doc]
        #[derive(Clone, Copy, Debug)]
        #vis struct #passed<#(#params),*> #fields

        // SAFETY: a struct's cells are those of its fields, in order.
        unsafe impl #impl_generics #root::KernelArg<#key> for #passed<#(#params),*> #clause {
            type Bound = (#(#params::Bound,)*);

            fn context(&self) -> ::core::option::Option<&#root::Context> {
                ::core::option::Option::None #(.or_else(|| #root::KernelArg::<#types>::context(&self.#members)))*
            }

            fn bind(self, __launch: &mut #root::Launch<'_>) -> #root::Result<Self::Bound> {
                ::core::result::Result::Ok((#(#root::KernelArg::<#types>::bind(self.#members, __launch)?,)*))
            }

            fn finish(__bound: Self::Bound) -> #root::Result<()> {
                let __results = [#(<#params as #root::KernelArg<#types>>::finish(__bound.#indices)),*];
                __results.into_iter().collect()
            }
        }
    }
}

fn enumeration(root: &TokenStream, input: &DeriveInput, data: &DataEnum) -> syn::Result<TokenStream> {
    if data.variants.iter().any(|variant| !matches!(variant.fields, Fields::Unit)) {
        return sum::expand(root, input, data);
    }
    if let Some(attribute) = input.attrs.iter().find(|attribute| attribute.path().is_ident("derived"))
        && derived(input)?.is_some()
    {
        let hint = "enums are compared by their numbers: write `#[derive(PartialEq, PartialOrd)]`";
        return Err(syn::Error::new(attribute.span(), hint));
    }
    let repr = Repr::of(input)?;
    let Some(repr) = repr.words.iter().find(|word| INTEGERS.contains(&word.as_str())) else {
        let hint = "write `#[repr(u8)]`, or another integer, before the enum, so that its size is known";
        return Err(syn::Error::new(input.ident.span(), hint));
    };
    if data.variants.is_empty() {
        return Err(syn::Error::new(input.ident.span(), "an enum without variants has no values"));
    }
    let repr = Ident::new(repr, Span::call_site());
    let name = &input.ident;
    let listed = Operators::of_plain_enum(input);
    let (lists, operators) = (listed.lists(root, name, &Generics::default()), listed.described_of_plain_enum(root));
    let checked = input.attrs.iter().find(|attribute| attribute.path().is_ident("from_repr"));
    let variants: Vec<&Ident> = data.variants.iter().map(|variant| &variant.ident).collect();
    let names: Vec<String> = variants.iter().map(ToString::to_string).collect();
    let from_repr = match checked {
        Some(attribute) => {
            attribute.meta.require_path_only()?;
            from_repr(root, input, data, &repr)
        }
        None => TokenStream::new(),
    };
    Ok(quote! {
        #from_repr

        // SAFETY: the variants' numbers and the layout are those that rustc computes from the enum.
        unsafe impl #root::Key for #name {
            fn ty() -> #root::Ty {
                let __of = #root::EnumTy {
                    name: ::core::any::type_name::<Self>(),
                    variants: const { &[#((#names, Self::#variants as #repr as u64)),*] },
                    comparisons: || {
                        static __COMPARED: ::std::sync::LazyLock<#root::Comparisons> = ::std::sync::LazyLock::new(|| {
                            use #root::compare::{Equality as _, NotCompared as _, PartialOrder as _, TotalOrder as _};
                            let __variants = &#root::compare::Variants(const { &[#(#name::#variants),*] });
                            #root::Comparisons {
                                equality: __variants.equality(),
                                partial: __variants.partial(),
                                total: __variants.total(),
                            }
                        });
                        &__COMPARED
                    },
                    operators: #operators,
                };
                #root::Ty::Enum(__of, <#repr as #root::ScalarType>::SCALAR)
            }
        }

        // SAFETY: the key is the type's own.
        #[diagnostic::do_not_recommend]
        unsafe impl #root::DeviceType for #name {
            type K = Self;

            fn __cells(&self, __push: &mut dyn ::core::ops::FnMut(u128)) {
                __push(match self { #(Self::#variants => #root::bits_of(Self::#variants as #repr),)* });
            }

            fn __variants() -> ::std::vec::Vec<::core::option::Option<Self>> {
                ::std::vec![#(::core::option::Option::Some(Self::#variants)),*]
            }
        }

        #[diagnostic::do_not_recommend]
        impl #root::KernelParam for #name where for<'__d> Self: ::core::marker::Copy {}

        #lists

        impl #root::PrintedDebug for #name {
            fn debug(&self, _: #root::syntax::Conversion) -> ::std::string::String {
                match self { #(Self::#variants => #names,)* }.to_owned()
            }
        }

        #root::argument!([] [#name] [where for<'__d> Self: ::core::marker::Copy]);

        // SAFETY: the one cell is the variant's number, as its key describes.
        unsafe impl #root::ValueType for #name where for<'__d> Self: ::core::marker::Copy {
            const CELLS: usize = 1;
        }
    })
}

/// The function that returns the variant of a number, for the host and for kernels.
fn from_repr(root: &TokenStream, input: &DeriveInput, data: &DataEnum, repr: &Ident) -> TokenStream {
    let (vis, name) = (&input.vis, &input.ident);
    let doc = format!("The variant of that number, if [`{name}`] has one.");
    let variants = data.variants.iter().map(|variant| &variant.ident);
    let function = syn::parse_quote! {
        impl #name {
            #[doc = #doc]
            #vis fn from_repr(number: #repr) -> Option<Self> {
                #(if number == Self::#variants as #repr { return Some(Self::#variants); })*
                None
            }
        }
    };
    crate::methods::of_impl(root, TokenStream::new(), function, true)
}
