//! The checkers: planted mistakes, which are all found with their places, and correct programs, of which none is
//! accused, in both engines and with several schedules.

mod correct;
mod heap;
mod memory;
mod patterns;
mod races;
mod sync;

use super::{HEADER, launch_of};
use crate::check::{self, Report};
use crate::codegen::jit::Compiled;
use crate::environment::Checks;
use crate::exec::launch::{Fault, Launch};
use crate::memory::{AllocationKind, MEMORY};
use crate::module::{CheckedKind, image};
use parking_lot::Mutex;
use std::sync::Arc;

/// Device memory that the checkers know of, freed at the end of a test.
pub(super) struct Memory(pub(super) u64);

impl Memory {
    /// Allocates memory that nobody has written.
    pub(super) fn unwritten(bytes: u64) -> Memory {
        check::enable(all());
        Memory(MEMORY.alloc(bytes, AllocationKind::Device).unwrap())
    }

    pub(super) fn zeros(bytes: u64) -> Memory {
        let this = Memory::unwritten(bytes);
        // SAFETY: the allocation is new and has this many bytes.
        unsafe { std::ptr::write_bytes(this.0 as *mut u8, 0, bytes as usize) };
        check::events::written(this.0, bytes);
        this
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        MEMORY.free(self.0, |kind| kind == AllocationKind::Device).unwrap();
    }
}

/// All checkers of kernels.
pub(super) fn all() -> Checks {
    Checks::MEMORY.and(Checks::RACE).and(Checks::INIT).and(Checks::SYNC)
}

fn kind(fibers: bool, clustered: bool, block: u32) -> CheckedKind {
    CheckedKind { fibers, clustered, whole: block.is_multiple_of(16), ..CheckedKind::default() }
}

/// The line of the first instruction of a test's code.
pub(super) const FIRST: u32 = 10;

/// A program: the code of a kernel with the parameters `%rd1` and `%rd2`, its number in the grid in `%r1`, that in the
/// block in `%r2`, that of the block in `%r3`, the block's size in `%r4`, and `%rd4` the word of `%rd1` with its number. Code with
/// barriers of clusters runs in clusters of two blocks.
#[derive(Clone, Copy)]
pub(super) struct Program<'a> {
    pub(super) name: &'a str,
    pub(super) code: &'a str,
    pub(super) grid: u32,
    pub(super) block: u32,
}

impl Program<'_> {
    fn text(&self) -> String {
        let heap = ".extern .func (.param .b64 r) malloc(.param .b64 n); .extern .func free(.param .b64 p); ";
        let declared = if self.code.contains("malloc") { heap } else { "" };
        let shared = if self.code.contains("window[41]") { 41 } else { 1024 };
        format!(
            "{HEADER}{declared}.visible .entry k(.param .u64 p, .param .u64 q) {{
.reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<24>; .reg .f32 %f<4>; .reg .b64 %rd<16>;
.shared .align 16 .b8 window[{shared}]; .local .align 8 .b8 stack[64];
mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r2, %tid.x; mad.lo.s32 %r1, %r3, %r4, %r2;
ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3;

{}
ret; }}",
            self.code
        )
    }

    /// Runs the program in each engine and with several schedules, with new parameters each time, and calls `judge` with
    /// the engine's name, the result and the reports.
    pub(super) fn run(
        &self,
        params: impl Fn() -> [Memory; 2],
        judge: impl FnMut(&str, Result<(), Fault>, Vec<Report>, &[Memory; 2]),
    ) {
        self.run_with(all(), params, judge);
    }

    /// As [`Program::run`], with these checkers.
    pub(super) fn run_with(
        &self,
        checks: Checks,
        params: impl Fn() -> [Memory; 2],
        mut judge: impl FnMut(&str, Result<(), Fault>, Vec<Report>, &[Memory; 2]),
    ) {
        let image = image(&self.text()).unwrap_or_else(|error| panic!("{error} in {}\n{}", self.name, self.code));
        let kernel = &image.kernels["k"];
        let cluster = self.code.contains("barrier.cluster").then_some([2, 1, 1]);
        let code = |fibers| {
            kernel
                .checked(checks, kind(fibers, cluster.is_some(), self.block))
                .unwrap_or_else(|why| panic!("{}: {why}", self.name))
        };
        let seeded = |seed: u64| Arc::new(code(true).seeded(Some(seed)));
        let mut engines: Vec<(String, Arc<Compiled>)> =
            vec![("regions".to_owned(), Arc::clone(code(false))), ("fibers".to_owned(), Arc::clone(code(true)))];
        engines.extend((0..4).map(|seed| (format!("fibers, seed {seed}"), seeded(seed))));
        // Another set of checkers forgets what the host has done.
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        for (engine, code) in engines {
            let _alone = ONE_AT_A_TIME.lock();
            let own = params();
            let at = [own[0].0, own[1].0];
            let (_module, launch) = launch_of(&image, &code, [self.grid, 1, 1], [self.block, 1, 1], &at);
            let launch = Arc::new(Launch { dynamic_shared: 0, checks, cluster, ..launch });
            let ((result, _), reports) = check::collect(|| check::run(kernel, launch));
            judge(&engine, result, reports, &own);
        }
    }

    /// Runs a correct program.
    #[track_caller]
    pub(super) fn is_correct(&self) {
        self.run(
            || [Memory::zeros(64 << 10), Memory::zeros(4096)],
            |engine, result, reports, _| {
                let texts: Vec<String> = reports.iter().map(Report::text).collect();
                assert!(texts.is_empty(), "{} ({engine}): {}", self.name, texts.join("\n"));
                assert_eq!(result, Ok(()), "{} ({engine})", self.name);
            },
        );
    }

    /// Runs a program with one mistake, which is found at these lines of its code, counted from 0.
    #[track_caller]
    pub(super) fn has(&self, checker: &str, kind: &str, lines: &[u32]) {
        self.run(
            || [Memory::zeros(64 << 10), Memory::zeros(4096)],
            |engine, _, reports, _| {
                let texts: Vec<String> = reports.iter().map(Report::text).collect();
                let texts = texts.join("\n");
                assert!(!reports.is_empty(), "{} ({engine}): no report", self.name);
                for report in &reports {
                    assert!(
                        report.check == checker && report.kind.contains(kind),
                        "{} ({engine}), not {checker}: {kind}: {texts}",
                        self.name
                    );
                }
                let is_at = |report: &Report| {
                    let mut found: Vec<u32> = report.accesses.iter().map(|at| at.line.wrapping_sub(FIRST)).collect();
                    found.sort_unstable();
                    lines.is_empty() || found == lines
                };
                assert!(reports.iter().any(is_at), "{} ({engine}), not at {lines:?}: {texts}", self.name);
            },
        );
    }
}
