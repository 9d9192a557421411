//! Binding: the memory that captured kernels access is borrowed for each launch of the graph.
//!
//! A typed launch borrows its arguments until it is enqueued, and records the access. A graph is launched many times,
//! so it holds neither memory nor borrow. It knows its memory by ids that are never reused, and every launch binds that
//! memory again: `exec.launch(&stream, (&x, &mut out))`. Binding orders and records the access in the launch's stream,
//! as any launch does. If memory was not bound, the error names it and nothing is launched.
//!
//! So the borrow rules hold for graphs without a lifetime in their types: the memory is live, since it is borrowed, and
//! nothing else accesses what the graph writes between the record and the launch.
//!
//! # Safety
//!
//! The `unsafe` implementations bind nothing themselves, or pass on to elements that keep the contract.

use crate::error::Result;
use crate::graph::GraphError;
use crate::stream::Stream;
use crate::sync::Counter;

/// The id of an allocation, which no other allocation of the process ever has.
///
/// # Examples
///
/// ```
/// use cuda_driver::MemoryId;
///
/// assert_ne!(MemoryId::unique(), MemoryId::unique());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryId(u64);

static IDS: Counter = Counter::new();

impl MemoryId {
    /// Returns an id that was never returned before.
    #[must_use]
    pub fn unique() -> Self {
        MemoryId(IDS.next())
    }
}

/// The access of a graph to an allocation.
///
/// # Examples
///
/// ```
/// use cuda_driver::Access;
///
/// // Memory that a graph writes has to be bound exclusively.
/// let exclusive = |access: Access| matches!(access, Access::Write);
/// assert!(exclusive(Access::Write) && !exclusive(Access::Read));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The graph reads the memory.
    Read,
    /// The graph writes the memory, and may read it.
    Write,
}

/// An allocation that captured nodes access.
#[derive(Clone, Debug)]
pub(crate) struct MemoryAccess {
    pub(crate) id: MemoryId,
    pub(crate) writes: bool,
    /// A description of the access and its size, for messages.
    pub(crate) what: String,
}

/// Adds an access; accesses to one allocation are merged.
pub(crate) fn merge(accesses: &mut Vec<MemoryAccess>, new: MemoryAccess) {
    match accesses.iter_mut().find(|known| known.id == new.id) {
        Some(known) if new.writes && !known.writes => *known = new,
        Some(_) => {}
        None => accesses.push(new),
    }
}

/// A launch of a graph, while memory is bound to it.
#[derive(Debug)]
pub struct GraphLaunch<'a> {
    pub(crate) stream: &'a Stream,
    pub(crate) accesses: &'a [MemoryAccess],
    /// For each access, true once it is bound.
    pub(crate) bound: &'a mut Vec<bool>,
}

impl GraphLaunch<'_> {
    /// The stream that the graph is launched in.
    #[must_use]
    pub fn stream(&self) -> &Stream {
        self.stream
    }

    /// Binds an allocation. Returns the graph's access to it; `None` if it does not access it.
    ///
    /// # Errors
    ///
    /// [`Error::Graph`](crate::Error::Graph) if the graph writes it and `exclusive` is false.
    pub fn bind(&mut self, id: MemoryId, exclusive: bool) -> Result<Option<Access>> {
        let Some(at) = self.accesses.iter().position(|memory| memory.id == id) else { return Ok(None) };
        let memory = &self.accesses[at];
        if memory.writes && !exclusive {
            return Err(GraphError::BoundReadOnly { memory: memory.what.clone() }.into());
        }
        self.bound[at] = true;
        Ok(Some(if memory.writes { Access::Write } else { Access::Read }))
    }

    /// Returns an error for the first access that was not bound.
    pub(crate) fn finish(self) -> Result<()> {
        match self.bound.iter().position(|bound| !bound) {
            None => Ok(()),
            Some(at) => {
                let MemoryAccess { writes, what, .. } = &self.accesses[at];
                Err(GraphError::NotBound { memory: what.clone(), writes: *writes }.into())
            }
        }
    }
}

/// Memory that can be bound to a launch of a graph: references to device arrays, tuples and lists of them, and `()`.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let mut memory = 0;
/// # // SAFETY: the address lives through the call.
/// # unsafe { cuda_driver::driver_call!(&context, cuMemAlloc_v2(&mut memory, 64)) }?;
/// use cuda_driver::{Bind, Graph, GraphLaunch, MemoryId, Result, Stream, driver_call};
///
/// struct Table {
///     id: MemoryId,
///     address: u64,
/// }
///
/// // SAFETY: the borrow is exclusive, and all work with a table is waited for before any other access.
/// unsafe impl Bind for &mut Table {
///     fn bind(self, launch: &mut GraphLaunch<'_>) -> Result<()> {
///         if let Some(access) = launch.bind(self.id, true)? {
///             println!("{access:?} in {:?}", launch.stream().id());
///         }
///         Ok(())
///     }
/// }
///
/// let mut table = Table { id: MemoryId::unique(), address: memory };
/// let graph = Graph::capture(&context, |c| {
///     let mut open = c.open()?;
///     open.record_access(table.id, true, || "the table (64 bytes)".into())?;
///     // SAFETY: the memory has 64 bytes; it is bound to each launch.
///     unsafe { open.enqueue(|stream| driver_call!(&context, cuMemsetD8Async(table.address, 1, 64, stream))) }
/// })?;
/// let stream = Stream::new(&context)?;
/// graph.instantiate()?.launch(&stream, &mut table)?;
/// stream.synchronize()?;
/// # context.synchronize()?;
/// # // SAFETY: nothing uses it any more.
/// # unsafe { cuda_driver::driver_call!(&context, cuMemFree_v2(memory)) }?;
/// # Ok(())
/// # }
/// ```
///
/// # Safety
///
/// For each [`MemoryId`] for which `bind` calls [`GraphLaunch::bind`] and gets an access, `bind` orders that access in
/// the launch's stream after all conflicting ones and records it, as for a launch of a kernel. `exclusive` is true only
/// if the value borrows the memory exclusively. The memory is live, and not used in conflict with the access, as long
/// as `Self` may live.
pub unsafe trait Bind {
    /// Binds the memory.
    ///
    /// # Errors
    ///
    /// If the graph writes memory that is bound by a shared reference, or if ordering the access fails.
    fn bind(self, launch: &mut GraphLaunch<'_>) -> Result<()>;
}

// SAFETY: nothing is bound.
unsafe impl Bind for () {
    fn bind(self, _: &mut GraphLaunch<'_>) -> Result<()> {
        Ok(())
    }
}

// SAFETY: each element keeps the contract, and nothing else is bound.
unsafe impl<L: Bind> Bind for Vec<L> {
    fn bind(self, launch: &mut GraphLaunch<'_>) -> Result<()> {
        self.into_iter().try_for_each(|bound| bound.bind(launch))
    }
}

// SAFETY: each element keeps the contract, and nothing else is bound.
unsafe impl<L: Bind, const N: usize> Bind for [L; N] {
    fn bind(self, launch: &mut GraphLaunch<'_>) -> Result<()> {
        self.into_iter().try_for_each(|bound| bound.bind(launch))
    }
}

macro_rules! tuples {
    ($(($($element:ident $index:tt),*))*) => { $(
        // SAFETY: each element keeps the contract, and nothing else is bound.
        unsafe impl<$($element: Bind),*> Bind for ($($element,)*) {
            fn bind(self, launch: &mut GraphLaunch<'_>) -> Result<()> {
                $(self.$index.bind(launch)?;)*
                Ok(())
            }
        }
    )* };
}

tuples! {
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7)
}

/// A hook that encloses each launch of a graph, such as a lock of data that its kernels read.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// use std::sync::{Arc, Mutex};
/// use cuda_driver::{AroundLaunch, Graph, Result, Stream};
///
/// /// A number that host and kernels use in turn.
/// struct Shared(Mutex<u32>);
///
/// impl AroundLaunch for Shared {
///     fn around(&self, _: &Stream, enqueue: &mut dyn FnMut() -> Result<()>) -> Result<()> {
///         let mut launches = self.0.lock().unwrap();
///         *launches += 1;
///         enqueue()
///     }
/// }
///
/// let shared = Arc::new(Shared(Mutex::new(0)));
/// let graph = Graph::capture(&context, |c| Ok(c.open()?.enclose(shared.clone())))?;
/// graph.instantiate()?.launch(&context.default_stream(), ())?;
/// assert_eq!(*shared.0.lock().unwrap(), 1);
/// # Ok(())
/// # }
/// ```
///
/// Nothing unsafe relies on an implementation: the graph's own accesses are ordered before it is called.
pub trait AroundLaunch: Send + Sync {
    /// Orders the launch in `stream` and calls `enqueue` once, unless ordering fails.
    ///
    /// # Errors
    ///
    /// If ordering fails, or the error of `enqueue`.
    fn around(&self, stream: &Stream, enqueue: &mut dyn FnMut() -> Result<()>) -> Result<()>;
}

/// Calls `enqueue` inside all of `around`.
pub(crate) fn enclosed(
    around: &[crate::sync::Arc<dyn AroundLaunch>],
    stream: &Stream,
    enqueue: &mut dyn FnMut() -> Result<()>,
) -> Result<()> {
    match around.split_first() {
        None => enqueue(),
        Some((first, rest)) => first.around(stream, &mut || enclosed(rest, stream, enqueue)),
    }
}
