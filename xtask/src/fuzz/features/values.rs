//! Features of compound values: enums with fields, `Result`, closures in fields, and iterators.

use super::super::snippets::Feature;
use super::super::snippets::Snippet;
use super::super::snippets::State::Supported;

pub(super) const FEATURES: &[Feature] = &[
    Feature {
        name: "enums-with-fields",
        state: Supported,
        snippets: &[
            Snippet {
                items: "#[derive(Clone, Copy, DeviceType)]\n#[derived(PartialEq, PartialOrd)]\npub enum E@ { None, One($T), Two { a: [$T; 2], b: u32 }, Some(Option<u32>, (bool, $T)) }\n\
                        #[device]\nimpl E@ { pub fn turn(&mut self, v: $T) -> u32 { match self { E@::None => 1, Self::One(w) => { *w ^= v; 2 } \
                        E@::Two { a: [first, _], b } if *b > 3 => { *first = v; *b } Self::Two { a, .. } => { a.swap(0, 1); 4 } E@::Some(o, (k, _)) => { *k = !*k; o.take().map_or(5, |v| v ^ 1) } } } }\n",
                body: "let mut v@ = match $u32 & 3 { 0 => E@::None, 1 => E@::One($e), 2 => E@::Two { b: $u32 & 7, a: [$e, $e] }, _ => E@::Some($u32.checked_sub($k), ($bool, $e)) };\n\
                       let before@ = v@;\nlet r@ = v@.turn($e);\nlet s@ = v@ == before@;\nlet t@ = v@ < before@;\n\
                       let u@ = match (v@, before@) { (E@::One(a), E@::One(b)) => a ^ b, (E@::Two { a, .. }, E@::Two { a: [b, c], .. }) => a[0] ^ b.rotate_left(1) ^ c, (E@::Some(None, (k, w)), _) if k => w, _ => $e };\n",
                yields: &[("r@", "u32"), ("s@", "bool"), ("t@", "bool"), ("u@", "T")],
            },
            Snippet {
                items: "#[derive(Clone, Copy, DeviceType)]\npub enum F@<L, R> { Left(L), Right(R) }\n#[device]\nfn made@(left: bool, v: $T, w: u32) -> F@<$T, u32> { if left { F@::Left(v) } else { F@::Right(w) } }\n",
                body: "let a@ = [made@($bool, $e, $u32), F@::Left($e), F@::Right($k)];\nlet r@ = match a@[$usize % 3] { F@::Left(v) => v, F@::Right(w) => w as $T ^ 1 };\n\
                       let s@ = a@.into_iter().filter(|v| matches!(v, F@::Right(w) if w & 1 == 0)).count() as u32;\n",
                yields: &[("r@", "T"), ("s@", "u32")],
            },
        ],
    },
    Feature {
        name: "results",
        state: Supported,
        snippets: &[
            Snippet {
                items: "#[derive(Clone, Copy, DeviceType)]\npub struct Low@ { by: u32 }\n#[derive(Clone, Copy, DeviceType)]\npub struct Bad@ { code: u64 }\n\
                        #[device]\nimpl From<Low@> for Bad@ { fn from(low: Low@) -> Self { Bad@ { code: (low.by as u64) << 8 | $k } } }\n\
                        #[device]\nfn less@(v: u32) -> Result<u32, Low@> { if v < 1$k { Err(Low@ { by: 1$k - v }) } else { Ok(v - 1$k) } }\n\
                        #[device]\nfn both@(v: u32, w: u32) -> Result<u32, Bad@> { let a = less@(v)?; if w == $k { return Err(Bad@ { code: 3 }); } Ok(a ^ less@(w & 31)?.rotate_left(3)) }\n\
                        #[device]\nfn maybe@(v: u32, w: Option<u32>) -> Option<u32> { let a = v.checked_sub($k)?; Some(a ^ w? ^ less@(a).ok()?) }\n",
                body: "let r@ = match both@($u32 & 31, $u32) { Ok(v) => v as u64, Err(Bad@ { code }) => code };\n\
                       let s@ = both@($u32, $u32 & 31).map(|v| v ^ 1).unwrap_or_else(|bad| bad.code as u32);\nlet t@ = maybe@($u32 & 31, if $bool { Some($u32) } else { None }).unwrap_or($k);\n\
                       let u@ = less@($u32 & 15).map_err(|low| low.by).and_then(|v| if v > 2 { Ok(v) } else { Err(9) }).err().is_some();\n",
                yields: &[("r@", "u64"), ("s@", "u32"), ("t@", "u32"), ("u@", "bool")],
            },
            Snippet {
                items: "",
                body: "let a@ = [$u32, $u32 & 7, $u32 & 255];\nlet mut n@ = 0u32;\nlet r@: Result<u32, u8> = a@.iter().map(|v| { n@ = n@ * 3 + 1; if *v & 3 == 3 { Err(*v as u8) } else { Ok(*v & 255) } }).sum();\n\
                       let s@ = a@.iter().try_fold($k, |s: u32, v| { n@ ^= s; s.checked_add(*v).ok_or(s) }).unwrap_or_else(|s| s ^ 1);\nlet t@ = r@.map_or_else(|e| e as u32, |v| v ^ 5);\n\
                       let u@ = u8::try_from($u32).map_or(7, |v| v as u32) ^ u32::from(i8::try_from($i32).is_ok());\n",
                yields: &[("n@", "u32"), ("s@", "u32"), ("t@", "u32"), ("u@", "u32")],
            },
        ],
    },
    Feature {
        name: "references-to-two-memories",
        state: Supported,
        snippets: &[
            Snippet {
                items: "const W@: [u64; 3] = [$k, 1$k, 2$k];\n",
                body: "let (a@, at@, c@) = ([$e as u64, $k, $u32 as u64], $usize % 3, $u32 as u64);\nlet r@ = *(if $bool { &x[at@] } else { &a@[at@] }) ^ *(if $bool { &c@ } else { &x[1] });\n\
                       let row@ = if $bool { &a@[..] } else if $bool { &W@[at@..] } else { &x[1..3] };\nlet s@ = row@.iter().fold(row@.len() as u64, |s, v| s.rotate_left(3) ^ *v);\n\
                       let (mut last@, mut before@, mut h@) = (&x[0], &a@[1], 0u64);\nfor k in 0..5usize { h@ = h@.wrapping_mul(31) ^ *before@; before@ = last@; last@ = match (k + at@) % 4 { 0 => &a@[k % 3], 1 => &x[k % 4], 2 => &W@[k % 2], _ => &c@ }; h@ ^= last@.rotate_left(1); }\n\
                       let t@ = a@.iter().chain(&x[..2]).chain(row@).rev().zip(1u64..).fold(h@, |s, (v, w)| s.wrapping_mul(7) ^ *v ^ w);\n",
                yields: &[("r@", "u64"), ("s@", "u64"), ("t@", "u64")],
            },
            Snippet {
                items: "#[device]\nfn later@<'a>(a: &'a [u64], b: &'a [u64]) -> Option<&'a u64> { if a.len() < b.len() { b.get($usize % 5) } else { a.last() } }\n\
                        #[device]\nfn step@(v: &mut [u64], at: usize) -> u64 { v[at] = v[at].rotate_left(3) ^ $k; v[0] }\n",
                body: "let (mut a@, mut b@) = ([$u32 as u64, 5, $k], [[$u32 as u64, 7], [$k, 1]]);\nlet r@ = later@(&a@[..$usize % 4], &x[..$usize % 4]).copied().unwrap_or(3);\n\
                       let row@ = if $bool { &mut a@[1..] } else { &mut b@[$usize % 2][..] };\nlet s@ = step@(row@, $usize % 2) ^ row@[1];\n\
                       let mut kept@ = [None, x.get($usize % 6), Some(&b@[1][0])];\nif $bool { kept@[0] = a@.iter().max(); }\nlet mut t@ = 0u64;\nfor k in kept@ { t@ = t@.rotate_left(5) ^ k.map_or(1, |v| *v); }\n\
                       let u@ = a@[2] ^ b@[0][1].rotate_left(9) ^ b@[1][1];\n",
                yields: &[("r@", "u64"), ("s@", "u64"), ("t@", "u64"), ("u@", "u64")],
            },
        ],
    },
    Feature {
        name: "functions-that-make-iterators",
        state: Supported,
        snippets: &[
            Snippet {
                items: "use std::iter::once as only@;\n#[device]\nfn once@(v: u32) -> u32 { v ^ 3$k }\n",
                body: "let mut n@ = 0u32;\nlet a@: [$T; 4] = std::array::from_fn(|k| { n@ = n@ * 5 + k as u32; $e });\n\
                       let r@ = std::iter::successors(Some($u32), |v| { n@ ^= 1; if v & 7 == 3 { None } else { Some(v / 3 ^ 1) } }).take(9).fold(0u32, |s, v| s.wrapping_mul(31) ^ v);\n\
                       let s@ = only@($u32).chain(std::iter::repeat_n(once@($k), 2)).rev().map(|v| v ^ 1).fold(0u32, |s, v| s.wrapping_mul(7) ^ v);\n\
                       let t@ = std::iter::zip(a@, std::iter::repeat($e)).fold($e, |s: $T, (v, w)| s.rotate_left(3) ^ v ^ w);\n",
                yields: &[("n@", "u32"), ("r@", "u32"), ("s@", "u32"), ("t@", "T")],
            },
            Snippet {
                items: "",
                body: "let a@ = [$e, $e, $e];\nlet mut n@ = $u32;\nlet r@ = std::iter::from_fn(|| { n@ = n@.rotate_left(1); if n@ & 6 == 6 { None } else { Some(n@) } }).take(5).fold(0u32, |s, v| s.wrapping_mul(3) ^ v);\n\
                       let s@ = a@.iter().filter(|v| **v & 1 == 0).cycle().take(7).fold($e, |s: $T, v| s.rotate_left(1) ^ *v);\n\
                       let t@ = a@.iter().lt([$e, $e].iter());\nlet u@ = a@.iter().skip(1).ge(&a@[..2]);\nlet w@ = Some($u32).into_iter().chain(None).chain(Err($k).into_iter()).fold(0u32, |s, v: u32| s ^ v);\n",
                yields: &[("n@", "u32"), ("r@", "u32"), ("s@", "T"), ("t@", "bool"), ("u@", "bool"), ("w@", "u32")],
            },
        ],
    },
    Feature {
        name: "iterators-in-turns",
        state: Supported,
        snippets: &[
            Snippet {
                items: "",
                body: "let a@ = [$e, $e, $e, $e, $e];\nlet mut n@ = 0u32;\nlet mut t@ = a@.iter().map(|v| { n@ = n@ * 3 + 1; *v }).peekable();\nlet mut r@ = $e;\n\
                       while let Some(v) = t@.next() { if t@.peek().is_some_and(|w| *w > v) { r@ = r@.rotate_left(3) ^ v; } else { r@ ^= $k; } }\n",
                yields: &[("n@", "u32"), ("r@", "T")],
            },
            Snippet {
                items: "",
                body: "let a@ = [$u32, $u32 & 3, $u32];\nlet mut n@ = 0u32;\nlet r@ = a@.iter().flat_map(|v| { n@ += 1; 0..*v % 4 }).rev().scan($u32, |s, v| { *s = s.rotate_left(v + 1); if *s & 7 == 5 { None } else { Some(*s) } }).fold(0u32, |s, v| s.wrapping_mul(3) ^ v);\n\
                       let mut t@ = a@.iter().copied().take_while(|v| v % 5 != 1);\nlet s@ = t@.next().unwrap_or(9) ^ t@.map(|v| v & 15).sum::<u32>();\n",
                yields: &[("n@", "u32"), ("r@", "u32"), ("s@", "u32")],
            },
            Snippet {
                items: "",
                body: "let k@ = $u32 % 8;\nlet mut a@ = [$u32 % 8, k@, $u32 % 8, $u32 % 8, k@ ^ 1, $u32 % 8];\nlet mut n@ = 0u32;\n\
                       let r@ = a@.chunk_by(|v, w| { n@ += 1; *v <= *w }).rev().fold(0u32, |s, p| s.wrapping_mul(9) ^ p[0] * 8 + p.len() as u32);\n\
                       let s@ = a@.split(|v| *v == k@).flatten().fold(0u32, |s, v| s.wrapping_mul(5) ^ *v);\n\
                       a@.sort_by_key(|v| *v % 3);\nlet q@ = a@[2] * 8 + a@[3];\n",
                yields: &[("q@", "u32"), ("n@", "u32"), ("r@", "u32"), ("s@", "u32")],
            },
            Snippet {
                items: "",
                body: "let mut w@ = std::num::Wrapping($u32);\nw@ = w@ * std::num::Wrapping($u32) + std::num::Wrapping(7);\nw@ <<= ($u32 % 40) as usize;\nlet r@ = w@.0;\n\
                       let c@ = if $bool { std::ops::ControlFlow::Break($u32) } else { std::ops::ControlFlow::Continue($u32) };\n\
                       let s@ = match c@ { std::ops::ControlFlow::Break(v) => v, std::ops::ControlFlow::Continue(v) => !v };\n",
                yields: &[("r@", "u32"), ("s@", "u32")],
            },
        ],
    },
];
