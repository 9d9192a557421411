//! The operations, of a [`Communicator`] and of a [`Group`]: each checks its arguments, prepares its memory, and makes or
//! collects the call.
//!
//! # Safety
//!
//! The block captures a call whose accesses are recorded in the capture before.

use std::sync::Arc;

use cuda_driver::{Capture, OpenCapture, Stream};
use cuda_mem::{DeviceArray, Element, Storage, StorageMut};
use ndarray::Dimension;

use super::{Communicator, InGraph};
use crate::call::Call;
use crate::error::{Error, Result};
use crate::group::Group;
use crate::number::{Number, Reduction};
use crate::plan::{Span, Type};
use crate::target::Target;

/// The order in which an operation accesses its memory: of a stream, or of a graph that is captured.
enum Order<'a, 'b> {
    Stream(&'a Stream),
    Capture(&'a mut OpenCapture<'b>, &'static str),
}

impl Order<'_, '_> {
    /// Orders a read of the array, and records it.
    #[inline]
    fn read<T: Element, D: Dimension, S: Storage>(&mut self, array: &DeviceArray<T, D, S>) -> Result<()> {
        match self {
            Order::Stream(stream) => array.prepare_read(stream)?,
            Order::Capture(open, operation) => array.capture_read(open, || format!("the source of `{operation}`"))?,
        }
        Ok(())
    }

    /// Orders a write of the array, and records it.
    #[inline]
    fn write<T: Element, D: Dimension, S: StorageMut>(&mut self, array: &mut DeviceArray<T, D, S>) -> Result<()> {
        match self {
            Order::Stream(stream) => array.prepare_write(stream)?,
            Order::Capture(open, operation) => array.capture_write(open, || format!("the result of `{operation}`"))?,
        }
        Ok(())
    }
}

impl Communicator {
    /// Returns an error for a target of another device.
    #[inline]
    fn expect_device(&self, call: &Call, target: Target<'_>) -> Result<()> {
        if *target.context() == self.0.context { Ok(()) } else { Err(self.other_device(call, target)) }
    }

    #[cold]
    fn other_device(&self, call: &Call, target: Target<'_>) -> Error {
        Error::invalid(format!(
            "{}: the stream is of device {}, and the rank is that of device {}",
            self.0.subject(call.kind.name(), call.peer),
            target.context().device().ordinal(),
            self.0.context.device().ordinal()
        ))
    }

    /// Keeps the communicator in a graph, whose launches then ask it.
    pub(crate) fn keep_in(&self, capture: &Capture, call: &Call) -> Result<()> {
        self.expect_capturable(call)?;
        capture.open()?.enclose(Arc::new(InGraph(self.0.clone())));
        Ok(())
    }

    /// Returns an error if the call's transport cannot be captured.
    fn expect_capturable(&self, call: &Call) -> Result<()> {
        let state = self.0.state.lock();
        let link = self.0.live(&state, call.kind.name(), call.peer)?;
        link.expect_capturable(self.0.subject(call.kind.name(), call.peer))
    }

    /// Makes a call after `access` has ordered its accesses.
    #[inline]
    fn run(&self, call: Call, target: Target<'_>, access: impl FnOnce(&mut Order<'_, '_>) -> Result<()>) -> Result<()> {
        self.expect_device(&call, target)?;
        match target {
            Target::Stream(stream) => {
                access(&mut Order::Stream(stream))?;
                self.0.enqueue(&call, stream)
            }
            Target::Capture(capture) => self.run_captured(&call, capture, access),
        }
    }

    #[cold]
    fn run_captured(
        &self,
        call: &Call,
        capture: &Capture,
        access: impl FnOnce(&mut Order<'_, '_>) -> Result<()>,
    ) -> Result<()> {
        self.expect_capturable(call)?;
        let mut open = capture.open()?;
        access(&mut Order::Capture(&mut open, call.kind.name()))?;
        open.enclose(Arc::new(InGraph(self.0.clone())));
        // SAFETY: the operation is only enqueued. Its accesses have been recorded in the capture, so that at each launch the
        // memory is bound and ordered; the graph holds the communicator.
        unsafe { open.enqueue(|stream| Ok(self.0.enqueue_captured(call, stream)?)) }?;
        Ok(())
    }
}

impl<'env> Group<'env> {
    /// Adds a call after `access` has ordered its accesses.
    fn add(
        &mut self,
        communicator: &'env Communicator,
        call: Call,
        target: Target<'env>,
        access: impl FnOnce(&mut Order<'_, '_>) -> Result<()>,
    ) -> Result<()> {
        communicator.expect_device(&call, target)?;
        match target {
            Target::Stream(stream) => access(&mut Order::Stream(stream))?,
            Target::Capture(capture) => access(&mut Order::Capture(&mut capture.open()?, call.kind.name()))?,
        }
        self.push(communicator, call, target)
    }
}

/// Defines operations of a [`Communicator`] and of a [`Group`]: the documentation, the type parameters, the arguments, the
/// plan, and the accesses. A group borrows its arguments for `$m`.
macro_rules! operations {
    ($m:lifetime; $(
        $(#[$doc:meta])*
        fn $name:ident[$($generic:ident: $bound:ident),*]($($argument:ident: $ty:ty),*),
        |$place:ident, $order:ident| $plan:expr, $access:block;
    )*) => {
        impl Communicator { $(
            $(#[$doc])*
            #[inline]
            pub fn $name<$m, $($generic: $bound),*>(
                &self,
                $($argument: $ty,)*
                on: impl Into<Target<$m>>,
            ) -> Result<()> {
                let $place = self.0.place;
                let call = $plan?;
                self.run(call, on.into(), |$order| $access)
            }
        )* }

        impl<$m> Group<$m> { $(
            #[doc = concat!("Adds [`", stringify!($name), "`](Communicator::", stringify!($name), ") to the group.")]
            ///
            /// # Errors
            ///
            /// As for the operation by itself; [`Error::Invalid`](crate::Error::Invalid) for another kind of target, or another
            /// library, than that of the group's first operation.
            pub fn $name<$($generic: $bound),*>(
                &mut self,
                communicator: &$m Communicator,
                $($argument: $ty,)*
                on: impl Into<Target<$m>>,
            ) -> Result<()> {
                let $place = communicator.0.place;
                let call = $plan?;
                self.add(communicator, call, on.into(), |$order| $access)
            }
        )* }
    };
}

operations! { 'm;
    /// Reduces the elements that all ranks have at the same position; every rank gets the result.
    ///
    /// All arrays have the same length.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_nccl::{Communicator, Reduction, Result};
    /// type Row = cuda_mem::DeviceArray<f32, ndarray::Ix1>;
    ///
    /// fn example(c: &Communicator, x: &Row, y: &mut Row, s: &cuda_driver::Stream) -> Result<()> {
    ///     c.all_reduce(x, y, Reduction::Sum, s)?;
    ///     c.wait(s)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Length`](crate::Error::Length) if the arrays do not fit; [`Error::Memory`](crate::Error::Memory) for an
    /// array that is not contiguous or of another device; the errors of the communicator.
    fn all_reduce[T: Number, D: Dimension, S: Storage, E: Dimension, R: StorageMut](send: &'m DeviceArray<T, D, S>, recv: &'m mut DeviceArray<T, E, R>, op: Reduction),
    |place, order| place.all_reduce(Type::number::<T>(), Span::of(send)?, Span::of(recv)?, op), { order.read(send)?; order.write(recv) };

    /// As [`all_reduce`](Communicator::all_reduce), with the result in place of the source.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_nccl::{Communicator, Reduction, Result};
    /// type Row = cuda_mem::DeviceArray<f32, ndarray::Ix1>;
    ///
    /// fn example(c: &Communicator, y: &mut Row, s: &cuda_driver::Stream) -> Result<()> {
    ///     c.all_reduce_in_place(y, Reduction::Average, s)?;
    ///     c.wait(s)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Memory`](crate::Error::Memory) for an array that is not contiguous or of another device; the errors of the
    /// communicator.
    fn all_reduce_in_place[T: Number, D: Dimension, S: StorageMut](array: &'m mut DeviceArray<T, D, S>, op: Reduction),
    |place, order| place.all_reduce(Type::number::<T>(), Span::of(array)?, Span::of(array)?, op), { order.write(array) };

    /// Reduces the elements that all ranks have at the same position; `root` gets the result.
    ///
    /// On other ranks `recv` is neither read nor written, and may have any length.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_nccl::{Communicator, Reduction, Result};
    /// type Row = cuda_mem::DeviceArray<f32, ndarray::Ix1>;
    ///
    /// fn example(c: &Communicator, x: &Row, y: &mut Row, s: &cuda_driver::Stream) -> Result<()> {
    ///     c.reduce(x, y, Reduction::Max, 0, s)?;
    ///     c.wait(s)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Length`](crate::Error::Length) if the arrays do not fit; [`Error::Invalid`](crate::Error::Invalid) for a
    /// rank that does not exist; [`Error::Memory`](crate::Error::Memory) for an array that is not contiguous or of another
    /// device; the errors of the communicator.
    fn reduce[T: Number, D: Dimension, S: Storage, E: Dimension, R: StorageMut](send: &'m DeviceArray<T, D, S>, recv: &'m mut DeviceArray<T, E, R>, op: Reduction, root: usize),
    |place, order| place.reduce(Type::number::<T>(), Span::of(send)?, Span::of(recv)?, op, root), { order.read(send)?; if place.rank == root { order.write(recv) } else { Ok(()) } };

    /// As [`reduce`](Communicator::reduce), with the result in place of the root's source; the other ranks' arrays stay as
    /// they are.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_nccl::{Communicator, Reduction, Result};
    /// type Row = cuda_mem::DeviceArray<f32, ndarray::Ix1>;
    ///
    /// fn example(c: &Communicator, y: &mut Row, s: &cuda_driver::Stream) -> Result<()> {
    ///     c.reduce_in_place(y, Reduction::Min, 0, s)?;
    ///     c.wait(s)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid) for a rank that does not exist; [`Error::Memory`](crate::Error::Memory)
    /// for an array that is not contiguous or of another device; the errors of the communicator.
    fn reduce_in_place[T: Number, D: Dimension, S: StorageMut](array: &'m mut DeviceArray<T, D, S>, op: Reduction, root: usize),
    |place, order| place.reduce(Type::number::<T>(), Span::of(array)?, Span::of(array)?, op, root), { order.write(array) };

    /// Copies the root's array to the arrays of all other ranks, of the same length.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_nccl::{Communicator, Result};
    /// type Row = cuda_mem::DeviceArray<f32, ndarray::Ix1>;
    ///
    /// fn example(c: &Communicator, y: &mut Row, s: &cuda_driver::Stream) -> Result<()> {
    ///     c.broadcast(y, 0, s)?;
    ///     c.wait(s)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid) for a rank that does not exist; [`Error::Memory`](crate::Error::Memory)
    /// for an array that is not contiguous or of another device; the errors of the communicator.
    fn broadcast[T: Element, D: Dimension, S: StorageMut](array: &'m mut DeviceArray<T, D, S>, root: usize),
    |place, order| place.broadcast(Type::element::<T>(), Span::of(array)?, Span::of(array)?, root), { order.write(array) };

    /// As [`broadcast`](Communicator::broadcast), from another array of the root.
    ///
    /// On other ranks `send` is not read, and may have any length.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_nccl::{Communicator, Result};
    /// type Row = cuda_mem::DeviceArray<f32, ndarray::Ix1>;
    ///
    /// fn example(c: &Communicator, x: &Row, y: &mut Row, s: &cuda_driver::Stream) -> Result<()> {
    ///     c.broadcast_from(x, y, 0, s)?;
    ///     c.wait(s)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Length`](crate::Error::Length) if the arrays do not fit; [`Error::Invalid`](crate::Error::Invalid) for a
    /// rank that does not exist; [`Error::Memory`](crate::Error::Memory) for an array that is not contiguous or of another
    /// device; the errors of the communicator.
    fn broadcast_from[T: Element, D: Dimension, S: Storage, E: Dimension, R: StorageMut](send: &'m DeviceArray<T, D, S>, recv: &'m mut DeviceArray<T, E, R>, root: usize),
    |place, order| place.broadcast(Type::element::<T>(), Span::of(send)?, Span::of(recv)?, root), { if place.rank == root { order.read(send)?; } order.write(recv) };

    /// Puts the arrays of all ranks one after the other, in the order of the ranks; every rank gets the result.
    ///
    /// `recv` is as many times as long as `send` as there are ranks.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_nccl::{Communicator, Result};
    /// type Row = cuda_mem::DeviceArray<f32, ndarray::Ix1>;
    ///
    /// fn example(c: &Communicator, x: &Row, y: &mut Row, s: &cuda_driver::Stream) -> Result<()> {
    ///     c.all_gather(x, y, s)?;
    ///     c.wait(s)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Length`](crate::Error::Length) if the arrays do not fit; [`Error::Memory`](crate::Error::Memory) for an
    /// array that is not contiguous or of another device; the errors of the communicator.
    fn all_gather[T: Element, D: Dimension, S: Storage, E: Dimension, R: StorageMut](send: &'m DeviceArray<T, D, S>, recv: &'m mut DeviceArray<T, E, R>),
    |place, order| place.all_gather(Type::element::<T>(), Span::of(send)?, Span::of(recv)?), { order.read(send)?; order.write(recv) };

    /// As [`all_gather`](Communicator::all_gather): the array is divided into a part for each rank, of which each rank has
    /// filled its own.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_nccl::{Communicator, Result};
    /// type Row = cuda_mem::DeviceArray<f32, ndarray::Ix1>;
    ///
    /// fn example(c: &Communicator, y: &mut Row, s: &cuda_driver::Stream) -> Result<()> {
    ///     c.all_gather_in_place(y, s)?;
    ///     c.wait(s)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Length`](crate::Error::Length) if the arrays do not fit; [`Error::Memory`](crate::Error::Memory) for an
    /// array that is not contiguous or of another device; the errors of the communicator.
    fn all_gather_in_place[T: Element, D: Dimension, S: StorageMut](array: &'m mut DeviceArray<T, D, S>),
    |place, order| place.all_gather_in_place(Type::element::<T>(), Span::of(array)?), { order.write(array) };

    /// Reduces the elements that all ranks have at the same position, and divides the result: rank i gets the i-th part.
    ///
    /// `send` is as many times as long as `recv` as there are ranks.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_nccl::{Communicator, Reduction, Result};
    /// type Row = cuda_mem::DeviceArray<f32, ndarray::Ix1>;
    ///
    /// fn example(c: &Communicator, x: &Row, y: &mut Row, s: &cuda_driver::Stream) -> Result<()> {
    ///     c.reduce_scatter(x, y, Reduction::Sum, s)?;
    ///     c.wait(s)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Length`](crate::Error::Length) if the arrays do not fit; [`Error::Memory`](crate::Error::Memory) for an
    /// array that is not contiguous or of another device; the errors of the communicator.
    fn reduce_scatter[T: Number, D: Dimension, S: Storage, E: Dimension, R: StorageMut](send: &'m DeviceArray<T, D, S>, recv: &'m mut DeviceArray<T, E, R>, op: Reduction),
    |place, order| place.reduce_scatter(Type::number::<T>(), Span::of(send)?, Span::of(recv)?, op), { order.read(send)?; order.write(recv) };

    /// As [`reduce_scatter`](Communicator::reduce_scatter), with the result in the rank's own part of the array; the other
    /// parts are unspecified afterwards.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_nccl::{Communicator, Reduction, Result};
    /// type Row = cuda_mem::DeviceArray<f32, ndarray::Ix1>;
    ///
    /// fn example(c: &Communicator, y: &mut Row, s: &cuda_driver::Stream) -> Result<()> {
    ///     c.reduce_scatter_in_place(y, Reduction::Sum, s)?;
    ///     c.wait(s)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Length`](crate::Error::Length) if the arrays do not fit; [`Error::Memory`](crate::Error::Memory) for an
    /// array that is not contiguous or of another device; the errors of the communicator.
    fn reduce_scatter_in_place[T: Number, D: Dimension, S: StorageMut](array: &'m mut DeviceArray<T, D, S>, op: Reduction),
    |place, order| place.reduce_scatter_in_place(Type::number::<T>(), Span::of(array)?, op), { order.write(array) };

    /// Divides each rank's array into a part for each rank, and sends the i-th part to rank i: a transposition of ranks and
    /// parts.
    ///
    /// NCCL has no form of it in place.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_nccl::{Communicator, Result};
    /// type Row = cuda_mem::DeviceArray<f32, ndarray::Ix1>;
    ///
    /// fn example(c: &Communicator, x: &Row, y: &mut Row, s: &cuda_driver::Stream) -> Result<()> {
    ///     c.all_to_all(x, y, s)?;
    ///     c.wait(s)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Length`](crate::Error::Length) if the arrays do not fit; [`Error::Memory`](crate::Error::Memory) for an
    /// array that is not contiguous or of another device; the errors of the communicator.
    fn all_to_all[T: Element, D: Dimension, S: Storage, E: Dimension, R: StorageMut](send: &'m DeviceArray<T, D, S>, recv: &'m mut DeviceArray<T, E, R>),
    |place, order| place.all_to_all(Type::element::<T>(), Span::of(send)?, Span::of(recv)?), { order.read(send)?; order.write(recv) };

    /// Puts the arrays of all ranks one after the other, in the order of the ranks; `root` gets the result.
    ///
    /// On other ranks `recv` is neither read nor written, and may have any length.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_nccl::{Communicator, Result};
    /// type Row = cuda_mem::DeviceArray<f32, ndarray::Ix1>;
    ///
    /// fn example(c: &Communicator, x: &Row, y: &mut Row, s: &cuda_driver::Stream) -> Result<()> {
    ///     c.gather(x, y, 0, s)?;
    ///     c.wait(s)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Length`](crate::Error::Length) if the arrays do not fit; [`Error::Invalid`](crate::Error::Invalid) for a
    /// rank that does not exist; [`Error::Memory`](crate::Error::Memory) for an array that is not contiguous or of another
    /// device; the errors of the communicator.
    fn gather[T: Element, D: Dimension, S: Storage, E: Dimension, R: StorageMut](send: &'m DeviceArray<T, D, S>, recv: &'m mut DeviceArray<T, E, R>, root: usize),
    |place, order| place.gather(Type::element::<T>(), Span::of(send)?, Span::of(recv)?, root), { order.read(send)?; if place.rank == root { order.write(recv) } else { Ok(()) } };

    /// As [`gather`](Communicator::gather): the root's array is divided into a part for each rank, of which it has filled
    /// its own; the others' arrays are as long as a part.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_nccl::{Communicator, Result};
    /// type Row = cuda_mem::DeviceArray<f32, ndarray::Ix1>;
    ///
    /// fn example(c: &Communicator, y: &mut Row, s: &cuda_driver::Stream) -> Result<()> {
    ///     c.gather_in_place(y, 0, s)?;
    ///     c.wait(s)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Length`](crate::Error::Length) if the arrays do not fit; [`Error::Invalid`](crate::Error::Invalid) for a
    /// rank that does not exist; [`Error::Memory`](crate::Error::Memory) for an array that is not contiguous or of another
    /// device; the errors of the communicator.
    fn gather_in_place[T: Element, D: Dimension, S: StorageMut](array: &'m mut DeviceArray<T, D, S>, root: usize),
    |place, order| place.gather_in_place(Type::element::<T>(), Span::of(array)?, root), { order.write(array) };

    /// Divides the root's array into a part for each rank: rank i gets the i-th part.
    ///
    /// On other ranks `send` is not read, and may have any length.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_nccl::{Communicator, Result};
    /// type Row = cuda_mem::DeviceArray<f32, ndarray::Ix1>;
    ///
    /// fn example(c: &Communicator, x: &Row, y: &mut Row, s: &cuda_driver::Stream) -> Result<()> {
    ///     c.scatter(x, y, 0, s)?;
    ///     c.wait(s)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Length`](crate::Error::Length) if the arrays do not fit; [`Error::Invalid`](crate::Error::Invalid) for a
    /// rank that does not exist; [`Error::Memory`](crate::Error::Memory) for an array that is not contiguous or of another
    /// device; the errors of the communicator.
    fn scatter[T: Element, D: Dimension, S: Storage, E: Dimension, R: StorageMut](send: &'m DeviceArray<T, D, S>, recv: &'m mut DeviceArray<T, E, R>, root: usize),
    |place, order| place.scatter(Type::element::<T>(), Span::of(send)?, Span::of(recv)?, root), { if place.rank == root { order.read(send)?; } order.write(recv) };

    /// As [`scatter`](Communicator::scatter): the root keeps its own part where it is; the others' arrays are as long as a
    /// part.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_nccl::{Communicator, Result};
    /// type Row = cuda_mem::DeviceArray<f32, ndarray::Ix1>;
    ///
    /// fn example(c: &Communicator, y: &mut Row, s: &cuda_driver::Stream) -> Result<()> {
    ///     c.scatter_in_place(y, 0, s)?;
    ///     c.wait(s)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Length`](crate::Error::Length) if the arrays do not fit; [`Error::Invalid`](crate::Error::Invalid) for a
    /// rank that does not exist; [`Error::Memory`](crate::Error::Memory) for an array that is not contiguous or of another
    /// device; the errors of the communicator.
    fn scatter_in_place[T: Element, D: Dimension, S: StorageMut](array: &'m mut DeviceArray<T, D, S>, root: usize),
    |place, order| place.scatter_in_place(Type::element::<T>(), Span::of(array)?, root), { order.write(array) };

    /// Sends the array to another rank, which receives as many elements of the same type.
    ///
    /// Two ranks that send to each other do so in a [`group`](crate::group), else each may wait for the other.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_nccl::{Communicator, Result};
    /// type Row = cuda_mem::DeviceArray<f32, ndarray::Ix1>;
    ///
    /// fn example(c: &Communicator, x: &Row, s: &cuda_driver::Stream) -> Result<()> {
    ///     c.send(x, 1, s)?;
    ///     c.wait(s)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid) for a rank that does not exist; [`Error::Memory`](crate::Error::Memory)
    /// for an array that is not contiguous or of another device; the errors of the communicator.
    fn send[T: Element, D: Dimension, S: Storage](send: &'m DeviceArray<T, D, S>, peer: usize),
    |place, order| place.send(Type::element::<T>(), Span::of(send)?, peer), { order.read(send) };

    /// Receives an array from another rank, which sends as many elements of the same type.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_nccl::{Communicator, Result};
    /// type Row = cuda_mem::DeviceArray<f32, ndarray::Ix1>;
    ///
    /// fn example(c: &Communicator, y: &mut Row, s: &cuda_driver::Stream) -> Result<()> {
    ///     c.recv(y, 0, s)?;
    ///     c.wait(s)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid) for a rank that does not exist; [`Error::Memory`](crate::Error::Memory)
    /// for an array that is not contiguous or of another device; the errors of the communicator.
    fn recv[T: Element, D: Dimension, S: StorageMut](array: &'m mut DeviceArray<T, D, S>, peer: usize),
    |place, order| place.recv(Type::element::<T>(), Span::of(array)?, peer), { order.write(array) };
}
