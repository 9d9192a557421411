//! Faults in both engines: their kinds, what they leave unaffected, and their reports in the log.

use std::fmt::Write as _;

use super::{Buffer, HEADER, launch_of};
use crate::exec::launch::{Fault, Launch};
use crate::memory::{AllocationKind, IllegalAccess, MEMORY, Owner, PAGE, Registration};
use crate::module::{Image, Kernel, image};
use std::sync::Arc;

/// A kernel `k` of one pointer `%rd1`, with the thread's number in the grid in `%r1` and that in the block in `%r2`.
fn kernel(code: &str) -> Arc<Image> {
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 p, .param .u64 q) {{
.reg .pred %p<8>; .reg .b32 %r<16>; .reg .f32 %f<4>; .reg .b64 %rd<16>; .shared .align 16 .b8 window[1024];
mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r2, %tid.x; mad.lo.s32 %r1, %r3, %r4, %r2;
ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3;
{code}
ret; }}"
    );
    image(&text).unwrap_or_else(|error| panic!("{error} in\n{code}"))
}

/// The line of the first instruction in [`kernel`].
const FIRST: u64 = 8;

fn launch(image: &Arc<Image>, grid: u32, block: u32, params: [u64; 2], fibers: bool) -> Result<(), (Fault, String)> {
    let kernel: &Arc<Kernel> = &image.kernels["k"];
    let code = if fibers { kernel.fibers(&params, false) } else { kernel.compiled(&params, [block, 1, 1], false) };
    let code = code.unwrap_or_else(|why| panic!("{why}"));
    let (_module, launch) = launch_of(image, code, [grid, 1, 1], [block, 1, 1], &params);
    let launch = Arc::new(Launch { dynamic_shared: 0, ..launch });
    Arc::clone(&launch).run().map_err(|fault| (fault, kernel.explain(&launch, &fault)))
}

/// Runs code that must fault in both engines and returns the texts.
#[track_caller]
fn both_fault(code: &str, grid: u32, block: u32, params: [u64; 2], expected: IllegalAccess) -> [String; 2] {
    let image = kernel(code);
    [false, true].map(|fibers| {
        let (fault, text) = launch(&image, grid, block, params, fibers).expect_err(code);
        assert!(matches!(fault, Fault::Memory { illegal, .. } if illegal == expected), "{fault:?}: {text}");
        text
    })
}

/// Runs code that must fault in both engines and returns the texts, which must be equal.
#[track_caller]
fn faults(code: &str, grid: u32, block: u32, params: [u64; 2], expected: IllegalAccess) -> String {
    let [regions, fibers] = both_fault(code, grid, block, params, expected);
    assert_eq!(regions, fibers);
    regions
}

/// As [`faults`], at an address far from the test's memory: what it is said to lie in changes while other tests allocate and free
/// theirs, so only the rest of the texts must be equal. The texts are of the form `.. at address (place): ..`.
#[track_caller]
fn far_faults(code: &str, grid: u32, block: u32, params: [u64; 2], expected: IllegalAccess) -> String {
    let texts = both_fault(code, grid, block, params, expected);
    let [regions, fibers] = texts.each_ref().map(|text| {
        let (access, rest) = text.split_once(" (")?;
        Some((access, rest.split_once("): ")?.1))
    });
    assert!(regions.is_some(), "{}", texts[0]);
    assert_eq!(regions, fibers);
    let [regions, _] = texts;
    regions
}

/// Returns variants of an access: alone, in a vectorised thread loop, after a barrier, in a loop of the kernel.
fn ways(access: &str) -> [String; 4] {
    [
        format!("setp.ne.u32 %p1, %r1, 0; @%p1 bra D;\n{access}\nD:"),
        access.to_owned(),
        format!("st.shared.u32 [window], %r1; bar.sync 0;\n{access}"),
        format!("mov.u32 %r9, 0;\nL: bar.sync 0;\n{access}\nadd.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 5; @%p2 bra L;"),
    ]
}

#[test]
fn the_host_s_memory_is_out_of_reach() {
    let host: Box<[u64; 512]> = Box::new([0x5555; 512]);
    let address = host.as_ptr() as u64;
    for access in [
        "st.global.u32 [%rd4], 1;",
        "st.u32 [%rd4], 1;",
        "atom.global.add.u32 %r5, [%rd4], 1;",
        "st.local.u32 [%rd4], 1;",
    ] {
        for code in ways(access) {
            let text = faults(&code, 2, 32, [address, 0], IllegalAccess::Outside);
            assert!(
                text.contains("(neither device memory nor registered host memory): block (0, 0, 0), thread (0, 0, 0)"),
                "{text}"
            );
        }
    }
    // The loaded value must be used, or the load is eliminated.
    for code in ways("ld.global.u32 %r5, [%rd4]; add.s64 %rd5, %rd2, %rd3; st.global.u32 [%rd5], %r5;") {
        let out = Buffer::new(&[0; 32]);
        faults(&code, 2, 32, [address, out.0], IllegalAccess::Outside);
    }
    // An unbounded index from a valid pointer, added and subtracted again.
    let good = Buffer::new(&[0; 4]);
    faults(
        "add.s64 %rd5, %rd1, %rd2;\nst.global.u64 [%rd5], 1;",
        1,
        1,
        [good.0, address.wrapping_sub(good.0)],
        IllegalAccess::Outside,
    );
    assert!(host.iter().all(|word| *word == 0x5555));
    assert!(good.read(4).iter().all(|word| *word == 0));
}

#[test]
fn the_log_names_kernel_place_address_block_and_thread() {
    let page = *PAGE;
    let base = MEMORY.alloc(page, AllocationKind::Device).unwrap();
    for (way, line) in ways("st.global.u32 [%rd4], 7;").into_iter().skip(1).zip([FIRST, FIRST + 1, FIRST + 2]) {
        let text = faults(&way, 33, 32, [base + page - 4096, 0], IllegalAccess::At(base + page));
        assert_eq!(
            text,
            format!(
                "kernel `k`, at line {line}, column 1 of its PTX: store of 4 bytes at {:#x} (0 bytes past the end of an allocation of \
                 {page} bytes): block (32, 0, 0), thread (0, 0, 0)",
                base + page
            )
        );
    }
    let text = faults("st.global.u32 [%rd4], 7;", 1, 32, [base - 8, 0], IllegalAccess::At(base - 8));
    assert!(
        text.contains(&format!("(8 bytes before an allocation of {page} bytes): block (0, 0, 0), thread (0, 0, 0)")),
        "{text}"
    );
    let text = faults(
        &format!("setp.eq.u32 %p1, %r2, 19; @%p1 ld.global.f32 %f1, [%rd4+{page}];\n@%p1 st.global.f32 [%rd1], %f1;"),
        4,
        32,
        [base, 0],
        IllegalAccess::At(base + page + 19 * 4),
    );
    assert!(
        text.starts_with(&format!("kernel `k`, at line {FIRST}, column 27 of its PTX: load of 4 bytes at ")),
        "{text}"
    );
    assert!(
        text.ends_with(&format!(
            "(76 bytes past the end of an allocation of {page} bytes): block (0, 0, 0), thread (19, 0, 0)"
        )),
        "{text}"
    );
    MEMORY.free(base, |_| true).unwrap();
    let text = faults("atom.global.add.u32 %r5, [%rd4+40], 1;", 1, 32, [base, 0], IllegalAccess::At(base + 40));
    assert!(
        text.contains("atomic operation of 4 bytes at ")
            && text.contains(&format!("(40 bytes into an allocation of {page} bytes, which was freed)")),
        "{text}"
    );
    let text = faults("st.global.u32 [%rd4], 7;", 1, 1, [0, 0], IllegalAccess::Outside);
    assert!(text.contains("store of 4 bytes at 0x0 (a null pointer)"), "{text}");
}

#[test]
fn accesses_have_to_be_aligned() {
    let memory = Buffer::new(&[0; 1024]);
    for (access, bytes) in [
        ("st.global.u16 [%rd1], %rs1;", 2),
        ("st.global.u32 [%rd1], 1;", 4),
        ("st.global.u64 [%rd1], 1;", 8),
        ("st.global.v2.u32 [%rd1], {%r1, %r2};", 8),
        ("st.global.v4.u32 [%rd1], {%r1, %r2, %r3, %r4};", 16),
        ("st.global.v2.u64 [%rd1], {%rd2, %rd3};", 16),
        ("atom.global.add.u32 %r5, [%rd1], 1;", 4),
        ("atom.global.add.u64 %rd5, [%rd1], 1;", 8),
        ("atom.global.add.f32 %f1, [%rd1], 0f3f800000;", 4),
        ("red.global.add.v2.f32 [%rd1], {%f1, %f2};", 8),
        ("ld.global.u32 %r5, [%rd1]; st.global.u32 [%rd2], %r5;", 4),
        ("ld.volatile.global.u64 %rd5, [%rd1];", 8),
    ] {
        for code in ways(access) {
            let code = format!(".reg .b16 %rs<2>; mov.u16 %rs1, 1;\n{code}");
            let good = launch(&kernel(&code), 1, 64, [memory.0 + bytes, memory.0], false);
            good.unwrap_or_else(|(fault, text)| panic!("{fault:?}: {text}"));
            let text = faults(&code, 1, 64, [memory.0 + bytes / 2, memory.0], IllegalAccess::Misaligned);
            assert!(text.contains(&format!("of {bytes} bytes at ")), "{text}");
            assert!(
                text.contains(&format!(
                    "(not aligned to {bytes} bytes; {} bytes into an allocation of 8192 bytes)",
                    bytes / 2
                )),
                "{text}"
            );
        }
    }
    // The misaligned part differs among threads: it is misaligned for one of them.
    let code = "mul.lo.u32 %r5, %r2, 4; setp.eq.u32 %p1, %r2, 9; @%p1 add.u32 %r5, %r5, 2; cvt.u64.u32 %rd5, %r5;
add.s64 %rd5, %rd5, %rd1; st.global.u32 [%rd5], 1;";
    assert!(faults(code, 1, 32, [memory.0, 0], IllegalAccess::Misaligned).ends_with("thread (9, 0, 0)"));
    let code = code.replace("%rd5, %rd1; st.global.u32 [%rd5], 1;", "0, %rd5; st.shared.u32 [%rd5], 1;");
    let text = faults(&code, 1, 32, [memory.0, 0], IllegalAccess::Misaligned);
    assert!(text.ends_with("offset 38 of shared memory (not aligned to 4 bytes; the block has 1024 bytes): block (0, 0, 0), thread (9, 0, 0)"), "{text}");
}

/// A copy faults whether or not it is waited for, and the log names it.
#[test]
fn copies_that_fault_are_named() {
    let page = *PAGE;
    let base = MEMORY.alloc(page, AllocationKind::Device).unwrap();
    let past = base + page - 76;
    let copy = |copy: &str| format!("{copy}\ncp.async.commit_group;\ncp.async.wait_group 0;");
    let text = faults(
        &copy("cp.async.ca.shared.global [window], [%rd4], 4;"),
        1,
        32,
        [past, 0],
        IllegalAccess::At(past + 19 * 4),
    );
    assert!(
        text.starts_with(&format!("kernel `k`, at line {FIRST}, column 1 of its PTX: load of 4 bytes at ")),
        "{text}"
    );
    assert!(text.ends_with("block (0, 0, 0), thread (19, 0, 0)"), "{text}");
    faults("cp.async.ca.shared.global [window], [%rd4], 4;", 1, 32, [past, 0], IllegalAccess::At(past + 19 * 4));
    let text = faults(
        &copy("cp.async.cg.shared.global [window], [%rd1], 16;"),
        1,
        1,
        [base + 8, 0],
        IllegalAccess::Misaligned,
    );
    assert!(text.contains("load of 16 bytes at ") && text.contains("(not aligned to 16 bytes; 8 bytes into"), "{text}");
    let code = kernel(&copy("cp.async.ca.shared.global [%rd2], [%rd1], 8;"));
    for fibers in [false, true] {
        let (_, text) = launch(&code, 1, 1, [base, 1 << 20], fibers).unwrap_err();
        assert!(text.contains("store of 8 bytes at offset 1048576 of shared memory"), "{text}");
    }
    // An ignored source is not read, whatever its address.
    for ignored in ["16, 0", "16, %p1"] {
        let code = copy(&format!("setp.eq.u32 %p1, 0, 0; cp.async.ca.shared.global [window], [%rd1], {ignored};"));
        for fibers in [false, true] {
            let outcome = launch(&kernel(&code), 1, 32, [0, 0], fibers);
            outcome.unwrap_or_else(|(fault, text)| panic!("{fault:?}: {text}"));
        }
    }
    MEMORY.free(base, |_| true).unwrap();
}

/// Bulk copies are checked from end to end when they are started.
#[test]
fn bulk_copies_that_fault_are_named() {
    let page = *PAGE;
    let base = MEMORY.alloc(page, AllocationKind::Device).unwrap();
    let started = |copy: &str| {
        format!(
            ".shared .align 8 .b64 bar; mbarrier.init.shared.b64 [bar], 1;\n{copy}\nbar.sync 0;
        WAIT: mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra WAIT;"
        )
    };
    let line = FIRST + 1;
    for (copy, what, address) in [
        (
            "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [window], [%rd1], 64, [bar];",
            "load of 16 bytes at ",
            base + page - 32,
        ),
        (
            "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [window+1008], [%rd1], 4096, [bar];",
            "store of 16 bytes at offset 5088",
            base,
        ),
        (
            "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [window], [%rd1+8], 64, [bar];",
            "(not aligned to 16 bytes;",
            base,
        ),
        (
            "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [window], 48;",
            "store of 16 bytes at ",
            base + page - 16,
        ),
        (
            "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [window], [%rd1], 64, [bar];",
            "load of 16 bytes at 0xfffffffffffffff0",
            u64::MAX - 15,
        ),
        ("cp.async.bulk.global.shared::cta.bulk_group [%rd1], [window], 16;", "(a null pointer)", 0),
    ] {
        let image = kernel(&started(copy));
        for fibers in [false, true] {
            let (_, text) = launch(&image, 1, 1, [address, 0], fibers).expect_err(copy);
            assert!(text.starts_with(&format!("kernel `k`, at line {line}, column 1 of its PTX: ")), "{copy}: {text}");
            assert!(text.contains(what), "{copy}: {text}");
        }
    }
    MEMORY.free(base, |_| true).unwrap();
}

#[test]
fn shared_memory_ends_where_it_ends() {
    for code in ways("shl.b32 %r5, %r2, 2; add.u32 %r5, %r5, 1020; st.shared.u32 [%r5], 1;") {
        // One thread writes the last word; further ones are out of bounds.
        launch(&kernel(&code), 3, 1, [0; 2], false).unwrap_or_else(|(fault, text)| panic!("{fault:?}: {text}"));
    }
    let code = "shl.b32 %r5, %r2, 2; add.u32 %r5, %r5, 1024; st.shared.u32 [%r5], 1;";
    for code in &ways(code)[1..] {
        let image = kernel(code);
        for fibers in [false, true] {
            let (fault, text) = launch(&image, 3, 32, [0; 2], fibers).unwrap_err();
            assert!(matches!(fault, Fault::Memory { illegal: IllegalAccess::At(_), .. }), "{fault:?}");
            assert!(
                text.ends_with(
                    "offset 1024 of shared memory (the block has 1024 bytes): block (0, 0, 0), thread (0, 0, 0)"
                ),
                "{text}"
            );
        }
    }
    for (offset, shown) in [("-4", "offset 4294967292"), ("0x40000000", "offset 1073741824")] {
        let code = format!("mov.u32 %r5, {offset}; st.shared.u32 [%r5], 1;");
        let (_, text) = launch(&kernel(&code), 1, 32, [0; 2], false).unwrap_err();
        assert!(text.contains(shown), "{text}");
    }
    // Not every 64-bit word is an offset.
    let host = Box::new(7u32);
    let illegal = std::ptr::from_ref(&*host) as u64;
    launch(&kernel("st.shared.u32 [%rd1], 1;"), 1, 32, [illegal, 0], false).unwrap_err();
    assert_eq!(*host, 7);
}

#[test]
fn local_memory_ends_behind_the_last_thread() {
    let code = ".local .align 8 .b8 own[64]; mov.b64 %rd5, own; cvta.local.u64 %rd6, %rd5; add.s64 %rd6, %rd6, 32768;
st.u64 [%rd6], 1;";
    let image = kernel(code);
    for fibers in [false, true] {
        let (fault, text) = launch(&image, 1, 32, [0; 2], fibers).unwrap_err();
        assert!(matches!(fault, Fault::Memory { illegal: IllegalAccess::At(_), .. }), "{fault:?}: {text}");
    }
}

#[test]
fn bulk_copies_end_with_what_is_registered() {
    let mut host = vec![3_u128; 64];
    let start = host.as_mut_ptr() as u64;
    MEMORY.register(Registration { start, bytes: 64, flags: 0, owner: Owner::default() }).unwrap();
    for fibers in [false, true] {
        let copy = |bytes: u32| {
            let copy = format!("cp.async.bulk.global.shared::cta.bulk_group [%rd1], [window], {bytes};");
            launch(&kernel(&copy), 1, 1, [start, 0], fibers)
        };
        copy(64).unwrap_or_else(|(fault, text)| panic!("{fault:?}: {text}"));
        let (fault, text) = copy(80).unwrap_err();
        assert!(matches!(fault, Fault::Memory { illegal: IllegalAccess::Outside, .. }), "{fault:?}: {text}");
    }
    MEMORY.unregister(start).unwrap();
    assert!(host[4..].iter().all(|v| *v == 3), "{host:?}");
}

#[test]
fn registered_memory_can_be_accessed_to_its_end() {
    let mut host = vec![3u32; 64];
    let (start, bytes) = (host.as_mut_ptr() as u64, 32 * 4);
    let image = kernel("ld.global.u32 %r5, [%rd4]; add.u32 %r5, %r5, %r1; st.global.u32 [%rd4], %r5;");
    launch(&image, 1, 32, [start, 0], false).unwrap_err();
    MEMORY.register(Registration { start, bytes, flags: 0, owner: Owner::default() }).unwrap();
    for fibers in [false, true] {
        launch(&image, 1, 32, [start, 0], fibers).unwrap_or_else(|(fault, text)| panic!("{fault:?}: {text}"));
        let (fault, text) = launch(&image, 2, 32, [start, 0], fibers).unwrap_err();
        assert!(matches!(fault, Fault::Memory { illegal: IllegalAccess::Outside, .. }), "{fault:?}: {text}");
        assert!(text.ends_with("block (1, 0, 0), thread (0, 0, 0)"), "{text}");
    }
    // Addresses that are loaded or computed from parts are accepted as well.
    let pointer = Buffer::new(&[start]);
    for load in ["ld.global.u64 %rd5, [%rd1];", "ld.global.v2.u32 {%r5, %r6}, [%rd1]; mov.b64 %rd5, {%r5, %r6};"] {
        let image =
            kernel(&format!("{load} add.s64 %rd5, %rd5, %rd3; ld.global.u32 %r7, [%rd5]; st.global.u32 [%rd5], %r7;"));
        launch(&image, 1, 32, [pointer.0, 0], false).unwrap_or_else(|(fault, text)| panic!("{fault:?}: {text}"));
    }
    MEMORY.unregister(start).unwrap();
    launch(&image, 1, 32, [start, 0], false).unwrap_err();
    assert!(host[..32].iter().enumerate().all(|(i, v)| *v == 3 + 4 * i as u32), "{host:?}");
    assert!(host[32..].iter().all(|v| *v == 3), "{host:?}");
}

#[test]
fn an_iteration_of_a_loop_over_the_grid() {
    let page = *PAGE;
    let base = MEMORY.alloc(page, AllocationKind::Device).unwrap();
    // Of the second block's iterations the last one has a thread that is beyond the memory.
    let first = base + page - 4 * (4 * 128 + 64 + 21);
    let code = "mov.u32 %r5, %nctaid.x; mul.lo.u32 %r6, %r5, %r4; mov.u32 %r7, 0; mul.wide.u32 %rd5, %r6, 4;
        L: st.global.u32 [%rd4], 7; add.u64 %rd4, %rd4, %rd5; add.u32 %r1, %r1, %r6; setp.lt.u32 %p1, %r1, 640; @%p1 bra L;";
    let text = faults(code, 2, 64, [first, 0], IllegalAccess::At(base + page));
    let place = format!("(0 bytes past the end of an allocation of {page} bytes): block (1, 0, 0), thread (21, 0, 0)");
    assert!(text.ends_with(&place), "{text}");
    MEMORY.free(base, |_| true).unwrap();
}

/// A pointer moves beside a 64-bit number that counts to a bound from memory, so only its start is compared with the range.
#[test]
fn a_pointer_that_moves_with_a_counter() {
    let walk = |bytes: u64| {
        format!(
            "ld.global.v2.u32 {{%r5, %r6}}, [%rd2]; cvt.u64.u32 %rd5, %r5; cvt.u64.u32 %rd6, %r6; mov.u64 %rd7, %rd4; mov.u64 %rd9, 0;
            L: ld.global.u32 %r7, [%rd7]; cvt.u64.u32 %rd8, %r7; add.u64 %rd9, %rd9, %rd8; add.u64 %rd7, %rd7, {bytes};
            add.u64 %rd5, %rd5, 1; setp.lt.u64 %p1, %rd5, %rd6; @%p1 bra L;
            mul.wide.u32 %rd10, %r1, 8; add.u64 %rd10, %rd10, %rd2; st.global.u64 [%rd10+8], %rd9;"
        )
    };
    let page = *PAGE;
    let base = MEMORY.alloc(page, AllocationKind::Device).unwrap();
    for (at, bytes, illegal) in [
        (base, 4, IllegalAccess::At(base + page)),
        (base + page - 4, 1 << 20, IllegalAccess::At(base + page - 4 + (1 << 20))),
        (base, 1 << 40, IllegalAccess::At(base + (1 << 40))),
        (base, 1 << 60, IllegalAccess::Outside),
        (base, 2, IllegalAccess::Misaligned),
        (base + 2, 4, IllegalAccess::Misaligned),
        (4096, 4, IllegalAccess::Outside),
    ] {
        let bounds = Buffer::new(&[5 | 3_000_000_000 << 32, 0]);
        let faults = if bytes > page && matches!(illegal, IllegalAccess::At(_)) { far_faults } else { faults };
        let text = faults(&walk(bytes), 1, 1, [at, bounds.0], illegal);
        assert!(text.contains("block (0, 0, 0), thread (0, 0, 0)"), "{text}");
    }
    MEMORY.free(base, |_| true).unwrap();
    let numbers = Buffer::new(&[1 | 2 << 32, 3 | 4 << 32, 5 | 6 << 32]);
    // Nothing is known of a bound of 64 bits: then each address is compared.
    let unbounded = walk(4).replace("cvt.u64.u32 %rd6, %r6", "ld.global.u64 %rd6, [%rd2+32]");
    for code in [walk(4), unbounded] {
        for fibers in [false, true] {
            let results = Buffer::new(&[5 | 9 << 32, 0, 0, 0, 9]);
            launch(&kernel(&code), 1, 3, [numbers.0, results.0], fibers).unwrap();
            assert_eq!(results.read(4)[1..], [1 + 2 + 3 + 4, 2 + 3 + 4 + 5, 3 + 4 + 5 + 6]);
        }
    }
}

#[test]
fn a_search_writes_nothing() {
    // Every thread counts, and the last one's next access faults.
    let counter = Buffer::new(&[0; 512]);
    let code = "atom.global.add.u32 %r5, [%rd1], 1; bar.sync 0; setp.ne.u32 %p1, %r2, 63; @%p1 bra D;\nst.global.u32 [%rd2], 1;\nD:";
    for (fibers, counted) in [(false, 64), (true, 128)] {
        let (_, text) = launch(&kernel(code), 1, 64, [counter.0, 8], fibers).unwrap_err();
        assert!(text.ends_with("(a null pointer): block (0, 0, 0), thread (63, 0, 0)"), "{text}");
        assert_eq!(counter.read(1)[0], counted);
    }
    // Memory has changed when the block runs again: the log says so.
    let code =
        "atom.global.exch.b64 %rd5, [%rd1], %rd1; setp.ne.u64 %p1, %rd5, 0; @%p1 bra D; st.global.u32 [8], 1;\nD:";
    let once = Buffer::new(&[0]);
    let (_, text) = launch(&kernel(code), 1, 1, [once.0, 0], false).unwrap_err();
    assert_eq!(
        text,
        "kernel `k`: an access outside of the device's memory: block (0, 0, 0); run again alone, the block does not show \
         which thread made it"
    );
}

#[test]
fn traps_and_deep_calls_are_told_with_their_thread() {
    let image = kernel("setp.eq.u32 %p1, %r1, 77; @!%p1 bra D;\ntrap;\nD:");
    for fibers in [false, true] {
        let (fault, text) = launch(&image, 3, 32, [0; 2], fibers).unwrap_err();
        assert!(matches!(fault, Fault::Trap(_)), "{fault:?}");
        assert_eq!(
            text,
            format!("kernel `k`, at line {}, column 1 of its PTX: trap: block (2, 0, 0), thread (13, 0, 0)", FIRST + 1)
        );
    }
    let text = format!(
        "{HEADER}.func (.param .b32 r) deep(.param .b32 n) {{ .reg .pred %p1; .reg .b32 %r<4>;
        .param .b32 a; .param .b32 b; ld.param.u32 %r1, [n]; setp.eq.u32 %p1, %r1, 0; mov.u32 %r3, 0; @%p1 bra D;
        sub.u32 %r2, %r1, 1; st.param.b32 [a], %r2; call.uni (b), deep, (a); ld.param.b32 %r3, [b]; add.u32 %r3, %r3, %r1;
        D: st.param.b32 [r], %r3; ret; }}
        .visible .entry k(.param .u64 p, .param .u64 n) {{ .reg .b32 %r<4>; .reg .b64 %rd<4>; .param .b32 a; .param .b32 b;
        ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; st.param.b32 [a], %r1; call.uni (b), deep, (a);
        ld.param.b32 %r2, [b]; st.global.u32 [%rd1], %r2; ret; }}"
    );
    let image = image_of(&text);
    let out = Buffer::new(&[0]);
    for fibers in [false, true] {
        launch(&image, 1, 1, [out.0, 300], fibers).unwrap();
        assert_eq!(out.read(1), [300 * 301 / 2]);
        let (fault, text) = launch(&image, 1, 1, [out.0, 0xffff_ffff], fibers).unwrap_err();
        assert!(matches!(fault, Fault::StackOverflow(_)), "{fault:?}");
        assert_eq!(text, "kernel `k`: calls went deeper than the stack: block (0, 0, 0), thread (0, 0, 0)");
    }
}

fn image_of(text: &str) -> Arc<Image> {
    image(text).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn parameters_have_addresses_that_can_be_read() {
    let image =
        kernel("mov.b64 %rd5, p;\ncvta.param.u64 %rd5, %rd5; ld.u64 %rd6, [%rd5+8]; st.global.u64 [%rd1], %rd6;");
    let out = Buffer::new(&[0]);
    for fibers in [false, true] {
        launch(&image, 1, 1, [out.0, 1234 + u64::from(fibers)], fibers).unwrap_or_else(|(_, text)| panic!("{text}"));
        assert_eq!(out.read(1), [1234 + u64::from(fibers)]);
    }
}

#[test]
fn the_log_names_the_line_that_was_compiled() {
    let text = format!(
        "{HEADER}.file 1 \"src/x.rs\"\n.file 7 \"src/y.rs\", 1, 2
.visible .entry k(.param .u64 p, .param .u64 q) {{ .reg .b64 %rd1;
ld.param.u64 %rd1, [p];
.loc 7 17 3, function_name $L__info, inlined_at 1 2 3
st.global.u32 [%rd1], 1;
.loc\t1 99 0
ret; }}
.visible .entry other() {{ ret; }}"
    );
    let (_, text) = launch(&image_of(&text), 1, 1, [0; 2], false).unwrap_err();
    assert_eq!(
        text,
        "kernel `k`, at line 9, column 1 of its PTX (src/y.rs:17): store of 4 bytes at 0x0 (a null pointer): block (0, 0, 0), \
         thread (0, 0, 0)"
    );
}

#[test]
fn line_zero_and_the_device_s_own_functions_are_no_line_of_the_program() {
    let text = format!(
        "{HEADER}.file 1 \"src/x.rs\"
.extern .func (.param .b32 status) cudaCGSynchronize(.param .b64 handle, .param .b32 flags);
.visible .entry k(.param .u64 p, .param .u64 q) {{ .reg .b64 %rd<3>; .reg .pred %p1; .param .b64 a; .param .b32 b; .param .b32 c;
ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q];
.loc 1 17 3
setp.eq.u64 %p1, %rd2, 0; @%p1 bra D;
.loc 1 0 5
st.global.u32 [%rd1], 1;
.loc 1 18 1
D: st.param.b64 [a], %rd1; st.param.b32 [b], 0; call.uni (c), cudaCGSynchronize, (a, b);
ret; }}"
    );
    for fibers in [false, true] {
        let (_, unknown) = launch(&image_of(&text), 1, 1, [0, 1], fibers).unwrap_err();
        let expected = "kernel `k`, at line 11, column 1 of its PTX: store of 4 bytes at 0x0 (a null pointer): ";
        assert!(unknown.starts_with(expected), "{unknown}");
        let (_, library) = launch(&image_of(&text), 1, 1, [8, 0], fibers).unwrap_err();
        assert!(library.starts_with("kernel `k`: atomic operation of 4 bytes at 0xc (a null pointer): "), "{library}");
    }
}

#[test]
fn threads_at_a_breakpoint_are_told_and_go_on() {
    let stop = "setp.ne.u32 %p1, %r2, 5; @%p1 bra D;\nbrkpt;\nD: st.global.u32 [%rd4], %r2;";
    for (number, (before, grid, line)) in [("", 1, FIRST + 1), ("bar.sync 0;\n", 3, FIRST + 2)].into_iter().enumerate()
    {
        let image = kernel(&format!("{before}{stop}"));
        for fibers in [false, true] {
            let out = Buffer::new(&[0; 48]);
            let (kernel, params) = (&image.kernels["k"], [out.0, 0]);
            let code = if fibers { kernel.fibers(&params, false) } else { kernel.compiled(&params, [32, 1, 1], false) };
            let (_module, launch) = launch_of(&image, code.unwrap(), [grid, 1, 1], [32, 1, 1], &params);
            let grid_id = u64::MAX - 2 * number as u64 - u64::from(fibers);
            let launch = Arc::new(Launch { grid_id, ..launch });
            Arc::clone(&launch).run().unwrap();
            let pair = |i: u32| u64::from(i % 32) | u64::from((i + 1) % 32) << 32;
            let expected: Vec<u64> = (0..grid * 32).step_by(2).map(pair).collect();
            assert_eq!(out.read(expected.len()), expected, "all threads go on");
            let told = kernel.breakpoint_report(&launch).unwrap();
            let mut lines: Vec<_> = told.lines().collect();
            lines.sort_unstable();
            let line = |block| {
                let place = format!("at line {line}, column 1 of its PTX");
                format!("cuda-sim: kernel `k`, {place}: breakpoint: block ({block}, 0, 0), thread (5, 0, 0)")
            };
            assert_eq!(lines, (0..grid).map(line).collect::<Vec<_>>());
            assert!(kernel.breakpoint_report(&launch).is_none(), "once");
        }
    }
}

#[test]
fn many_threads_at_a_breakpoint_are_counted() {
    let image = kernel("brkpt;");
    let kernel = &image.kernels["k"];
    let code = kernel.compiled(&[0; 2], [64, 1, 1], false).unwrap();
    let (_module, launch) = launch_of(&image, code, [2, 1, 1], [64, 1, 1], &[0; 2]);
    let launch = Arc::new(Launch { grid_id: u64::MAX - 100, ..launch });
    Arc::clone(&launch).run().unwrap();
    let told = kernel.breakpoint_report(&launch).unwrap();
    assert_eq!(told.lines().count(), 33);
    assert!(told.ends_with("cuda-sim: kernel `k`: and 96 breakpoints more\n"), "{told}");
}

/// A function whose registers need more stack than a fiber usually has.
#[test]
fn a_function_of_very_many_registers_is_called() {
    let count = 8000;
    let mut body = String::new();
    for k in 1..count {
        let _ = writeln!(body, "add.u32 %r{k}, %r{}, {k};", k - 1);
    }
    let text = format!(
        "{HEADER}.func (.param .b32 r) wide(.param .b32 n) {{ .reg .b32 %r<{count}>; ld.param.u32 %r0, [n]; {body}
        st.param.b32 [r], %r{}; ret; }}
        .visible .entry k(.param .u64 p, .param .u64 n) {{ .reg .b32 %r<4>; .reg .b64 %rd<4>; .param .b32 a; .param .b32 b;
        ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; st.param.b32 [a], %r1; call.uni (b), wide, (a);
        ld.param.b32 %r2, [b]; st.global.u32 [%rd1], %r2; ret; }}",
        count - 1
    );
    let image = image_of(&text);
    let out = Buffer::new(&[0]);
    for fibers in [false, true] {
        launch(&image, 2, 33, [out.0, 7], fibers).unwrap();
        assert_eq!(out.read(1), [7 + count * (count - 1) / 2]);
    }
}
