//! The features and their snippets.
//!
//! Each kind of difference between device and host that was found has its snippet, so that a regression is found. A comment at a
//! known failure describes it. `cargo xtask fuzz --only-features NAME` generates the snippets of one feature.
//!
//! Mistakes that were reintroduced into the compiler, and the number of the first program of seed 502 that found each:
//!
//! | mistake | program |
//! |---|---|
//! | `#[cfg]` within an item is not evaluated | at build time |
//! | constants are identified by their name, regardless of the block that declares them | 1 |
//! | types are identified by their name, regardless of the block that declares them | 72 |
//! | a path in a pattern matches everything | 18 |
//! | a constant in a pattern is a binding | 20 |
//! | the guard of an or-pattern is evaluated once | 3 |
//! | moved arrays are not copied; only those of arguments are not | 3; 3 |
//! | the place expression of a compound assignment is evaluated before its value | 37 |
//! | enums are compared by their discriminants, regardless of their impls | 33 |
//! | a user's `From` of an enum is a cast | 68 |
//! | a user's `Default` of an enum is zero | 8 |
//! | hygiene: variables and labels of a macro are those of the caller with the same name | 19; 19 |
//! | `r#x` and `x` are different names | at build time |
//! | `T::max` of a user's trait, `swap` of a user's module, `count_ones` and `len` of a user's trait resolve to the built-in ones | 105; 2; 44; 54 |
//!
//! The same for iterators and for items in blocks, with the named feature alone:
//!
//! | mistake | feature | program |
//! |---|---|---|
//! | `.fuse()` is dropped | `fused` | 0 |
//! | ranges of `char` do not leave out the surrogates | `character-ranges` | 0 |
//! | `zip` from the back skips elements without their side effects; `take`; `step_by` | `iterators-reversed` | 0; 0; 0 |
//! | an array by value is not copied in `for x in a { .. }` | `arrays-by-value` | 0 |
//! | enums are ordered by their discriminants, regardless of their `Ord` | `orders-of-ones-own` | 0 |
//! | a constant that a block imports is identified by its name | `block-uses` | 0 |
//! | a constant is identified by its name, regardless of the block that declares it | `block-constants` | 0 |
//!
//! The same for closures, with the features of `closures.rs` alone (`--only-features`):
//!
//! | mistake | program |
//! |---|---|
//! | variables of a closure's body stay in scope after its call | 2 |
//! | arrays are not copied where a closure captures them | 12 |
//! | changes of a closure's captured state are lost after the call | 0 |
//! | a closure's body is lowered in the scope of the calling function | 12 |
//! | copies of a closure share its arrays | 24 |
//! | `cycle` continues with the original iterator instead of a copy | 3 |
//! | function values of the same type call the same function | 31 |
//! | `get` treats `a..=b` as `a..b` | 14 |

mod closures;
mod programs;
mod values;

use super::snippets::State::{KnownFailure, Supported};
use super::snippets::{Feature, Snippet};

/// All features.
pub(super) fn all() -> impl Iterator<Item = &'static Feature> {
    FEATURES.iter().chain(programs::FEATURES).chain(values::FEATURES).chain(closures::FEATURES)
}

const FEATURES: &[Feature] = &[
    Feature {
        name: "block-constants",
        state: Supported,
        snippets: &[
            Snippet {
                items: "const SCALE@: u32 = $k;\n",
                body: "let w@ = $u32;\nlet r@ = { let before = w@ ^ SCALE@; ({ const SCALE@: u32 = 1$k; before.wrapping_mul(31) ^ SCALE@ }) ^ SCALE@ };\n",
                yields: &[("r@", "u32")],
            },
            Snippet {
                items: "",
                body: "let a@ = { const K: u32 = $k; $u32 ^ K };\nlet b@ = { const K: u32 = 2$k; $u32 ^ K };\n\
                       let c@ = if $bool { const K: i32 = -$k; K } else { const K: i32 = 7$k; K };\n",
                yields: &[("a@", "u32"), ("b@", "u32"), ("c@", "i32")],
            },
            Snippet {
                items: "",
                body: "let r@ = { const A: u32 = B + 1; const B: u32 = $k; static C: u32 = 3$k; type W = u32; let w: W = $u32; w ^ A ^ B ^ C };\n",
                yields: &[("r@", "u32")],
            },
        ],
    },
    Feature {
        name: "block-types",
        state: Supported,
        snippets: &[Snippet {
            items: "",
            body: "let r@ = { type W = u16; let a = $u32 as W; { type W = i64; (a as W).wrapping_mul($k) as u64 } };\n",
            yields: &[("r@", "u64")],
        }],
    },
    Feature {
        name: "block-uses",
        state: Supported,
        snippets: &[
            Snippet {
                items: "mod one@ { use super::*; pub const C: u32 = $k; #[device] pub fn f(v: u32) -> u32 { v ^ C } }\n\
                        mod two@ { use super::*; pub const C: u32 = 4$k; #[device] pub fn f(v: u32) -> u32 { v.rotate_left(C) } }\n",
                body: "let w@ = $u32;\nlet r@ = { use one@::f; f(w@) } ^ { use two@::{C, f}; f(w@).wrapping_add(C) };\n\
                       let s@ = { use one@::f as g; use two@::f; g(f(w@)) };\n",
                yields: &[("r@", "u32"), ("s@", "u32")],
            },
            Snippet {
                items: "mod low@ { pub const C: u32 = $k; }\nmod high@ { pub const C: u32 = 4$k; }\n",
                body: "let w@ = $u32;\nlet r@ = { use low@::C; w@ ^ C }.wrapping_mul(31) ^ { use high@::C; w@.rotate_left(C) ^ C };\n",
                yields: &[("r@", "u32")],
            },
            Snippet {
                items: "#[derive(Clone, Copy, PartialEq, DeviceType)]\n#[from_repr]\n#[repr(u8)]\npub enum V@ { Red = $k, Green = 1$k, Blue = 3$k }\n",
                body: "let v@ = if $bool { V@::Green } else { V@::Blue };\nlet r@ = { use V@::*; match v@ { Red => 1u32, Green => $u32, Blue => 3 } };\n\
                       let s@ = { use V@::Green as Red; match v@ { Red => 5u32, _ => $u32 } };\n",
                yields: &[("r@", "u32"), ("s@", "u32")],
            },
        ],
    },
    Feature {
        name: "block-functions",
        state: Supported,
        snippets: &[Snippet {
            items: "#[device]\nfn g@(v: u32) -> u32 { v ^ $k }\n",
            body: "let r@ = { #[device] fn g@(v: u32) -> u32 { v.rotate_left($k) } g@($u32) } ^ g@($u32);\n",
            yields: &[("r@", "u32")],
        }],
    },
    Feature {
        name: "conditional",
        state: Supported,
        snippets: &[
            Snippet {
                items: "",
                body: "let mut r@ = $u32;\n#[cfg(any())] { r@ = 0; }\n#[cfg(all())] { r@ ^= $k; }\n#[cfg(not(any()))]\nlet r@ = r@ ^ 1;\n#[cfg(any())]\nlet r@ = 5u8;\n",
                yields: &[("r@", "u32")],
            },
            Snippet {
                items: "",
                body: "let r@ = match $u32 & 3 { #[cfg(any())] 0..=3 => 77u32, #[cfg(all())] 1 => $k, _ => 2u32 };\n\
                       let s@ = [$k, #[cfg(any())] 99, 5u32][1];\n",
                yields: &[("r@", "u32"), ("s@", "u32")],
            },
        ],
    },
    Feature {
        name: "paths-of-options",
        state: Supported,
        snippets: &[
            Snippet {
                items: "",
                body: "let o@ = if $bool { Some($e) } else { None };\nlet r@ = match o@ { Option::Some(v) => v, Option::None => $e };\n\
                       let s@ = if let std::option::Option::Some(_) = o@ { 1u32 } else { 2 };\n\
                       let t@ = match o@ { Some { 0: _ } => 3u32, None => 4 };\n",
                yields: &[("r@", "T"), ("s@", "u32"), ("t@", "u32")],
            },
            Snippet {
                items: "use core::option::Option::Some as Yes@;\n",
                body: "let o@: Option<$T> = if $bool { Some($e) } else { None };\nlet r@ = match o@ { Yes@(0 | 9) => $e, Yes@(v) => v, None => $e };\n",
                yields: &[("r@", "T")],
            },
        ],
    },
    Feature {
        name: "renamed-options",
        state: Supported,
        snippets: &[Snippet {
            items: "use core::option::Option::{None as No@, Some as Yes@};\n",
            body: "let o@: Option<$T> = if $bool { Yes@($e) } else { No@ };\nlet r@ = match o@ { No@ => $e, Yes@(v) => v };\n",
            yields: &[("r@", "T")],
        }],
    },
    Feature {
        name: "patterns-with-variants",
        state: Supported,
        snippets: &[
            Snippet {
                items: "#[derive(Clone, Copy, PartialEq, DeviceType)]\n#[from_repr]\n#[repr(i16)]\npub enum V@ { Red = $k, Green = 1$k, Blue = 3$k }\n\
                        use V@::{Blue as Azure@, Green as Green@};\n",
                body: "let v@ = match $u32 % 3 { 0 => V@::Red, 1 => V@::Green, _ => V@::Blue };\n\
                       let r@ = match v@ { Azure@ => 1u32, Green@ => $u32, V@::Red => 3 };\n\
                       let s@ = match v@ { V@::Red {} => 1u32, V@::Green {} => 2, _ => 4 };\n",
                yields: &[("r@", "u32"), ("s@", "u32")],
            },
            Snippet {
                items: "#[derive(Clone, Copy, PartialEq, DeviceType)]\n#[from_repr]\n#[repr(u8)]\npub enum V@ { Some, None, Other }\n",
                body: "let v@ = match $u32 % 3 { 0 => V@::Some, 1 => V@::None, _ => V@::Other };\n\
                       let r@ = match v@ { V@::None => 1u32, V@::Other => 2, V@::Some => $u32 };\n",
                yields: &[("r@", "u32")],
            },
        ],
    },
    Feature {
        name: "patterns-with-constants",
        state: Supported,
        snippets: &[
            Snippet {
                items: "#[allow(non_upper_case_globals)]\nconst low@: u32 = $k;\nconst N@: u32 = 2;\n",
                body: "let w@ = $u32 & 15;\nlet r@ = match w@ { low@ => 1u32, N@ => 2, _ => 3 };\n\
                       let s@ = if let (low@, k) = (w@, $u32) { k } else { 9 };\n",
                yields: &[("r@", "u32"), ("s@", "u32")],
            },
            Snippet {
                items: "const X@: u32 = $k;\n",
                body: "let X@ = $u32 & 7 else { return $u64 };\nlet r@ = X@;\n",
                yields: &[("r@", "u32")],
            },
        ],
    },
    Feature {
        name: "patterns-with-paths",
        state: Supported,
        snippets: &[Snippet {
            items: "pub struct P@;\nimpl P@ { const LOW: u32 = $k; const HIGH: u32 = 1$k; }\nconst LIMIT@: u32 = 3$k;\n",
            body: "let w@ = $u32 & 63;\nlet r@ = match w@ { P@::LOW => 1u32, P@::HIGH..=LIMIT@ => 2, _ => 3 };\n\
                       let s@ = match w@ as u8 { u8::MIN => $u32, 9..=u8::MAX => 1, _ => 4 };\n",
            yields: &[("r@", "u32"), ("s@", "u32")],
        }],
    },
    Feature {
        name: "guards-of-alternatives",
        state: Supported,
        snippets: &[Snippet {
            items: "#[device]\nfn tick@(count: &mut u32, yes: bool) -> bool { *count = count.wrapping_mul(3) + 1; yes }\n",
            body: "let mut n@ = 0u32;\nlet r@ = match ($u32 & 1, $u32 & 1) { (1, _) | (_, 1) if tick@(&mut n@, $bool) => $u32, (v, 0) | (0, v) if tick@(&mut n@, $bool) => v ^ $k, _ => 2 };\n",
            yields: &[("n@", "u32"), ("r@", "u32")],
        }],
    },
    Feature {
        name: "guards",
        state: Supported,
        snippets: &[Snippet {
            items: "#[device]\nfn tick@(count: &mut u32, yes: bool) -> bool { *count = count.wrapping_mul(3) + 1; yes }\n",
            body: "let mut n@ = 0u32;\nlet r@ = match $u32 & 3 { 0 if tick@(&mut n@, $bool) => $u32, v if tick@(&mut n@, v > 1) => v ^ $k, 1 | 2 => 7, _ => 2 };\n",
            yields: &[("n@", "u32"), ("r@", "u32")],
        }],
    },
    Feature {
        name: "guards-that-bind",
        state: Supported,
        snippets: &[Snippet {
            items: "",
            body: "let q@ = [$e, $e, $e];\nlet r@ = match (q@.get($usize % 5), $e) {\n    \
                   (Some(&v), k) if let Some(&v) = q@.get(($usize ^ 1) & 3) && v > k => v ^ k.rotate_left(3),\n    \
                   (None, k) | (Some(_), k) if k > q@[0] && let Some(at) = q@.iter().position(|v| *v > k) => q@[at] ^ at as $T,\n    \
                   (Some(v), _) if $bool && let 1 | 3 = *v & 3 => *v,\n    (_, k) => k,\n};\n",
            yields: &[("r@", "T")],
        }],
    },
    Feature {
        name: "arrays-by-value",
        state: Supported,
        snippets: &[
            Snippet {
                items: "",
                body: "let mut a@ = [$e; 4];\nlet mut r@ = $e;\nfor v in a@ { a@[1] = v ^ $k; a@[2] ^= v; r@ = r@.rotate_left(3) ^ v; }\n",
                yields: &[("r@", "T"), ("a@[2]", "T")],
            },
            Snippet {
                items: "#[device]\nfn both@(a: [$T; 3], v: $T) -> $T { a[0].rotate_left(5) ^ a[1] ^ v }\n",
                body: "let mut a@ = [$e, $e, $e];\nlet r@ = both@(a@, { a@[0] = $e; a@[1] });\nlet f@ = |a: [$T; 3], v: $T| a[0] ^ v;\n\
                       let s@ = f@(a@, { a@[0] ^= $k; a@[0] });\n",
                yields: &[("r@", "T"), ("s@", "T"), ("a@[0]", "T")],
            },
            Snippet {
                items: "#[derive(Clone, Copy, DeviceType)]\nstruct H@ { a: [$T; 2], v: $T }\n#[device]\nimpl H@ { fn get(self, v: $T) -> $T { self.a[0].rotate_left(9) ^ self.v ^ v } }\n",
                body: "let mut a@ = [$e, $e];\nlet h@ = H@ { a: a@, v: { a@[0] = $e; a@[0] } };\nlet t@ = (a@, { a@[1] = $e; 1u8 }, a@);\n\
                       let mut g@ = h@;\nlet r@ = g@.get({ g@.a[0] = $e; g@.v ^= $k; g@.a[0] });\n",
                yields: &[("h@.a[0]", "T"), ("h@.v", "T"), ("t@.0[1]", "T"), ("t@.2[1]", "T"), ("r@", "T")],
            },
            Snippet {
                items: "",
                body: "let mut a@ = [$e, $e, $e];\nlet b@ = a@.map(|v| v ^ $k);\nlet o@ = Some(a@);\na@[1] = $e;\nlet r@ = o@.map_or($e, |a| a[1]);\n\
                       let c@ = [a@, { a@[0] = $e; a@ }, b@];\nlet d@ = { let e = &mut a@; let f = *e; e[2] ^= $k; f };\n",
                yields: &[("r@", "T"), ("c@[0][0]", "T"), ("c@[1][0]", "T"), ("d@[2]", "T"), ("b@[1]", "T")],
            },
            Snippet {
                items: "",
                body: "let mut g@ = [[$e, $e], [$e, $e]];\nlet mut r@ = $e;\nfor row in g@ { g@[1][0] = $e; r@ = r@.rotate_left(7) ^ row[0]; }\n\
                       let s@ = (g@[0], { g@[0][1] = $e; 3u8 }).0[1];\n",
                yields: &[("r@", "T"), ("s@", "T")],
            },
        ],
    },
    Feature {
        name: "order",
        state: Supported,
        snippets: &[Snippet {
            items: "",
            body: "let mut k@ = 0usize;\nlet mut a@ = [$e; 4];\na@[k@] = { k@ += 1; $e };\na@[{ k@ += 1; k@ }] ^= { k@ += 1; $e };\nlet mut v@ = $e;\nv@ ^= { v@ = $e; v@ };\n\
                       let t@ = (v@, { v@ = $e; v@ }, v@);\n",
            yields: &[("k@", "usize"), ("a@[0]", "T"), ("a@[2]", "T"), ("v@", "T"), ("t@.0", "T"), ("t@.2", "T")],
        }],
    },
    Feature {
        name: "conversions",
        state: Supported,
        snippets: &[Snippet {
            items: "#[derive(Clone, Copy, PartialEq, DeviceType)]\n#[from_repr]\n#[repr(u8)]\npub enum W@ { A = $k, B = 1$k }\n\
                    #[device]\nimpl From<W@> for u64 { fn from(w: W@) -> u64 { (w as u8 as u64) ^ 0x5$k } }\n\
                    #[device]\nimpl From<W@> for f64 { fn from(w: W@) -> f64 { 0.5 } }\n",
            body: "let w@ = if $bool { W@::A } else { W@::B };\nlet r@ = u64::from(w@);\nlet s@ = f64::from(w@) as u32;\n",
            yields: &[("r@", "u64"), ("s@", "u32")],
        }],
    },
    Feature {
        name: "comparisons",
        state: Supported,
        snippets: &[
            Snippet {
                items: "#[derive(Clone, Copy, DeviceType)]\n#[from_repr]\n#[operators(PartialEq)]\n#[repr(u8)]\npub enum C@ { A = $k, B = 1$k }\n\
                        #[device]\nimpl PartialEq for C@ { fn eq(&self, other: &Self) -> bool { *self as u8 != *other as u8 } }\n",
                body: "let w@ = if $bool { C@::A } else { C@::B };\nlet r@ = w@ == C@::A;\nlet s@ = w@ != C@::B;\n",
                yields: &[("r@", "bool"), ("s@", "bool")],
            },
            Snippet {
                items: "#[derive(Clone, Copy, DeviceType)]\n#[from_repr]\n#[repr(i32)]\n#[derive(PartialEq, Eq)]\npub enum C@ { A = $k, B = 1$k }\n\
                        impl PartialOrd for C@ { fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> { (*other as i32).partial_cmp(&(*self as i32)) } }\n",
                body: "let w@ = if $bool { C@::A } else { C@::B };\nlet r@ = w@ < C@::B;\n",
                yields: &[("r@", "bool")],
            },
        ],
    },
    Feature {
        name: "operators",
        state: Supported,
        snippets: &[Snippet {
            items: "#[derive(Clone, Copy, DeviceType)]\n#[operators(Add, Mul<u32>, Neg, PartialEq)]\npub struct N@ { v: u32 }\n\
                    #[device]\nimpl std::ops::Add for N@ { type Output = N@; fn add(self, o: N@) -> N@ { N@ { v: self.v.rotate_left($k) ^ o.v } } }\n\
                    #[device]\nimpl std::ops::Mul<u32> for N@ { type Output = u32; fn mul(self, o: u32) -> u32 { self.v ^ o.wrapping_mul($k) } }\n\
                    #[device]\nimpl std::ops::Neg for N@ { type Output = N@; fn neg(self) -> N@ { N@ { v: !self.v } } }\n\
                    #[device]\nimpl PartialEq for N@ { fn eq(&self, o: &N@) -> bool { self.v & 1 == o.v & 1 } }\n",
            body: "let n@ = N@ { v: $u32 };\nlet o@ = -(n@ + N@ { v: $u32 });\nlet r@ = (n@ + o@) * $u32;\nlet e@ = n@ == o@;\nlet d@ = n@ != -o@;\n",
            yields: &[("r@", "u32"), ("e@", "bool"), ("d@", "bool")],
        }],
    },
    Feature {
        name: "defaults",
        state: Supported,
        snippets: &[Snippet {
            items: "#[derive(Clone, Copy, PartialEq, DeviceType)]\n#[from_repr]\n#[repr(u8)]\npub enum D@ { A = $k, B = 1$k }\n#[device]\nimpl Default for D@ { fn default() -> Self { D@::B } }\n",
            body: "let o@ = if $bool { Some(D@::A) } else { None };\nlet r@ = o@.unwrap_or_default() as u32;\n",
            yields: &[("r@", "u32")],
        }],
    },
    Feature {
        name: "methods-of-traits",
        state: Supported,
        snippets: &[
            Snippet {
                items: "mod counted@ { use super::*;\n#[device]\npub trait Counted { fn count_ones(self) -> u32; fn longer(&self) -> u32; }\n\
                        #[device]\nimpl Counted for &u32 { fn count_ones(self) -> u32 { 70$k } fn longer(&self) -> u32 { 5 } }\n\
                        #[device]\npub fn f(w: u32) -> u32 { let q = &w; q.count_ones() ^ w.count_ones().rotate_left(9) ^ q.longer() } }\n",
                body: "let r@ = counted@::f($u32);\n",
                yields: &[("r@", "u32")],
            },
            Snippet {
                items: "#[device]\npub trait Larger@: Sized { fn max(self, other: Self) -> Self; }\n#[device]\nimpl Larger@ for bool { fn max(self, other: Self) -> Self { self & !other } }\n\
                        #[device]\nfn larger@<T: Larger@ + DeviceType + cuda_jit::ValueType>(a: T, b: T) -> T { T::max(a, b) }\n",
                body: "let r@ = larger@($bool, $bool);\n",
                yields: &[("r@", "bool")],
            },
        ],
    },
    Feature {
        name: "own-names",
        state: Supported,
        snippets: &[
            Snippet {
                items: "mod own@ { use super::*; mod mem { use super::*; #[device] pub fn swap(a: u32, b: u32) -> u32 { a.rotate_left(3) ^ b } }\n#[device]\npub fn f(a: u32, b: u32) -> u32 { mem::swap(a, b) } }\n",
                body: "let r@ = own@::f($u32, $u32);\n",
                yields: &[("r@", "u32")],
            },
            Snippet {
                items: "#[device]\n#[allow(non_snake_case)]\nfn Twice@(v: u32) -> u32 { v.wrapping_mul(2) ^ $k }\n",
                body: "let r@ = Twice@($u32);\n",
                yields: &[("r@", "u32")],
            },
        ],
    },
    Feature {
        name: "own-macros",
        // A macro with the name of one of the standard library's is refused.
        state: KnownFailure,
        snippets: &[Snippet {
            items: "mod macros@ { use super::*; macro_rules! assert { ($c:expr) => { if $c { return 7$k } }; }\n#[device]\npub fn f(c: bool) -> u32 { assert!(c); 1 } }\n",
            body: "let r@ = macros@::f($bool);\n",
            yields: &[("r@", "u32")],
        }],
    },
    Feature {
        name: "raw-names",
        state: Supported,
        snippets: &[Snippet {
            items: "",
            body: "let r#w@ = $u32;\nlet r@ = w@ ^ 1;\nlet w@ = $u32;\nlet s@ = r#w@;\n",
            yields: &[("r@", "u32"), ("s@", "u32")],
        }],
    },
    Feature {
        name: "hygiene",
        state: Supported,
        snippets: &[Snippet {
            items: "macro_rules! kept@ { ($v:ident, $w:expr) => { #[device]\nfn h@($v: u32) -> u32 { let v = $k; let w = $w; let $v = w ^ 3; v ^ w ^ $v } }; }\nkept@!(v, v.rotate_left($k));\n",
            body: "let r@ = h@($u32);\n",
            yields: &[("r@", "u32")],
        }],
    },
    Feature {
        name: "labels",
        state: Supported,
        snippets: &[Snippet {
            items: "macro_rules! twice@ { ($l:lifetime, $b:block) => { #[device]\nfn l@(n: u32) -> u32 { let mut s = 1u32; $l: for k in 0..n { 'l: loop { if k == $k $b break 'l; } s = s.wrapping_mul(5) ^ k; } s } }; }\n\
                    twice@!('l, { break 'l; });\n",
            body: "let r@ = l@($u32 & 15);\n",
            yields: &[("r@", "u32")],
        }],
    },
    Feature {
        name: "closures",
        state: Supported,
        snippets: &[
            Snippet {
                items: "",
                body: "let mut n@ = $e;\nlet mut f@ = |v: $T| { n@ = n@.rotate_left(3) ^ v; n@ };\nlet p@ = f@($k);\nlet q@ = f@(p@) ^ f@(1);\n",
                yields: &[("n@", "T"), ("p@", "T"), ("q@", "T")],
            },
            Snippet {
                items: "",
                body: "let mut n@ = $e;\nlet mut f@ = move |v: $T| { n@ = n@.rotate_left(3) ^ v; n@ };\nlet p@ = f@($k);\nn@ ^= $k;\nlet q@ = f@(p@) ^ n@;\n",
                yields: &[("n@", "T"), ("p@", "T"), ("q@", "T")],
            },
            Snippet {
                items: "",
                body: "let mut a@ = [$e, $e];\nlet mut f@ = |k: usize, v: $T| { a@[k % 2] ^= v; a@[0] };\nlet p@ = f@($usize, $e);\nlet q@ = f@(1, p@);\nlet b@ = a@;\n",
                yields: &[("p@", "T"), ("q@", "T"), ("b@[1]", "T")],
            },
        ],
    },
    Feature {
        name: "character-ranges",
        state: Supported,
        snippets: &[Snippet {
            items: "",
            body: "let mut r@ = 0u32;\nfor c in '\\u{d7fd}'..='\\u{e00$k}' { r@ = r@.wrapping_mul(31).wrapping_add(c as u32); }\n\
                   let mut s@ = 0u32;\nfor c in ('\\u{d7f0}'..'\\u{e003}').rev() { s@ = s@.wrapping_mul(31).wrapping_add(c as u32); }\n",
            yields: &[("r@", "u32"), ("s@", "u32")],
        }],
    },
    Feature {
        name: "iterators",
        state: Supported,
        snippets: &[
            Snippet {
                items: "",
                body: "let a@ = [$e, $e, $e, $e];\nlet mut n@ = 0u32;\nlet r@ = a@.iter().map(|v| { n@ = n@.wrapping_mul(3) + 1; *v ^ $k }).filter(|v| *v & 1 == 0).fold($e, |s: $T, v| s.rotate_left(3) ^ v);\n",
                yields: &[("r@", "T"), ("n@", "u32")],
            },
            Snippet {
                items: "",
                body: "let a@ = [$e, $e, $e, $e];\nlet mut n@ = 0u32;\nlet r@ = a@.iter().map(|v| { n@ = n@ * 3 + 1; *v }).position(|v| v > $e).map_or(9, |at| at as u32);\n\
                       let s@ = a@.iter().zip(a@.iter().skip(1)).any(|(v, w)| v < w);\n",
                yields: &[("r@", "u32"), ("n@", "u32"), ("s@", "bool")],
            },
            Snippet {
                items: "",
                body: "let a@ = [$e, $e, $e, $e, $e];\nlet mut n@ = 0u32;\nlet mut r@ = $e;\nfor (k, v) in a@.iter().inspect(|_| n@ = n@ * 2 + 1).enumerate().skip(1).take($k) { r@ = r@.rotate_left(k as u32) ^ *v; }\n",
                yields: &[("r@", "T"), ("n@", "u32")],
            },
        ],
    },
    Feature {
        name: "iterators-reversed",
        state: Supported,
        snippets: &[
            Snippet {
                items: "",
                body: "let a@ = [$e, $e, $e, $e];\nlet b@ = [$e, $e];\nlet mut n@ = 0u32;\nlet mut r@ = $e;\n\
                       for (v, w) in a@.iter().map(|v| { n@ = n@ * 4 + 1; v }).zip(b@.iter().map(|v| v)).rev() { r@ = r@.rotate_left(5) ^ *v ^ *w; }\n",
                yields: &[("r@", "T"), ("n@", "u32")],
            },
            Snippet {
                items: "",
                body: "let a@ = [$e, $e, $e, $e, $e];\nlet mut n@ = 0u32;\nlet mut r@ = $e;\nlet mut k@ = 0u32;\n\
                       for v in a@.iter().map(|v| { k@ += 1; n@ = n@ * 6 + k@; v }).take(2).rev() { r@ = r@.rotate_left(5) ^ *v; }\n",
                yields: &[("r@", "T"), ("n@", "u32")],
            },
            Snippet {
                items: "",
                body: "let a@ = [$e, $e, $e, $e, $e];\nlet mut n@ = 0u32;\nlet mut r@ = $e;\nlet mut k@ = 0u32;\n\
                       for v in a@.iter().map(|v| { k@ += 1; n@ = n@ * 6 + k@; v }).step_by(2).rev() { r@ = r@.rotate_left(5) ^ *v; }\n",
                yields: &[("r@", "T"), ("n@", "u32")],
            },
        ],
    },
    Feature {
        name: "fused",
        state: Supported,
        snippets: &[Snippet {
            items: "",
            body: "let mut n@ = 0u32;\nlet mut t@ = (0..9u32).map_while(|v| { n@ += 1; if v % 2 == 0 { Some(v) } else { None } }).fuse();\n\
                   let mut r@ = 0u32;\nfor v in t@.by_ref() { r@ = r@ * 3 + v; }\nfor v in t@.by_ref() { r@ = r@ * 5 + v; }\nlet c@ = r@ ^ n@;\n",
            yields: &[("c@", "u32")],
        }],
    },
    Feature {
        name: "own-iterators",
        state: Supported,
        snippets: &[Snippet {
            items: "#[derive(Clone, Copy, DeviceType)]\npub struct Count@ { at: u32 }\n#[device]\nimpl Iterator for Count@ { type Item = u32; fn next(&mut self) -> Option<u32> { self.at += 2; if self.at < 2$k { Some(self.at) } else { None } } }\n",
            body: "let mut r@ = 0u32;\nfor v in (Count@ { at: $k }) { r@ = r@.wrapping_mul(31) ^ v; }\nlet s@: u32 = (Count@ { at: $k }).map(|v| v ^ 1).sum();\n",
            yields: &[("r@", "u32"), ("s@", "u32")],
        }],
    },
    Feature {
        name: "places",
        state: Supported,
        snippets: &[
            Snippet { items: "", body: "let r@ = [2, 3, 5, 7][$usize % 4] ^ $u32;\n", yields: &[("r@", "u32")] },
            Snippet {
                items: "",
                body: "let mut a@ = [0u32; 2];\nlet b@;\n(_, a@[1], .., b@) = (1, $u32, $u32, $u32);\nlet (p@, q@);\n(p@, q@) = ($u32, $bool);\n",
                yields: &[("a@[1]", "u32"), ("b@", "u32"), ("p@", "u32"), ("q@", "bool")],
            },
            Snippet {
                items: "",
                body: "let a@ = [Some($u32), None, Some($k)];\nlet mut r@ = 0u32;\nfor o in [Some($u32), None, Some($k)].iter() { r@ ^= o.unwrap_or(5); }\nlet s@ = a@.iter().filter(|o| o.is_some()).count() as u32;\n",
                yields: &[("r@", "u32"), ("s@", "u32")],
            },
            Snippet {
                items: "const fn f@(v: u32) -> u32 { v * $k }\n",
                body: "let r@ = const { f@($k) } ^ $u32;\n",
                yields: &[("r@", "u32")],
            },
            Snippet {
                items: "#[device]\nfn cut@(x: &[u64]) -> Option<(u32, &[u64])> { if x.len() > 1 { Some((1, &x[1..])) } else { None } }\n",
                body: "let a@ = [$u64, $u64];\nlet r@ = match cut@(&a@) { Some((k, rest)) => rest[0] ^ k as u64, None => 5 };\n",
                yields: &[("r@", "u64")],
            },
        ],
    },
    Feature {
        name: "deref",
        // A field access through a user's `Deref` is refused at the launch.
        state: KnownFailure,
        snippets: &[Snippet {
            items: "#[derive(Clone, Copy, DeviceType)]\npub struct In@ { v: u32 }\n#[derive(Clone, Copy, DeviceType)]\npub struct Out@ { i: In@ }\n\
                        impl std::ops::Deref for Out@ { type Target = In@; fn deref(&self) -> &In@ { &self.i } }\n",
            body: "let o@ = Out@ { i: In@ { v: $u32 } };\nlet r@ = o@.v;\n",
            yields: &[("r@", "u32")],
        }],
    },
    Feature {
        name: "generics",
        state: Supported,
        snippets: &[Snippet {
            items: "#[device]\npub trait Turn@ { const BY: u32; fn turn(self) -> u32; fn both(self) -> u32 where Self: Copy { self.turn() ^ self.turn().rotate_left(Self::BY) } }\n\
                    #[device]\nimpl Turn@ for u32 { const BY: u32 = $k; fn turn(self) -> u32 { self.rotate_left($k) } }\n\
                    #[device]\nimpl Turn@ for i16 { const BY: u32 = 1; fn turn(self) -> u32 { self as u32 ^ $k } fn both(self) -> u32 { 3 } }\n\
                    #[device]\nfn all@<V: Turn@ + Copy, const N: usize>(v: [V; N]) -> u32 { let mut s = V::BY; for e in v { s = s.wrapping_mul(3) ^ e.both(); } s }\n",
            body: "let r@ = all@([$u32, $u32]) ^ all@([$i32 as i16; 3]);\n",
            yields: &[("r@", "u32")],
        }],
    },
];

#[cfg(test)]
mod tests {
    use super::super::gate::beginning;
    use super::super::program;
    use super::super::snippets::Chosen;
    use super::*;

    #[test]
    fn every_snippet_is_generated() {
        for feature in all() {
            let only = Chosen::new(&[], &[feature.name.to_owned()]).expect("there is such a feature");
            let text: String = (0..60).map(|number| program::text(2, number, false, &only)).collect();
            for snippet in feature.snippets {
                assert!(text.contains(beginning(snippet)), "{}: {}", feature.name, beginning(snippet));
            }
            assert!(!text.contains('@') || text.contains(" @ "), "{}: a name is not completed", feature.name);
        }
    }

    #[test]
    fn methods_can_be_called_on_what_snippets_yield() {
        for (name, _) in all().flat_map(|feature| feature.snippets).flat_map(|snippet| snippet.yields) {
            assert!(!name.contains(' ') || name.starts_with('('), "`{name}` needs parentheses");
        }
    }
}
