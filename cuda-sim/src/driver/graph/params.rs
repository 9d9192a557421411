//! Conversions between C's node parameters and work.
//!
//! Everything is checked and copied when a node is created, by the code that streams use: parameters that a stream
//! would refuse are refused here.
//!
//! # Safety
//!
//! Pointers come from C callers and are null or valid for the call, by CUDA's contract (see the `driver` module). Of a
//! union the member is read that its type field selects.

use super::memory::{GraphMemory, device_of, freed_by_node};
use super::nodes::Node;
use super::{Graphs, INVALID, Status, Work, conditional, get};
use crate::driver::event::event;
use crate::driver::launch::{Configuration, LaunchKind, configured, prepare};
use crate::driver::memory::copy::{checked_copy, checked_fill, description};
use crate::driver::module::library;
use crate::driver::operations::{ClientPointer, Fill, Op};
use crate::driver::state::{Context, context, healthy, owner, with_current};
use crate::exec::launch::Launch;
use cuda_sys::{
    CUDA_HOST_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS_v1, CUDA_MEM_ALLOC_NODE_PARAMS,
    CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS, CUcontext, CUdeviceptr, CUevent, CUfunction, CUgraph,
    CUgraphChildGraphNodeOwnership, CUgraphNodeParams, CUgraphNodeType, CUlaunchAttributeID, CUlaunchAttributeValue,
    CUlaunchAttributeValue_clusterDim, CUresult,
};
use std::sync::Arc;

/// The parameters of a new node.
pub(super) enum NewNode {
    Work(Work),
    Child(usize),
    Conditional(conditional::ConditionalParams),
}

/// Returns the context of a node; null means the current one.
fn node_context(handle: CUcontext) -> Result<Arc<Context>, CUresult> {
    if handle.is_null() {
        return healthy();
    }
    let found = context(handle)?;
    found.fault()?;
    Ok(found)
}

/// Returns the context and the launch kind of work, which new parameters may omit.
pub(super) fn kept(work: &Work) -> (CUcontext, LaunchKind) {
    let context = work.context().map_or(std::ptr::null_mut(), |context| context.raw());
    let kind = if let Work::Op(_, Op::Kernel { launch, .. }) = work { kind(launch) } else { LaunchKind::default() };
    (context, kind)
}

pub(super) fn kind(launch: &Launch) -> LaunchKind {
    LaunchKind { cooperative: launch.cooperative, cluster: launch.cluster }
}

/// Returns the launch kind of a kernel node.
pub(super) fn kind_of(node: &Node) -> Result<LaunchKind, CUresult> {
    if let Work::Op(_, Op::Kernel { launch, .. }) = &node.work { Ok(kind(launch)) } else { Err(INVALID) }
}

/// The attributes that are part of a launch's kind.
const COOPERATIVE: CUlaunchAttributeID = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
const CLUSTER: CUlaunchAttributeID = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;

/// Converts kernel node parameters from the old struct.
pub(super) fn of_v1(old: CUDA_KERNEL_NODE_PARAMS_v1) -> CUDA_KERNEL_NODE_PARAMS {
    CUDA_KERNEL_NODE_PARAMS {
        func: old.func,
        gridDimX: old.gridDimX,
        gridDimY: old.gridDimY,
        gridDimZ: old.gridDimZ,
        blockDimX: old.blockDimX,
        blockDimY: old.blockDimY,
        blockDimZ: old.blockDimZ,
        sharedMemBytes: old.sharedMemBytes,
        kernelParams: old.kernelParams,
        extra: old.extra,
        kern: std::ptr::null_mut(),
        ctx: std::ptr::null_mut(),
    }
}

/// Converts kernel node parameters to the old struct.
pub(super) fn to_v1(new: &CUDA_KERNEL_NODE_PARAMS) -> CUDA_KERNEL_NODE_PARAMS_v1 {
    CUDA_KERNEL_NODE_PARAMS_v1 {
        func: new.func,
        gridDimX: new.gridDimX,
        gridDimY: new.gridDimY,
        gridDimZ: new.gridDimZ,
        blockDimX: new.blockDimX,
        blockDimY: new.blockDimY,
        blockDimZ: new.blockDimZ,
        sharedMemBytes: new.sharedMemBytes,
        kernelParams: new.kernelParams,
        extra: new.extra,
    }
}

/// Returns the launch of a kernel node; its kind is set by attributes of the node.
pub(super) fn kernel(p: &CUDA_KERNEL_NODE_PARAMS, kind: LaunchKind) -> Result<Work, CUresult> {
    let named: CUfunction = if p.func.is_null() { p.kern.cast() } else { p.func };
    if !p.kernelParams.is_null() && !p.extra.is_null() {
        return Err(INVALID);
    }
    // A library's kernel means its function in the node's context, or in the current one.
    let f = match library::is_kernel(named) {
        true => with_current(&node_context(p.ctx)?, || library::function_of(named))?.unwrap_or(named),
        false => named,
    };
    crate::driver::module::function(f)?;
    let owner = owner(f.addr())?;
    owner.fault()?;
    if !p.ctx.is_null() && context(p.ctx)?.id != owner.id {
        return Err(INVALID);
    }
    let how = Configuration {
        grid: [p.gridDimX, p.gridDimY, p.gridDimZ],
        block: [p.blockDimX, p.blockDimY, p.blockDimZ],
        shared: p.sharedMemBytes,
        kind,
    };
    let op = prepare(f, owner.id, how, p.kernelParams, p.extra)?;
    Ok(Work::Op(owner, op))
}

/// Returns the parameters of a kernel node. The addresses of its arguments stay valid until it is changed.
pub(super) fn kernel_of(node: &mut Node) -> Result<CUDA_KERNEL_NODE_PARAMS, CUresult> {
    let Work::Op(context, Op::Kernel { launch, function }) = &node.work else { return Err(INVALID) };
    let base = launch.params.as_ptr().addr();
    let params = &function.kernel.signature().params;
    node.exposed = params.iter().map(|param| base + param.offset as usize).collect();
    let ([x, y, z], [bx, by, bz]) = (launch.grid, launch.block);
    Ok(CUDA_KERNEL_NODE_PARAMS {
        func: std::ptr::without_provenance_mut(function.handle),
        gridDimX: x,
        gridDimY: y,
        gridDimZ: z,
        blockDimX: bx,
        blockDimY: by,
        blockDimZ: bz,
        sharedMemBytes: launch.dynamic_shared,
        kernelParams: if node.exposed.is_empty() { std::ptr::null_mut() } else { node.exposed.as_mut_ptr().cast() },
        extra: std::ptr::null_mut(),
        kern: std::ptr::null_mut(),
        ctx: context.raw(),
    })
}

/// Sets the launch kind of a kernel node.
pub(super) fn set_kind(node: &mut Node, kind: LaunchKind) -> Status {
    let Work::Op(_, Op::Kernel { launch, function }) = &mut node.work else { return Err(INVALID) };
    let how = Configuration { grid: launch.grid, block: launch.block, shared: launch.dynamic_shared, kind };
    let params = launch.params.clone();
    **launch = configured(function, launch.context, how, || Ok(params))?;
    node.exposed.clear();
    Ok(())
}

/// Sets an attribute of a kernel node. Attributes without effect are stored.
pub(super) fn set_attribute(node: &mut Node, which: CUlaunchAttributeID, value: CUlaunchAttributeValue) -> Status {
    let kind = kind_of(node)?;
    // SAFETY: every member of the union is plain data of its full size, and those compared begin with an integer.
    let wanted = unsafe { value.cooperative };
    match which {
        COOPERATIVE => set_kind(node, LaunchKind { cooperative: wanted != 0, ..kind })?,
        CLUSTER => {
            // SAFETY: every member of the union is plain data of its full size.
            let CUlaunchAttributeValue_clusterDim { x, y, z } = unsafe { value.clusterDim };
            if [x, y, z].contains(&0) {
                return Err(INVALID);
            }
            set_kind(node, LaunchKind { cluster: Some([x, y, z]), ..kind })?;
        }
        CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE if wanted != 0 => {
            return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
        }
        _ if (1..=16).contains(&which.0) => {}
        _ => return Err(INVALID),
    }
    node.attributes.0.insert(which.0, value);
    Ok(())
}

/// Returns an attribute of a kernel node; zeros if it was not set.
pub(super) fn attribute(node: &Node, which: CUlaunchAttributeID) -> Result<CUlaunchAttributeValue, CUresult> {
    let Work::Op(_, Op::Kernel { launch, .. }) = &node.work else { return Err(INVALID) };
    let mut value = CUlaunchAttributeValue { pad: [0; 64] };
    match which {
        COOPERATIVE => value.cooperative = launch.cooperative.into(),
        CLUSTER => {
            if let Some([x, y, z]) = launch.cluster {
                value.clusterDim = CUlaunchAttributeValue_clusterDim { x, y, z };
            }
        }
        _ if (1..=16).contains(&which.0) => value = node.attributes.0.get(&which.0).copied().unwrap_or(value),
        _ => return Err(INVALID),
    }
    Ok(value)
}

pub(super) fn memcpy(p: &CUDA_MEMCPY3D, on: CUcontext) -> Result<Work, CUresult> {
    let context = node_context(on)?;
    let copy = checked_copy(p)?;
    // An empty copy has no effect, but its parameters can be read.
    Ok(Work::Op(context, Op::Copy(copy)))
}

pub(super) fn memcpy_of(node: &Node) -> Result<CUDA_MEMCPY3D, CUresult> {
    match &node.work {
        Work::Op(_, Op::Copy(copy)) => Ok(description(copy)),
        _ => Err(INVALID),
    }
}

pub(super) fn memset(p: &CUDA_MEMSET_NODE_PARAMS, on: CUcontext) -> Result<Work, CUresult> {
    let context = node_context(on)?;
    let size = p.elementSize as usize;
    if !matches!(size, 1 | 2 | 4) || (size < 4 && p.value >> (8 * size) != 0) {
        return Err(INVALID);
    }
    let fill = Fill { to: p.dst, value: p.value, size, width: p.width, rows: p.height, pitch: p.pitch };
    // Empty fills are refused, as in NVIDIA's driver.
    let fill = checked_fill(fill)?.ok_or(INVALID)?;
    Ok(Work::Op(context, Op::Fill(fill)))
}

pub(super) fn memset_of(node: &Node) -> Result<CUDA_MEMSET_NODE_PARAMS, CUresult> {
    let Work::Op(_, Op::Fill(fill)) = &node.work else { return Err(INVALID) };
    Ok(CUDA_MEMSET_NODE_PARAMS {
        dst: fill.to,
        pitch: fill.pitch,
        value: fill.value,
        elementSize: fill.size as u32,
        width: fill.width,
        height: fill.rows,
    })
}

pub(super) fn host(p: CUDA_HOST_NODE_PARAMS) -> Result<Work, CUresult> {
    Ok(Work::Op(healthy()?, Op::Host(p.fn_.ok_or(INVALID)?, ClientPointer(p.userData))))
}

pub(super) fn host_of(node: &Node) -> Result<CUDA_HOST_NODE_PARAMS, CUresult> {
    match &node.work {
        Work::Op(_, Op::Host(function, data)) => Ok(CUDA_HOST_NODE_PARAMS { fn_: Some(*function), userData: data.0 }),
        _ => Err(INVALID),
    }
}

/// Returns the work of an allocation node, and writes the address to `p`.
pub(super) fn alloc(p: &mut CUDA_MEM_ALLOC_NODE_PARAMS) -> Result<Work, CUresult> {
    let context = healthy()?;
    let memory = GraphMemory::new(&context, device_of(&p.poolProps)?, p.bytesize)?;
    p.dptr = memory.base;
    Ok(Work::Op(context, Op::Memory(memory, true)))
}

pub(super) fn alloc_of(node: &Node) -> Result<CUDA_MEM_ALLOC_NODE_PARAMS, CUresult> {
    use cuda_sys::{CUmemAllocationType, CUmemLocation, CUmemLocationType, CUmemPoolProps};
    let Work::Op(_, Op::Memory(memory, true)) = &node.work else { return Err(INVALID) };
    let props = CUmemPoolProps {
        allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        location: CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: memory.device as i32 },
        ..CUmemPoolProps::default()
    };
    Ok(CUDA_MEM_ALLOC_NODE_PARAMS {
        poolProps: props,
        accessDescs: std::ptr::null(),
        accessDescCount: 0,
        bytesize: memory.bytes as usize,
        dptr: memory.base,
    })
}

pub(super) fn free(address: CUdeviceptr) -> Result<Work, CUresult> {
    Ok(Work::Op(healthy()?, Op::Memory(freed_by_node(address)?, false)))
}

pub(super) fn free_of(node: &Node) -> Result<CUdeviceptr, CUresult> {
    match &node.work {
        Work::Op(_, Op::Memory(memory, false)) => Ok(memory.base),
        _ => Err(INVALID),
    }
}

pub(super) fn record(handle: CUevent) -> Result<Work, CUresult> {
    Ok(Work::Record(handle.addr(), event(handle)?))
}

pub(super) fn wait(handle: CUevent) -> Result<Work, CUresult> {
    Ok(Work::Wait(handle.addr(), event(handle)?))
}

/// Returns the event of a record or wait node.
pub(super) fn event_of(node: &Node, kind: CUgraphNodeType) -> Result<CUevent, CUresult> {
    match &node.work {
        work @ (Work::Record(event, _) | Work::Wait(event, _)) if work.kind() == kind => {
            Ok(std::ptr::without_provenance_mut(*event))
        }
        _ => Err(INVALID),
    }
}

/// Returns the graph of a child node.
pub(super) fn child_of(node: &Node) -> Result<usize, CUresult> {
    match &node.work {
        Work::Child(graph) => Ok(*graph),
        _ => Err(INVALID),
    }
}

/// Returns the node for parameters of any kind. `kind` is the launch kind of an existing kernel node.
pub(super) fn any(p: &mut CUgraphNodeParams, kind: LaunchKind) -> Result<NewNode, CUresult> {
    use CUgraphNodeType as T;
    let u = &mut p.anon_1;
    let work = match p.type_ {
        T::CU_GRAPH_NODE_TYPE_KERNEL => {
            // SAFETY: the type field says that the union holds this member.
            let k = unsafe { u.kernel };
            let mut now = of_v1(CUDA_KERNEL_NODE_PARAMS_v1 {
                func: k.func,
                gridDimX: k.gridDimX,
                gridDimY: k.gridDimY,
                gridDimZ: k.gridDimZ,
                blockDimX: k.blockDimX,
                blockDimY: k.blockDimY,
                blockDimZ: k.blockDimZ,
                sharedMemBytes: k.sharedMemBytes,
                kernelParams: k.kernelParams,
                extra: k.extra,
            });
            (now.kern, now.ctx) = (k.kern, k.ctx);
            kernel(&now, kind)?
        }
        T::CU_GRAPH_NODE_TYPE_MEMCPY => {
            // SAFETY: the type field says that the union holds this member.
            let m = unsafe { u.memcpy };
            memcpy(&m.copyParams, m.copyCtx)?
        }
        T::CU_GRAPH_NODE_TYPE_MEMSET => {
            // SAFETY: the type field says that the union holds this member.
            let m = unsafe { u.memset };
            let now = CUDA_MEMSET_NODE_PARAMS {
                dst: m.dst,
                pitch: m.pitch,
                value: m.value,
                elementSize: m.elementSize,
                width: m.width,
                height: m.height,
            };
            memset(&now, m.ctx)?
        }
        T::CU_GRAPH_NODE_TYPE_HOST => {
            // SAFETY: the type field says that the union holds this member.
            let h = unsafe { u.host };
            host(CUDA_HOST_NODE_PARAMS { fn_: h.fn_, userData: h.userData })?
        }
        T::CU_GRAPH_NODE_TYPE_GRAPH => {
            // SAFETY: the type field says that the union holds this member.
            return unsafe { child(u.graph.graph, u.graph.ownership) };
        }
        T::CU_GRAPH_NODE_TYPE_EMPTY => Work::Empty,
        // SAFETY: the type field says that the union holds this member.
        T::CU_GRAPH_NODE_TYPE_WAIT_EVENT => wait(unsafe { u.eventWait.event })?,
        // SAFETY: the type field says that the union holds this member.
        T::CU_GRAPH_NODE_TYPE_EVENT_RECORD => record(unsafe { u.eventRecord.event })?,
        T::CU_GRAPH_NODE_TYPE_MEM_ALLOC => {
            // SAFETY: the type field says that the union holds this member.
            let a = unsafe { &mut u.alloc };
            let mut now = CUDA_MEM_ALLOC_NODE_PARAMS {
                poolProps: a.poolProps,
                accessDescs: a.accessDescs,
                accessDescCount: a.accessDescCount,
                bytesize: a.bytesize,
                dptr: a.dptr,
            };
            let work = alloc(&mut now)?;
            a.dptr = now.dptr;
            work
        }
        // SAFETY: the type field says that the union holds this member.
        T::CU_GRAPH_NODE_TYPE_MEM_FREE => free(unsafe { u.free.dptr })?,
        T::CU_GRAPH_NODE_TYPE_CONDITIONAL => {
            // SAFETY: the type field says that the union holds this member.
            return conditional::read_params(unsafe { &u.conditional }).map(NewNode::Conditional);
        }
        T::CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL
        | T::CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT
        | T::CU_GRAPH_NODE_TYPE_BATCH_MEM_OP => {
            tracing::warn!("graph nodes of type {:?} are not supported", p.type_);
            return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
        }
        _ => return Err(INVALID),
    };
    Ok(NewNode::Work(work))
}

fn child(graph: CUgraph, ownership: CUgraphChildGraphNodeOwnership) -> Result<NewNode, CUresult> {
    match ownership {
        CUgraphChildGraphNodeOwnership::CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE => Ok(NewNode::Child(graph.addr())),
        _ => {
            tracing::warn!("moving the ownership of a child graph is not supported: child graphs are copied");
            Err(CUresult::CUDA_ERROR_NOT_SUPPORTED)
        }
    }
}

/// Adds the node.
pub(super) fn create(graphs: &mut Graphs, graph: usize, after: &[usize], new: NewNode) -> Result<usize, CUresult> {
    match new {
        NewNode::Work(work) => graphs.add(graph, after, work),
        NewNode::Child(of) => graphs.add_child(graph, after, of),
        NewNode::Conditional(asked) => conditional::add(graphs, graph, after, asked),
    }
}

/// Reads an array of handles.
pub(super) fn handles<T>(from: *const *mut T, count: usize) -> Result<Vec<usize>, CUresult> {
    (0..count).map(|i| get(from.wrapping_add(i)).map(|handle| handle.addr())).collect()
}
