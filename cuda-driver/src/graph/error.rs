//! [`GraphError`]: operations that a graph refuses, with the reason.

use cuda_sys::CUgraphExecUpdateResult;

use crate::error::Error;

/// The reason why an operation on a graph is refused. Nothing was launched, and no graph changed.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// use cuda_driver::{Error, Graph, GraphError};
///
/// let (one, two) = (Graph::new(&context)?, Graph::new(&context)?);
/// let node = one.add_empty(&[])?;
/// let Err(Error::Graph(error)) = two.add_empty(&[node]) else { panic!() };
/// assert_eq!(*error, GraphError::OtherGraph);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// A node belongs to another graph.
    #[error("the node belongs to another graph")]
    OtherGraph,
    /// Memory that the graph accesses was not bound to the launch.
    #[error("the graph uses {memory}, which was not bound to this launch; pass `{}` to `launch`", hint(.writes))]
    NotBound {
        /// A description of the access, with its size.
        memory: String,
        /// True if the graph writes it.
        writes: bool,
    },
    /// Memory that the graph writes was bound by a shared reference.
    #[error("the graph writes {memory}, which was bound to this launch by a shared reference; pass it as `&mut`")]
    BoundReadOnly {
        /// A description of the access, with its size.
        memory: String,
    },
    /// A capture was used after its closure had returned.
    #[error("this capture has ended; launches with it belong inside the closure of `Graph::capture`")]
    CaptureEnded,
    /// A capture was used together with another one.
    #[error("the two belong to different captures")]
    OtherCapture,
    /// An operation that cannot be captured.
    #[error("{0} cannot be part of a graph")]
    NotCapturable(String),
    /// A node was removed from its graph.
    #[error("the node was removed from its graph; nodes that were added later have handles of their own")]
    NodeRemoved,
    /// The node was added after the executable graph was instantiated.
    #[error("the node was added after the executable graph was made; instantiate the graph again to launch it")]
    NodeIsNewer,
    /// A conditional node cannot be removed, since its bodies may still be in use.
    #[error(
        "a conditional node cannot be removed, since its bodies would be destroyed with it; build the graph without it"
    )]
    BodyInUse,
    /// The body of a conditional node was instantiated.
    #[error(
        "this graph is the body of a conditional node, and is launched with the graph of that node; instantiate that graph"
    )]
    Body,
    /// A launch differs in kind from that of the node that it should replace.
    #[error(
        "function `{function}` would be launched {}, and the node was added {}; an executable graph cannot change that: \
         build and instantiate the graph with this launch",
        how(.launch), how(.node)
    )]
    LaunchKind {
        /// The function that should be launched.
        function: String,
        /// The kind of the requested launch.
        launch: LaunchKind,
        /// The kind of the node's launch.
        node: LaunchKind,
    },
    /// The driver refuses to update an executable graph.
    #[error(
        "the executable graph cannot be updated from this graph: {}{} ({}); it is unchanged, and the other graph can be \
         instantiated instead",
        reason(*.result), at(.node), .result.name().unwrap_or("a result that is newer than this crate")
    )]
    Update {
        /// The driver's result.
        result: CUgraphExecUpdateResult,
        /// The node at fault, as an index into [`Graph::nodes`](super::Graph::nodes) of the graph to update from.
        node: Option<usize>,
    },
}

/// The properties of a kernel node's launch that cannot change after instantiation.
///
/// # Examples
///
/// ```
/// use cuda_driver::LaunchKind;
///
/// let plain = LaunchKind::default();
/// assert_eq!((plain.cluster, plain.cooperative), (None, false));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaunchKind {
    /// The extents of its clusters in blocks, where it has any.
    pub cluster: Option<[u32; 3]>,
    /// True if all blocks run at once.
    pub cooperative: bool,
}

fn how(kind: &LaunchKind) -> String {
    let cluster = match kind.cluster {
        None => "without clusters".to_owned(),
        Some([x, y, z]) => format!("in clusters of ({x}, {y}, {z}) blocks"),
    };
    if kind.cooperative { format!("cooperatively {cluster}") } else { cluster }
}

/// The reason why an update is refused.
fn reason(result: CUgraphExecUpdateResult) -> &'static str {
    use CUgraphExecUpdateResult as R;
    match result {
        R::CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED => "it has other nodes, or other dependencies",
        R::CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED => "a node is of another type",
        R::CU_GRAPH_EXEC_UPDATE_ERROR_FUNCTION_CHANGED => {
            "a node launches another function, which this driver cannot change"
        }
        R::CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED => "parameters of a node differ that are fixed",
        R::CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED => "a node is of a type that cannot be changed",
        R::CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE => {
            "a node launches a function that cannot take the place of the one before, such as one of another context"
        }
        R::CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED => {
            "attributes of a launch differ that are fixed, such as the extents of clusters"
        }
        _ => "the driver gives no reason",
    }
}

/// The position of the fault.
fn at(node: &Option<usize>) -> String {
    node.map(|node| format!(", at its node {node}")).unwrap_or_default()
}

/// The form in which memory has to be passed.
fn hint(writes: &bool) -> &'static str {
    if *writes { "&mut it" } else { "&it" }
}

impl From<GraphError> for Error {
    fn from(error: GraphError) -> Self {
        Error::Graph(Box::new(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_result_of_an_update_has_its_reason() {
        use CUgraphExecUpdateResult as R;
        let reasons = [
            (R::CU_GRAPH_EXEC_UPDATE_ERROR, "the driver gives no reason"),
            (R::CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, "it has other nodes, or other dependencies"),
            (R::CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, "a node is of another type"),
            (
                R::CU_GRAPH_EXEC_UPDATE_ERROR_FUNCTION_CHANGED,
                "a node launches another function, which this driver cannot change",
            ),
            (R::CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, "parameters of a node differ that are fixed"),
            (R::CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED, "a node is of a type that cannot be changed"),
            (
                R::CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE,
                "a node launches a function that cannot take the place of the one before, such as one of another context",
            ),
            (
                R::CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED,
                "attributes of a launch differ that are fixed, such as the extents of clusters",
            ),
            (R(99), "the driver gives no reason"),
        ];
        for (result, reason) in reasons {
            let name = result.name().unwrap_or("a result that is newer than this crate");
            let text = GraphError::Update { result, node: Some(2) }.to_string();
            assert_eq!(
                text,
                format!(
                    "the executable graph cannot be updated from this graph: {reason}, at its node 2 ({name}); it is unchanged, and \
                     the other graph can be instantiated instead"
                )
            );
        }
    }
}
