//! Copies on the device between layouts that the driver's copies do not support: a small kernel, each thread of which
//! moves units of 1 to 16 bytes.
//!
//! # Safety
//!
//! The kernel accesses only the memory that its parameters describe; the `unsafe` blocks load and launch it for plans
//! whose elements lie in live memory, as the callers guarantee.

use std::fmt::Write;

use cuda_driver::{Context, Function, LaunchConfig, Module, Stream, cuda_sys::CUdeviceptr};
use parking_lot::Mutex;
use smallvec::SmallVec;

use crate::error::Result;
use crate::layout::CopyPlan;

/// The number of axes that the kernel supports.
const AXES: usize = 8;

/// Threads in a block.
const BLOCK: u32 = 256;

/// An axis in the kernel's parameters: its extent, and the strides in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Axis {
    extent: u64,
    to: i64,
    from: i64,
}

/// A copy in units of `1 << unit` bytes, from the slowest axis to the fastest.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Units {
    unit: u32,
    axes: SmallVec<[Axis; AXES]>,
}

/// The plan in the largest unit of which addresses, rows and strides are multiples.
fn units(plan: &CopyPlan, bytes: usize, to: CUdeviceptr, from: CUdeviceptr) -> Units {
    let row = (plan.contiguous() * bytes) as u64;
    let axis = |run: &crate::layout::PlanAxis| Axis {
        extent: run.extent as u64,
        to: run.to as i64 * bytes as i64,
        from: run.from as i64 * bytes as i64,
    };
    let mut axes: SmallVec<[Axis; AXES]> = plan.outer().iter().map(axis).collect();
    let bits = axes.iter().fold(row | to | from, |bits, axis| bits | (axis.to | axis.from) as u64);
    let unit = bits.trailing_zeros().min(4);
    if row >> unit > 1 {
        axes.push(Axis { extent: row >> unit, to: 1 << unit, from: 1 << unit });
    }
    Units { unit, axes }
}

/// Copies the elements of a plan, each of `bytes`, on `stream`; `to` and `from` are the first elements' addresses.
///
/// # Safety
///
/// Every element of the plan lies in live memory of the stream's context; the target's elements overlap neither each
/// other nor the source's; the accesses are ordered on the stream.
pub(crate) unsafe fn copy(
    stream: &Stream,
    plan: &CopyPlan,
    bytes: usize,
    to: CUdeviceptr,
    from: CUdeviceptr,
) -> Result<()> {
    let to = to.wrapping_add_signed(plan.to as i64 * bytes as i64);
    let from = from.wrapping_add_signed(plan.from as i64 * bytes as i64);
    let Units { unit, axes } = units(plan, bytes, to, from);
    let function = function(stream.context(), unit)?;
    // SAFETY: the caller keeps this function's contract.
    unsafe { copy_axes(&function, stream, &axes, to, from) }
}

/// Launches the kernel, several times if there are more axes or elements than it supports.
///
/// # Safety
///
/// As [`copy`].
unsafe fn copy_axes(
    function: &Function,
    stream: &Stream,
    axes: &[Axis],
    to: CUdeviceptr,
    from: CUdeviceptr,
) -> Result<()> {
    let count = axes.iter().fold(1_u64, |count, axis| count.saturating_mul(axis.extent));
    let (Ok(count), true) = (u32::try_from(count), axes.len() <= AXES) else {
        let (slowest, others) = (axes[0], &axes[1..]);
        // A single axis is split into pieces; of several, the slowest is iterated here.
        let step = if others.is_empty() { u64::from(u32::MAX) } else { 1 };
        for start in (0..slowest.extent).step_by(step as usize) {
            let (to, from) = (
                to.wrapping_add_signed(start as i64 * slowest.to),
                from.wrapping_add_signed(start as i64 * slowest.from),
            );
            let piece = Axis { extent: step.min(slowest.extent - start), ..slowest };
            let rest: SmallVec<[Axis; AXES]> =
                if others.is_empty() { [piece].into_iter().collect() } else { others.into() };
            // SAFETY: these are a part of the elements that the caller answers for.
            unsafe { copy_axes(function, stream, &rest, to, from) }?;
        }
        return Ok(());
    };
    let mut table = [Axis::default(); AXES];
    table[..axes.len()].copy_from_slice(axes);
    let blocks = count.div_ceil(BLOCK).min(1 << 16);
    let values = (to, from, count, axes.len() as u32, table);
    // SAFETY: the parameters are the kernel's; the caller answers for the memory.
    Ok(unsafe { function.launch_with(&LaunchConfig::new(blocks, BLOCK), stream, values) }?)
}

/// The kernel for a unit in a context, loaded once. It stays loaded for the process's lifetime, as typed kernels do.
fn function(context: &Context, unit: u32) -> Result<Function> {
    static LOADED: Mutex<Vec<(u64, Function)>> = Mutex::new(Vec::new());
    let name = format!("copy_{}", 1 << unit);
    let mut loaded = LOADED.lock();
    let known = loaded.iter().find(|(id, function)| *id == context.id() && function.name() == name);
    if let Some((_, function)) = known {
        return Ok(function.clone());
    }
    // SAFETY: the kernel only accesses the memory that its parameters describe.
    let function = unsafe { Module::load_ptx(context, &kernel(unit)) }?.function(&name)?;
    loaded.push((context.id(), function.clone()));
    Ok(function)
}

/// The PTX of the kernel for a unit of `1 << unit` bytes.
fn kernel(unit: u32) -> String {
    let (load, store, value) = match unit {
        0..=3 => {
            let bits = 8 << unit;
            (format!("ld.global.b{bits} %v, [%from]"), format!("st.global.b{bits} [%to], %v"), unit_register(unit))
        }
        _ => (
            "ld.global.v2.b64 {%v, %w}, [%from]".to_owned(),
            "st.global.v2.b64 [%to], {%v, %w}".to_owned(),
            ".reg .b64 %v, %w;",
        ),
    };
    let mut text = String::new();
    let _ = write!(
        text,
        "\
.version 6.4
.target sm_75
.address_size 64

.visible .entry copy_{bytes}(
    .param .u64 target,
    .param .u64 source,
    .param .u32 count,
    .param .u32 axes,
    .param .align 8 .b8 table[{table}])
{{
    .reg .pred %p;
    .reg .b32 %i, %count, %axes, %left, %rest, %extent, %whole, %index, %block, %threads, %grid, %step;
    .reg .b64 %target, %source, %to, %from, %axis, %end, %stride, %wide;
    {value}

    ld.param.u64 %target, [target];
    ld.param.u64 %source, [source];
    ld.param.u32 %count, [count];
    ld.param.u32 %axes, [axes];
    cvta.to.global.u64 %target, %target;
    cvta.to.global.u64 %source, %source;
    mov.u64 %end, table;
    mul.wide.u32 %wide, %axes, 24;
    add.s64 %end, %end, %wide;
    mov.u32 %block, %ctaid.x;
    mov.u32 %threads, %ntid.x;
    mov.u32 %i, %tid.x;
    mad.lo.u32 %i, %block, %threads, %i;
    mov.u32 %grid, %nctaid.x;
    mul.lo.u32 %step, %grid, %threads;
    setp.ge.u32 %p, %i, %count;
    @%p bra DONE;
UNIT:
    mov.u64 %to, %target;
    mov.u64 %from, %source;
    mov.u64 %axis, %end;
    mov.u32 %left, %axes;
    mov.u32 %rest, %i;
    setp.eq.u32 %p, %left, 0;
    @%p bra MOVE;
AXIS:
    sub.s64 %axis, %axis, 24;
    ld.param.u32 %extent, [%axis];
    div.u32 %whole, %rest, %extent;
    mul.lo.u32 %index, %whole, %extent;
    sub.u32 %index, %rest, %index;
    mov.u32 %rest, %whole;
    cvt.u64.u32 %wide, %index;
    ld.param.u64 %stride, [%axis+8];
    mad.lo.s64 %to, %wide, %stride, %to;
    ld.param.u64 %stride, [%axis+16];
    mad.lo.s64 %from, %wide, %stride, %from;
    sub.u32 %left, %left, 1;
    setp.ne.u32 %p, %left, 0;
    @%p bra AXIS;
MOVE:
    {load};
    {store};
    sub.u32 %rest, %count, %i;
    add.u32 %i, %i, %step;
    setp.gt.u32 %p, %rest, %step;
    @%p bra UNIT;
DONE:
    ret;
}}
",
        bytes = 1 << unit,
        table = AXES * size_of::<Axis>(),
    );
    text
}

fn unit_register(unit: u32) -> &'static str {
    match unit {
        3 => ".reg .b64 %v;",
        2 => ".reg .b32 %v;",
        _ => ".reg .b16 %v;",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::PlanAxis;

    #[test]
    fn units_are_as_large_as_rows_strides_and_addresses_allow() {
        let plan = |runs: &[(usize, isize, isize)]| CopyPlan {
            to: 0,
            from: 0,
            runs: runs.iter().map(|&(extent, to, from)| PlanAxis { extent, to, from }).collect(),
        };
        let rows = plan(&[(3, 64, 128), (32, 1, 1)]);
        let Units { unit, axes } = units(&rows, 1, 256, 512);
        assert_eq!((unit, axes.len()), (4, 2));
        assert_eq!(axes[1], Axis { extent: 2, to: 16, from: 16 });
        assert_eq!(units(&rows, 1, 256, 514).unit, 1, "the source's address");
        assert_eq!(units(&plan(&[(3, 63, 128), (32, 1, 1)]), 1, 256, 512).unit, 0, "a stride");
        assert_eq!(units(&plan(&[(3, -2, 5)]), 12, 256, 512).unit, 2, "elements of 12 bytes");
        assert_eq!(units(&plan(&[(3, -2, 5)]), 12, 256, 512).axes[1], Axis { extent: 3, to: 4, from: 4 });
        assert_eq!(units(&plan(&[]), 8, 8, 16), Units { unit: 3, axes: SmallVec::new() });
    }
}
