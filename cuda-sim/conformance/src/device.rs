//! Runs instances on the device: many in one kernel, each for all of its inputs.
//!
//! # Safety
//!
//! Every call passes pointers to live locals, as CUDA's documentation asks.
#![expect(clippy::undocumented_unsafe_blocks, reason = "the header's argument holds for each call")]

use crate::instance::Instance;
use cuda_sim::ptx::isa::Shape;
use cuda_sim::ptx::{Opcode, Type};
use cuda_sys::*;
use std::ffi::{CStr, CString, c_char, c_void};
use std::fmt::Write;
use std::ptr::null_mut;

/// The inputs of one evaluation: the bits of each source.
pub(crate) type Inputs = [u64; 4];

fn context() {
    ok!(cuInit(0));
    let mut context = null_mut();
    ok!(cuDevicePrimaryCtxRetain(&mut context, 0));
    ok!(cuCtxSetCurrent(context));
}

/// Device memory, freed at the end.
pub(crate) struct Memory(CUdeviceptr);

impl Memory {
    pub(crate) fn new(words: &[u64]) -> Memory {
        let mut address = 0;
        ok!(cuMemAlloc_v2(&mut address, words.len() * 8));
        ok!(cuMemcpyHtoD_v2(address, words.as_ptr().cast(), words.len() * 8));
        Memory(address)
    }

    pub(crate) fn address(&self) -> u64 {
        self.0
    }

    pub(crate) fn read(&self, words: usize) -> Vec<u64> {
        let mut back = vec![0u64; words];
        ok!(cuMemcpyDtoH_v2(back.as_mut_ptr().cast(), self.0, words * 8));
        back
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        ok!(cuMemFree_v2(self.0));
    }
}

/// The target of every text: the newest profile's.
pub(crate) const HEADER: &str = ".version 8.8\n.target sm_90\n.address_size 64\n";

/// Loads a text; the error is the log.
pub(crate) fn load(text: &str) -> Result<CUmodule, String> {
    context();
    let mut log = vec![0 as c_char; 4096];
    let mut options = [CUjit_option::CU_JIT_ERROR_LOG_BUFFER, CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    let mut values: [*mut c_void; 2] = [log.as_mut_ptr().cast(), std::ptr::without_provenance_mut(4096)];
    let text = CString::new(text).unwrap();
    let mut module = null_mut();
    match call!(cuModuleLoadDataEx(&mut module, text.as_ptr().cast(), 2, options.as_mut_ptr(), values.as_mut_ptr())) {
        CUresult::CUDA_SUCCESS => Ok(module),
        _ => Err(unsafe { CStr::from_ptr(log.as_ptr()) }.to_string_lossy().into_owned()),
    }
}

/// Launches the kernel `k` of a module.
pub(crate) fn launch(module: CUmodule, blocks: u32, threads: u32, params: &[u64]) -> CUresult {
    let mut f = null_mut();
    ok!(cuModuleGetFunction(&mut f, module, c"k".as_ptr()));
    let mut values = params.to_vec();
    let mut params: Vec<*mut c_void> = values.iter_mut().map(|v| std::ptr::from_mut(v).cast()).collect();
    let code = call!(cuLaunchKernel(f, blocks, 1, 1, threads, 1, 1, 0, null_mut(), params.as_mut_ptr(), null_mut()));
    if code == CUresult::CUDA_SUCCESS { call!(cuCtxSynchronize()) } else { code }
}

pub(crate) fn unload(module: CUmodule) {
    ok!(cuModuleUnload(module));
}

fn width(ty: Type) -> u32 {
    match ty.bits() {
        8 => 32,
        bits => bits,
    }
}

/// Emits the register declaration and the move of a 64-bit word to a source register.
fn source(text: &mut String, k: usize, ty: Type) {
    let _ = match width(ty) {
        1 => writeln!(text, ".reg .pred %s{k}; setp.ne.u64 %s{k}, %w{k}, 0;"),
        16 => writeln!(text, ".reg .b16 %s{k}; cvt.u16.u64 %s{k}, %w{k};"),
        32 => writeln!(text, ".reg .b32 %s{k}; cvt.u32.u64 %s{k}, %w{k};"),
        _ => writeln!(text, ".reg .b64 %s{k}; mov.b64 %s{k}, %w{k};"),
    };
}

/// Returns one instance in braces: its sources are `%w0` to `%w3`, its results `%rd10` and `%rd11`.
pub(crate) fn instance_text(instance: &Instance) -> String {
    let mut text = String::new();
    let mut written = Vec::new();
    let (mut k, mut after, mut before) = (0, String::new(), String::new());
    let pair = |shape: &Shape| {
        *shape == Shape::DestTwoPreds || (*shape == Shape::DestPred && instance.opcode() == Opcode::Setp)
    };
    for shape in instance.form.operands {
        let ty = instance.operand_type(*shape);
        match shape {
            Shape::Dest(_) | Shape::DestWide(_) | Shape::DestAs(_) => {
                let _ = match width(ty) {
                    1 => writeln!(text, ".reg .pred %d;"),
                    bits => writeln!(text, ".reg .b{bits} %d;"),
                };
                after.push_str(match width(ty) {
                    1 => "selp.b64 %rd10, 1, 0, %d;",
                    16 => "cvt.u64.u16 %rd10, %d;",
                    32 => "cvt.u64.u32 %rd10, %d;",
                    _ => "mov.b64 %rd10, %d;",
                });
                written.push("%d".to_owned());
            }
            Shape::DestPred | Shape::DestOnePred | Shape::DestTwoPreds => {
                text.push_str(".reg .pred %p, %q;\n");
                after.push_str("selp.b64 %rd10, 1, 0, %p;");
                if pair(shape) {
                    after.push_str("selp.b64 %rd11, 1, 0, %q;");
                }
                written.push(if pair(shape) { "%p|%q" } else { "%p" }.to_owned());
            }
            Shape::DestPair => {
                text.push_str(".reg .b32 %d; .reg .pred %p;\n");
                after.push_str("cvt.u64.u32 %rd10, %d; selp.b64 %rd11, 1, 0, %p;");
                written.push("%d|%p".to_owned());
            }
            Shape::Immediate => written.push(instance.immediate.to_string()),
            Shape::Selector => {}
            Shape::CarryIn => {
                let _ = write!(text, ".reg .b32 %c; cvt.u32.u64 %c, %w{k};");
                before.push_str("add.cc.u32 %c, %c, 0xffffffff;");
                k += 1;
            }
            Shape::CarryOut => {
                text.push_str(".reg .b32 %o;\n");
                after.push_str("addc.u32 %o, 0, 0; cvt.u64.u32 %rd11, %o;");
            }
            _ => {
                source(&mut text, k, ty);
                written.push(format!("%s{k}"));
                k += 1;
            }
        }
    }
    // The carry must be read before it is overwritten.
    let split = after.find("addc").unwrap_or(after.len());
    let (rest, carry) = after.split_at(split);
    format!("{text}{before}\n{} {};\n{carry}{rest}\n", instance.name(), written.join(", "))
}

/// Returns the text of a kernel that runs instances one after the other.
pub(crate) fn kernel_text(instances: &[&Instance]) -> String {
    let mut text = format!(
        "{HEADER}.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 count) {{
        .reg .pred %past; .reg .b32 %t<4>; .reg .b64 %rd<12>, %w<4>, %from, %to, %n, %step;
        mov.u32 %t0, %ctaid.x; mov.u32 %t1, %ntid.x; mov.u32 %t2, %tid.x; mad.lo.u32 %t0, %t0, %t1, %t2;
        ld.param.u64 %n, [count]; cvt.u64.u32 %rd0, %t0; setp.ge.u64 %past, %rd0, %n; @%past bra DONE;
        ld.param.u64 %from, [in]; mul.lo.u64 %rd1, %rd0, 32; add.u64 %from, %from, %rd1;
        ld.param.u64 %to, [out]; mul.lo.u64 %rd1, %rd0, 16; add.u64 %to, %to, %rd1;\n"
    );
    for instance in instances {
        let _ = write!(
            text,
            "{{ ld.global.v2.b64 {{%w0, %w1}}, [%from]; ld.global.v2.b64 {{%w2, %w3}}, [%from+16];
            mov.u64 %rd10, 0; mov.u64 %rd11, 0;\n{}st.global.v2.b64 [%to], {{%rd10, %rd11}}; }}
            mul.lo.u64 %step, %n, 32; add.u64 %from, %from, %step;
            mul.lo.u64 %step, %n, 16; add.u64 %to, %to, %step;\n",
            instance_text(instance)
        );
    }
    text.push_str("DONE: ret; }\n");
    text
}

/// Evaluates instances, which have equally many inputs. Returns two words for each input of each instance.
pub(crate) fn evaluate(instances: &[&Instance], inputs: &[Vec<Inputs>]) -> Vec<Vec<[u64; 2]>> {
    let text = kernel_text(instances);
    let module = load(&text).unwrap_or_else(|log| panic!("{log}\n{text}"));
    let count = inputs.first().map_or(0, Vec::len);
    assert!(inputs.iter().all(|i| i.len() == count));
    let flat: Vec<u64> = inputs.iter().flatten().flatten().copied().collect();
    let (from, to) = (Memory::new(&flat), Memory::new(&vec![0xdead; count * instances.len() * 2]));
    let params = [from.address(), to.address(), count as u64];
    assert_eq!(launch(module, count.div_ceil(64) as u32, 64, &params), CUresult::CUDA_SUCCESS);
    let words = to.read(count * instances.len() * 2);
    unload(module);
    let pairs: Vec<[u64; 2]> = words.chunks(2).map(|c| [c[0], c[1]]).collect();
    pairs.chunks(count.max(1)).map(<[[u64; 2]]>::to_vec).collect()
}
