//! Properties of types that the compiler queries.

use super::{Arithmetic, Memory, Operator, SumIdentity, Ty};
use crate::kir::Scalar;

impl Ty {
    /// The type of a complex number's real and imaginary part.
    pub fn complex(&self) -> Option<Scalar> {
        match self {
            Ty::Struct(of) => match of.arithmetic {
                Arithmetic::Complex(part) => Some(part),
                Arithmetic::Listed | Arithmetic::Compared(_) | Arithmetic::Lanes(_) => None,
            },
            _ => None,
        }
    }

    /// The element type of a short vector.
    pub fn lanes(&self) -> Option<Scalar> {
        match self {
            Ty::Struct(of) => match of.arithmetic {
                Arithmetic::Lanes(number) => Some(number),
                Arithmetic::Listed | Arithmetic::Compared(_) | Arithmetic::Complex(_) => None,
            },
            _ => None,
        }
    }

    /// The register type of a vector of two 16-bit floats.
    pub fn packed(&self) -> Option<Scalar> {
        self.lanes().and_then(Scalar::pair)
    }

    /// Returns true if the type lists its operators, an enum without fields all but comparisons.
    pub fn lists_operators(&self) -> bool {
        matches!(self, Ty::Struct(_) | Ty::Enum(..))
            || self.as_sum().is_some_and(|of| matches!(of.identity, SumIdentity::Own(_)))
    }

    /// The kind of operators, of a struct or an enum with fields.
    pub fn arithmetic(&self) -> Option<Arithmetic> {
        match self {
            Ty::Struct(of) => Some(of.arithmetic),
            Ty::Sum(of) => Some(of.arithmetic),
            _ => None,
        }
    }

    /// The operators that it lists.
    pub fn operators(&self) -> Vec<Operator> {
        match self {
            Ty::Struct(of) => (of.operators)(),
            Ty::Sum(of) => (of.operators)(),
            Ty::Enum(of, _) => (of.operators)(),
            _ => Vec::new(),
        }
    }

    /// Returns true if panic messages can print its values; those of some structs must be converted first.
    pub fn is_printable(&self) -> bool {
        match self {
            Ty::Unit | Ty::Scalar(_) | Ty::Enum(..) => true,
            Ty::Tuple(types) => types.iter().all(Ty::is_printable),
            Ty::Sum(of) => of.fields().all(Ty::is_printable),
            Ty::Array(inner, _) | Ty::Ref(inner, _) => inner.is_printable(),
            Ty::Struct(of) => of.fields.iter().all(|field| field.ty.is_printable()),
            Ty::Slice(..) | Ty::View(..) | Ty::Str | Ty::Closure(_) | Ty::Passed(_) => false,
        }
    }

    /// Returns true if it contains references that have no address.
    pub fn holds_places(&self) -> bool {
        self.memories().iter().any(|memory| matches!(memory, Memory::Place(_) | Memory::Text(_) | Memory::Closure(_)))
    }

    /// Returns true if it contains references to unknown memory.
    pub fn holds_unknown(&self) -> bool {
        self.memories().iter().any(|memory| memory.is_unknown())
    }

    /// The type with all its references pointing to unknown memory.
    pub fn pointing_nowhere(&self) -> Ty {
        let nowhere = |memory: &Memory| match memory {
            Memory::Closure(_) => Memory::Closure(None),
            memory => Memory::Unknown(memory.writable()),
        };
        self.in_memories(&self.memories().iter().map(nowhere).collect::<Vec<_>>())
    }

    /// The type, in which references to unknown memory point where those of `other` do.
    pub fn joined(&self, other: &Ty) -> Ty {
        let both = self.memories().into_iter().zip(other.memories());
        let join = |(own, other): (Memory, Memory)| match own {
            Memory::Absent(_) if matches!(other, Memory::Unknown(_)) => own,
            own if own.is_unknown() => other,
            own => own,
        };
        let memories: Vec<Memory> = both.map(join).collect();
        self.in_memories(&memories)
    }
}
