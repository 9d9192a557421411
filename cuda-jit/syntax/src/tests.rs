//! The round trip of every node, and the decoding of arbitrary bytes.

use super::*;

/// The number of variants of an enum of the table.
pub(crate) trait Variants {
    const VARIANTS: usize;
}

/// Pseudo-random bytes: a variant's number, then mostly small ones, which terminate lists and options.
fn bytes(seed: u64, length: u64) -> Code {
    let (mut state, kinds) = (seed, ExprKind::VARIANTS as u64);
    let bytes = (0..length).map(|place| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let byte = (state >> 40) as u8;
        match state >> 60 {
            _ if place == 0 => (seed % kinds) as u8,
            0 => byte,
            1 | 2 => byte % kinds as u8,
            _ => byte % 3,
        }
    });
    read(bytes.collect())
}

/// Bytes to decode.
fn read(bytes: Vec<u8>) -> Code {
    Code { bytes: bytes.leak(), names: &[] }
}

/// Arbitrary bytes decode to a node or are refused. A decoded node survives a round trip unchanged, both owned and
/// borrowed. `variants` is the number of variants that the test must reach.
fn round_trips<Owned, Borrowed>(variants: usize)
where
    Owned: Encode + Decode + PartialEq + std::fmt::Debug,
    Borrowed: Encode + Decode + std::fmt::Debug,
{
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..100_000 {
        let code = bytes(seed, seed % 61);
        let (mut owned, mut borrowed) = (code, code);
        let Some(node) = Owned::decode(&mut owned) else {
            assert!(Borrowed::decode(&mut borrowed).is_none());
            continue;
        };
        let same = Borrowed::decode(&mut borrowed).expect("the owned one was read");
        assert_eq!((format!("{node:?}"), owned), (format!("{same:?}"), borrowed));
        let (mut code, mut again) = (Vec::new(), Vec::new());
        node.encode(&mut code);
        same.encode(&mut again);
        assert_eq!(code, again);
        let mut code = read(code);
        assert_eq!(Owned::decode(&mut code), Some(node));
        assert!(code.bytes.is_empty());
        let text = format!("{same:?}");
        seen.insert(text.split(['(', ' ', '{']).next().unwrap_or_default().to_owned());
    }
    assert_eq!(seen.len(), variants, "{seen:?}");
}

#[test]
fn every_node_goes_there_and_back() {
    round_trips::<owned::ExprKind, ExprKind>(ExprKind::VARIANTS);
    round_trips::<owned::Pattern, Pattern>(Pattern::VARIANTS);
    round_trips::<owned::Stmt, Stmt>(Stmt::VARIANTS);
    round_trips::<owned::Condition, Condition>(Condition::VARIANTS);
    round_trips::<owned::Lit, Lit>(Lit::VARIANTS);
    round_trips::<owned::UnaryOp, UnaryOp>(UnaryOp::VARIANTS);
    round_trips::<owned::BinaryOp, BinaryOp>(BinaryOp::VARIANTS);
    round_trips::<owned::Piece, Piece>(Piece::VARIANTS);
    round_trips::<owned::Form, Form>(Form::VARIANTS);
    round_trips::<owned::Conversion, Conversion>(1);
    round_trips::<owned::Binding, Binding>(1);
    round_trips::<owned::Options, Options>(1);
    round_trips::<owned::Closure, Closure>(1);
}

#[test]
fn numbers_are_short_and_exact() {
    for (value, length) in [(0, 1), (127, 1), (128, 2), (u64::from(u32::MAX), 5), (u64::MAX, 10)] {
        let mut code = Vec::new();
        value.encode(&mut code);
        assert_eq!(code.len(), length);
        assert_eq!(u64::decode(&mut read(code)), Some(value));
    }
    assert_eq!(u64::decode(&mut read(vec![0xff; 11])), None);
    assert_eq!(u128::decode(&mut read(vec![0xff; 20])), None);
    assert_eq!(u32::decode(&mut read(vec![0xff, 0xff, 0xff, 0xff, 0x10])), None);
}

#[test]
fn names_are_numbers_or_answers() {
    for (name, number) in
        [(owned::Name::from(3), Some(3)), (owned::Name::answer(1), Some(8)), (owned::Name::answer(2), None)]
    {
        let mut code = Vec::new();
        name.encode(&mut code);
        assert_eq!(u32::decode(&mut Code { names: &[7, 8], ..read(code) }), number);
    }
}

#[test]
#[should_panic(expected = "different versions")]
fn another_version_is_refused() {
    let _ = Encoded::new("", "", true, &[VERSION + 1]);
}

#[test]
#[should_panic(expected = "the captured syntax in file.rs is damaged")]
fn what_is_cut_short_is_refused() {
    let mut code = encode(&owned::Definition::new(owned::Options::DEFAULT));
    code.pop();
    let encoded: &'static Encoded = Box::leak(Box::new(Encoded::new("", "file.rs", true, code.leak())));
    encoded.definition();
}
