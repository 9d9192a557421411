//! Executable graphs: nodes in topological order, with copies of their parameters, divided into lanes that are queues
//! during a launch.
//!
//! A lane is a chain of nodes that run one after the other; nodes of different lanes run concurrently unless an edge
//! orders them. The first lane runs in the stream's own queue, each other one in a queue of the launch; all are
//! enqueued as one batch. A launch follows the previous one of the same executable graph.
//!
//! Changes affect later launches only: a launch has copies of everything, so an executable graph may be destroyed while
//! it runs. Child graphs are flattened: their nodes precede the child node, which joins them. The graphs of a
//! conditional node are not lanes: the node runs them itself.

use super::conditional::{self, Conditional, ConditionalBody, ConditionalRun, ConditionalValue};
use super::memory::{self, GraphMemory};
use super::nodes::Graph;
use super::object::Retained;
use super::params::kind;
use super::{Graphs, INVALID, Status, Work, capture};
use crate::driver::event::{Event, EventRecord, Mark};
use crate::driver::memory::copy::on_device_sides;
use crate::driver::operations::{Item, Op, Recorded, Run};
use crate::driver::state::{Context, ENGINE};
use crate::driver::stream::Stream;
use crate::driver::trace::{self, Track};
use crate::queue::{BatchEntry as Entry, DRIVERS, Lane, Point};
use cuda_sys::{CUgraphExecUpdateResult, CUgraphNodeType, CUresult};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A node of an executable graph.
struct Step {
    node: usize,
    work: Work,
    enabled: bool,
    /// Indices of the earlier steps on which it depends.
    after: Vec<usize>,
    lane: usize,
    /// For a child node: the steps of its graph, which directly precede it.
    children: Range<usize>,
    /// For a conditional node: its body graphs.
    bodies: Vec<Body>,
}

/// A body graph of a conditional node.
struct Body {
    steps: Vec<Step>,
    values: Vec<Arc<ConditionalValue>>,
}

/// The work that a launch enqueues.
struct Program {
    steps: Vec<Step>,
    /// The context of each lane; `None` if none of its nodes needs one.
    lanes: Vec<Option<Arc<Context>>>,
    /// The end of the last launch.
    last: Option<Point>,
    kept: Retained,
    /// The values of its conditional nodes.
    values: Vec<Arc<ConditionalValue>>,
}

pub(super) struct Exec {
    pub(super) handle: usize,
    pub(super) flags: u64,
    program: Mutex<Program>,
}

/// The reason why an update is refused: the result, the node of the new graph, and the one on which it depends.
pub(super) struct Refused(pub(super) CUgraphExecUpdateResult, pub(super) usize, pub(super) usize);

/// `AUTO_FREE`: the next launch frees what is still allocated. It excludes launches from the device.
pub(super) const AUTO_FREE: u64 = 1;
const DEVICE_LAUNCH: u64 = 4;
/// All flags: auto free, upload, device launch, node priorities.
const FLAGS: u64 = 15;

/// Flattens a graph and its child graphs into steps.
fn flatten(graphs: &Graphs, graph: usize, after: &[usize], steps: &mut Vec<Step>) -> Result<(), usize> {
    let Some(found) = graphs.graphs.get(&graph) else { return Ok(()) };
    let first = steps.len();
    let mut place: HashMap<usize, usize> = HashMap::new();
    for id in found.order()? {
        let node = &found.nodes[&id];
        let mut own: Vec<usize> = node.after.iter().filter_map(|n| place.get(n).copied()).collect();
        if own.is_empty() {
            own.extend(after);
        }
        let begin = steps.len();
        if let Work::Child(child) = &node.work {
            flatten(graphs, *child, &own, steps)?;
            let inner = &steps[begin..];
            let led: Vec<usize> = inner.iter().flat_map(|step| step.after.iter().copied()).collect();
            let leaves: Vec<usize> = (begin..steps.len()).filter(|at| !led.contains(at)).collect();
            if !leaves.is_empty() {
                own = leaves;
            }
        }
        let children = begin..steps.len();
        place.insert(id, steps.len());
        let (work, bodies) = (node.work.clone(), bodies(graphs, id, &node.work)?);
        steps.push(Step { node: id, work, enabled: true, after: own, lane: 0, children, bodies });
    }
    debug_assert!(steps[first..].iter().enumerate().all(|(at, step)| step.after.iter().all(|n| *n < first + at)));
    Ok(())
}

/// Returns the body graphs of a conditional node. The error is a node that is not allowed in a body.
fn bodies(graphs: &Graphs, node: usize, work: &Work) -> Result<Vec<Body>, usize> {
    let Work::Conditional(conditional) = work else { return Ok(Vec::new()) };
    let fits = |step: &Step| {
        let here = step.work.context().is_none_or(|context| context.id == conditional.context.id);
        here && conditional::allowed(&step.work)
    };
    let body = |graph: &usize| {
        let mut steps = Vec::new();
        flatten(graphs, *graph, &[], &mut steps)?;
        if let Some(step) = steps.iter().find(|step| !fits(step)) {
            tracing::warn!("the body of a conditional node cannot have a node of type {:?}", step.work.kind());
            return Err(step.node);
        }
        let values = graphs.graphs.get(graph).ok_or(node)?.values.clone();
        Ok(Body { steps, values })
    };
    conditional.bodies.iter().map(body).collect()
}

/// Assigns steps to lanes: a step follows one of its dependencies if that is the last of its lane, else it starts a new
/// lane.
fn arrange(steps: &mut [Step]) -> Vec<Option<Arc<Context>>> {
    let mut lanes: Vec<Option<Arc<Context>>> = Vec::new();
    let mut ends: Vec<usize> = Vec::new();
    for at in 0..steps.len() {
        let own = steps[at].work.context().cloned();
        let fits = |lane: usize| match (&lanes[lane], &own) {
            (Some(there), Some(own)) => there.id == own.id,
            _ => true,
        };
        let mut chains = steps[at].after.iter().map(|n| steps[*n].lane);
        let found = chains.find(|lane| steps[at].after.contains(&ends[*lane]) && fits(*lane));
        // With more lanes than driver threads, no more of them would run concurrently.
        let found = found.or_else(|| (0..lanes.len()).filter(|_| lanes.len() >= DRIVERS).find(|lane| fits(*lane)));
        let lane = found.unwrap_or(lanes.len());
        if lane == lanes.len() {
            lanes.push(None);
            ends.push(at);
        }
        if lanes[lane].is_none() {
            lanes[lane] = own;
        }
        ends[lane] = at;
        steps[at].lane = lane;
    }
    lanes
}

/// Returns the allocations that nodes make (or free).
fn memory_of(steps: &[Step], allocates: bool) -> Vec<Arc<GraphMemory>> {
    let memory = |step: &Step| match &step.work {
        Work::Op(_, Op::Memory(memory, how)) if *how == allocates => Some(Arc::clone(memory)),
        _ => None,
    };
    steps.iter().filter_map(memory).collect()
}

/// Checks that work may be replaced by other work in an update.
fn replaceable(old: &Work, new: &Work) -> Result<(), CUgraphExecUpdateResult> {
    use CUgraphExecUpdateResult as R;
    match (old, new) {
        (Work::Op(before, a), Work::Op(after, b)) => match (a, b) {
            (Op::Kernel { .. }, Op::Kernel { .. }) if before.id != after.id => {
                Err(R::CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE)
            }
            (Op::Kernel { launch: a, .. }, Op::Kernel { launch: b, .. }) if kind(a) != kind(b) => {
                Err(R::CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED)
            }
            (Op::Copy(a), Op::Copy(b)) if on_device_sides(a) != on_device_sides(b) => {
                Err(R::CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED)
            }
            (Op::Fill(a), Op::Fill(b)) => {
                let plane = a.rows > 1 || b.rows > 1;
                let same = (a.size, a.width, a.rows, a.pitch) == (b.size, b.width, b.rows, b.pitch);
                if plane && !same { Err(R::CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED) } else { Ok(()) }
            }
            (Op::Memory(a, _), Op::Memory(b, _)) if !Arc::ptr_eq(a, b) => {
                Err(R::CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED)
            }
            _ => Ok(()),
        },
        (Work::Conditional(a), Work::Conditional(b))
            if (a.kind, a.bodies.len(), a.context.id) != (b.kind, b.bodies.len(), b.context.id) =>
        {
            Err(R::CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED)
        }
        _ => Ok(()),
    }
}

/// Finds the step of a node, including in body graphs.
fn find(steps: &mut [Step], node: usize) -> Option<&mut Step> {
    steps.iter_mut().find_map(|step| match step.node == node {
        true => Some(step),
        false => step.bodies.iter_mut().find_map(|body| find(&mut body.steps, node)),
    })
}

/// Checks that new steps have the same topology as old ones, which begin at `first` in their program.
fn check_topology(old: &[Step], first: usize, new: &[Step]) -> Result<(), Refused> {
    use CUgraphExecUpdateResult as R;
    let changed = R::CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    if old.len() != new.len() {
        return Err(Refused(changed, 0, 0));
    }
    let inner =
        |after: &[usize], first: usize| -> Vec<usize> { after.iter().filter_map(|n| n.checked_sub(first)).collect() };
    for (a, b) in old.iter().zip(new) {
        let (before, after) = (inner(&a.after, first), inner(&b.after, 0));
        if before.len() != after.len() {
            return Err(Refused(changed, b.node, 0));
        }
        if let Some((_, from)) = before.iter().zip(&after).find(|(a, b)| a != b) {
            return Err(Refused(changed, b.node, new[*from].node));
        }
        if a.work.kind() != b.work.kind() {
            return Err(Refused(R::CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, b.node, 0));
        }
        replaceable(&a.work, &b.work).map_err(|result| Refused(result, b.node, 0))?;
        for (a, b) in a.bodies.iter().zip(&b.bodies) {
            check_topology(&a.steps, 0, &b.steps)?;
        }
    }
    Ok(())
}

/// Moves the work of new steps into old ones with the same topology.
fn replace_work(old: &mut [Step], new: Vec<Step>) {
    for (old, new) in old.iter_mut().zip(new) {
        // A child node keeps its own graph: the nodes in it are compared and replaced one by one.
        if !matches!(old.work, Work::Child(_)) {
            old.work = new.work;
        }
        for (old, new) in old.bodies.iter_mut().zip(new.bodies) {
            replace_work(&mut old.steps, new.steps);
            old.values = new.values;
        }
    }
}

/// Returns the operation of a conditional node in a launch.
fn branch(node: &Arc<Conditional>, bodies: &[Body], stream: u64, lane: u32) -> Op {
    let op = |step: &Step| match &step.work {
        _ if !step.enabled => None,
        Work::Op(_, op) => Some(op.clone()),
        Work::Conditional(node) => Some(branch(node, &step.bodies, stream, lane)),
        Work::Empty | Work::Child(_) | Work::Record(..) | Work::Wait(..) => None,
    };
    let body =
        |body: &Body| ConditionalBody { values: body.values.clone(), ops: body.steps.iter().filter_map(op).collect() };
    Op::ConditionalRun(Arc::new(ConditionalRun {
        node: Arc::clone(node),
        bodies: bodies.iter().map(body).collect(),
        stream,
        lane,
    }))
}

impl Program {
    fn new(graphs: &Graphs, graph: usize, kept: Retained) -> Result<Program, usize> {
        let mut steps = Vec::new();
        flatten(graphs, graph, &[], &mut steps)?;
        let lanes = arrange(&mut steps);
        let values = graphs.graphs.get(&graph).map(|found| found.values.clone()).unwrap_or_default();
        Ok(Program { steps, lanes, last: None, kept, values })
    }

    fn step(&mut self, node: usize) -> Result<&mut Step, CUresult> {
        find(&mut self.steps, node).ok_or(INVALID)
    }

    /// Moves the work from another program with the same topology.
    fn update(&mut self, range: Range<usize>, new: Vec<Step>) -> Result<(), Refused> {
        check_topology(&self.steps[range.clone()], range.start, &new)?;
        replace_work(&mut self.steps[range], new);
        Ok(())
    }

    /// Checks that every context used by the work exists and has not faulted.
    fn check(&self) -> Status {
        for context in self.lanes.iter().flatten() {
            if !context.live.load(Ordering::Acquire) {
                return Err(CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED);
            }
            context.fault()?;
        }
        Ok(())
    }

    /// Returns the operation of a step in this launch; event records add their time stamps to `times`.
    fn task(&self, at: usize, context: &Arc<Context>, stream: &Stream, lane: u32, times: &mut Times) -> Option<Item> {
        let step = &self.steps[at];
        let (context, op) = match &step.work {
            _ if !step.enabled => return None,
            Work::Op(context, op) => (context, op.for_relaunch()),
            Work::Record(_, event) => {
                let noted = event.note(Track { device: context.device, stream: stream.id, lane });
                times.push((at, Arc::clone(event), Arc::clone(&noted)));
                (context, Op::Record(noted))
            }
            Work::Wait(_, event) => (context, event.remote_wait()?),
            Work::Conditional(node) => (&node.context, branch(node, &step.bodies, stream.id, lane)),
            Work::Empty | Work::Child(_) => return None,
        };
        Some(Item::new(Arc::clone(context), stream.id, lane, op))
    }

    /// Enqueues all steps as one item of a stream.
    fn submit(&mut self, context: &Arc<Context>, stream: &Stream, name: String) {
        let own = self.lanes.first().is_none_or(|lane| lane.as_ref().is_none_or(|lane| lane.id == context.id));
        // Here the stream is lane 0. It is the program's first lane too, unless that belongs to another context.
        let shift = usize::from(!own);
        let mut lanes = vec![Lane::Queue(stream.queue)];
        let group = |lane: &Option<Arc<Context>>| lane.as_ref().map_or(context.group, |other| other.group);
        lanes.extend(self.lanes.iter().skip(1 - shift).map(|lane| Lane::New(group(lane), stream.priority)));
        let retains = !self.kept.is_empty() || !self.values.is_empty();
        let bracket = lanes.len() > 1 || self.steps.is_empty() || retains || trace::wanted();
        let (nodes, kept, values) = (self.steps.len(), self.kept.clone(), self.values.clone());
        let run = Arc::new(Run { name, nodes, stream: stream.id, span: Mutex::new(None), kept, values });
        let item = |op| Item::new(Arc::clone(context), stream.id, 0, op);

        let last: Vec<Point> = self.last.into_iter().collect();
        let (mut batch, mut times) = (Vec::new(), Vec::new());
        let first = usize::from(bracket);
        if bracket {
            let task = Some(item(Op::GraphStart(Arc::clone(&run))));
            batch.push(Entry { lane: 0, depends: last.clone(), after: Vec::new(), task });
        }
        let mut led = vec![false; self.steps.len()];
        for (at, step) in self.steps.iter().enumerate() {
            step.after.iter().for_each(|n| led[*n] = true);
            let lane = step.lane + shift;
            let mut after: Vec<usize> = step.after.iter().map(|n| n + first).collect();
            let root = after.is_empty();
            if root && bracket {
                after.push(0);
            }
            let mut depends = if root && !bracket { last.clone() } else { Vec::new() };
            if let Work::Wait(_, event) = &step.work {
                depends.extend(event.point());
            }
            let task = self.task(at, context, stream, lane as u32, &mut times);
            batch.push(Entry { lane, depends, after, task });
        }
        if bracket {
            let after = (0..led.len()).filter(|at| !led[*at]).map(|at| at + first).collect();
            batch.push(Entry { lane: 0, depends: Vec::new(), after, task: Some(item(Op::GraphEnd(run))) });
        }
        self.last = enqueue(&lanes, batch, &times, first).or(self.last);
    }

    /// Converts the steps to a graph without children.
    fn graph(&self, graphs: &mut Graphs) -> Result<usize, CUresult> {
        let unique = |step: &Step| matches!(&step.work, Work::Op(_, Op::Memory(..)) | Work::Conditional(_));
        if self.steps.iter().any(unique) {
            return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
        }
        let new = graphs.create();
        let mut place = Vec::new();
        for step in &self.steps {
            let after: Vec<usize> = step.after.iter().map(|n| place[*n]).collect();
            let work = match &step.work {
                Work::Child(_) => Work::Empty,
                _ if !step.enabled => Work::Empty,
                other => other.clone(),
            };
            place.push(graphs.add(new, &after, work)?);
        }
        graphs.graph(new)?.kept.clone_from(&self.kept);
        Ok(new)
    }
}

/// The events that a launch records: the step, the event and its time stamp.
type Times = Vec<(usize, Arc<Event>, Arc<Recorded>)>;

/// Submits a batch and marks the events that it records; returns its last point.
fn enqueue(lanes: &[Lane], batch: Vec<Entry<Item>>, times: &Times, first: usize) -> Option<Point> {
    // Locked until the points are known, so that another thread's wait sees them. Each event is locked once, in a fixed
    // order.
    let mut events: Vec<_> = times.iter().map(|(_, event, _)| event).collect();
    events.sort_by_key(|event| Arc::as_ptr(event));
    events.dedup_by(|a, b| Arc::ptr_eq(a, b));
    let mut marks: Vec<_> = events.iter().map(|event| (Arc::as_ptr(event), event.lock_mark())).collect();
    let points = ENGINE.submit_batch(lanes, batch);
    for (at, event, noted) in times {
        let record = EventRecord { point: points[at + first], noted: Arc::clone(noted) };
        if let Some((_, mark)) = marks.iter_mut().find(|(known, _)| *known == Arc::as_ptr(event)) {
            **mark = Mark::Record(record);
        }
    }
    points.last().copied()
}

impl Exec {
    /// Instantiates a graph; the error has the node that caused it.
    pub(super) fn new(graphs: &mut Graphs, graph: usize, flags: u64) -> Result<Arc<Exec>, (CUresult, usize)> {
        let found = graphs.graph(graph).map_err(|code| (code, 0))?;
        const EXCLUSIVE: u64 = AUTO_FREE | DEVICE_LAUNCH;
        if flags & !FLAGS != 0 || flags & EXCLUSIVE == EXCLUSIVE || found.capturing {
            return Err((INVALID, 0));
        }
        if flags & DEVICE_LAUNCH != 0 {
            tracing::warn!("launches of graphs from the device are not supported");
            return Err((CUresult::CUDA_ERROR_NOT_SUPPORTED, 0));
        }
        let tied = found.has_memory();
        if tied && found.executable.strong_count() > 0 {
            return Err((INVALID, 0));
        }
        let kept = found.kept.clone();
        let program = Program::new(graphs, graph, kept).map_err(|node| (INVALID, node))?;
        let handle = graphs.number();
        let exec = Arc::new(Exec { handle, flags, program: Mutex::new(program) });
        if let Some(found) = graphs.graphs.get_mut(&graph).filter(|_| tied) {
            found.executable = Arc::downgrade(&exec);
        }
        graphs.execs.insert(handle, Arc::clone(&exec));
        Ok(exec)
    }

    /// Launches in a stream. In a captured stream, the graph becomes a child node.
    pub(super) fn launch(&self, context: &Arc<Context>, stream: &Stream) -> Status {
        if stream.is_capturing() {
            return capture::add_graph(stream, |graphs| self.program.lock().graph(graphs));
        }
        let mut program = self.program.lock();
        program.check()?;
        let (allocates, frees) = (memory_of(&program.steps, true), memory_of(&program.steps, false));
        if !allocates.is_empty() || !frees.is_empty() {
            memory::launched(&allocates, &frees, self.flags & AUTO_FREE != 0)?;
        }
        program.submit(context, stream, format!("graph {:#x}", self.handle));
        Ok(())
    }

    /// Replaces a node's work for later launches.
    pub(super) fn change(&self, node: usize, work: Work) -> Status {
        let mut program = self.program.lock();
        let step = program.step(node)?;
        if step.work.kind() != work.kind() {
            return Err(INVALID);
        }
        if let (Work::Op(_, Op::Copy(a)), Work::Op(_, Op::Copy(b))) = (&step.work, &work)
            && (a.rows * a.slices > 1 || b.rows * b.slices > 1)
        {
            return Err(INVALID);
        }
        replaceable(&step.work, &work).map_err(|_| INVALID)?;
        step.work = work;
        Ok(())
    }

    /// Returns a node's work in this executable graph.
    pub(super) fn work(&self, node: usize) -> Result<Work, CUresult> {
        Ok(self.program.lock().step(node)?.work.clone())
    }

    /// Replaces the nodes of a child graph by those of another graph with the same topology.
    pub(super) fn change_child(&self, graphs: &Graphs, node: usize, graph: usize) -> Status {
        let new = Program::new(graphs, graph, Vec::new()).map_err(|_| INVALID)?;
        let mut program = self.program.lock();
        let step = program.step(node)?;
        if !matches!(step.work, Work::Child(_)) {
            return Err(INVALID);
        }
        let children = step.children.clone();
        program.update(children, new.steps).map_err(|_| INVALID)
    }

    /// Replaces all nodes by those of another graph with the same topology.
    pub(super) fn update(&self, graphs: &Graphs, graph: usize) -> Result<(), Refused> {
        let error = CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_ERROR;
        let kept = graphs.graphs.get(&graph).map(|graph: &Graph| graph.kept.clone());
        let kept = kept.ok_or(Refused(error, 0, 0))?;
        let new = Program::new(graphs, graph, Vec::new()).map_err(|node| Refused(error, node, 0))?;
        let mut program = self.program.lock();
        let all = 0..program.steps.len();
        program.update(all, new.steps)?;
        (program.kept, program.values) = (kept, new.values);
        Ok(())
    }

    /// Sets or returns whether a node is enabled. Nodes without work cannot be disabled.
    pub(super) fn enabled(&self, node: usize, set: Option<bool>) -> Result<bool, CUresult> {
        use CUgraphNodeType as T;
        let mut program = self.program.lock();
        let step = program.step(node)?;
        let kinds = [T::CU_GRAPH_NODE_TYPE_KERNEL, T::CU_GRAPH_NODE_TYPE_MEMCPY, T::CU_GRAPH_NODE_TYPE_MEMSET];
        if !kinds.contains(&step.work.kind()) {
            return Err(INVALID);
        }
        step.enabled = set.unwrap_or(step.enabled);
        Ok(step.enabled)
    }
}
