//! Stores and reductions that signal their bytes to a barrier: `st.async` and `red.async`, in every instance.

use crate::assembler::{assemble, is_ptx};
use crate::device::{HEADER, Memory, launch, load, unload};
use crate::instance::{Instance, forms, instances};
use cuda_sim::ptx::{Modifier as M, Opcode, Type};
use cuda_sys::CUresult;

/// The word that memory holds before, and the sources of the instruction.
const OLD: u64 = 0x8000_0003_ffff_fffe;
const GIVEN: [u64; 4] = [0x0000_0001_8000_0001, 0x2222_2222_1111_1111, 0x4444_4444_3333_3333, 0x6666_6666_5555_5555];

fn all() -> Vec<Instance> {
    let opcodes = [Opcode::St, Opcode::Red];
    forms().filter(|f| opcodes.contains(&f.opcode)).flat_map(instances).filter(|i| i.has(M::CompleteBytes)).collect()
}

fn count(i: &Instance) -> usize {
    if i.has(M::V4) {
        4
    } else if i.has(M::V2) {
        2
    } else {
        1
    }
}

/// Returns the first word of memory after a reduction, by the manual.
fn reduced(i: &Instance) -> u64 {
    let (old, given) = (OLD as u32, GIVEN[0] as u32);
    let signed = i.ty() == Type::S32;
    let [less, more] = match signed {
        true => [(old as i32).min(given as i32) as u32, (old as i32).max(given as i32) as u32],
        false => [old.min(given), old.max(given)],
    };
    let low = |bits: u32| OLD & !0xffff_ffff | u64::from(bits);
    let results = [
        (M::Add, if i.ty() == Type::U64 { OLD.wrapping_add(GIVEN[0]) } else { low(old.wrapping_add(given)) }),
        (M::Min, low(less)),
        (M::Max, low(more)),
        (M::Inc, low(if old >= given { 0 } else { old + 1 })),
        (M::Dec, low(if old == 0 || old > given { given } else { old - 1 })),
        (M::And, low(old & given)),
        (M::Or, low(old | given)),
        (M::Xor, low(old ^ given)),
    ];
    results.into_iter().find(|(operation, _)| i.has(*operation)).unwrap().1
}

/// Returns the four words of memory after the instruction.
fn expected(i: &Instance) -> [u64; 4] {
    let mut words = [OLD; 4];
    if i.opcode() == Opcode::Red {
        words[0] = reduced(i);
        return words;
    }
    let bytes = i.ty().bytes() as usize;
    let mut memory: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    for (at, value) in GIVEN[..count(i)].iter().enumerate() {
        memory[at * bytes..][..bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
    }
    std::array::from_fn(|at| u64::from_le_bytes(memory[8 * at..][..8].try_into().unwrap()))
}

#[test]
fn accesses_signal_their_bytes() {
    let all = all();
    assert_eq!(all.len(), 2 * 3 * (8 + 8 + 4) + 3 * (2 + 4 + 3 + 3));
    for i in &all {
        let wide = i.ty().bits() == 64;
        let registers: Vec<String> = (0..count(i)).map(|k| format!("%{}{k}", if wide { "w" } else { "v" })).collect();
        let source = if count(i) == 1 { registers[0].clone() } else { format!("{{{}}}", registers.join(", ")) };
        let near = i.has(M::SharedCluster) || i.has(M::SharedCta);
        let (to, bar) = if near { ("[s]", "[%bar]") } else { ("[%generic]", "[%at]") };
        let bytes = count(i) as u64 * i.ty().bytes();
        let text = format!(
            "{HEADER}.visible .entry k(.param .u64 in, .param .u64 out) {{ .reg .pred %p; .reg .b32 %v<4>, %bar;
            .reg .b64 %w<4>, %from, %to, %x, %generic, %at; .shared .align 16 .b64 s[4]; .shared .align 8 .b64 bar;
            ld.param.u64 %from, [in]; ld.param.u64 %to, [out]; mov.u32 %bar, bar; mov.b64 %x, {OLD};
            st.shared.v2.b64 [s], {{%x, %x}}; st.shared.v2.b64 [s+16], {{%x, %x}}; mov.u64 %generic, s;
            cvta.shared.u64 %generic, %generic; mov.u64 %at, bar; cvta.shared.u64 %at, %at;
            ld.global.v2.b64 {{%w0, %w1}}, [%from]; ld.global.v2.b64 {{%w2, %w3}}, [%from+16];
            cvt.u32.u64 %v0, %w0; cvt.u32.u64 %v1, %w1; cvt.u32.u64 %v2, %w2; cvt.u32.u64 %v3, %w3;
            mbarrier.init.shared.b64 [bar], 1; mbarrier.arrive.expect_tx.shared.b64 _, [bar], {bytes};
            mbarrier.test_wait.parity.shared.b64 %p, [bar], 0; selp.u64 %x, 1, 0, %p; st.global.b64 [%to], %x;
            {} {to}, {source}, {bar};
            WAIT: mbarrier.try_wait.parity.shared.b64 %p, [bar], 0; @!%p bra WAIT; selp.u64 %x, 1, 0, %p;
            st.global.b64 [%to+8], %x; ld.shared.v2.b64 {{%w0, %w1}}, [s]; ld.shared.v2.b64 {{%w2, %w3}}, [s+16];
            st.global.v2.b64 [%to+16], {{%w0, %w1}}; st.global.v2.b64 [%to+32], {{%w2, %w3}}; ret; }}",
            i.name()
        );
        is_ptx(&text);
        let module = load(&text).unwrap_or_else(|log| panic!("{log}\n{text}"));
        let (from, to) = (Memory::new(&GIVEN), Memory::new(&[9; 6]));
        assert_eq!(launch(module, 1, 1, &[from.address(), to.address()]), CUresult::CUDA_SUCCESS, "{}", i.name());
        unload(module);
        let want: Vec<u64> = [0, 1].into_iter().chain(expected(i)).collect();
        assert_eq!(to.read(6), want, "{}", i.name());
    }
}

#[test]
fn what_signals_nothing_is_refused() {
    for (target, body, what) in [
        (
            "sm_80",
            "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [s], %r, [s];",
            "needs .target sm_90 or a newer one",
        ),
        ("sm_90", "st.async.shared::cluster.mbarrier::complete_tx::bytes.b16 [s], %r, [s];", "is not supported"),
        (
            "sm_90",
            "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b64 [s], {%x, %x, %x, %x}, [s];",
            "is not supported",
        ),
        (
            "sm_90",
            "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.min.s64 [s], %x, [s];",
            "is not supported",
        ),
        ("sm_90", "red.async.shared::cluster.mbarrier::complete_tx::bytes.xor.b32 [s], %r, [s];", "is not supported"),
    ] {
        let text = format!(
            ".version 8.8\n.target {target}\n.address_size 64\n.visible .entry k() {{ .reg .b64 %x; .reg .b32 %r;
            .shared .align 16 .b8 s[64]; {body} ret; }}"
        );
        let log = load(&text).expect_err(body);
        assert!(log.contains(what), "{body}: {log}");
        assert!(assemble(&text).is_none_or(|told| told.is_err()), "{body}");
    }
}
