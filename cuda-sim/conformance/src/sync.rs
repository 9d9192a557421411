//! Synchronisation: every form, modifier and type, under full and partial masks.
//!
//! Here each instruction is tested alone; the crate's unit tests have programs in which threads diverge and wait.

use crate::device::{HEADER, Memory, launch, load, unload};
use crate::instance::{Instance, forms, instances};
use crate::integer::number;
use crate::random::Random;
use cuda_sim::ptx::isa::{Form, Shape};
use cuda_sim::ptx::{Modifier as M, Opcode, Type};
use cuda_sys::CUresult;

/// The instructions that are tested here.
pub(crate) const COVERED: &[Opcode] = &[
    Opcode::ActiveMask,
    Opcode::Bar,
    Opcode::Barrier,
    Opcode::Elect,
    Opcode::Match,
    Opcode::Redux,
    Opcode::Shfl,
    Opcode::Vote,
];

const LANES: usize = 32;

/// The inputs of a warp's lanes.
struct Warp {
    /// 64 bits for each lane, of which narrower instructions use the low ones.
    values: [u64; LANES],
    truths: [bool; LANES],
    masks: [u32; LANES],
    /// The second operand of shuffles, and the third, which all lanes share.
    distances: [u32; LANES],
    clamp: u32,
}

impl Warp {
    fn group(&self, lane: usize) -> impl Iterator<Item = usize> + '_ {
        (0..LANES).filter(move |other| self.masks[lane] >> other & 1 != 0)
    }
}

/// Returns a pseudo-random partition of the lanes into `parts` groups.
fn partition(parts: u64, random: &mut Random) -> [u32; LANES] {
    let mut part = [0; LANES];
    part.iter_mut().for_each(|p| *p = random.next() >> 32);
    let part = part.map(|p| p % parts);
    std::array::from_fn(|lane| (0..LANES).filter(|other| part[*other] == part[lane]).fold(0, |m, other| m | 1 << other))
}

/// Returns warps with every kind of mask, or `whole`; values that are often equal, and extreme distances.
fn warps(whole: bool) -> Vec<Warp> {
    let mut random = Random(0x1357_9bdf_0246_8ace);
    let mut all = Vec::new();
    for k in 0..48 {
        let masks = match k % 6 {
            0 => [u32::MAX; LANES],
            1 => std::array::from_fn(|lane| 0x5555_5555 << (lane % 2)),
            2 => std::array::from_fn(|lane| 0xff << (lane & 24)),
            3 => std::array::from_fn(|lane| 1 << lane),
            parts => partition(parts as u64, &mut random),
        };
        let mut draw = |kinds: u64| -> [u64; LANES] { std::array::from_fn(|_| (random.next() >> 20) % kinds) };
        let edges = [0, 1, u64::MAX, 1 << 31, 1 << 63, 0x7fff_ffff, 0xffff_ffff, 0x1_0000_0000];
        let values = draw(if k % 3 == 0 { 1 } else { 8 }).map(|v| edges[v as usize]);
        let truths = draw(if k % 4 == 0 { 1 } else { 3 }).map(|v| v == 0);
        let distances = draw(40).map(|v| v as u32);
        // Both warps of a block mostly have the same shuffle, which the device then does at once.
        let pair = k / 2;
        let width = [32u32, 16, 8, 1][pair / 6 % 4];
        let clamp = (32 - width) << 8 | [0, 31, 7][pair % 3];
        let bases = [0u32, 1, 2, 5, 16, 31];
        let distances = if pair % 5 == 0 { distances } else { [bases[pair % 6]; LANES] };
        // A shuffle that reads a lane outside of its mask is undefined; and no two lanes have the same value.
        let masks = if whole { [u32::MAX; LANES] } else { masks };
        let values =
            if whole { std::array::from_fn(|lane| values[lane] ^ ((k * LANES + lane) as u64 * 5)) } else { values };
        all.push(Warp { values, truths, masks, distances, clamp });
    }
    all
}

/// The manual's pseudo-code: the source lane, and true if it is in range.
fn shuffled(i: &Instance, warp: &Warp, lane: usize) -> (usize, bool) {
    let (b, c) = (warp.distances[lane] & 31, warp.clamp);
    let (segment, clamp) = (c >> 8 & 31, c & 31);
    let lane = lane as u32;
    let max = (lane & segment) | (clamp & !segment);
    let min = lane & segment;
    let (from, inside) = if i.has(M::Up) {
        let from = lane as i64 - i64::from(b);
        (from, from >= i64::from(max))
    } else if i.has(M::Down) {
        (i64::from(lane + b), lane + b <= max)
    } else if i.has(M::Bfly) {
        (i64::from(lane ^ b), lane ^ b <= max)
    } else {
        let from = min | (b & !segment);
        (i64::from(from), from <= max)
    };
    (if inside { from as usize } else { lane as usize }, inside)
}

/// Returns the result and the predicate of a lane.
fn expected(i: &Instance, warp: &Warp, lane: usize) -> (u64, bool) {
    let word = |l: usize| warp.values[l] & 0xffff_ffff;
    let mask = u64::from(warp.masks[lane]);
    let group = || warp.group(lane);
    match i.opcode() {
        Opcode::Shfl => {
            let (from, inside) = shuffled(i, warp, lane);
            (word(from), inside)
        }
        Opcode::Vote if i.has(M::Ballot) => (group().fold(0, |m, l| m | u64::from(warp.truths[l]) << l), false),
        Opcode::Vote if i.has(M::All) => (u64::from(group().all(|l| warp.truths[l])), false),
        Opcode::Vote if i.has(M::Any) => (u64::from(group().any(|l| warp.truths[l])), false),
        Opcode::Vote => (u64::from(group().all(|l| warp.truths[l] == warp.truths[lane])), false),
        Opcode::Match => {
            let value = |l: usize| if i.ty() == Type::B64 { warp.values[l] } else { word(l) };
            if i.has(M::Any) {
                return (group().filter(|l| value(*l) == value(lane)).fold(0, |m, l| m | 1 << l), false);
            }
            let all = group().all(|l| value(l) == value(lane));
            (if all { mask } else { 0 }, all)
        }
        Opcode::Redux => {
            let numbers = || group().map(|l| number(i.ty(), word(l)));
            let bits = || group().map(word);
            let result = match i.modifiers.last() {
                Some(M::Add) => numbers().sum::<i128>() as u64,
                Some(M::Min) => numbers().min().unwrap_or(0) as u64,
                Some(M::Max) => numbers().max().unwrap_or(0) as u64,
                Some(M::And) => bits().fold(u64::MAX, |a, b| a & b),
                Some(M::Or) => bits().fold(0, |a, b| a | b),
                _ => bits().fold(0, |a, b| a ^ b),
            };
            (result & 0xffff_ffff, false)
        }
        Opcode::Elect => {
            let leader = mask.trailing_zeros() as usize;
            (leader as u64, leader == lane)
        }
        other => panic!("'{}' has no reference", other.name()),
    }
}

/// Returns true if an instruction has a lane mask; votes and shuffles of older targets do not.
fn needs_mask(i: &Instance) -> bool {
    !i.form.operands.contains(&Shape::ActiveLanes)
}

/// Returns the instruction between its inputs and `%d`, `%q`.
fn text(i: &Instance) -> String {
    let wide = if i.ty() == Type::B64 { "%v" } else { "%w" };
    let name = i.name();
    let mask = if needs_mask(i) { ", %m" } else { "" };
    match i.opcode() {
        Opcode::Shfl => format!("{name} %d|%q, %w, %b, %c{mask};"),
        Opcode::Vote if i.ty() == Type::Pred => format!("{name} %o, %t{mask}; selp.u32 %d, 1, 0, %o;"),
        Opcode::Vote => format!("{name} %d, %t{mask};"),
        Opcode::Match if i.has(M::All) => format!("{name} %d|%q, {wide}, %m;"),
        Opcode::Elect => format!("{name} %d|%q, %m;"),
        _ => format!("{name} %d, {wide}, %m;"),
    }
}

/// Runs an instance for all warps, two to a block.
fn check(i: &Instance) {
    let warps = warps(i.opcode() == Opcode::Shfl || !needs_mask(i));
    let header = if needs_mask(i) { HEADER } else { ".version 6.0\n.target sm_60\n.address_size 64\n" };
    let text = format!(
        "{header}.visible .entry k(.param .u64 in, .param .u64 out) {{ .reg .pred %t, %o, %q; .reg .b64 %a, %v, %x, %to;
        .reg .b32 %i, %j, %k, %w, %m, %b, %c, %d, %e; mov.u32 %i, %tid.x; mov.u32 %j, %ctaid.x; mov.u32 %k, %ntid.x;
        mad.lo.u32 %i, %j, %k, %i; ld.param.u64 %a, [in]; mul.wide.u32 %x, %i, 32; add.u64 %a, %a, %x;
        ld.param.u64 %to, [out]; mul.wide.u32 %x, %i, 8; add.u64 %to, %to, %x;
        ld.global.u64 %v, [%a]; cvt.u32.u64 %w, %v; ld.global.u32 %e, [%a+8]; setp.ne.u32 %t, %e, 0;
        ld.global.u32 %m, [%a+12]; ld.global.u32 %b, [%a+16]; ld.global.u32 %c, [%a+20];
        mov.u32 %d, 0; setp.ne.u32 %q, %d, %d; {} selp.u32 %e, 1, 0, %q; st.global.v2.b32 [%to], {{%d, %e}}; ret; }}",
        text(i)
    );
    let lanes = |warp: &Warp| -> Vec<u64> {
        (0..LANES)
            .flat_map(|l| {
                let second = u64::from(warp.truths[l]) | u64::from(warp.masks[l]) << 32;
                [warp.values[l], second, u64::from(warp.distances[l]) | u64::from(warp.clamp) << 32, 0]
            })
            .collect()
    };
    let input: Vec<u64> = warps.iter().flat_map(lanes).collect();
    let module = load(&text).unwrap_or_else(|log| panic!("{log}\n{text}"));
    let (from, to) = (Memory::new(&input), Memory::new(&vec![0; warps.len() * LANES]));
    let code = launch(module, warps.len() as u32 / 2, 64, &[from.address(), to.address()]);
    assert_eq!(code, CUresult::CUDA_SUCCESS, "{}", i.name());
    unload(module);
    for (k, got) in to.read(warps.len() * LANES).into_iter().enumerate() {
        let (warp, lane) = (&warps[k / LANES], k % LANES);
        let (word, truth) = expected(i, warp, lane);
        let got = (got & 0xffff_ffff, got >> 32 != 0);
        assert_eq!(
            got,
            (word, truth),
            "{} in lane {lane} of warp {}, mask {:#x}",
            i.name(),
            k / LANES,
            warp.masks[lane]
        );
    }
}

#[test]
fn warp_operations() {
    let is_warp = |form: &&'static Form| {
        COVERED.contains(&form.opcode) && !matches!(form.opcode, Opcode::Bar | Opcode::Barrier | Opcode::ActiveMask)
    };
    let all: Vec<Instance> = forms().filter(is_warp).flat_map(instances).collect();
    assert_eq!(all.len(), 8 + 8 + 4 + 9 + 1, "shuffles, votes, matches, reductions, elections");
    all.iter().for_each(check);
}

/// A barrier of 96 threads, or of 64 by number: writes before it are visible after it.
fn check_barrier(i: &Instance) {
    let (counted, reduces) = (i.form.operands.len() > if i.has(M::Red) { 3 } else { 1 }, i.has(M::Red));
    if i.has(M::Warp) {
        return;
    }
    let waiting = if counted { 64 } else { 96 };
    let count = if counted { ", 64" } else { "" };
    let name = i.name();
    let wait = match (i.has(M::Arrive), reduces) {
        (true, _) if i.has(M::Cluster) => format!("{name}; barrier.cluster.wait;"),
        (false, _) if i.has(M::Cluster) => format!("barrier.cluster.arrive; {name};"),
        // The first warp arrives and the second waits for both.
        (true, _) => format!("setp.lt.u32 %o, %i, 32; @%o {name} 3{count}; @!%o barrier.sync 3{count};"),
        (_, false) => format!("{name} 3{count};"),
        _ if i.ty() == Type::Pred => format!("{name} %o, 3{count}, %t; selp.u32 %d, 1, 0, %o;"),
        _ => format!("{name} %d, 3{count}, !%t;"),
    };
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 out, .param .u32 limit) {{ .reg .pred %t, %o, %past; .reg .b64 %to, %x;
        .reg .b32 %i, %d, %e, %f, %l; .shared .align 4 .b8 s[384]; mov.u32 %i, %tid.x;
        setp.ge.u32 %past, %i, {waiting}; @%past ret; ld.param.u32 %l, [limit]; setp.lt.u32 %t, %i, %l;
        ld.param.u64 %to, [out]; mul.wide.u32 %x, %i, 8; add.u64 %to, %to, %x; mov.u32 %d, 0;
        shl.b32 %e, %i, 2; mov.u32 %f, s; add.u32 %e, %e, %f; st.shared.u32 [%e], %i;
        {wait} xor.b32 %e, %i, 3; shl.b32 %e, %e, 2; add.u32 %e, %e, %f; ld.shared.u32 %e, [%e];
        st.global.v2.b32 [%to], {{%d, %e}}; ret; }}"
    );
    let module = load(&text).unwrap_or_else(|log| panic!("{log}\n{text}"));
    for limit in [0u32, 40, 96] {
        let out = Memory::new(&[0; 96]);
        let code = launch(module, 1, 96, &[out.address(), u64::from(limit)]);
        assert_eq!(code, CUresult::CUDA_SUCCESS, "{name}");
        let want = match i.modifiers.iter().find(|m| matches!(m, M::Popc | M::And | M::Or)) {
            Some(M::Popc) => waiting - limit.min(waiting),
            Some(M::And) => u32::from(limit >= waiting),
            Some(_) => u32::from(limit > 0),
            None => 0,
        };
        for (t, got) in out.read(96).into_iter().enumerate().take(waiting as usize) {
            assert_eq!(got as u32, want, "{name} with {limit} of {waiting}, thread {t}");
            // Threads that only arrive do not wait for the others' writes.
            if !(i.has(M::Arrive) && !i.has(M::Cluster) && t < 32) {
                assert_eq!(got >> 32, t as u64 ^ 3, "{name}, thread {t}");
            }
        }
    }
    unload(module);
}

#[test]
fn barriers() {
    let all: Vec<Instance> =
        forms().filter(|f| matches!(f.opcode, Opcode::Bar | Opcode::Barrier)).flat_map(instances).collect();
    assert_eq!(all.len(), 2 * (3 * 4 + 2 * 4 + 2 * 8) + 1 + 3 * 2 + 2 * 2, "of blocks, warps, clusters");
    all.iter().for_each(check_barrier);
}
