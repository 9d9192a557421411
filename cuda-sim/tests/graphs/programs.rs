//! Random graphs of fills, copies and kernels, compared with a sequential execution on the host.

use crate::Made;
use crate::order::Fixture;
use crate::random::Random;
use crate::{copy_of, fill_of, launch_of};
use cuda_sys::*;
use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};

/// `mix`: each word becomes three times itself, plus the word of another buffer, plus a number. Other orders give other
/// words.
const MIX: &CStr = c".version 7.8\n.target sm_75\n.address_size 64
.visible .entry mix(.param .u64 to, .param .u64 from, .param .u32 k) { .reg .b32 %r<5>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [to]; ld.param.u64 %rd2, [from]; ld.param.u32 %r1, [k];
  mov.u32 %r2, %tid.x; mul.wide.u32 %rd3, %r2, 4; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;
  ld.global.u32 %r3, [%rd1]; ld.global.u32 %r4, [%rd2]; mad.lo.u32 %r3, %r3, 3, %r4; add.u32 %r3, %r3, %r1;
  st.global.u32 [%rd1], %r3; ret; }";

const BUFFERS: usize = 6;
const WORDS: usize = 32;

type Memory = [[u32; WORDS]; BUFFERS];

#[derive(Clone, Copy, Debug)]
enum Step {
    Fill { to: usize, first: usize, count: usize, value: u32 },
    Copy { to: usize, from: usize },
    Mix { to: usize, from: usize, k: u32 },
}

impl Step {
    fn new(random: &mut Random) -> Step {
        let mut below = |n: usize| random.next() as usize % n;
        let (to, from) = (below(BUFFERS), below(BUFFERS));
        match below(4) {
            0 => {
                let first = below(WORDS);
                Step::Fill { to, first, count: 1 + below(WORDS - first), value: below(1000) as u32 }
            }
            1 if to != from => Step::Copy { to, from },
            _ => Step::Mix { to, from, k: below(1000) as u32 },
        }
    }

    fn writes(self) -> usize {
        match self {
            Step::Fill { to, .. } | Step::Copy { to, .. } | Step::Mix { to, .. } => to,
        }
    }

    fn reads(self) -> usize {
        match self {
            Step::Fill { to, .. } => to,
            Step::Copy { from, .. } | Step::Mix { from, .. } => from,
        }
    }

    /// Returns true if the order of two steps has an observable effect.
    fn conflicts(self, other: Step) -> bool {
        self.writes() == other.writes() || self.writes() == other.reads() || self.reads() == other.writes()
    }

    fn run(self, memory: &mut Memory) {
        match self {
            Step::Fill { to, first, count, value } => memory[to][first..first + count].fill(value),
            Step::Copy { to, from } => memory[to] = memory[from],
            Step::Mix { to, from, k } => {
                let source = memory[from];
                for (word, other) in memory[to].iter_mut().zip(source) {
                    *word = word.wrapping_mul(3).wrapping_add(other).wrapping_add(k);
                }
            }
        }
    }

    fn add(self, made: &Made<'_>, mix: CUfunction, base: CUdeviceptr) -> CUgraphNode {
        let at = |buffer: usize| base + (buffer * WORDS * 4) as u64;
        let mut node = null_mut();
        match self {
            Step::Fill { to, first, count, value } => {
                let p = fill_of(at(to) + first as u64 * 4, value, count);
                ok!(cuGraphAddMemsetNode(&mut node, made.graph, null(), 0, &p, made.f.context));
            }
            Step::Copy { to, from } => {
                let p = copy_of(at(to), at(from), WORDS * 4);
                ok!(cuGraphAddMemcpyNode(&mut node, made.graph, null(), 0, &p, made.f.context));
            }
            Step::Mix { to, from, mut k } => {
                let (mut to, mut from) = (at(to), at(from));
                let mut params: [*mut c_void; 3] = [(&raw mut to).cast(), (&raw mut from).cast(), (&raw mut k).cast()];
                let p = CUDA_KERNEL_NODE_PARAMS { blockDimX: WORDS as u32, ..launch_of(mix, &mut params) };
                ok!(cuGraphAddKernelNode_v2(&mut node, made.graph, null(), 0, &p));
            }
        }
        node
    }
}

/// Returns edges between steps whose order is observable, if no other path orders them, and some redundant ones.
fn edges_of(steps: &[Step], random: &mut Random) -> Vec<(usize, usize)> {
    let mut edges = Vec::new();
    let mut before: Vec<Vec<bool>> = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let mut reached = vec![false; at];
        for earlier in (0..at).rev() {
            let needed = step.conflicts(steps[earlier]) && !reached[earlier];
            if needed || random.next().is_multiple_of(40) {
                edges.push((earlier, at));
                reached[earlier] = true;
                (0..earlier).for_each(|n| reached[n] |= before[earlier][n]);
            }
        }
        before.push(reached);
    }
    edges
}

#[test]
fn random_graphs_do_what_their_nodes_do_one_after_the_other() {
    let f = Fixture::new();
    let (mut module, mut mix, mut base) = (null_mut(), null_mut(), 0);
    ok!(cuModuleLoadData(&mut module, MIX.as_ptr().cast()));
    ok!(cuModuleGetFunction(&mut mix, module, c"mix".as_ptr()));
    ok!(cuMemAlloc_v2(&mut base, size_of::<Memory>()));
    let stream = f.stream(1);
    for seed in 1..=80u64 {
        let random = &mut Random(seed * 0x9e37_79b9);
        let steps: Vec<Step> = (0..5 + seed as usize % 40).map(|_| Step::new(random)).collect();
        let edges = edges_of(&steps, random);
        let made = Made::new(&f);
        // Nodes are added in another order than the edges imply.
        let mut places: Vec<usize> = (0..steps.len()).collect();
        places.sort_by_cached_key(|_| random.next());
        let mut nodes = vec![null_mut(); steps.len()];
        for at in places {
            nodes[at] = steps[at].add(&made, mix, base);
        }
        let (from, to): (Vec<_>, Vec<_>) = edges.iter().map(|(a, b)| (nodes[*a], nodes[*b])).unzip();
        ok!(cuGraphAddDependencies(made.graph, from.as_ptr(), to.as_ptr(), edges.len()));
        let exec = made.executable();
        let mut expected: Memory = [[seed as u32; WORDS]; BUFFERS];
        ok!(cuMemsetD32_v2(base, seed as u32, BUFFERS * WORDS));
        for _ in 0..3 {
            ok!(cuGraphLaunch(exec, stream));
            steps.iter().for_each(|step| step.run(&mut expected));
        }
        ok!(cuStreamSynchronize(stream));
        let mut found: Memory = [[0; WORDS]; BUFFERS];
        ok!(cuMemcpyDtoH_v2((&raw mut found).cast(), base, size_of::<Memory>()));
        assert_eq!(found, expected, "seed {seed}: {steps:?} {edges:?}");
        ok!(cuGraphExecDestroy(exec));
        ok!(cuGraphDestroy(made.graph));
    }
    ok!(cuMemFree_v2(base));
}
