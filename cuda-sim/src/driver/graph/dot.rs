//! Graphs as DOT text for Graphviz, with as many of the nodes' parameters as the flags ask for.

use super::{Graphs, Work};
use crate::driver::operations::Op;
use cuda_sys::{CUgraphDebugDot_flags as Flag, CUresult};
use std::collections::HashMap;
use std::fmt::Write as _;

struct Drawing {
    flags: u32,
    text: String,
    /// Short numbers of the nodes, by handle.
    numbers: HashMap<usize, usize>,
}

/// Escapes text for a quoted string; line breaks in a label stay.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Formats grid or block extents.
fn triple(n: [u32; 3]) -> String {
    format!("({}, {}, {})", n[0], n[1], n[2])
}

impl Drawing {
    fn wants(&self, flag: Flag) -> bool {
        self.flags & (flag.0 | Flag::CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE.0) != 0
    }

    /// Returns a node's label: its kind, and its parameters on further lines.
    fn label(&self, handle: usize, work: &Work) -> String {
        let kind = work.kind();
        let kind = kind.name().unwrap_or("?").trim_start_matches("CU_GRAPH_NODE_TYPE_");
        let mut label = format!("{}\n{kind}", self.numbers.get(&handle).copied().unwrap_or_default());
        self.details(&mut label, work);
        if self.wants(Flag::CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES) {
            let _ = write!(label, "\nnode {handle:#x}");
            if let Work::Op(_, Op::Kernel { function, .. }) = work {
                let _ = write!(label, "\nfunction {:#x}", function.handle);
            }
        }
        label
    }

    fn details(&self, label: &mut String, work: &Work) {
        // Writing to a string cannot fail.
        let _ = match work {
            Work::Op(_, op) => self.operation(label, op),
            Work::Record(event, _) | Work::Wait(event, _)
                if self.wants(Flag::CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS) =>
            {
                write!(label, "\nevent {event:#x}")
            }
            Work::Conditional(node) => write!(label, "\n{:?}", node.kind),
            Work::Empty | Work::Child(_) | Work::Record(..) | Work::Wait(..) => Ok(()),
        };
    }

    fn operation(&self, label: &mut String, op: &Op) -> std::fmt::Result {
        match op {
            Op::Kernel { launch, function } => {
                let shape = (triple(launch.grid), triple(launch.block), launch.dynamic_shared);
                write!(label, "\n{}\n<<<{}, {}, {}>>>", op.name(), shape.0, shape.1, shape.2)?;
                if self.wants(Flag::CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS) {
                    let bytes = launch.params.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
                    for (at, param) in function.kernel.signature().params.iter().enumerate() {
                        let (from, to) = (param.offset as usize, (param.offset + param.bytes) as usize);
                        let value = bytes.get(from..to).unwrap_or_default();
                        write!(label, "\nparameter {at}: 0x")?;
                        value.iter().rev().try_for_each(|byte| write!(label, "{byte:02x}"))?;
                    }
                }
                if self.wants(Flag::CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_ATTRIBUTES) {
                    write!(label, "\ncooperative: {}", u32::from(launch.cooperative))?;
                }
                Ok(())
            }
            Op::Copy(copy) if self.wants(Flag::CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS) => write!(
                label,
                "\n{:#x} from {:#x}\n{} x {} x {} bytes",
                copy.to, copy.from, copy.row, copy.rows, copy.slices
            ),
            Op::Fill(fill) if self.wants(Flag::CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS) => write!(
                label,
                "\n{:#x} = {:#x}\n{} x {} values of {} bytes",
                fill.to, fill.value, fill.width, fill.rows, fill.size
            ),
            Op::Host(function, data) if self.wants(Flag::CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS) => {
                write!(label, "\n{:#x}({:#x})", *function as usize, data.0.addr())
            }
            Op::Memory(memory, allocates) => {
                let flag = match allocates {
                    true => Flag::CU_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS,
                    false => Flag::CU_GRAPH_DEBUG_DOT_FLAGS_MEM_FREE_NODE_PARAMS,
                };
                let shown = self.wants(flag);
                if shown { write!(label, "\n{:#x}, {} bytes", memory.base, memory.bytes) } else { Ok(()) }
            }
            _ => Ok(()),
        }
    }

    /// Draws a graph as a cluster, and its child graphs as further ones that are connected to their nodes.
    fn frame(&mut self, graphs: &mut Graphs, graph: usize) -> Result<(), CUresult> {
        let found = graphs.graph(graph)?;
        let _ = writeln!(self.text, "subgraph cluster_{graph:x} {{\nlabel=\"graph {graph:#x}\"");
        let mut children = Vec::new();
        for (handle, node) in &found.nodes {
            let number = self.numbers.len();
            self.numbers.insert(*handle, number);
            let shape = match node.work {
                Work::Op(_, Op::Kernel { .. }) => "octagon",
                Work::Child(_) => "folder",
                Work::Conditional(_) => "diamond",
                Work::Empty => "point",
                _ => "box",
            };
            let label = quoted(&self.label(*handle, &node.work));
            let _ = writeln!(self.text, "\"{handle:x}\" [shape={shape} label=\"{label}\"]");
            children.extend(node.work.graphs().iter().map(|child| (*handle, *child)));
        }
        for (from, to) in found.edges() {
            let _ = writeln!(self.text, "\"{from:x}\" -> \"{to:x}\"");
        }
        let _ = writeln!(self.text, "}}");
        for (node, child) in children {
            self.frame(graphs, child)?;
            if let Some(first) = graphs.graph(child)?.nodes.keys().next() {
                let (style, head) = ("style=dashed arrowhead=none", format!("lhead=cluster_{child:x}"));
                let _ = writeln!(self.text, "\"{node:x}\" -> \"{first:x}\" [{style} {head}]");
            }
        }
        Ok(())
    }
}

/// Returns the drawing of a graph.
pub(super) fn draw(graphs: &mut Graphs, graph: usize, flags: u32) -> Result<String, CUresult> {
    let text = "digraph dot {\ncompound=true\n".to_owned();
    let mut drawing = Drawing { flags, text, numbers: HashMap::new() };
    drawing.frame(graphs, graph)?;
    drawing.text.push_str("}\n");
    Ok(drawing.text)
}
