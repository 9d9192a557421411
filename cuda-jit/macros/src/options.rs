//! The parser of the options in `#[kernel(..)]`.

use cuda_jit_syntax::owned::Options;
use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, Ident, Lit, LitBool, LitInt, Path, Token, parenthesized};

const KNOWN: &str = "`unchecked`, `checked`, `race_free`, `fastmath`, `fma = false`, `opt = N`, `max_registers = N`, `debug`, \
                     `lineinfo`, `shared_memory_carveout = N`, `cache = false`, `libdevice = false`, `launch_bounds(threads, min_blocks, max_cluster)`, `cluster(x, y, z)` and `crate = path`";

/// Removes `crate = path`, the crate that the expansion names, from an attribute's options. Returns the path, and the other
/// options.
pub(crate) fn root(default: TokenStream, options: TokenStream) -> syn::Result<(TokenStream, TokenStream)> {
    let parse = |input: ParseStream<'_>| {
        let (mut root, mut rest) = (default, TokenStream::new());
        while !input.is_empty() {
            match named_crate(input)? {
                Some(path) => root = quote!(#path::__private),
                None => rest.extend([input.parse::<TokenTree>()?]),
            }
        }
        Ok((root, rest))
    };
    parse.parse2(options)
}

/// Expands a macro whose input may begin with `crate = path`.
pub(crate) fn in_crate(
    default: TokenStream,
    tokens: TokenStream,
    expand: fn(&TokenStream, TokenStream) -> TokenStream,
) -> TokenStream {
    match leading_crate(tokens) {
        Ok((None, rest)) => expand(&default, rest),
        Ok((Some(path), rest)) => expand(&quote!(#path::__private), rest),
        Err(error) => error.to_compile_error(),
    }
}

/// Splits `crate = path` off the beginning of a macro's input.
pub(crate) fn leading_crate(tokens: TokenStream) -> syn::Result<(Option<Path>, TokenStream)> {
    let parse = |input: ParseStream<'_>| Ok((named_crate(input)?, input.parse()?));
    parse.parse2(tokens)
}

/// Parses `crate = path`, and a comma after it, if they come next.
fn named_crate(input: ParseStream<'_>) -> syn::Result<Option<Path>> {
    if !(input.peek(Token![crate]) && input.peek2(Token![=])) {
        return Ok(None);
    }
    input.parse::<Token![crate]>()?;
    input.parse::<Token![=]>()?;
    let path = Path::parse_mod_style(input)?;
    if !input.is_empty() {
        input.parse::<Token![,]>()?;
    }
    Ok(Some(path))
}

/// The options of a kernel, and its launch bounds as written: none, or one to three constant expressions.
pub(crate) fn of_kernel(input: TokenStream) -> syn::Result<(Options, Vec<Expr>)> {
    let mut parsed = syn::parse2::<Parsed>(input)?;
    let bounds = std::mem::take(&mut parsed.launch_bounds);
    Ok((parsed.options(), bounds))
}

/// The options of `#[device(..)]`. Refuses the options of kernels, above all `unchecked`: launching an unchecked kernel is
/// `unsafe`, but a device function is called from safe ones.
pub(crate) fn of_device(input: TokenStream) -> syn::Result<Options> {
    let Parsed { options, opt, launch_bounds } = syn::parse2(input.clone())?;
    let unchecked = options.library && options.unchecked;
    let plain = Options { checked: options.checked, library: options.library, unchecked, ..Options::DEFAULT };
    if options != plain || opt.is_some() || !launch_bounds.is_empty() {
        let hint = "a device function takes `checked` only; the other options are the kernel's";
        return Err(syn::Error::new_spanned(input, hint));
    }
    Ok(options)
}

/// The options of a function with these attributes; `#[track_caller]` is one.
pub(crate) fn with_caller(options: &Options, attributes: &[syn::Attribute]) -> Options {
    let track_caller = attributes.iter().any(|attribute| attribute.path().is_ident("track_caller"));
    Options { track_caller, ..*options }
}

/// Refuses `#[track_caller]` where the device could not follow it.
pub(crate) fn refuse_caller(attributes: &[syn::Attribute], hint: &str) -> syn::Result<()> {
    match attributes.iter().find(|attribute| attribute.path().is_ident("track_caller")) {
        Some(attribute) => Err(syn::Error::new_spanned(attribute, hint)),
        None => Ok(()),
    }
}

/// The options of an attribute.
struct Parsed {
    options: Options,
    /// `None` to take the level from `debug`.
    opt: Option<u8>,
    /// Constant expressions: threads per block, blocks per multiprocessor, blocks per cluster.
    launch_bounds: Vec<Expr>,
}

impl Parse for Parsed {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let (mut parsed, place) =
            (Parsed { options: Options::DEFAULT, opt: None, launch_bounds: Vec::new() }, input.span());
        while !input.is_empty() {
            parsed.one(input)?;
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        if parsed.options.cluster != [0; 3] && parsed.launch_bounds.len() == 3 {
            let hint = "`cluster(..)` says how many blocks a cluster has, so the launch bounds need no third number";
            return Err(syn::Error::new(place, hint));
        }
        Ok(parsed)
    }
}

impl Parsed {
    fn one(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        let name: Ident = input.parse()?;
        match name.to_string().as_str() {
            "unchecked" => self.options.unchecked = flag(input)?,
            "checked" => self.options.checked = flag(input)?,
            "library" | "extension" => self.options.library = flag(input)?,
            "race_free" => self.options.race_free = flag(input)?,
            "fastmath" => self.options.fastmath = flag(input)?,
            "debug" => self.options.debug = flag(input)?,
            "lineinfo" => self.options.lineinfo = flag(input)?,
            "cache" => self.options.cache = flag(input)?,
            "fma" => self.options.fma = flag(input)?,
            "libdevice" => self.options.libdevice = flag(input)?,
            "opt" => {
                let level: LitInt = value(input)?;
                let number = level.base10_parse()?;
                self.opt = Some(number);
                if number > 3 {
                    let text = format!("`opt = {level}`: the optimisation level is 0 to 3");
                    return Err(syn::Error::new(level.span(), text));
                }
            }
            "max_registers" => {
                let count: LitInt = value(input)?;
                self.options.max_registers = count.base10_parse()?;
                if !(16..=255).contains(&self.options.max_registers) {
                    let text = format!("`max_registers = {count}`: a thread can use 16 to 255 registers");
                    return Err(syn::Error::new(count.span(), text));
                }
            }
            "shared_memory_carveout" => {
                let percent: LitInt = value(input)?;
                let part = percent.base10_parse().ok().filter(|part| *part <= 100);
                let hint = "`shared_memory_carveout` is the percentage of the cache that is shared memory, 0 to 100";
                self.options.shared_memory_carveout = Some(part.ok_or_else(|| syn::Error::new(percent.span(), hint))?);
            }
            "launch_bounds" => {
                let inner;
                parenthesized!(inner in input);
                let bounds = Punctuated::<Expr, Token![,]>::parse_terminated(&inner)?;
                if bounds.is_empty() || bounds.len() > 3 {
                    let hint = "`launch_bounds` takes one to three bounds: threads per block, blocks per multiprocessor, blocks per cluster";
                    return Err(syn::Error::new(name.span(), hint));
                }
                if let Some(other) = bounds.iter().find(|bound| is_other_literal(bound)) {
                    return Err(syn::Error::new_spanned(other, "a launch bound is a constant of an integer type"));
                }
                self.launch_bounds = bounds.into_iter().collect();
            }
            "cluster" => {
                let inner;
                parenthesized!(inner in input);
                let extents = Punctuated::<LitInt, Token![,]>::parse_terminated(&inner)?;
                self.options.cluster = cluster(&name, &extents)?;
            }
            other => {
                return Err(syn::Error::new(
                    name.span(),
                    format!("there is no option `{other}`; the options are {KNOWN}"),
                ));
            }
        }
        Ok(())
    }

    fn options(self) -> Options {
        let level = if self.options.debug { 0 } else { Options::DEFAULT.opt };
        Options { opt: self.opt.unwrap_or(level), ..self.options }
    }
}

/// Returns true for a literal that is no integer.
fn is_other_literal(bound: &Expr) -> bool {
    matches!(bound, Expr::Lit(literal) if !matches!(literal.lit, Lit::Int(_)))
}

/// The extents of a cluster; missing ones are 1.
fn cluster(name: &Ident, extents: &Punctuated<LitInt, Token![,]>) -> syn::Result<[u32; 3]> {
    let mut all = [1; 3];
    if extents.is_empty() || extents.len() > all.len() {
        let hint = "`cluster` takes one to three extents, in blocks";
        return Err(syn::Error::new(name.span(), hint));
    }
    for (extent, written) in all.iter_mut().zip(extents) {
        *extent = written.base10_parse()?;
    }
    match all.iter().map(|extent| u64::from(*extent)).product() {
        1..=16 => Ok(all),
        blocks => Err(syn::Error::new(name.span(), format!("a cluster has 1 to 16 blocks, and this one has {blocks}"))),
    }
}

/// `name` alone or `name = true|false`.
fn flag(input: ParseStream<'_>) -> syn::Result<bool> {
    if !input.peek(Token![=]) {
        return Ok(true);
    }
    Ok(value::<LitBool>(input)?.value)
}

fn value<T: Parse>(input: ParseStream<'_>) -> syn::Result<T> {
    input.parse::<Token![=]>()?;
    input.parse()
}
