//! Instructions against an independent reference, and whole kernels.
//!
//! Expected values are computed by the rules of the PTX manual, written in Rust here, never by the device.

mod arguments;
mod calls;
mod checks;
mod clusters;
mod constants;
mod faults;
mod floats;
mod grid_stride;
mod integers;
mod kernels;
mod limits;
mod lockstep;
mod programs;
mod reductions;
mod rows;
mod sync;
mod text;
mod tiers;
mod uniform;
mod variables;
mod vectors;
mod video;
mod waiting;

use crate::codegen::jit::Compiled;
use crate::exec::launch::{Fault, Launch};
use crate::memory::{AllocationKind, MEMORY};
use crate::module::{Image, Module, image};
use std::sync::Arc;

/// The header of every test module.
pub(super) const HEADER: &str = ".version 7.8\n.target sm_90\n.address_size 64\n";

/// Device memory that is freed at the end of a test.
pub(super) struct Buffer(pub(super) u64);

impl Buffer {
    pub(super) fn new(values: &[u64]) -> Buffer {
        let base = MEMORY.alloc(values.len() as u64 * 8, AllocationKind::Device).unwrap();
        // SAFETY: the allocation is new and has room for exactly these values.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), base as *mut u64, values.len()) };
        Buffer(base)
    }

    pub(super) fn read(&self, count: usize) -> Vec<u64> {
        // SAFETY: tests read no more values than they put in, and no launch runs now.
        unsafe { std::slice::from_raw_parts(self.0 as *const u64, count) }.to_vec()
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        MEMORY.free(self.0, |kind| kind == AllocationKind::Device).unwrap();
    }
}

/// Returns the launch of a kernel, and the module whose variables it uses.
pub(super) fn launch_of(
    image: &Arc<Image>,
    code: &Arc<Compiled>,
    grid: [u32; 3],
    block: [u32; 3],
    params: &[u64],
) -> (Module, Launch) {
    let module = Module::new(Arc::clone(image)).unwrap();
    let launch = Launch {
        code: Arc::clone(code),
        checks: crate::environment::Checks::default(),
        params: params.to_vec(),
        data: module.data(),
        managed: module.managed.address(),
        grid,
        block,
        dynamic_shared: 1024,
        grid_id: 1,
        context: 0,
        slots: u64::MAX,
        cooperative: false,
        resident: 2048,
        cluster: None,
    };
    (module, launch)
}

/// Runs a kernel of a module.
pub(super) fn run(
    image: &Arc<Image>,
    name: &str,
    grid: [u32; 3],
    block: [u32; 3],
    params: &[u64],
) -> Result<(), Fault> {
    let code = image.kernels[name].compiled(params, block, false).unwrap_or_else(|why| panic!("{why}"));
    let (_module, launch) = launch_of(image, code, grid, block, params);
    Arc::new(launch).run()
}

/// Runs instructions for each tuple of inputs: `%rd1` to `%rd4`, with their low halves `%r1` to `%r4` and quarters
/// `%h1` to `%h4`. The result is the final value of `%rd10`.
pub(super) fn eval64(code: &str, inputs: &[[u64; 4]]) -> Vec<u64> {
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 count) {{
        .reg .pred %p<8>; .reg .b16 %h<16>; .reg .b32 %r<24>; .reg .b64 %rd<24>;
        mov.u32 %r20, %ctaid.x; mov.u32 %r21, %ntid.x; mov.u32 %r22, %tid.x;
        mad.lo.s32 %r20, %r20, %r21, %r22;
        ld.param.u32 %r21, [count];
        setp.ge.u32 %p7, %r20, %r21;
        @%p7 bra DONE;
        ld.param.u64 %rd20, [in]; mul.wide.u32 %rd21, %r20, 32; add.s64 %rd20, %rd20, %rd21;
        ld.global.v2.b64 {{%rd1, %rd2}}, [%rd20]; ld.global.v2.b64 {{%rd3, %rd4}}, [%rd20+16];
        cvt.u32.u64 %r1, %rd1; cvt.u32.u64 %r2, %rd2; cvt.u32.u64 %r3, %rd3; cvt.u32.u64 %r4, %rd4;
        cvt.u16.u32 %h1, %r1; cvt.u16.u32 %h2, %r2; cvt.u16.u32 %h3, %r3; cvt.u16.u32 %h4, %r4;
        {code}
        ld.param.u64 %rd20, [out]; mul.wide.u32 %rd21, %r20, 8; add.s64 %rd20, %rd20, %rd21;
        st.global.b64 [%rd20], %rd10;
        DONE: ret; }}"
    );
    let image = image(&text).unwrap_or_else(|error| panic!("{error} in\n{code}"));
    let flat: Vec<u64> = inputs.iter().flatten().copied().collect();
    let (from, to) = (Buffer::new(&flat), Buffer::new(&vec![0xdead; inputs.len()]));
    let blocks = inputs.len().div_ceil(64) as u32;
    run(&image, "k", [blocks, 1, 1], [64, 1, 1], &[from.0, to.0, inputs.len() as u64]).unwrap();
    to.read(inputs.len())
}

/// As [`eval64`] with the result in `%r10`.
pub(super) fn eval32(code: &str, inputs: &[[u64; 4]]) -> Vec<u32> {
    eval64(&format!("{code} cvt.u64.u32 %rd10, %r10;"), inputs).into_iter().map(|v| v as u32).collect()
}

/// Returns every tuple of the given values in the first `N` positions.
pub(super) fn tuples<const N: usize>(values: &[u64]) -> Vec<[u64; 4]> {
    let mut all = vec![[0; 4]];
    for place in 0..N {
        let extend = |t: &[u64; 4]| {
            let t = *t;
            values
                .iter()
                .map(move |v| {
                    let mut t = t;
                    t[place] = *v;
                    t
                })
                .collect::<Vec<_>>()
        };
        all = all.iter().flat_map(extend).collect();
    }
    all
}

/// Compares 32-bit results with the reference for each input.
#[track_caller]
pub(super) fn check32(code: &str, inputs: &[[u64; 4]], reference: impl Fn(u32, u32, u32) -> u32) {
    for (input, got) in inputs.iter().zip(eval32(code, inputs)) {
        let want = reference(input[0] as u32, input[1] as u32, input[2] as u32);
        assert_eq!(got, want, "{code} of {input:x?}: {got:#x}, not {want:#x}");
    }
}

/// Compares 64-bit results with the reference for each input.
#[track_caller]
pub(super) fn check64(code: &str, inputs: &[[u64; 4]], reference: impl Fn(u64, u64, u64) -> u64) {
    for (input, got) in inputs.iter().zip(eval64(code, inputs)) {
        let want = reference(input[0], input[1], input[2]);
        assert_eq!(got, want, "{code} of {input:x?}: {got:#x}, not {want:#x}");
    }
}
