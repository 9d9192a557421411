//! What stays of a body in its twin.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::ItemFn;

use super::{Captured, capture};
use crate::signature::{Role, Signature};

fn captured(function: TokenStream) -> Captured {
    let ItemFn { sig, block, .. } = syn::parse2(function).unwrap();
    let role = if sig.ident == "device" { Role::Function } else { Role::Kernel };
    let signature = Signature::new(&sig, role).unwrap();
    let body = signature.body(*block);
    capture(&signature, body).unwrap_or_else(|error| panic!("{error}"))
}

/// Whether so much of a kernel's body is in the twin, and which types its bindings have, by number.
fn check(body: TokenStream, stays: TokenStream, told: &[Option<u32>]) {
    let captured = captured(quote!(fn kernel(x: &[f32], y: &[f32], k: u64, out: &mut [f32]) { #body }));
    let stmts = captured.twin.stmts.iter().map(ToTokens::to_token_stream);
    let twin: Vec<String> = stmts.map(|stmt| stmt.to_string()).filter(|stmt| !stmt.starts_with('[')).collect();
    assert_eq!(twin.join(" "), stays.to_string(), "of {body}");
    let types: Vec<_> = captured.bindings[4..].iter().map(|binding| binding.told).collect();
    assert_eq!(types, told, "of {body}");
}

#[test]
fn a_type_is_told_once() {
    check(
        quote!(let a = x[0]; let b = y[1]; let c = x[a as usize];),
        quote!(let a = x[0]; let c = x[a as usize];),
        &[Some(4), Some(4), Some(5)],
    );
    check(
        quote!(let a = k; let b = a + 1; let c = k + 2;),
        quote!(let a = k; let b = a + 1;),
        &[Some(2), Some(4), Some(4)],
    );
    check(quote!(let a: f32 = 0.0; let b = k as f32;), quote!(let a: f32 = 0.0;), &[Some(4), Some(4)]);
    check(quote!(let (a, b) = (x[0], x[1]);), quote!(let (a, b) = (x[0], x[1]);), &[Some(4), Some(4)]);
}

#[test]
fn what_is_open_stays_with_all_that_names_it() {
    check(quote!(let mut a = 0.0; out[0] = a; out[1] = x[0];), quote!(let mut a = 0.0; out[0] = a;), &[Some(4)]);
    check(
        quote!(let a = x[0]; let b = y[0]; let mut c = 0.0; c += b;),
        quote!(let a = x[0]; let b = y[0]; let mut c = 0.0; c += b;),
        &[Some(4), Some(4), Some(5)],
    );
    check(quote!(let a = 1 << k; out[0] = a as f32;), quote!(let a = 1 << k; out[0] = a as f32;), &[Some(4)]);
    check(
        quote!(let a; a = 1; out[0] = x[a];),
        quote!(let a; { a = 1; [__cuda_jit_w4, &raw const a]; }; out[0] = x[a];),
        &[Some(4)],
    );
}

#[test]
fn what_tells_nothing_is_left_out_of_blocks() {
    check(quote!(if k > 1 { return; } out[0] = x[0];), quote!(), &[]);
    check(
        quote!(for i in 0..k {
            out[0] += x[0];
            let a = k as usize;
            out[a] = 0.0;
        }),
        quote!(for i in 0..k {
            let a = k as usize;
            [__cuda_jit_w5, &raw const a];
        }),
        &[Some(2), Some(4)],
    );
    check(
        quote!(if k > 1 {
            out[0] = 0.0;
        } else if k > 2 {
            let a = 1;
            out[1] = 1.0;
        }),
        quote!(if k > 1 {
        } else if k > 2 {
            let a = 1;
            [__cuda_jit_w4, &raw const a];
        }),
        &[Some(4)],
    );
}

#[test]
fn a_literal_is_settled_by_what_gives_it_a_type() {
    check(quote!(let mut a = 0.0; a += x[0]; out[0] = a;), quote!(let mut a = 0.0; a += x[0];), &[Some(4)]);
    check(quote!(let mut a = 0.0; a = x[0] * a; out[0] = a;), quote!(let mut a = 0.0; a = x[0] * a;), &[Some(4)]);
    check(quote!(let mut a = 0; while a < k { a += 1; }), quote!(let mut a = 0; while a < k {}), &[Some(4)]);
    check(
        quote!(let mut a = 0; out[a] = 0.0; a += 1; let b = k as usize;),
        quote!(let mut a = 0; out[a] = 0.0; let b = k as usize;),
        &[Some(4), Some(5)],
    );
    for open in [quote!(a += f(k);), quote!(a <<= k;), quote!(a += p;), quote!(let p = x[a];)] {
        let body = quote!(let mut a = 0; #open out[0] = a as f32;);
        let kept = captured(quote!(fn kernel<T: Num>(x: ArrayView1<f32>, p: P, k: u64, out: &mut [f32]) { #body }));
        let twin = kept.twin.to_token_stream().to_string();
        assert!(twin.contains(&quote!(out[0] = a as f32).to_string()), "{twin}");
    }
}

/// A block that yields a value, or ends what is around it, stays as it is.
#[test]
fn blocks_of_a_type_stay() {
    let body = quote!(let Some(a) = x.first() else { out[0] = 1.0; return; }; );
    let captured = captured(quote!(fn kernel(x: &[f32], out: &mut [f32]) { #body }));
    let twin = captured.twin.to_token_stream().to_string();
    assert!(twin.contains("return"), "{twin}");
    let body = quote!(let a = if k > 1 { x[0] } else { return; }; out[0] = a;);
    check(body.clone(), quote!(let a = if k > 1 { x[0] } else { return { loop {} }; }; out[0] = a;), &[Some(4)]);
    let body = quote!(let a = loop { if k > 1 { break; } };);
    check(body.clone(), body, &[Some(4)]);
    let device = self::captured(quote!(
        fn device(x: f32) -> f32 {
            let y = x;
            if y > 1.0 {
                return y;
            }
            return x;
        }
    ));
    assert_eq!(
        device.twin.to_token_stream().to_string(),
        quote!({
            return x;
        })
        .to_string()
    );
}

#[test]
fn equal_parameters_have_equal_parts() {
    let captured = captured(quote!(
        fn kernel<T: Num>(x: &[T], n: u32, y: &[T], m: u32) {
            let a = x[n];
            let b = y[m];
        }
    ));
    let told: Vec<_> = captured.bindings.iter().map(|binding| binding.told).collect();
    assert_eq!(told, [Some(0), Some(1), Some(2), Some(3), Some(4), Some(4)]);
}
