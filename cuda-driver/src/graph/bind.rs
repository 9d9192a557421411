//! How a launch of a graph borrows the memory that its captured kernels use.
//!
//! A typed launch borrows its arguments until it is enqueued, and records the use. A graph is enqueued again and again, so
//! it holds neither memory nor borrow: it knows which memory it uses, by numbers that are never used again, and every
//! launch is lent that memory anew: `exec.launch(&stream, (&x, &mut out))`. Lending orders and records the use in the
//! launch's stream as any launch does. What was not lent is named, and nothing is launched.
//!
//! So the rules of borrowing hold for graphs without a lifetime in their types: the memory is alive, since it is borrowed,
//! and nobody else uses what the graph writes between the record and the launch.
//!
//! # Safety
//!
//! The `unsafe` implementations lend nothing themselves, or pass on to elements that keep the promise.

use crate::error::Result;
use crate::graph::GraphError;
use crate::stream::Stream;
use crate::sync::Counter;

/// Which piece of memory is meant: a number that no other piece of the process has or will have.
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
    /// A number that was never given out before.
    #[must_use]
    pub fn unique() -> Self {
        MemoryId(IDS.next())
    }
}

/// What a graph does with a piece of memory.
///
/// # Examples
///
/// ```
/// use cuda_driver::Access;
///
/// // What a graph writes has to be lent exclusively.
/// let exclusive = |access: Access| matches!(access, Access::Write);
/// assert!(exclusive(Access::Write) && !exclusive(Access::Read));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It reads it.
    Read,
    /// It writes it, and may read it.
    Write,
}

/// A piece of memory that captured nodes use.
#[derive(Clone, Debug)]
pub(crate) struct MemoryUse {
    pub(crate) id: MemoryId,
    pub(crate) writes: bool,
    /// Where it is used, and how large it is, for messages.
    pub(crate) what: String,
}

/// Adds a use; several of one piece are one.
pub(crate) fn merge(uses: &mut Vec<MemoryUse>, new: MemoryUse) {
    match uses.iter_mut().find(|known| known.id == new.id) {
        Some(known) if new.writes && !known.writes => *known = new,
        Some(_) => {}
        None => uses.push(new),
    }
}

/// A launch of a graph that memory is being lent to.
#[derive(Debug)]
pub struct GraphLaunch<'a> {
    pub(crate) stream: &'a Stream,
    pub(crate) uses: &'a [MemoryUse],
    /// For each use whether it was lent.
    pub(crate) bound: &'a mut Vec<bool>,
}

impl GraphLaunch<'_> {
    /// The stream that the graph is launched in.
    #[must_use]
    pub fn stream(&self) -> &Stream {
        self.stream
    }

    /// Lends a piece of memory: what the graph does with it, `None` if nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Graph`](crate::Error::Graph) if the graph writes it and `exclusive` is false.
    pub fn bind(&mut self, id: MemoryId, exclusive: bool) -> Result<Option<Access>> {
        let Some(at) = self.uses.iter().position(|memory| memory.id == id) else { return Ok(None) };
        let memory = &self.uses[at];
        if memory.writes && !exclusive {
            return Err(GraphError::BoundReadOnly { memory: memory.what.clone() }.into());
        }
        self.bound[at] = true;
        Ok(Some(if memory.writes { Access::Write } else { Access::Read }))
    }

    /// An error for the first piece that was not lent.
    pub(crate) fn finish(self) -> Result<()> {
        match self.bound.iter().position(|bound| !bound) {
            None => Ok(()),
            Some(at) => {
                let MemoryUse { writes, what, .. } = &self.uses[at];
                Err(GraphError::NotBound { memory: what.clone(), writes: *writes }.into())
            }
        }
    }
}

/// What can be lent to a launch of a graph: references to device arrays, tuples and lists of them, and `()`.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let mut memory = 0;
/// # // SAFETY: the address lives through the call.
/// # unsafe { cuda_driver::driver_call!(&context, cuMemAlloc_v2(&mut memory, 64)) }?;
/// use cuda_driver::{Graph, GraphLaunch, Lend, MemoryId, Result, Stream, driver_call};
///
/// struct Table {
///     id: MemoryId,
///     address: u64,
/// }
///
/// // SAFETY: the borrow is exclusive, and all work with a table is waited for before it can be used otherwise.
/// unsafe impl Lend for &mut Table {
///     fn lend(self, launch: &mut GraphLaunch<'_>) -> Result<()> {
///         if let Some(access) = launch.lend(self.id, true)? {
///             println!("{access:?} in {:?}", launch.stream().id());
///         }
///         Ok(())
///     }
/// }
///
/// let mut table = Table { id: MemoryId::unique(), address: memory };
/// let graph = Graph::capture(&context, |c| {
///     let mut open = c.open()?;
///     open.uses(table.id, true, || "the table (64 bytes)".into())?;
///     // SAFETY: the memory has 64 bytes; it is lent to each launch.
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
/// For each [`MemoryId`] for which `lend` calls [`GraphLaunch::lend`] and is told of an access, `lend` orders that access in
/// the launch's stream after all conflicting ones and records it, as for a launch of a kernel. `exclusive` is true only if
/// the value borrows the memory exclusively. The memory is alive, and not used in conflict with the access, as long as
/// `Self` may live.
pub unsafe trait Bind {
    /// Lends the memory.
    ///
    /// # Errors
    ///
    /// If the graph writes what is lent for reading, or ordering the use fails.
    fn bind(self, launch: &mut GraphLaunch<'_>) -> Result<()>;
}

// SAFETY: nothing is lent.
unsafe impl Bind for () {
    fn bind(self, _: &mut GraphLaunch<'_>) -> Result<()> {
        Ok(())
    }
}

// SAFETY: each element keeps the promise.
unsafe impl<L: Bind> Bind for Vec<L> {
    fn bind(self, launch: &mut GraphLaunch<'_>) -> Result<()> {
        self.into_iter().try_for_each(|bound| bound.bind(launch))
    }
}

// SAFETY: each element keeps the promise.
unsafe impl<L: Bind, const N: usize> Bind for [L; N] {
    fn bind(self, launch: &mut GraphLaunch<'_>) -> Result<()> {
        self.into_iter().try_for_each(|bound| bound.bind(launch))
    }
}

macro_rules! tuples {
    ($(($($element:ident $index:tt),*))*) => { $(
        // SAFETY: each element keeps the promise.
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

/// Something that encloses each launch of a graph, such as a lock of what its kernels read.
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
/// Nothing unsafe relies on an implementation: what the graph itself uses is ordered before it is asked.
pub trait AroundLaunch: Send + Sync {
    /// Orders the launch in `stream` and calls `enqueue` once, unless ordering fails.
    ///
    /// # Errors
    ///
    /// If ordering fails, or what `enqueue` returns.
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
