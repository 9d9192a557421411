//! The options in `#[kernel(..)]`: parsing, and the constant that carries them to run time.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Ident, LitBool, LitInt, Token, parenthesized};

/// What the attribute asked for.
#[derive(PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) unchecked: bool,
    checked: bool,
    fma: bool,
    fastmath: bool,
    /// None for what `debug` leads to.
    opt: Option<u8>,
    max_registers: u32,
    launch_bounds: [u32; 3],
    debug: bool,
    lineinfo: bool,
    cache: bool,
    libdevice: bool,
}

const KNOWN: &str = "`unchecked`, `checked`, `fastmath`, `fma = false`, `opt = 0..3`, `max_registers = N`, `debug`, \
                     `lineinfo`, `cache = false`, `libdevice = false` and `launch_bounds(threads, min_blocks, max_cluster)`";

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut options = Options {
            unchecked: false,
            checked: false,
            fma: true,
            fastmath: false,
            opt: None,
            max_registers: 0,
            launch_bounds: [0; 3],
            debug: false,
            lineinfo: false,
            cache: true,
            libdevice: true,
        };
        while !input.is_empty() {
            options.one(input)?;
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(options)
    }
}

impl Options {
    /// Refuses what is a kernel's to ask for. Above all `unchecked`: a kernel that is unsafe to launch says so, but a
    /// device function is called from safe ones.
    pub(crate) fn parse_device(input: TokenStream) -> syn::Result<Self> {
        let options: Options = syn::parse2(input.clone())?;
        let plain = Options { checked: options.checked, ..syn::parse2(TokenStream::new())? };
        if options != plain {
            let hint = "a device function takes `checked` only; the other options are the kernel's";
            return Err(syn::Error::new_spanned(input, hint));
        }
        Ok(options)
    }

    fn one(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        let name: Ident = input.parse()?;
        match name.to_string().as_str() {
            "unchecked" => self.unchecked = flag(input)?,
            "checked" => self.checked = flag(input)?,
            "fastmath" => self.fastmath = flag(input)?,
            "debug" => self.debug = flag(input)?,
            "lineinfo" => self.lineinfo = flag(input)?,
            "cache" => self.cache = flag(input)?,
            "libdevice" => self.libdevice = flag(input)?,
            "fma" => self.fma = flag(input)?,
            "opt" => {
                let level: LitInt = value(input)?;
                let number = level.base10_parse()?;
                self.opt = Some(number);
                if number > 3 {
                    return Err(syn::Error::new(level.span(), "the optimiser's levels are 0, 1, 2 and 3"));
                }
            }
            "max_registers" => {
                let count: LitInt = value(input)?;
                self.max_registers = count.base10_parse()?;
                if !(16..=255).contains(&self.max_registers) {
                    return Err(syn::Error::new(count.span(), "a thread can use 16 to 255 registers"));
                }
            }
            "launch_bounds" => {
                let inner;
                parenthesized!(inner in input);
                let bounds = Punctuated::<LitInt, Token![,]>::parse_terminated(&inner)?;
                if bounds.is_empty() || bounds.len() > 3 {
                    let hint = "one to three bounds: threads per block, blocks per multiprocessor, blocks per cluster";
                    return Err(syn::Error::new(name.span(), hint));
                }
                for (slot, bound) in self.launch_bounds.iter_mut().zip(&bounds) {
                    *slot = bound.base10_parse()?;
                }
            }
            other => {
                return Err(syn::Error::new(name.span(), format!("there is no option `{other}`; there are {KNOWN}")));
            }
        }
        Ok(())
    }

    /// A constant expression of type `syntax::Options`, with `s` naming that module.
    pub(crate) fn constant(&self) -> TokenStream {
        let Options { unchecked, checked, fma, fastmath, max_registers, launch_bounds: [a, b, c], .. } = self;
        let Options { debug, lineinfo, cache, libdevice, .. } = self;
        let opt = self.opt.unwrap_or(if *debug { 0 } else { 3 });
        quote!(s::Options {
            unchecked: #unchecked, checked: #checked, fma: #fma, fastmath: #fastmath, opt: #opt,
            max_registers: #max_registers, launch_bounds: [#a, #b, #c], debug: #debug, lineinfo: #lineinfo,
            cache: #cache, libdevice: #libdevice,
        })
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
