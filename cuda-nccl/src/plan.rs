//! The arguments of each operation, checked: lengths and ranks in, a [`Call`] out. No call is made here.

use cuda_mem::{DeviceArray, Element, Storage};
use cuda_sys::nccl::ncclRedOp_t;
use ndarray::Dimension;

use crate::call::{Call, Elements, Kind, Place};
use crate::error::{Error, LengthError, Result, Rule, Subject};
use crate::number::{Number, Reduction, moved};

/// The memory of a contiguous array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    address: u64,
    len: usize,
}

impl Span {
    /// The memory of `array`, which must be contiguous.
    #[inline]
    pub(crate) fn of<T: Element, D: Dimension, S: Storage>(array: &DeviceArray<T, D, S>) -> Result<Span> {
        array.require_c_order("a collective operation")?;
        Ok(Span { address: array.device_ptr(), len: array.len() })
    }
}

/// The element type of a call: numbers that are reduced, or elements that are moved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Type {
    data: cuda_sys::nccl::ncclDataType_t,
    per_element: usize,
    bytes: usize,
}

impl Type {
    #[inline]
    pub(crate) fn number<T: Number>() -> Type {
        Type { data: T::TYPE, per_element: 1, bytes: size_of::<T>() }
    }

    #[inline]
    pub(crate) fn element<T: Element>() -> Type {
        let (data, per_element) = moved::<T>();
        Type { data, per_element, bytes: size_of::<T>() }
    }
}

/// Plans of the operations, at a place in a communicator.
impl Place {
    pub(crate) fn subject(self, operation: &'static str, peer: Option<usize>) -> Subject {
        Subject { rank: self.rank, size: self.size, operation, peer }
    }

    #[inline]
    fn call(self, kind: Kind, ty: Type, count: usize, send: u64, recv: u64) -> Call {
        // An array's bytes fit in an address space, so that the product does not overflow.
        let bytes = ty.bytes.checked_div(ty.per_element).unwrap_or(0);
        let elements = Elements { count: count * ty.per_element, data: ty.data, bytes };
        Call { kind, send, recv, elements, op: ncclRedOp_t::ncclSum, peer: None }
    }

    #[cold]
    fn unequal(self, kind: Kind, peer: Option<usize>, first: usize, second: usize, rule: Rule) -> Error {
        Error::Length(Box::new(LengthError { subject: self.subject(kind.name(), peer), first, second, rule }))
    }

    #[inline]
    fn peer(self, kind: Kind, peer: usize) -> Result<Option<u32>> {
        if peer < self.size { Ok(Some(peer as u32)) } else { Err(self.no_rank(kind, peer)) }
    }

    #[cold]
    fn no_rank(self, kind: Kind, peer: usize) -> Error {
        Error::invalid(format!(
            "{}: there is no rank {peer}; the ranks are 0 to {}",
            self.subject(kind.name(), None),
            self.size - 1
        ))
    }

    /// The length of a rank's part of an array that is divided among all.
    #[inline]
    fn part(self, kind: Kind, peer: Option<usize>, len: usize) -> Result<usize> {
        if len.is_multiple_of(self.size) {
            Ok(len / self.size)
        } else {
            Err(self.unequal(kind, peer, len, self.size, Rule::Divided))
        }
    }

    /// The address of this rank's part.
    #[inline]
    fn own(self, address: u64, ty: Type, part: usize) -> u64 {
        address + (self.rank * part * ty.bytes) as u64
    }

    #[inline]
    pub(crate) fn all_reduce(self, ty: Type, send: Span, recv: Span, op: Reduction) -> Result<Call> {
        let kind = Kind::AllReduce;
        if send.len != recv.len {
            return Err(self.unequal(kind, None, send.len, recv.len, Rule::Same));
        }
        Ok(Call { op: op.raw(), ..self.call(kind, ty, send.len, send.address, recv.address) })
    }

    pub(crate) fn reduce(self, ty: Type, send: Span, recv: Span, op: Reduction, root: usize) -> Result<Call> {
        let kind = Kind::Reduce;
        let peer = self.peer(kind, root)?;
        if self.rank == root && send.len != recv.len {
            return Err(self.unequal(kind, Some(root), send.len, recv.len, Rule::Same));
        }
        Ok(Call { op: op.raw(), peer, ..self.call(kind, ty, send.len, send.address, recv.address) })
    }

    pub(crate) fn broadcast(self, ty: Type, send: Span, recv: Span, root: usize) -> Result<Call> {
        let kind = Kind::Broadcast;
        let peer = self.peer(kind, root)?;
        if self.rank == root && send.len != recv.len {
            return Err(self.unequal(kind, Some(root), send.len, recv.len, Rule::Same));
        }
        Ok(Call { peer, ..self.call(kind, ty, recv.len, send.address, recv.address) })
    }

    pub(crate) fn all_gather(self, ty: Type, send: Span, recv: Span) -> Result<Call> {
        let kind = Kind::AllGather;
        if send.len.checked_mul(self.size) != Some(recv.len) {
            return Err(self.unequal(kind, None, send.len, recv.len, Rule::Gathered));
        }
        Ok(self.call(kind, ty, send.len, send.address, recv.address))
    }

    pub(crate) fn all_gather_in_place(self, ty: Type, array: Span) -> Result<Call> {
        let part = self.part(Kind::AllGather, None, array.len)?;
        Ok(self.call(Kind::AllGather, ty, part, self.own(array.address, ty, part), array.address))
    }

    pub(crate) fn reduce_scatter(self, ty: Type, send: Span, recv: Span, op: Reduction) -> Result<Call> {
        let kind = Kind::ReduceScatter;
        if recv.len.checked_mul(self.size) != Some(send.len) {
            return Err(self.unequal(kind, None, send.len, recv.len, Rule::Scattered));
        }
        Ok(Call { op: op.raw(), ..self.call(kind, ty, recv.len, send.address, recv.address) })
    }

    pub(crate) fn reduce_scatter_in_place(self, ty: Type, array: Span, op: Reduction) -> Result<Call> {
        let part = self.part(Kind::ReduceScatter, None, array.len)?;
        let call = self.call(Kind::ReduceScatter, ty, part, array.address, self.own(array.address, ty, part));
        Ok(Call { op: op.raw(), ..call })
    }

    pub(crate) fn all_to_all(self, ty: Type, send: Span, recv: Span) -> Result<Call> {
        let kind = Kind::AllToAll;
        if send.len != recv.len {
            return Err(self.unequal(kind, None, send.len, recv.len, Rule::Same));
        }
        let part = self.part(kind, None, send.len)?;
        Ok(self.call(kind, ty, part, send.address, recv.address))
    }

    pub(crate) fn gather(self, ty: Type, send: Span, recv: Span, root: usize) -> Result<Call> {
        let kind = Kind::Gather;
        let peer = self.peer(kind, root)?;
        if self.rank == root && send.len.checked_mul(self.size) != Some(recv.len) {
            return Err(self.unequal(kind, Some(root), send.len, recv.len, Rule::Gathered));
        }
        Ok(Call { peer, ..self.call(kind, ty, send.len, send.address, recv.address) })
    }

    pub(crate) fn gather_in_place(self, ty: Type, array: Span, root: usize) -> Result<Call> {
        let kind = Kind::Gather;
        let peer = self.peer(kind, root)?;
        if self.rank != root {
            return Ok(Call { peer, ..self.call(kind, ty, array.len, array.address, array.address) });
        }
        let part = self.part(kind, Some(root), array.len)?;
        Ok(Call { peer, ..self.call(kind, ty, part, self.own(array.address, ty, part), array.address) })
    }

    pub(crate) fn scatter(self, ty: Type, send: Span, recv: Span, root: usize) -> Result<Call> {
        let kind = Kind::Scatter;
        let peer = self.peer(kind, root)?;
        if self.rank == root && recv.len.checked_mul(self.size) != Some(send.len) {
            return Err(self.unequal(kind, Some(root), send.len, recv.len, Rule::Scattered));
        }
        Ok(Call { peer, ..self.call(kind, ty, recv.len, send.address, recv.address) })
    }

    pub(crate) fn scatter_in_place(self, ty: Type, array: Span, root: usize) -> Result<Call> {
        let kind = Kind::Scatter;
        let peer = self.peer(kind, root)?;
        if self.rank != root {
            return Ok(Call { peer, ..self.call(kind, ty, array.len, array.address, array.address) });
        }
        let part = self.part(kind, Some(root), array.len)?;
        Ok(Call { peer, ..self.call(kind, ty, part, array.address, self.own(array.address, ty, part)) })
    }

    pub(crate) fn send(self, ty: Type, array: Span, peer: usize) -> Result<Call> {
        let peer = self.peer(Kind::Send, peer)?;
        Ok(Call { peer, ..self.call(Kind::Send, ty, array.len, array.address, array.address) })
    }

    pub(crate) fn recv(self, ty: Type, array: Span, peer: usize) -> Result<Call> {
        let peer = self.peer(Kind::Recv, peer)?;
        Ok(Call { peer, ..self.call(Kind::Recv, ty, array.len, array.address, array.address) })
    }
}
