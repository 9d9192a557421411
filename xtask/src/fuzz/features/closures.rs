//! Features of closures: captures, closures in fields and iterators, and functions as values.

use super::super::snippets::Feature;
use super::super::snippets::Snippet;
use super::super::snippets::State::Supported;

pub(super) const FEATURES: &[Feature] = &[
    Feature {
        name: "closures-that-make-iterators",
        state: Supported,
        snippets: &[
            Snippet {
                items: "",
                body: "let b@ = $e;\nlet made@ = |v: $T| (0..4u32).map(move |w| v.rotate_left(w) ^ b@);\nlet (mut f@, mut g@) = (made@($e), made@($e));\nlet r@ = f@.next().unwrap_or(1) ^ g@.nth(1).unwrap_or(2).rotate_left(2) ^ f@.next().unwrap_or(3).rotate_left(1);\n\
                       let mut n@ = $e;\nlet mut next@ = move |v: $T| { n@ ^= v; (0..5u32).map(move |w| { n@ = n@.rotate_left(w) ^ 1; n@ }) };\nlet (mut p@, mut q@) = (next@($e), next@($k));\n\
                       let s@ = p@.next().unwrap_or(1) ^ q@.next().unwrap_or(2).rotate_left(1) ^ p@.nth(1).unwrap_or(3).rotate_left(2) ^ n@;\nlet t@ = next@(1).chain(p@).chain(f@).fold(n@, |s: $T, v| s.rotate_left(3) ^ v);\n",
                yields: &[("r@", "T"), ("s@", "T"), ("t@", "T"), ("n@", "T")],
            },
            Snippet {
                items: "",
                body: "let a@ = [$e, $e, $e];\nlet mut made@ = a@.iter().map(|v| (0..3u32).map(move |w| v.rotate_left(w)));\nlet (mut p@, mut q@) = (made@.next().unwrap(), made@.next().unwrap());\n\
                       let r@ = p@.next().unwrap_or($k) ^ q@.nth(1).unwrap_or($k).rotate_left(1) ^ p@.next().unwrap_or($k).rotate_left(2);\n\
                       let s@ = made@.next().map_or($k, |of| of.chain(p@).chain(q@).fold($e, |s: $T, v| s.rotate_left(3) ^ v));\n",
                yields: &[("r@", "T"), ("s@", "T")],
            },
            Snippet {
                items: "",
                body: "let a@ = [$e, $e, $e, $e];\nlet mut made@ = a@.iter().map(|v| (0..3u32).map(|w| v.rotate_left(w) ^ *v));\nlet mut last@ = None;\nlet mut second@ = None;\n\
                       for (k, of) in made@.enumerate() { if k == 1 { second@ = Some(of.clone()); } last@ = Some(of); }\n\
                       let r@ = second@.map_or($k, |of| of.fold($e, |s: $T, v| s.rotate_left(3) ^ v));\nlet s@ = last@.map_or($k, |mut of| of.nth($usize % 3).unwrap_or(5));\n",
                yields: &[("r@", "T"), ("s@", "T")],
            },
            Snippet {
                items: "",
                body: "let a@ = [$e, $e, $e, $e];\nlet k@ = $usize;\nlet mut made@ = a@.iter().map(|v| { let (n, pair) = (v.rotate_left(1), [*v, $e]); (0..4usize).map(move |w| pair[w % 2] ^ n ^ w as $T) });\n\
                       let mut kept@ = None;\nlet mut r@ = $e;\nfor (k, mut of) in made@.by_ref().enumerate() { if k == k@ % 4 { kept@ = Some(of); } else { r@ = r@.rotate_left(1) ^ of.next().unwrap_or(1); } }\n\
                       let s@ = kept@.map_or(1, |of| of.fold($e, |s: $T, v| s.rotate_left(3) ^ v));\nlet t@ = made@.next().is_none();\n",
                yields: &[("r@", "T"), ("s@", "T"), ("t@", "bool")],
            },
            Snippet {
                items: "",
                body: "let a@ = [$e, $e, $e];\nlet k@ = $u32 & 31;\nlet f@ = $bool.then(|| a@.into_iter().map(move |v: $T| v.rotate_left(k@) ^ a@[1]));\nlet r@ = f@.clone().map_or(3, |mut f| f.next().unwrap_or(1));\n\
                       let s@ = match &f@ { Some(f) => f.clone().nth($usize % 3).unwrap_or($e), None => $e };\nlet mut g@ = [f@.clone(), None, f@];\nlet t@ = if let Some(f) = &mut g@[0] { f.next().unwrap_or(2) ^ f.next().unwrap_or(1).rotate_left(1) } else { 2 };\n\
                       let mut u@ = if let Some(f) = g@[0].as_mut() { f.fold(1, |s: $T, v| s.rotate_left(1) ^ v) } else { 4 };\nif let Some(f) = &mut g@[2] { u@ ^= f.next().unwrap_or(3); }\n",
                yields: &[("r@", "T"), ("s@", "T"), ("t@", "T"), ("u@", "T")],
            },
        ],
    },
    Feature {
        name: "closures-in-inner-iterators",
        state: Supported,
        snippets: &[
            Snippet {
                items: "",
                body: "let a@ = [$u32, $u32, $u32];\nlet mut n@ = 0u32;\nlet mut all@ = a@.iter().flat_map(|v| { n@ = n@.wrapping_mul(3) + 1; (0..*v % 4).map(move |w| w ^ v.rotate_left(w)) });\nlet mut r@ = 0u32;\n\
                       for k in 0..7usize { r@ = r@.rotate_left(5) ^ match k % 3 { 0 => all@.nth(1).unwrap_or(3), 1 => all@.next_back().unwrap_or(5), _ => all@.next().unwrap_or(7) }; }\nlet s@ = all@.count() as u32;\n",
                yields: &[("n@", "u32"), ("r@", "u32"), ("s@", "u32")],
            },
            Snippet {
                items: "",
                body: "let a@ = [$u32, $u32, $u32];\nlet mut all@ = a@.iter().flat_map(|v| (0..*v % 5).scan($u32, move |s, w| { *s = s.rotate_left(w + 1) ^ v; if *s & 7 == 3 { None } else { Some(*s) } })).peekable();\n\
                       let r@ = all@.next().unwrap_or(1) ^ all@.peek().map_or(2, |v| v.rotate_left(1));\nlet s@ = all@.nth(1).unwrap_or(3);\nlet t@ = all@.next_if(|v| v & 1 == 0).unwrap_or(5) ^ all@.fold(7u32, |s, v| s.wrapping_mul(31) ^ v);\n",
                yields: &[("r@", "u32"), ("s@", "u32"), ("t@", "u32")],
            },
            Snippet {
                items: "",
                body: "let a@ = [$u32 & 3, $u32 & 3];\nlet b@ = [$u32, $u32];\nlet mut all@ = a@.iter().flat_map(|v| b@.iter().flat_map(move |w| (0..*v).map(move |k| w.rotate_left(k) ^ *v)));\nlet r@ = all@.next().unwrap_or(1);\nlet s@ = all@.nth($usize % 3).unwrap_or(1);\nlet t@ = all@.zip((0..).map(|k: u32| k ^ a@[0])).fold(0u32, |s, (v, w)| s.wrapping_mul(31) ^ v.wrapping_add(w));\n",
                yields: &[("r@", "u32"), ("s@", "u32"), ("t@", "u32")],
            },
            Snippet {
                items: "",
                body: "let a@ = [$e, $e, $e];\nlet mut n@ = $e;\nlet mut all@ = a@.iter().map(|v| { n@ = n@.rotate_left(1) ^ *v; n@ }).chain(a@.iter().rev().map(|v| *v ^ 1)).zip(a@.iter().cycle().map(|v| v.rotate_left(2)));\n\
                       let r@ = all@.next().map_or(1, |(v, w)| v ^ w);\nlet s@ = all@.nth(1).map_or(1, |(v, w)| v ^ w);\nlet t@ = all@.skip_while(|(v, w)| v & 1 == w & 1).fold($e, |s: $T, (v, w)| s.rotate_left(3) ^ v ^ w.rotate_left(1));\n",
                yields: &[("n@", "T"), ("r@", "T"), ("s@", "T"), ("t@", "T")],
            },
        ],
    },
    Feature {
        name: "closures-that-go-round",
        state: Supported,
        snippets: &[
            Snippet {
                items: "",
                body: "let mut n@ = $e;\nlet all@ = [$e, $e, $e].into_iter().map(move |v| { n@ = n@.rotate_left(1) ^ v; n@ });\nlet mut round@ = all@.cycle();\nlet r@ = round@.by_ref().take(5).fold($e, |s: $T, v| s.rotate_left(3) ^ v);\n\
                       n@ ^= 1;\nlet s@ = round@.nth($usize % 5).unwrap_or(1) ^ n@;\n",
                yields: &[("r@", "T"), ("s@", "T")],
            },
            Snippet {
                items: "",
                body: "let a@ = [$e, $e, $e, $e];\nlet mut count@ = 0u32;\nlet mut seen@ = [0u32; 4];\nlet mut all@ = a@.iter().map(move |v| { count@ += 1; seen@[count@ as usize % 4] += count@; v.rotate_left(seen@[1] ^ count@) });\n\
                       let r@ = all@.next().unwrap_or(1);\nlet mut round@ = all@.clone().cycle();\nlet s@ = (1..9usize).fold($e, |s: $T, k| s.rotate_left(1) ^ round@.nth(k % 3).unwrap_or(2));\nlet t@ = all@.fold($e, |s: $T, v| s.rotate_left(1) ^ v);\n",
                yields: &[("count@", "u32"), ("seen@[1]", "u32"), ("r@", "T"), ("s@", "T"), ("t@", "T")],
            },
        ],
    },
    Feature {
        name: "closures-with-state",
        state: Supported,
        snippets: &[
            Snippet {
                items: "#[device]\nfn called@<F: FnMut($T) -> $T>(mut f: F, v: $T) -> $T { f(v) ^ f(1).rotate_left(3) }\n\
                        #[device]\nfn pair@<F: FnMut($T) -> $T>(mut f: F, mut g: F) -> $T { f(1) ^ f(2).rotate_left(1) ^ g(4).rotate_left(2) ^ f(8).rotate_left(3) }\n\
                        #[device]\nfn copied@<F: FnMut($T) -> $T + Copy>(mut f: F, v: $T) -> $T { called@(&mut f, v) ^ called@(f, 3).rotate_left(1) ^ f(1).rotate_left(2) ^ called@(f, 4) }\n",
                body: "let mut n@ = $e;\nlet mut f@ = move |v: $T| { n@ = n@.rotate_left(3) ^ v; n@ };\nlet r@ = called@(f@, $e) ^ called@(&mut f@, $e).rotate_left(1) ^ f@(1);\nlet mut g@ = f@;\nn@ ^= $k;\n\
                       let s@ = g@(3) ^ f@(5).rotate_left(1) ^ g@(7).rotate_left(2);\nlet t@ = pair@(f@, f@) ^ copied@(g@, $e).rotate_left(5) ^ f@(0) ^ n@;\n",
                yields: &[("r@", "T"), ("s@", "T"), ("t@", "T")],
            },
            Snippet {
                items: "#[device]\nfn called@<F: FnMut($T) -> $T>(mut f: F, v: $T) -> $T { f(v) ^ f(1).rotate_left(3) }\n",
                body: "let mut a@ = [$e, $e, $e];\nlet mut f@ = move |v: $T| { a@[v as usize % 3] ^= v.rotate_left(1); a@[0].rotate_left(1) ^ a@[1].rotate_left(2) ^ a@[2] };\na@[1] = $e;\nlet b@ = a@;\nlet mut g@ = f@;\n\
                       let r@ = g@($e) ^ called@(f@, $e).rotate_left(1) ^ g@(2).rotate_left(2) ^ f@(5).rotate_left(3);\nlet mut h@ = move |v: $T| { a@[0] ^= v; called@(f@, v) ^ called@(&mut f@, a@[0]).rotate_left(1) ^ f@(a@[1]) };\n\
                       let s@ = called@(h@, $e) ^ h@(1).rotate_left(1) ^ f@(3);\n",
                yields: &[("r@", "T"), ("s@", "T"), ("a@[0]", "T"), ("b@[1]", "T")],
            },
            Snippet {
                items: "",
                body: "let mut s@ = ([$e, $e], $u32);\nlet mut f@ = move |k: usize| { s@.0[k % 2] ^= s@.1 as $T; s@.1 = s@.1.rotate_left(1); s@ };\nlet p@ = f@($usize);\nlet mut o@ = Some((0..3usize).map(f@));\nlet q@ = f@(1);\n\
                       let r@ = match &mut o@ { Some(of) => { of.next(); of.next().unwrap_or(p@) } None => s@ };\nlet t@ = o@.take().map_or(s@, |of| of.last().unwrap_or(q@));\nlet u@ = o@.is_none();\n",
                yields: &[
                    ("p@.0[0]", "T"),
                    ("q@.0[1]", "T"),
                    ("r@.0[0]", "T"),
                    ("r@.1", "u32"),
                    ("t@.0[1]", "T"),
                    ("u@", "bool"),
                ],
            },
            Snippet {
                items: "#[device]\nfn each@<F: FnMut(u32) -> u32>(count: u32, mut f: F) -> u32 { let mut s = 0u32; for k in 0..count { s = s.rotate_left(3) ^ f(k); } s }\n",
                body: "let mut all@ = $u32;\nlet mut r@ = 0u32;\nfor k in 0..3u32 { let mut n = all@ ^ k; let mut own = move |v: u32| { n = n.rotate_left(v) ^ 1; n }; let mut add = |v: u32| { let w = v.rotate_left(k); all@ ^= w; all@ };\n\
                       r@ ^= add(k) ^ each@(2, own) ^ own(k) ^ each@(3, &mut own).rotate_left(1) ^ own(1); if r@ & 1 == 0 { continue; } r@ ^= each@(2, &mut add); add(n); }\n\
                       let s@ = each@($u32 % 3, |v| each@(v, |w| { all@ ^= w; all@ ^ v }));\n",
                yields: &[("all@", "u32"), ("r@", "u32"), ("s@", "u32")],
            },
            Snippet {
                items: "",
                body: "let mut n@ = $u32;\nlet mut f@ = move |v: u32| { n@ = n@.rotate_left(1) ^ v; n@ };\nlet p@ = [1u32, 2, 3].map(f@);\nlet q@ = Some($u32).map(f@).map(&mut f@).unwrap_or(1) ^ f@(1);\n\
                       let r@ = (0..4u32).map(f@).map(&mut f@).filter(|v| v & 1 == 0).fold(0u32, |s, v| s.wrapping_mul(31) ^ v);\nlet mut it@ = (0..5u32).map(f@).zip((0..3u32).map(f@));\nlet mut s@ = 0u32;\n\
                       while let Some((v, w)) = it@.next() { s@ = s@.wrapping_mul(31) ^ v ^ w.rotate_left(1) ^ f@(s@); }\n",
                yields: &[("p@[2]", "u32"), ("q@", "u32"), ("r@", "u32"), ("s@", "u32")],
            },
        ],
    },
    Feature {
        name: "closures-of-places",
        state: Supported,
        snippets: &[
            Snippet {
                items: "#[derive(Clone, Copy, DeviceType)]\nstruct H@ { a: [$T; 3], n: u32 }\n",
                body: "let mut h@ = H@ { a: [$e, $e, $e], n: $u32 };\nlet b@ = { let f = |k: usize| h@.a[k % 3] ^ h@.n as $T; f($usize) ^ f(1).rotate_left(1) };\nlet g@ = move |k: usize| h@.a[k % 3] ^ h@.n as $T;\nh@.a[1] = $e;\nh@.n ^= 1;\n\
                       let mut w@ = |k: usize, v: $T| { h@.n = h@.n.rotate_left(1); std::mem::replace(&mut h@.a[k % 3], v) };\nlet r@ = w@($usize, $e) ^ w@(1, $e).rotate_left(1) ^ g@(1).rotate_left(2);\nlet c@ = h@;\n",
                yields: &[("b@", "T"), ("r@", "T"), ("c@.a[1]", "T"), ("c@.n", "u32")],
            },
            Snippet {
                items: "",
                body: "let mut a@ = [$e, $e, $e];\nlet mut k@ = $usize % 3;\nlet r@ = { let mut f = |v: $T| { k@ = (k@ + 1) % 3; let old = a@[k@]; a@[k@] = v; old }; let g = [$e, 1].map(&mut f); g[0] ^ g[1].rotate_left(1) ^ f(2).rotate_left(2) };\n\
                       let b@ = &mut a@;\nlet mut h@ = |v: $T| { b@[k@] ^= v; b@.swap(0, 2); b@[0] };\nlet s@ = h@($e) ^ h@(1).rotate_left(1);\na@[k@] ^= 3;\nlet c@ = a@;\nlet read@ = || a@[k@];\nlet t@ = read@();\n",
                yields: &[("r@", "T"), ("s@", "T"), ("t@", "T"), ("c@[0]", "T"), ("c@[2]", "T")],
            },
            Snippet {
                items: "#[device]\nfn at@<F: Fn(usize) -> u32>(f: F, k: usize) -> u32 { f(k) ^ f(k + 1).rotate_left(1) }\n",
                body: "let k@ = $usize % 4;\nlet p@ = a.row(k@);\nlet f@ = |j: usize| p@[j % 6] ^ k@ as u32;\nlet g@ = move |i: usize, j: usize| a[[i % 4, j % 6]] ^ p@[i % 6];\nlet p@ = a.row(0);\nlet r@ = f@($usize) ^ g@($usize, 1).rotate_left(1) ^ p@[1];\n\
                       let s@ = (0..4usize).map(|i| a.row(i)).map(|row| row.iter().fold(0u32, |s, v| s.rotate_left(3) ^ v)).fold(0u32, |s, v| s.wrapping_mul(31) ^ v);\nlet c@ = [$u32, $u32, $u32];\nlet d@ = &c@[1..];\nlet t@ = at@(|k| d@[k % 2], $usize % 9);\n",
                yields: &[("r@", "u32"), ("s@", "u32"), ("t@", "u32")],
            },
            Snippet {
                items: "",
                body: "let (v@, k@) = ([$u64, $u64], $usize);\nlet r@ = { let mut w = m.view_mut(); let mut f = |k: usize, v: u64| { w[k % 2] ^= v.rotate_left(3); w[0] }; let s = f(k@, v@[0]); f(1, v@[1]) ^ s.rotate_left(1) };\n\
                       let mut each@ = m.iter_mut().map(|v| { *v = v.rotate_left(1); *v });\nlet s@ = each@.next().unwrap_or(1);\nlet t@ = each@.next().unwrap_or(2) ^ m[0];\n",
                yields: &[("r@", "u64"), ("s@", "u64"), ("t@", "u64")],
            },
        ],
    },
    Feature {
        name: "closures-in-arms",
        state: Supported,
        snippets: &[
            Snippet {
                items: "",
                body: "let a@ = [$u32, $u32, $u32];\nlet mut n@ = 0u32;\nlet r@ = match $u32 & 7 { v $at (1..=3 | 7) if v != 2 => { let at = a@.iter().map(|w| { n@ += 1; *w ^ v }).position(|w| w & 3 < 2); at.map_or(9, |at| at as u32) ^ n@ << 4 } \
                       v $at (0 | 4) | v if { let f = |w: u32| w ^ a@[0]; n@ ^= 16; f(v) & 1 == 0 } => (0..v).map(|w| w ^ a@[1]).fold(v, |s, w| s.rotate_left(3) ^ w), v => v };\n",
                yields: &[("n@", "u32"), ("r@", "u32")],
            },
            Snippet {
                items: "",
                body: "let mut n@ = $u32;\nlet mut yes@ = |v: u32| { n@ = n@.rotate_left(1) ^ v; n@ & 1 == 0 };\nlet r@ = match ($u32 & 1, $u32 & 3) { (v, 0) | (0, v) if yes@(v) => $u32, (1, v) | (v, 1) | (v, _) if yes@(v) || yes@(3) => v, _ if yes@(1) => 4, _ => 5 };\n\
                       let s@ = loop { match r@ & 1 { 0 | 1 if yes@(1) => break 7u32, _ if !yes@(2) && yes@(4) => break 9, _ => if yes@(r@) { break 11 } else { break 13 } } };\n",
                yields: &[("n@", "u32"), ("r@", "u32"), ("s@", "u32")],
            },
            Snippet {
                items: "#[device]\nfn sum@<F: FnMut(u32) -> u32>(mut f: F) -> u32 { f(1) ^ f(2).rotate_left(1) }\n",
                body: "let a@ = [$u32, $u32];\nlet mut n@ = $u32;\nlet o@ = if $bool { Some(($u32, a@)) } else { None };\nlet r@ = match o@ { Some((v, [w, _] | [_, w])) if sum@(|k| { n@ = n@.rotate_left(k) ^ w; n@ }) & 1 == 0 => sum@(move |k| { n@ ^= k; n@ ^ v }), \
                       Some((v, b)) if sum@(|k| b[k as usize % 2] ^ v) & 2 == 0 => sum@(|k| b[k as usize % 2]), _ => sum@(|k| { n@ += 1 & k; a@[1] }) };\nlet s@ = if sum@(|k| n@ ^ k) & 1 == 0 && sum@(|k| { n@ ^= k; n@ }) & 2 == 0 { n@ } else { 1 };\n",
                yields: &[("n@", "u32"), ("r@", "u32"), ("s@", "u32")],
            },
        ],
    },
    Feature {
        name: "called-again",
        state: Supported,
        snippets: &[
            Snippet {
                items: "",
                body: "let mut n@ = $e;\nlet mut a@ = [$e, $e];\nlet f@ = move |v: $T| v ^ n@ ^ a@[1];\nlet p@ = f@(1);\nn@ = $e;\na@[1] ^= $e;\nlet g@ = move |v: $T| f@(v).rotate_left(1) ^ n@ ^ a@[1];\nlet q@ = f@(2) ^ g@(3).rotate_left(1);\nn@ ^= 1;\na@ = [p@, q@];\nlet r@ = f@(4) ^ g@(5) ^ a@[1] ^ n@;\n",
                yields: &[("p@", "T"), ("q@", "T"), ("r@", "T")],
            },
            Snippet {
                items: "",
                body: "let mut n@ = $u32;\nlet mut r@ = 0u32;\nlet mut kept@ = None;\nfor k in 0..4u32 { let f = move |v: u32| v ^ n@.rotate_left(k); n@ = n@.wrapping_mul(3) ^ 1; if k == $u32 % 4 { kept@ = Some([k, n@].into_iter().map(f).chain((0..2).map(f))); } r@ = r@.rotate_left(1) ^ f(k); \
                       if let Some(g) = &mut kept@ { r@ ^= g.next().unwrap_or(k).rotate_left(3); } }\nlet s@ = kept@.map_or(1, |f| f.fold(n@, |s, v| s.rotate_left(3) ^ v));\n",
                yields: &[("n@", "u32"), ("r@", "u32"), ("s@", "u32")],
            },
            Snippet {
                items: "",
                body: "let p@ = ($e, [$e, $e]);\nlet f@ = |v: $T| v.rotate_left(1) ^ p@.0 ^ p@.1[0];\nlet p@ = ($e, f@($e));\nlet g@ = |v: $T| f@(v) ^ p@.0.rotate_left(2) ^ p@.1;\nlet f@ = |v: $T| g@(v).rotate_left(1) ^ f@(v);\n\
                       let r@ = { let p@ = 3; f@(p@) ^ g@(p@).rotate_left(3) };\nlet s@ = [r@].map(&f@)[0] ^ f@(1);\n",
                yields: &[("r@", "T"), ("s@", "T")],
            },
            Snippet {
                items: "#[device]\nfn sum@<F: FnMut(usize) -> $T>(mut f: F, k: usize) -> $T { f(k) ^ f(0).rotate_left(1) }\n",
                body: "let (mut n@, mut a@) = ($e, [$e, $e]);\nn@ ^= 3;\na@[1] ^= n@;\nlet g@ = |v: $T| n@.rotate_left(1) ^ v ^ a@[0];\nlet mut f@ = move |v: $T| { n@ ^= v; a@[0] = a@[0].rotate_left(1) ^ v; g@(n@).rotate_left(1) ^ n@ ^ a@[1] };\n\
                       let p@ = f@($e);\nlet q@ = f@($e) ^ g@(1);\nlet r@ = sum@(move |k: usize| { a@[0] ^= 1; a@[k % 2] }, { a@[1] = $e; $usize });\n\
                       let s@ = (0..2usize).map(move |k| a@[k]).zip({ a@[0] ^= 5; a@ }).fold(n@, |s: $T, (v, w)| s.rotate_left(3) ^ v ^ w.rotate_left(1));\n",
                yields: &[("p@", "T"), ("q@", "T"), ("r@", "T"), ("s@", "T")],
            },
        ],
    },
    Feature {
        name: "given-later",
        state: Supported,
        snippets: &[
            Snippet {
                items: "",
                body: "let a@ = [$e, $e, $e, $e];\nlet mut rest@ = None;\nlet mut r@ = $e;\nlet mut it@ = a@.iter().map(|v| v.rotate_left(1));\nwhile let Some(v) = it@.next() { if v & 1 == 0 && rest@.is_none() { rest@ = Some(it@.clone()); } r@ = r@.rotate_left(1) ^ v; }\n\
                       let s@ = match rest@ { Some(rest) => rest.fold(1, |s: $T, v| s.rotate_left(3) ^ v), None => 3 };\n",
                yields: &[("r@", "T"), ("s@", "T")],
            },
            Snippet {
                items: "",
                body: "let a@ = [$e, $e, $e, $e];\nlet mut most@: Option<&$T> = None;\nfor v in &a@ { if most@.is_none_or(|most| *v > *most) { most@ = Some(v); } }\nlet (mut b@, mut c@) = ($e, [$e, $e]);\nlet mut which@ = None;\nfor (k, v) in a@.iter().enumerate() { \
                       if v & 3 == 1 { which@ = Some(&mut b@); } else if v & 3 == 2 { which@ = Some(&mut c@[k % 2]); } }\nif let Some(w) = which@ { *w = w.rotate_left(1) ^ 1; }\nlet r@ = *most@.unwrap();\nlet mut part@ = None;\nfor k in 0..4usize { if a@[k] & 1 == 0 { part@ = Some(&a@[k..]); } }\n\
                       let s@ = part@.map_or(9, |part| part.len() as u32 ^ part[0] as u32);\n",
                yields: &[("r@", "T"), ("s@", "u32"), ("b@", "T"), ("c@[1]", "T")],
            },
            Snippet {
                items: "",
                body: "let a@ = [$u32, $u32 & 7, $u32];\nlet mut inner@ = None;\nlet mut outer@ = a@.iter();\nlet mut r@ = 0u32;\nfor _ in 0..9 { let item = loop { if inner@.is_none() { match outer@.next() { Some(v) => inner@ = Some((0..*v % 4).map(move |w| v.rotate_left(w))), None => break None } } \
                       let of = inner@.as_mut().unwrap(); match of.next() { Some(v) => break Some(v), None => inner@ = None } }; r@ = r@.rotate_left(5) ^ item.unwrap_or(3); }\n",
                yields: &[("r@", "u32")],
            },
            Snippet {
                items: "",
                body: "let f@;\nlet k@ = $u32;\nlet mut g@ = None;\nif k@ & 1 == 0 { g@ = Some((0..3u32).map(|v: u32| v ^ k@)); }\nf@ = $u32;\nlet it@;\nit@ = [$u32, 1, 2].into_iter().map(|v: u32| v.rotate_left(k@ & 31) ^ f@);\nlet r@ = it@.fold(f@, |s, v| s.wrapping_mul(31) ^ v);\n\
                       let s@ = g@.is_some() as u32 ^ g@.map_or(1, |g| g.fold(r@, |s, v| s.rotate_left(3) ^ v));\n",
                yields: &[("r@", "u32"), ("s@", "u32")],
            },
        ],
    },
    Feature {
        name: "functions-by-path",
        state: Supported,
        snippets: &[
            Snippet {
                items: "#[device]\nfn one@(v: u32) -> u32 { v.rotate_left($k) ^ 1 }\n#[device]\nfn two@(v: u32) -> u32 { v.wrapping_mul(3) ^ $k }\nmod in@ { use super::device; #[device]\npub fn one(v: u32) -> u32 { v ^ 5$k } #[device]\npub fn same<T: Copy>(v: T) -> T { v } }\n\
                        #[device]\nfn apply@<F: Fn(u32) -> u32>(f: F, v: u32) -> u32 { f(v) ^ f(1).rotate_left(3) }\n#[device]\nfn both@<F: Fn(u32) -> u32, G: Fn(u32) -> u32>(f: F, g: G, v: u32) -> u32 { apply@(&f, g(v)) ^ apply@(g, f(v)).rotate_left(1) }\n",
                body: "let p@ = apply@(one@, $u32) ^ apply@(two@, $u32).rotate_left(1) ^ apply@(in@::one, $u32).rotate_left(2);\nlet q@ = both@(one@, two@, $u32) ^ both@(two@, one@, $u32).rotate_left(1) ^ both@(u32::reverse_bits, u32::count_ones, $u32).rotate_left(2);\n\
                       let r@ = both@(in@::same, u32::swap_bytes, $u32) ^ apply@(in@::same::<u32>, $u32) ^ both@(|v| v ^ p@, &one@, 3);\nlet s@ = [one@($k), two@($k)].map(one@).into_iter().map(two@).map(u32::leading_zeros).fold(0, |s, v| s ^ in@::one(v));\n",
                yields: &[("p@", "u32"), ("q@", "u32"), ("r@", "u32"), ("s@", "u32")],
            },
            Snippet {
                items: "#[device]\nfn made@<T: Copy, R, F: Fn(T) -> R>(f: F, v: T) -> R { f(v) }\n#[derive(Clone, Copy, DeviceType)]\nstruct Wrap@(u32);\n#[derive(Clone, Copy, DeviceType)]\nenum Enum@ { Aa(u32), Bb(u32) }\n\
                        #[device]\nimpl Wrap@ { fn new(v: u32) -> Self { Wrap@(v ^ $k) } fn get(self) -> u32 { self.0.rotate_left(1) } fn seen(&self) -> u32 { self.0 ^ 1 } }\n\
                        #[device]\nimpl From<Wrap@> for u64 { fn from(w: Wrap@) -> u64 { w.0 as u64 ^ 1$k } }\n",
                body: "let w@ = [$u32].map(Wrap@)[0];\nlet r@ = made@(Wrap@::get, w@) ^ [w@].iter().map(Wrap@::seen).fold(0, |s, v| s ^ v) ^ made@(Wrap@::new, $u32).0;\nlet a@ = [Some($u32).map_or(Enum@::Bb(1), Enum@::Aa), [$u32].map(Enum@::Bb)[0]];\nlet s@ = a@.iter().fold(0u32, |s, e| s.rotate_left(1) ^ match e { Enum@::Aa(v) => v ^ 1, Enum@::Bb(v) => *v });\n\
                       let t@ = [$u32].map(Some)[0].map_or(1, |v| v ^ 1) ^ made@(u64::from, w@) as u32 ^ made@(u64::from, $u32) as u32 ^ Some($u32).map_or(Ok(1), u8::try_from).map_or(1, u32::from);\n\
                       let u@ = made@(f32::sqrt, $u32 as f32) + made@(f32::abs, -2.5) + made@(f32::floor, 1.5);\n",
                yields: &[("r@", "u32"), ("s@", "u32"), ("t@", "u32"), ("u@", "f32")],
            },
            Snippet {
                items: "#[device]\nfn fold@<T: Copy, F: Fn(T, T) -> T>(x: [T; 3], f: F) -> T { f(f(x[0], x[1]), x[2]) }\n#[device]\nfn mix@(v: $T, w: $T) -> $T { v.rotate_left(3) ^ w }\n",
                body: "let a@ = [$e, $e, $e];\nlet p@ = fold@(a@, mix@) ^ fold@(a@, <$T>::max) ^ fold@(a@, <$T>::min).rotate_left(1) ^ fold@(a@, <$T>::wrapping_add).rotate_left(2) ^ fold@(a@, <$T>::wrapping_sub).rotate_left(3);\n\
                       let q@ = a@.into_iter().reduce(mix@).unwrap_or(1) ^ a@.into_iter().reduce(<$T>::wrapping_mul).unwrap_or(1) ^ a@.into_iter().reduce(<$T>::saturating_sub).unwrap_or(1);\nlet r@ = fold@([Some(1u32), None, Some($u32)], Option::<u32>::or).map_or(1, |v| v) ^ fold@([true, $bool, $bool], |a, b| a & !b) as u32;\n",
                yields: &[("p@", "T"), ("q@", "T"), ("r@", "u32")],
            },
        ],
    },
    Feature {
        name: "values-of-ranges",
        state: Supported,
        snippets: &[
            Snippet {
                items: "",
                body: "let a@ = [$u32, $u32, $u32, $u32];\nlet (p@, q@) = ($usize % 6, $usize % 6);\nlet told@ = |part: Option<&[u32]>| part.map_or(99, |part| part.iter().fold(part.len() as u32, |s, v| s.rotate_left(5) ^ v));\n\
                       let r@ = told@(a@.get(p@..q@)) ^ told@(a@.get(p@..=q@)).rotate_left(1) ^ told@(a@.get(..=p@)).rotate_left(2) ^ told@(a@.get(..q@)).rotate_left(3) ^ told@(a@.get(q@..)).rotate_left(4) ^ told@(a@.get(..));\n\
                       let of@ = p@..=q@;\nlet to@ = ..=q@;\nlet s@ = told@(a@.get(to@)) ^ told@(a@.get(of@)).rotate_left(1) ^ a@.get(p@).map_or(3, |v| *v);\nlet cut@ = p@ % 4..;\nlet t@ = a@[cut@].iter().fold(0u32, |s, v| s.rotate_left(3) ^ v);\n",
                yields: &[("r@", "u32"), ("s@", "u32"), ("t@", "u32")],
            },
            Snippet {
                items: "",
                body: "let mut a@ = [$e, $e, $e, $e];\nlet (p@, q@) = ($usize % 5, $usize % 5);\nif let Some(part) = a@.get_mut(p@..=q@) { part.reverse(); }\nif let Some(part) = a@.get_mut(p@..q@) { for v in part { *v = v.rotate_left(1); } }\n\
                       let v@ = $e;\nlet w@ = $e;\nlet r@ = (v@..w@).contains(&$e) as u32 | ((v@..=w@).contains(&v@) as u32) << 1 | ((v@..).contains(&w@) as u32) << 2 | ((..v@).contains(&w@) as u32) << 3 | ((..=v@).contains(&v@) as u32) << 4;\n\
                       let of@ = v@..=w@;\nlet s@ = *of@.start() ^ of@.end().rotate_left(1);\nlet t@ = of@.is_empty() as u32 ^ (v@..w@).is_empty() as u32 ^ [1u32, 2, 3].iter().filter(|v| (2..3).contains(*v)).count() as u32;\n",
                yields: &[("a@[0]", "T"), ("a@[2]", "T"), ("r@", "u32"), ("s@", "T"), ("t@", "u32")],
            },
            Snippet {
                items: "",
                body: "let a@ = [$u32, $u32, $u32];\nlet mut of@ = 0..=$usize % 4;\nof@.next();\nlet r@ = of@.contains(&1) as u32 ^ of@.clone().count() as u32;\nlet part@ = 1..3;\nlet s@ = a@[part@.clone()].iter().fold(3u32, |s, v| s.rotate_left(3) ^ v) ^ a@[0..part@.end][1] ^ part@.len() as u32;\n\
                       let t@ = [0usize, 1, 2].into_iter().map(|k| k..k + 1).map(|part| a@[part].iter().fold(3u32, |s, v| s.rotate_left(3) ^ v)).fold(0u32, |s, v| s.wrapping_mul(31) ^ v);\n",
                yields: &[("r@", "u32"), ("s@", "u32"), ("t@", "u32")],
            },
        ],
    },
    Feature {
        name: "questions-in-closures",
        state: Supported,
        snippets: &[
            Snippet {
                items: "",
                body: "let a@ = [$u32, $u32 & 7, $u32];\nlet mut n@ = 0u32;\nlet mut f@ = |v: u32| -> Option<u32> { n@ ^= 1; let w = v.checked_sub($k)?; n@ ^= 2; let z = a@.get(w as usize)?; Some(*z ^ a@.iter().position(|v| v == z)? as u32) };\n\
                       let p@ = f@($u32 & 7).unwrap_or(3) ^ f@($u32).map_or(5, |v| v ^ 1);\nlet q@ = a@.iter().copied().filter_map(&mut f@).fold(0u32, |s, v| s.rotate_left(1) ^ v);\nlet r@ = Some($u32 & 3).and_then(f@).unwrap_or(1);\n",
                yields: &[("n@", "u32"), ("p@", "u32"), ("q@", "u32"), ("r@", "u32")],
            },
            Snippet {
                items: "#[derive(Clone, Copy, DeviceType)]\nstruct Bad@ { code: u32 }\n#[device]\nimpl From<u8> for Bad@ { fn from(v: u8) -> Self { Bad@ { code: v as u32 ^ 4$k } } }\n#[device]\nfn odd@(v: u32) -> Result<u32, u8> { if v & 1 == 1 { Ok(v >> 1) } else { Err(v as u8) } }\n",
                body: "let k@ = $u32;\nlet f@ = |v: u32| -> Result<u32, Bad@> { let w = odd@(v ^ k@)?; if w & 6 == 6 { Err(3u8)?; } let g = |z: u32| -> Result<u32, u8> { Ok(odd@(z)? ^ odd@(z >> 1)?) }; Ok(g(w)?.rotate_left(1)) };\n\
                       let r@ = match f@($u32) { Ok(v) => v, Err(Bad@ { code }) => code };\nlet s@ = [$u32, $u32, 3].into_iter().map(f@).try_fold(0u32, |s, v| { let v = v?; Ok::<u32, Bad@>(s.rotate_left(1) ^ v) }).unwrap_or_else(|bad| bad.code);\n\
                       let t@ = [$u32, 7].iter().map(|v| f@(*v).ok()).fold(1u32, |s, v| s.rotate_left(1) ^ v.unwrap_or(9));\n",
                yields: &[("r@", "u32"), ("s@", "u32"), ("t@", "u32")],
            },
            Snippet {
                items: "",
                body: "let a@ = [$u32, $u32 & 255, $i32 as u32];\nlet r@ = a@.iter().filter_map(|v| u8::try_from(*v).ok()).fold(0u32, |s, v| s.rotate_left(1) ^ v as u32);\nlet small@ = |v: u32| -> Option<i8> { let w: u8 = v.try_into().ok()?; i8::try_from(w).ok() };\n\
                       let s@ = small@($u32).map_or(1, |v| v as u32) ^ a@.into_iter().map(small@).flatten().fold(2u32, |s, v| s.rotate_left(1) ^ v as u32);\nlet mut n@ = $u32;\nlet b@: [u32; 4] = std::array::from_fn(|k| { n@ = n@.rotate_left(k as u32) ^ a@[k % 3]; n@ });\n\
                       let c@: [[u32; 2]; 3] = std::array::from_fn(|i| std::array::from_fn(|j| b@[i + j].rotate_left(j as u32)));\nlet mut d@ = [7u32, 8].map(|k| { n@ ^= k; n@ });\nlet t@ = d@[$usize % 2];\n",
                yields: &[
                    ("n@", "u32"),
                    ("r@", "u32"),
                    ("s@", "u32"),
                    ("b@[3]", "u32"),
                    ("c@[1][1]", "u32"),
                    ("t@", "u32"),
                ],
            },
        ],
    },
    Feature {
        name: "clones",
        state: Supported,
        snippets: &[
            Snippet {
                items: "#[derive(Clone, Copy, DeviceType)]\nstruct H@ { a: [$T; 2], n: u32 }\n",
                body: "let mut h@ = H@ { a: [$e, $e], n: $u32 };\nlet b@ = h@.clone();\nh@.a[1] = $e;\nlet c@ = (&h@).clone();\nh@.a = b@.a;\nlet d@ = h@.a.clone();\nh@.a[0] ^= 1;\nlet o@ = Some(d@).clone();\nlet t@ = (h@.a, h@.n).clone();\nh@.a[0] ^= 2;\n\
                       let r@ = o@.as_ref().cloned().map_or(1, |a| a[0]) ^ t@.0[0].rotate_left(1) ^ [h@; 2].clone()[1].a[0].rotate_left(2);\n",
                yields: &[("b@.a[1]", "T"), ("c@.a[1]", "T"), ("d@[0]", "T"), ("h@.a[1]", "T"), ("r@", "T")],
            },
            Snippet {
                items: "",
                body: "let mut n@ = $e;\nlet mut a@ = [$e, $e];\nlet mut f@ = move |v: $T| { a@[0] ^= v; n@ = n@.rotate_left(1) ^ a@[0]; n@ };\nlet p@ = f@(1);\nlet mut g@ = f@;\nlet q@ = g@(2) ^ f@(3).rotate_left(1) ^ g@(4);\n\
                       let mut it@ = (0..5u8).map(|k| k as $T).map(f@);\nit@.next();\nlet mut same@ = it@.clone();\nsame@.next();\nlet r@ = it@.fold(1, |s: $T, v| s.rotate_left(1) ^ v) ^ same@.fold(1, |s: $T, v| s.rotate_left(2) ^ v);\n",
                yields: &[("p@", "T"), ("q@", "T"), ("r@", "T")],
            },
            Snippet {
                items: "",
                body: "let mut a@ = [$e, $e, $e, $e];\nlet k@ = $usize % 4;\nlet f@ = |k: usize| unsafe { *a@.get_unchecked(k % 4) };\nlet r@ = f@(k@) ^ (0..4usize).map(|k| unsafe { a@.get_unchecked(k) }).fold(1, |s: $T, v| s.rotate_left(1) ^ v);\n\
                       unsafe { *a@.get_unchecked_mut(k@) ^= 5; let v = a@.get_unchecked_mut((k@ + 1) % 4); *v = v.rotate_left(1); }\nlet mut g@ = |v: $T| unsafe { let w = a@.get_unchecked_mut(k@); *w ^= v; *w };\nlet s@ = g@(1) ^ g@($e);\n",
                yields: &[("r@", "T"), ("s@", "T"), ("a@[0]", "T"), ("a@[1]", "T")],
            },
        ],
    },
    Feature {
        name: "impl-arguments",
        state: Supported,
        snippets: &[Snippet {
            items: "#[device]\nfn counted@<T: Copy>(items: &[T], f: impl Fn(&T) -> bool) -> usize { items.iter().filter(|v| f(v)).count() }\n\
                    #[device]\nfn folded@(items: &[$T], mut f: impl FnMut(&$T, (usize, &$T)) -> $T) -> $T { let mut all = 1; for pair in items.iter().enumerate() { all = f(&all, pair); } all }\n\
                    #[device]\nfn applied@(x: impl Into<u64>, f: impl FnOnce(u64) -> u64) -> u64 { f(x.into()) }\n",
            body: "let a@ = [$e, $e, $e, $e];\nlet mut n@ = 0u32;\nlet q@ = folded@(&a@, |&s, (k, v)| { n@ = n@ * 3 + 1; s.rotate_left(k as u32) ^ v });\n\
                   let k@ = counted@(&a@, |&v| v & 1 == 1) * 10 + counted@(&[(q@, $e), (1, 1)], |(v, w)| v > w);\nlet r@ = applied@($u32, |v| v.rotate_left(k@ as u32) ^ n@ as u64);\n",
            yields: &[("q@", "T"), ("n@", "u32"), ("(k@ as u32)", "u32"), ("(r@ as u32)", "u32")],
        }],
    },
    Feature {
        name: "own-iterators-with-closures",
        state: Supported,
        snippets: &[
            Snippet {
                items: "#[derive(Clone, Copy, DeviceType)]\nstruct It@ { at: u32, left: u32, log: [u32; 2] }\n#[device]\nimpl Iterator for It@ { type Item = u32; fn next(&mut self) -> Option<u32> { self.left = self.left.checked_sub(1)?; \
                        self.log[self.left as usize % 2] ^= self.at; self.at = self.at.rotate_left(1) ^ $k; Some(self.at ^ self.log[0]) } }\n",
                body: "let mut it@ = It@ { at: $u32, left: $u32 % 6, log: [0, 1] };\nlet k@ = it@.next();\nlet before@ = it@;\nlet mut n@ = 0u32;\nlet mut all@ = it@.map(|v| { n@ = n@ * 3 + 1; v ^ before@.log[1] }).filter(|v| v & 3 != 1).peekable();\nlet p@ = all@.peek().copied().unwrap_or(1);\n\
                       let q@ = all@.zip(before@.cycle().skip(1)).take(6).fold(p@, |s, (v, w)| s.rotate_left(3) ^ v ^ w.rotate_left(1));\nlet r@ = it@.by_ref().take(2).chain(before@.map(|v| v ^ 1)).fold(0u32, |s, v| s.rotate_left(3) ^ v) ^ it@.next().unwrap_or(3) ^ it@.log[1];\n\
                       let s@ = (0..3u32).flat_map(|k| It@ { at: k ^ before@.at, left: k, ..before@ }.map(move |v| v ^ k)).fold(0u32, |s, v| s.rotate_left(3) ^ v);\n",
                yields: &[("n@", "u32"), ("p@", "u32"), ("q@", "u32"), ("r@", "u32"), ("s@", "u32")],
            },
            Snippet {
                items: "#[derive(Clone, Copy, DeviceType)]\nstruct Ends@ { a: [$T; 4], low: usize, high: usize }\n#[device]\nimpl Iterator for Ends@ { type Item = $T; fn next(&mut self) -> Option<$T> { if self.low >= self.high { return None; } self.low += 1; Some(self.a[self.low - 1]) } \
                        fn size_hint(&self) -> (usize, Option<usize>) { let left = self.high - self.low; (left, Some(left)) } }\n\
                        #[device]\nimpl DoubleEndedIterator for Ends@ { fn next_back(&mut self) -> Option<$T> { if self.low >= self.high { None } else { self.high -= 1; Some(self.a[self.high]) } } }\n\
                        #[device]\nimpl ExactSizeIterator for Ends@ { fn len(&self) -> usize { self.high - self.low } }\n",
                body: "let mut it@ = Ends@ { a: [$e, $e, $e, $e], low: $usize % 2, high: 2 + $usize % 3 };\nlet whole@ = it@;\nlet p@ = it@.next().unwrap_or(1) ^ it@.next_back().unwrap_or(2).rotate_left(1);\nlet mut n@ = $e;\n\
                       let q@ = whole@.enumerate().rev().map(|(k, v)| { n@ = n@.rotate_left(1) ^ v; v.rotate_left(k as u32) }).fold($e, |s: $T, v| s.rotate_left(3) ^ v);\nlet r@ = it@.len() as u32 ^ it@.map(|v| whole@.map(move |w| v ^ w)).flatten().fold(1, |s: $T, v| s.rotate_left(1) ^ v) as u32;\n",
                yields: &[("n@", "T"), ("p@", "T"), ("q@", "T"), ("r@", "u32")],
            },
            Snippet {
                items: "#[derive(Clone, Copy, DeviceType)]\nstruct Bag@<T, const N: usize> { items: [T; N], len: usize }\n#[derive(Clone, Copy, DeviceType)]\nstruct Each@<'a, T, const N: usize> { bag: &'a Bag@<T, N>, at: usize }\n\
                        #[derive(Clone, Copy, DeviceType)]\nstruct Last@<T, const N: usize> { bag: Bag@<T, N> }\n\
                        #[device]\nimpl<'a, T: Copy, const N: usize> Iterator for Each@<'a, T, N> { type Item = T; fn next(&mut self) -> Option<T> { self.at += 1; self.bag.items[..self.bag.len].get(self.at - 1).copied() } }\n\
                        #[device]\nimpl<T: Copy, const N: usize> Iterator for Last@<T, N> { type Item = T; fn next(&mut self) -> Option<T> { self.bag.len = self.bag.len.checked_sub(1)?; Some(self.bag.items[self.bag.len]) } }\n\
                        #[device]\nimpl<'a, T: Copy, const N: usize> IntoIterator for &'a Bag@<T, N> { type Item = T; type IntoIter = Each@<'a, T, N>; fn into_iter(self) -> Each@<'a, T, N> { Each@ { bag: self, at: 0 } } }\n\
                        #[device]\nimpl<T: Copy, const N: usize> IntoIterator for Bag@<T, N> { type Item = T; type IntoIter = Last@<T, N>; fn into_iter(self) -> Last@<T, N> { Last@ { bag: self } } }\n\
                        #[device]\nimpl<T: Copy, const N: usize> Bag@<T, N> { fn push(&mut self, v: T) -> Option<T> { if self.len == N { return Some(v); } self.items[self.len] = v; self.len += 1; None } }\n",
                body: "let mut bag@ = Bag@ { items: [$e; 4], len: $usize % 3 };\nlet mut n@ = $e;\nfor k in 0..$usize % 4 { for v in bag@.push($e) { n@ ^= v; } n@ = n@.rotate_left(k as u32); }\n\
                       for v in &bag@ { n@ = n@.rotate_left(1) ^ v; }\nfor v in bag@ { bag@.items[0] ^= v; if v == $e { break; } n@ = n@.rotate_left(3) ^ v; }\n\
                       let q@ = (&bag@).into_iter().zip(bag@).map(|(a, b)| a ^ b.rotate_left(1)).fold($e, |s: $T, v| s.rotate_left(3) ^ v);\nlet r@ = [bag@, Bag@ { len: 2, ..bag@ }].into_iter().flatten().fold(1, |s: $T, v| s.rotate_left(1) ^ v);\n",
                yields: &[("n@", "T"), ("q@", "T"), ("r@", "T")],
            },
        ],
    },
];
