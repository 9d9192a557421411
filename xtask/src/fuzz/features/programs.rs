//! Further features, most of which have not found a mistake so far.

use super::super::snippets::Feature;
use super::super::snippets::Snippet;
use super::super::snippets::State::Supported;

pub(super) const FEATURES: &[Feature] = &[
    Feature {
        name: "conditional-items",
        state: Supported,
        snippets: &[Snippet {
            items: "#[device]\nfn g@(#[cfg(any())] p: u8, q: $T, #[cfg(all())] r: $T) -> $T { let s = (q, #[cfg(any())] 9u8, r).1; s ^ q.rotate_left(1) }\n\
                    #[derive(Clone, Copy, DeviceType)]\npub struct F@ { #[cfg(any())] a: u8, #[cfg(all())] a: $T, b: $T }\n\
                    #[device]\nimpl F@ {\n    #[cfg(any())] pub fn get(self) -> u8 { 0 }\n    \
                    #[cfg(not(any()))] pub fn get(self, #[cfg(any())] p: u8, q: $T) -> $T { self.a ^ self.b.rotate_left(3) ^ q }\n}\n",
            body: "let f@ = F@ { #[cfg(any())] a: 9u8, #[cfg(all())] a: $e, b: $e };\nlet r@ = f@.get(#[cfg(any())] 3u8, g@(#[cfg(any())] 1u8, $e, $e));\n\
                   let s@ = { let v = $e; #[cfg(any())] { v } #[cfg(all())] { v ^ 1 } };\n",
            yields: &[("r@", "T"), ("s@", "T")],
        }],
    },
    Feature {
        name: "items-in-places",
        state: Supported,
        snippets: &[
            Snippet {
                items: "const K@: u32 = 3$k;\n",
                body: "let mut r@ = $u32;\nfor k in 0..3u32 { const K@: u32 = $k; r@ = r@.rotate_left(K@) ^ k; }\nr@ ^= K@;\n\
                       let s@ = match r@ & 3 { 0 => { const K@: u32 = 5$k; r@ ^ K@ }, 1 => { let v = K@; { const K@: u32 = 7$k; v ^ K@ } }, _ => K@ };\n\
                       let f@ = |v: u32| { static K@: u32 = 8$k; v ^ K@ };\nlet t@ = f@(K@);\n",
                yields: &[("r@", "u32"), ("s@", "u32"), ("t@", "u32")],
            },
            Snippet {
                items: "",
                body: "let r@ = {\n    #[derive(Clone, Copy, DeviceType)] struct In { a: [$T; 2] }\n    \
                       #[device] impl In { fn get(self, k: usize) -> $T { self.a[k % 2] } }\n    let v = In { a: [$e, $e] };\n    v.get($usize) ^ {\n        \
                       #[derive(Clone, Copy, DeviceType)] struct In { b: $T }\n        In { b: $e }.b\n    }\n};\n",
                yields: &[("r@", "T")],
            },
            Snippet {
                items: "",
                body: "let w@ = $u32;\nlet r@ = { let w@ = (w@ ^ 1, w@); let (w@, z) = w@; { let w@ = w@ as u64; w@ ^ (z as u64).rotate_left(9) } } ^ w@ as u64;\n",
                yields: &[("r@", "u64")],
            },
        ],
    },
    Feature {
        name: "orders-of-ones-own",
        state: Supported,
        snippets: &[
            Snippet {
                items: "#[derive(Clone, Copy, PartialEq, Eq, DeviceType)]\n#[from_repr]\n#[repr(u8)]\npub enum O@ { A = $k, B = 1$k, C = 2$k }\n\
                        impl PartialOrd for O@ { fn partial_cmp(&self, o: &Self) -> Option<std::cmp::Ordering> { Some(self.cmp(o)) } }\n\
                        impl Ord for O@ { fn cmp(&self, o: &Self) -> std::cmp::Ordering { (*o as u8).cmp(&(*self as u8)) } }\n",
                body: "let v@ = if $bool { O@::A } else { O@::C };\nlet w@ = if $bool { O@::B } else { O@::C };\nlet r@ = v@.max(w@) as u32;\n\
                       let s@ = (v@, $u32) <= (w@, 1);\nlet t@ = [v@, w@] > [w@, v@];\nlet u@ = Some(v@) < Some(w@);\nlet y@ = v@.cmp(&w@) == std::cmp::Ordering::Less;\n",
                yields: &[("r@", "u32"), ("s@", "bool"), ("t@", "bool"), ("u@", "bool"), ("y@", "bool")],
            },
            Snippet {
                items: "#[derive(Clone, Copy, DeviceType)]\n#[operators(PartialEq, PartialOrd)]\npub struct O@ { v: u32 }\n\
                        #[device]\nimpl PartialEq for O@ { fn eq(&self, o: &Self) -> bool { self.v & 3 == o.v & 3 } }\n\
                        #[device]\nimpl PartialOrd for O@ { fn partial_cmp(&self, o: &Self) -> Option<std::cmp::Ordering> { (o.v & 3).partial_cmp(&(self.v & 3)) } }\n",
                body: "let v@ = O@ { v: $u32 };\nlet w@ = O@ { v: $u32 };\nlet r@ = v@ < w@;\nlet s@ = v@ >= w@;\nlet t@ = v@ == w@;\nlet u@ = Some(v@) != Some(w@);\n",
                yields: &[("r@", "bool"), ("s@", "bool"), ("t@", "bool"), ("u@", "bool")],
            },
        ],
    },
    Feature {
        name: "operators-of-ones-own",
        state: Supported,
        snippets: &[Snippet {
            items: "#[derive(Clone, Copy, DeviceType)]\n#[operators(AddAssign<u32>, Sub, Not, Shl<u32>, Mul for u32)]\npub struct N@ { v: [u32; 2] }\n\
                    #[device]\nimpl std::ops::AddAssign<u32> for N@ { fn add_assign(&mut self, o: u32) { self.v[0] ^= o; self.v[1] = self.v[1].wrapping_mul($k); } }\n\
                    #[device]\nimpl std::ops::Sub for N@ { type Output = u32; fn sub(self, o: N@) -> u32 { self.v[0].rotate_left(3) ^ o.v[1] } }\n\
                    #[device]\nimpl std::ops::Not for N@ { type Output = N@; fn not(self) -> N@ { N@ { v: [self.v[1], self.v[0]] } } }\n\
                    #[device]\nimpl std::ops::Shl<u32> for N@ { type Output = N@; fn shl(self, o: u32) -> N@ { N@ { v: [self.v[0].rotate_left(o & 31), o] } } }\n\
                    #[device]\nimpl std::ops::Mul<N@> for u32 { type Output = u32; fn mul(self, o: N@) -> u32 { self ^ o.v[1] } }\n",
            body: "let mut n@ = N@ { v: [$u32, $u32] };\nlet before@ = n@;\nn@ += $u32;\nlet r@ = n@ - { n@ += 1$k; before@ };\nlet s@ = $u32 * (!n@ << $u32);\n",
            yields: &[("n@.v[0]", "u32"), ("n@.v[1]", "u32"), ("r@", "u32"), ("s@", "u32")],
        }],
    },
    Feature {
        name: "operators-of-enums",
        state: Supported,
        snippets: &[
            Snippet {
                items: "#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, DeviceType)]\n#[repr(u8)]\n#[operators(Not, Add<u32>, BitXorAssign<W@>, Mul for u32, Neg for &W@)]\npub enum W@ { A, B, C = 7 }\n\
                        #[device]\nfn w@(n: u32) -> W@ { match n % 3 { 0 => W@::A, 1 => W@::B, _ => W@::C } }\n\
                        #[device]\nimpl std::ops::Not for W@ { type Output = W@; fn not(self) -> W@ { w@(self as u32 + 1) } }\n\
                        #[device]\nimpl std::ops::Neg for &W@ { type Output = u32; fn neg(self) -> u32 { *self as u32 ^ $k } }\n\
                        #[device]\nimpl std::ops::Add<u32> for W@ { type Output = W@; fn add(self, o: u32) -> W@ { w@(self as u32 ^ o) } }\n\
                        #[device]\nimpl std::ops::BitXorAssign<W@> for W@ { fn bitxor_assign(&mut self, o: W@) { if *self < o { *self = !o } } }\n\
                        #[device]\nimpl std::ops::Mul<W@> for u32 { type Output = u32; fn mul(self, o: W@) -> u32 { self.rotate_left(o as u32) } }\n",
                body: "let mut n@ = w@($u32);\nlet before@ = n@;\nn@ ^= w@($u32);\nlet r@ = $u32 * (n@ + { n@ ^= !before@; $u32 }) ^ -&n@;\nlet s@ = n@ == before@;\nlet t@ = -&!n@ ^ n@ as u32;\n",
                yields: &[("r@", "u32"), ("s@", "bool"), ("t@", "u32")],
            },
            Snippet {
                items: "#[derive(Clone, Copy, DeviceType)]\n#[operators(Not, Add, Neg for &V@)]\npub enum V@ { A, B(u32), C { x: [u32; 2] } }\n\
                        #[device]\nimpl std::ops::Not for V@ { type Output = V@; fn not(self) -> V@ { match self { V@::A => V@::B($k), V@::B(v) => V@::C { x: [v, 3] }, V@::C { .. } => V@::A } } }\n\
                        #[device]\nimpl std::ops::Neg for &V@ { type Output = u32; fn neg(self) -> u32 { match self { V@::A => 1, V@::B(v) => v ^ $k, V@::C { x } => x[0].rotate_left(5) ^ x[1] } } }\n\
                        #[device]\nimpl std::ops::Add for V@ { type Output = V@; fn add(self, o: V@) -> V@ { V@::C { x: [-&self, -&o] } } }\n",
                body: "let mut n@ = if $bool { V@::B($u32) } else { V@::A };\nlet before@ = n@;\nlet r@ = -&(n@ + { n@ = !n@; before@ }) ^ -&n@ ^ -&(!n@ + !!n@);\n",
                yields: &[("r@", "u32")],
            },
        ],
    },
    Feature {
        name: "sums-of-ones-own",
        state: Supported,
        snippets: &[Snippet {
            items: "#[derive(Clone, Copy, DeviceType)]\npub struct S@ { v: [u32; 2] }\n\
                    #[device]\nimpl std::iter::Sum for S@ { fn sum<I: Iterator<Item = S@>>(all: I) -> Self { all.fold(S@ { v: [$k, 3] }, |s, x| S@ { v: [s.v[0].rotate_left(3) ^ x.v[1], s.v[1] ^ x.v[0]] }) } }\n\
                    #[device]\nimpl<'a> std::iter::Sum<&'a S@> for S@ { fn sum<I: Iterator<Item = &'a S@>>(all: I) -> Self { all.copied().sum() } }\n\
                    #[device]\nimpl std::iter::Product<u32> for S@ { fn product<I: Iterator<Item = u32>>(mut all: I) -> Self { let mut v = [1, 2]; while let Some(x) = all.next() { v[0] = v[0] * 5 % 1021 + (x & 7); v[1] ^= x; } S@ { v } } }\n\
                    #[device]\nimpl From<&[u32; 2]> for S@ { fn from(v: &[u32; 2]) -> S@ { S@ { v: [v[1], v[0]] } } }\n",
            body: "let a@ = [S@ { v: [$u32, $u32] }, S@::from(&[$u32, 4$k]), S@ { v: [$u32; 2] }];\nlet s@: S@ = a@[..2].iter().chain(&a@[1..]).filter(|x| x.v[0] & 3 != 1).sum();\n\
                   let p@ = a@.iter().rev().map(|x| x.v[1]).product::<S@>();\nlet w@ = a@.iter().map(|x| std::num::Wrapping(x.v[0])).sum::<std::num::Wrapping<u32>>().0;\n",
            yields: &[("s@.v[0]", "u32"), ("s@.v[1]", "u32"), ("p@.v[0]", "u32"), ("p@.v[1]", "u32"), ("w@", "u32")],
        }],
    },
    Feature {
        name: "conversions-of-ones-own",
        state: Supported,
        snippets: &[Snippet {
            items: "#[derive(Clone, Copy, DeviceType)]\npub struct A@ { v: [u32; 2] }\n#[derive(Clone, Copy, DeviceType)]\npub struct B@ { v: u64 }\n\
                    #[device]\nimpl From<A@> for B@ { fn from(a: A@) -> B@ { B@ { v: (a.v[0] as u64) << 32 | a.v[1] as u64 } } }\n\
                    #[device]\nimpl From<u32> for A@ { fn from(v: u32) -> A@ { A@ { v: [v, v ^ $k] } } }\n\
                    #[device]\nimpl TryFrom<u64> for A@ { type Error = B@; fn try_from(v: u64) -> Result<Self, Self::Error> { if v & 3 == 1 { Err(B@ { v: v ^ $k }) } else { Ok(A@ { v: [v as u32, 3] }) } } }\n\
                    #[device]\nfn tried@(v: u64) -> Result<u32, B@> { let a: A@ = v.try_into()?; Ok(a.v[0] ^ A@::try_from(v >> 1)?.v[0]) }\n",
            body: "let e@ = tried@(u64::from($u32)).map_or_else(|b| b.v, u64::from);\nlet mut a@ = A@::from($u32);\nlet b@: B@ = a@.into();\na@.v[0] = $u32;\nlet c@ = B@::from(a@);\nlet d@ = u64::from($u32) ^ u64::from($bool);\n",
            yields: &[("b@.v", "u64"), ("c@.v", "u64"), ("d@", "u64"), ("e@", "u64")],
        }],
    },
    Feature {
        name: "indices-of-ones-own",
        state: Supported,
        snippets: &[
            Snippet {
                items: "#[derive(Clone, Copy, DeviceType)]\n#[operators(Index<usize>, IndexMut<usize>, Index<(usize, bool)>, Index<std::ops::Range<usize>>, IndexMut<std::ops::Range<usize>>)]\npub struct X@ { v: [$T; 4], log: u32 }\n\
                        #[device]\nimpl std::ops::Index<usize> for X@ { type Output = $T; fn index(&self, at: usize) -> &$T { &self.v[at & 3] } }\n\
                        #[device]\nimpl std::ops::IndexMut<usize> for X@ { fn index_mut(&mut self, at: usize) -> &mut Self::Output { self.log = self.log.rotate_left(3) ^ at as u32; &mut self.v[(at ^ 1) & 3] } }\n\
                        #[device]\nimpl std::ops::Index<(usize, bool)> for X@ { type Output = $T; fn index(&self, (at, turn): (usize, bool)) -> &$T { if turn { &self.v[3 - (at & 3)] } else { &self[at] } } }\n\
                        #[device]\nimpl std::ops::Index<std::ops::Range<usize>> for X@ { type Output = [$T]; fn index(&self, at: std::ops::Range<usize>) -> &[$T] { &self.v[at.start & 1..2 + (at.end & 1)] } }\n\
                        #[device]\nimpl std::ops::IndexMut<std::ops::Range<usize>> for X@ { fn index_mut(&mut self, at: std::ops::Range<usize>) -> &mut [$T] { self.log ^= 77; &mut self.v[at.end & 1..3] } }\n\
                        #[device]\nfn step@(at: &mut usize) -> usize { *at += 1; *at }\n",
                body: "let mut x@ = X@ { v: [$e, $e, $e, $e], log: $k };\nlet mut at@ = $usize & 15;\nx@[step@(&mut at@)] = x@[at@] ^ $e;\nx@[step@(&mut at@)] ^= { at@ += 2; x@[(step@(&mut at@), $bool)] };\n\
                       { let low = &mut x@[$usize & 7]; *low ^= $e; }\nx@[$usize & 3..at@].reverse();\nfor v in &mut x@[at@..2] { *v = v.rotate_left(1); }\nx@[0..1][0] ^= x@[at@..at@ + 1][0];\n\
                       let r@ = match x@[at@] { ref mut v if *v & 1 == 0 => { *v ^= 1; 5u32 } _ => 6 };\nlet s@ = x@[0..3].iter().fold($e, |s: $T, v| s.rotate_left(3) ^ *v);\nlet old@ = std::mem::replace(&mut x@[at@], $e);\n",
                yields: &[
                    ("r@", "u32"),
                    ("s@", "T"),
                    ("old@", "T"),
                    ("x@.log", "u32"),
                    ("x@.v[0]", "T"),
                    ("x@.v[3]", "T"),
                ],
            },
            Snippet {
                items: "#[device]\npub trait Sums@ { fn sum@(&self) -> $T; fn turn@(&mut self, by: u32) -> Option<usize>; }\n\
                        #[device]\nimpl Sums@ for [$T] { fn sum@(&self) -> $T { self.iter().fold(1, |s: $T, v| s.rotate_left(3) ^ *v) } fn turn@(&mut self, by: u32) -> Option<usize> { for v in self.iter_mut() { *v = v.rotate_left(by & 7); } self.iter().position(|v| *v & 1 == 1) } }\n",
                body: "let mut a@ = [$e, $e, $e, $e];\nlet r@ = a@[$usize % 4..].turn@($u32).map_or(9, |at| at as u32);\nlet s@ = a@[..$usize % 5].sum@() ^ Sums@::sum@(&a@[1..]);\n\
                       let mut rest@ = &mut a@[..];\nlet mut n@ = 0u32;\nwhile let [_, ..] = rest@ { let (head, tail) = std::mem::take(&mut rest@).split_at_mut(1); head[0] ^= $e; n@ = n@ * 3 + tail.len() as u32; rest@ = tail; }\nlet t@ = a@.sum@();\n",
                yields: &[("r@", "u32"), ("s@", "T"), ("n@", "u32"), ("t@", "T")],
            },
        ],
    },
    Feature {
        name: "own-types",
        state: Supported,
        snippets: &[
            Snippet {
                items: "mod own@ { use super::{DeviceType, device};\n#[derive(Clone, Copy, DeviceType)]\npub struct Some(pub u32);\n\
                        #[device]\npub fn f(v: u32) -> u32 { let s = Some(v ^ $k); let Some(w) = s; w.rotate_left($k) }\n\
                        #[device]\npub fn min(a: u32, b: u32) -> u32 { a.wrapping_mul(3) ^ b }\n#[device]\npub fn swap(a: u32) -> u32 { a ^ 7$k } }\n",
                body: "let r@ = own@::f($u32);\nlet s@ = { use own@::{min, swap}; min(swap($u32), $u32) };\n",
                yields: &[("r@", "u32"), ("s@", "u32")],
            },
            Snippet {
                items: "mod longer@ { use super::device;\n#[device]\npub trait Longer { fn len(self) -> usize; }\n\
                        #[device]\nimpl Longer for &mut [u64] { fn len(self) -> usize { self[0] = 7; 5$k } }\n\
                        #[device]\npub fn f(v: u64) -> u64 { let mut a = [v, v, 3]; let o = &mut a[..]; let k = o.len(); a[0] ^ k as u64 ^ (a.len() as u64).rotate_left(9) } }\n",
                body: "let r@ = longer@::f($u64);\n",
                yields: &[("r@", "u64")],
            },
            Snippet {
                items: "mod pick@ { use super::{DeviceType, device};\n#[device]\npub trait Pick: Sized { fn max(self, other: Self) -> Self; fn min(a: Self, b: Self) -> Self; }\n\
                        #[device]\nimpl Pick for u32 { fn max(self, other: Self) -> Self { self.wrapping_mul(10) ^ other } fn min(a: Self, b: Self) -> Self { a ^ b.rotate_left($k) } }\n\
                        #[device]\npub fn picked<T: Pick + Copy + DeviceType>(x: [T; 3]) -> T { match x.into_iter().reduce(T::max) { Some(last) => T::min(last, x[0]), None => x[1] } }\n\
                        #[device]\npub fn f(v: u32) -> u32 { f32::max(v as f32, 3.5) as u32 ^ <u32 as Pick>::max(v, 1) } }\n",
                body: "let r@ = pick@::picked([$u32, $u32, $u32]);\nlet s@ = pick@::f($u32);\n",
                yields: &[("r@", "u32"), ("s@", "u32")],
            },
        ],
    },
    Feature {
        name: "constants-of-aggregates",
        state: Supported,
        snippets: &[
            Snippet {
                items: "#[derive(Clone, Copy, PartialEq, Eq, DeviceType)]\npub struct P@ { a: u32, b: bool }\nimpl P@ { const ONE: P@ = P@ { a: 1, b: true }; const TWO: P@ = P@ { a: 2, ..P@::ONE }; }\n\
                        const T@: (u32, bool) = (1, true);\nconst O@: Option<u32> = Some(2);\nconst A@: [u32; 2] = [1, 2];\n",
                body: "let v@ = $u32 & 3;\nlet p@ = P@ { a: v@, b: $bool };\nlet r@ = match p@ { P@::ONE => 1u32, P@::TWO => 2, P@ { a: 3, b } if b => 3, _ => $u32 };\n\
                       let s@ = match (v@, $bool) { T@ => 1u32, (0, _) | (2, true) => 2, (n, _) => n };\nlet t@ = match v@.checked_sub(1) { O@ => 1u32, None => 2, Some(n) => n ^ $k };\n\
                       let u@ = match [v@, $u32 & 3] { A@ => 1u32, [0, n] | [n, 0] => n, [.., n] => n ^ 8 };\n",
                yields: &[("r@", "u32"), ("s@", "u32"), ("t@", "u32"), ("u@", "u32")],
            },
            Snippet {
                items: "mod all@ { pub const low: u32 = $k; pub const HIGH: u32 = 2$k; }\n",
                body: "let w@ = $u32 & 31;\nlet r@ = { use all@::*; match w@ { low => 1u32, HIGH | 3 => 5, low..HIGH => 7, _ => 9 } };\n\
                       let s@ = { use all@::low as n; match w@ { n => 1u32, m => m } };\n",
                yields: &[("r@", "u32"), ("s@", "u32")],
            },
        ],
    },
    Feature {
        name: "orders-of-evaluation",
        state: Supported,
        snippets: &[
            Snippet {
                items: "#[device]\nfn t@(n: &mut u32, v: $T) -> $T { *n = n.wrapping_mul(3) + 1; v ^ *n as $T }\n#[device]\nfn u@(n: &mut u32, k: usize) -> usize { *n = n.wrapping_mul(5) + 2; (k ^ *n as usize) % 3 }\n\
                        #[derive(Clone, Copy, DeviceType)]\nstruct S@ { a: $T, b: [$T; 3] }\n",
                body: "let mut n@ = 1u32;\nlet mut a@ = [$e; 3];\na@[u@(&mut n@, 1)] = t@(&mut n@, $e);\na@[u@(&mut n@, 2)] ^= t@(&mut n@, $e);\n\
                       (a@[u@(&mut n@, 3)], a@[u@(&mut n@, 4)]) = (t@(&mut n@, $e), t@(&mut n@, 1));\nlet s@ = S@ { b: [t@(&mut n@, $e); 3], a: a@[u@(&mut n@, 5)] };\n\
                       let z@ = S@ { a: t@(&mut n@, $e), ..s@ };\nlet q@ = t@(&mut n@, 1) < t@(&mut n@, 2) && t@(&mut n@, 3) > 4 || t@(&mut n@, $e) == 5;\n",
                yields: &[
                    ("n@", "u32"),
                    ("a@[0]", "T"),
                    ("a@[1]", "T"),
                    ("s@.a", "T"),
                    ("z@.b[1]", "T"),
                    ("z@.a", "T"),
                    ("q@", "bool"),
                ],
            },
            Snippet {
                items: "#[device]\nfn three@(a: [$T; 2], b: $T, c: [$T; 2]) -> $T { a[0].rotate_left(1) ^ b.rotate_left(5) ^ c[1] }\n",
                body: "let mut a@ = [$e, $e];\nlet mut b@ = [a@; 2];\nlet r@ = three@(a@, { a@ = [$e; 2]; b@[1] = a@; b@[0][1] }, b@[1]);\n\
                       let s@ = [a@, { a@[1] = r@; b@[0] }, a@][$usize % 3][1];\nlet f@ = |v: [$T; 2], w: $T| v[0] ^ w;\nlet t@ = f@(a@, { a@[0] = $e; a@[0] });\n\
                       b@[{ a@[0] ^= 1; 1 }] = { let c = a@; a@[1] = $e; c };\n",
                yields: &[("r@", "T"), ("s@", "T"), ("t@", "T"), ("a@[1]", "T"), ("b@[1][0]", "T"), ("b@[1][1]", "T")],
            },
            Snippet {
                items: "",
                body: "let mut a@ = [$e; 3];\nlet r@ = 'l: { let v = [a@[0], if $bool { break 'l a@[1] } else { a@[2] = $e; a@[2] }, a@[0]]; v[$usize % 3] };\n\
                       let s@ = loop { a@[1] ^= $k; let t = (a@, if a@[1] & 1 == 0 { break a@[1] } else { a@[0] = a@[0].rotate_left(1); 1u8 }); if t.0[0] & 2 == 0 || a@[1] & 4 == 0 { break t.0[0] } a@[1] = a@[1].wrapping_add(1); };\n",
                yields: &[("r@", "T"), ("s@", "T"), ("a@[0]", "T")],
            },
        ],
    },
    Feature {
        name: "references",
        state: Supported,
        snippets: &[
            Snippet {
                items: "#[device]\nfn pick@(a: &mut [$T; 3], k: usize) -> &mut $T { &mut a[k % 3] }\n#[device]\nfn both@(p: &mut $T, q: &mut $T) { *p ^= q.rotate_left(1); std::mem::swap(p, q); }\n",
                body: "let mut a@ = [$e, $e, $e];\n*pick@(&mut a@, $usize) ^= $k;\nlet b@ = a@;\nlet [x@, _, z@] = &mut a@;\nboth@(x@, z@);\n*x@ = b@[1];\nlet r@ = *pick@(&mut a@, $usize);\n\
                       if let [ref mut v, .., ref w] = a@ { *v = v.wrapping_add(*w); }\n",
                yields: &[("r@", "T"), ("a@[0]", "T"), ("a@[2]", "T"), ("b@[2]", "T")],
            },
            Snippet {
                items: "",
                body: "let mut o@ = if $bool { Some([$e, 1]) } else { None };\nlet p@ = o@;\nif let Some(v) = &mut o@ { v[1] = $e; }\nif let Some(v) = o@.as_mut() { v[0] ^= 3; }\n\
                       let q@ = o@.take();\nlet r@ = q@.map_or($e, |v| v[0] ^ v[1]) ^ p@.map_or(1, |v| v[1]);\nlet s@ = o@.is_none();\n",
                yields: &[("r@", "T"), ("s@", "bool")],
            },
        ],
    },
    Feature {
        name: "views",
        state: Supported,
        snippets: &[
            Snippet {
                items: "",
                body: "let t@ = a.t();\nlet r@ = t@[[$usize % 6, $usize % 4]];\nlet at@ = [$usize % 4, $usize % 6];\nlet pair@ = (at@[0], 1);\nlet s@ = a[at@] ^ a[pair@];\n\
                       let c@ = a.slice(s![1.., ..;2]);\nlet u@ = c@[[$usize % 3, $usize % 3]] ^ c@.nrows() as u32 ^ (c@.ncols() as u32) << 5;\n",
                yields: &[("r@", "u32"), ("s@", "u32"), ("u@", "u32")],
            },
            Snippet {
                items: "#[device]\nfn first@(mut w: ArrayViewMut1<'_, u64>, v: u64) -> u64 { let old = w[0]; w[0] = v; old }\n",
                body: "let k@ = $usize;\nlet r@ = { let mut w = m.view_mut(); w[k@ % 2] ^= k@ as u64; let (mut p, q) = w.split_at(ndarray::Axis(0), 1); p[0] = p[0].wrapping_add(q[0]); p[0] };\n\
                       let v@ = $u64;\nlet s@ = first@(m.view_mut(), v@);\n",
                yields: &[("r@", "u64"), ("s@", "u64")],
            },
            Snippet {
                items: "",
                body: "let p@ = a.row($usize % 4);\nlet mut r@ = 0u32;\nfor (k, v) in p@.iter().enumerate() { r@ = r@.rotate_left(k as u32) ^ *v; }\n\
                       let q@ = a.column($usize % 6);\nlet s@ = q@.iter().fold(0u32, |s, v| s.wrapping_mul(31) ^ v);\n",
                yields: &[("r@", "u32"), ("s@", "u32")],
            },
            Snippet {
                items: "",
                body: "let x@ = ndarray::Axis($usize % 2);\nlet r@ = a.index_axis(x@, $usize % 4).fold(7u32, |s, v| s.wrapping_mul(31) ^ *v);\n\
                       let (c@, d@) = a.split_at(x@, $usize % 5);\nlet t@ = c@.permuted_axes([x@.0, 1 - x@.0]);\n\
                       let s@ = (c@.len() * 100 + d@.len_of(x@) * 10 + t@.nrows()) as u32 ^ d@.last().copied().unwrap_or(3) ^ t@.first().copied().unwrap_or(5);\n",
                yields: &[("r@", "u32"), ("s@", "u32")],
            },
        ],
    },
    Feature {
        name: "generic-types",
        state: Supported,
        snippets: &[
            Snippet {
                items: "#[derive(Clone, Copy, DeviceType)]\npub struct W@<T, const N: usize> { a: [T; N], k: usize }\n\
                        #[device]\nimpl<T: Integer + cuda_jit::ValueType, const N: usize> W@<T, N> {\n    const LEN: usize = N;\n    pub fn new(v: T) -> Self { W@ { a: [v; N], k: 0 } }\n    \
                        pub fn push(&mut self, v: T) -> T { let old = self.a[self.k % N]; self.a[self.k % N] = old ^ v; self.k += 1; old }\n    \
                        pub fn with(mut self, v: T) -> Self { self.push(v); self }\n}\n",
                body: "let mut w@ = W@::<$T, 3>::new($e);\nlet p@ = w@.push($e);\nlet x@ = w@.with($e);\nlet q@ = w@.push($e) ^ x@.a[1];\nlet r@ = (w@.k + W@::<u8, 5>::LEN) as u32;\n",
                yields: &[("p@", "T"), ("q@", "T"), ("r@", "u32"), ("w@.a[1]", "T")],
            },
            Snippet {
                items: "#[device]\npub trait Shape@ { const SIDES: u32; fn area(&self) -> $T; fn new(v: $T) -> Self; }\n\
                        #[derive(Clone, Copy, DeviceType)]\npub struct Sq@($T);\n#[derive(Clone, Copy, DeviceType)]\npub struct Re@ { a: [$T; 2] }\n\
                        #[device]\nimpl Shape@ for Sq@ { const SIDES: u32 = $k; fn area(&self) -> $T { self.0 ^ 1 } fn new(v: $T) -> Self { Sq@(v) } }\n\
                        #[device]\nimpl Shape@ for Re@ { const SIDES: u32 = 4; fn area(&self) -> $T { self.a[0] ^ self.a[1].rotate_left(1) } fn new(v: $T) -> Self { Self { a: [v, 3] } } }\n\
                        #[device]\nfn made@<S: Shape@ + Copy, F: Fn($T) -> $T>(v: $T, f: F) -> $T { let s = S::new(f(v)); s.area().rotate_left(S::SIDES) }\n",
                body: "let b@ = $e;\nlet r@ = made@::<Sq@, _>($e, |v| v ^ b@) ^ made@::<Re@, _>($e, |v| v.rotate_left(2));\n",
                yields: &[("r@", "T")],
            },
        ],
    },
    Feature {
        name: "nested-closures",
        state: Supported,
        snippets: &[
            Snippet {
                items: "#[device]\nfn twice@<F: FnMut($T) -> $T>(mut f: F, v: $T) -> $T { let w = f(v); f(w) ^ w }\n",
                body: "let mut n@ = $e;\nlet mut c@ = [0u32; 2];\nlet r@ = twice@(|v| { n@ = n@.rotate_left(3) ^ v; c@[n@ as usize & 1] += 1; n@ }, $e);\n\
                       let mut f@ = |v: $T| { n@ ^= v; let g = |w: $T| w.rotate_left(2) ^ n@; g(v) ^ g(n@) };\nlet p@ = f@($e);\nlet q@ = f@(p@);\n",
                yields: &[("n@", "T"), ("c@[0]", "u32"), ("r@", "T"), ("q@", "T")],
            },
            Snippet {
                items: "",
                body: "let mut a@ = [$e, $e, $e];\nlet k@ = $usize;\nlet f@ = move |v: $T| { let mut b = a@; b[k@ % 3] ^= v; b[0] ^ b[1] };\na@[k@ % 3] = $e;\nlet p@ = f@($e) ^ a@[0];\n\
                       let mut g@ = |v: $T| -> $T { if v & 1 == 0 { return v ^ 9; } a@[1] = a@[1].wrapping_add(v); a@[1] };\nlet q@ = [g@($e), g@(p@), g@(1)][1];\n",
                yields: &[("p@", "T"), ("q@", "T"), ("a@[1]", "T")],
            },
        ],
    },
    Feature {
        name: "macros-of-functions",
        state: Supported,
        snippets: &[
            Snippet {
                items: "macro_rules! made@ { ($n:ident, $p:pat, $b:ident, $t:ty, $x:expr, $a:block, $o:tt, $l:literal, $s:stmt) => { #[device]\nfn $n(w: $t, $b: u32) -> u32 { let v = 3u32; $s; let t = match (w as u32 & 7, $b) { \
                        ($p, v) if v > 2 => $x ^ v, (n, $b) if n > $l => n $o $b, _ => $a }; t ^ v } }; }\n\
                        const FIVE@: u32 = 5;\nmade@!(m@, 0 | FIVE@, v, $T, v.rotate_left(3), { let t = v; t ^ 1 }, ^, $k, let v = v ^ 1);\n",
                body: "let r@ = m@($e, $u32 & 7);\n",
                yields: &[("r@", "u32")],
            },
            Snippet {
                items: "macro_rules! each@ { ($n:ident($x:ident): $($v:ident = $of:expr),*; $l:lifetime $last:expr) => { #[device]\nfn $n($x: u32) -> u32 { let s = 1u32; $(let $v = s.wrapping_mul($of);)* \
                        let mut k = 0u32; $l: loop { k += 1; 'l: loop { if k > s { break 'l; } break $l; } if k > 3 { break; } } $last ^ s ^ k } }; }\n\
                        each@!(e@(x): s = x ^ $k, t = s.rotate_left(1), k = t ^ s; 'l s ^ t ^ k);\n",
                body: "let r@ = e@($u32);\n",
                yields: &[("r@", "u32")],
            },
        ],
    },
];
