//! Place expressions: bindings, their parts, bounds-checked elements of slices and views, and dereferences.

use super::builder::Builder;
use super::copies::is_place;
use super::function::{Local, Lowering, Result};
use super::types::Val;
use crate::kir::{ArrayDecl, BinaryOp, Op, Scalar, SharedId, SlotId, Space, Type, Value};
use crate::syntax::{Definition, Expr, ExprKind, Pos, ensure_sufficient_stack};
use crate::typeinfo::layout::ty_name;
use crate::typeinfo::{Memory, Ty};

/// A place that can be read and, unless it is a fixed value, written.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// An immutable value.
    Fixed(Val),
    /// A binding in slots, or a part of one.
    Slots(Ty, Vec<SlotId>, Root),
    /// A value in memory.
    Memory(Value, Ty, Memory),
}

/// The owner of slots.
#[derive(Clone, Copy, Debug)]
pub(super) enum Root {
    /// A binding that could also be in memory, by function and number.
    Binding(*const Definition, u32),
    /// A value that is no such binding.
    Apart,
    /// A variable that holds references.
    ReferenceVar(ReferenceVar),
}

/// A variable that holds references, or a part of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReferenceVar {
    /// The variable's number in [`Scopes::reference_memories`](super::scopes::Scopes::reference_memories).
    pub(super) number: usize,
    /// The index of the part's first reference among the variable's.
    pub(super) first: usize,
}

/// The use of a place, which selects `Index` or `IndexMut`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Access {
    /// It is read or borrowed.
    Shared,
    /// It is written or borrowed mutably.
    Mutable,
}

impl Access {
    /// The access by a reference, mutable or not.
    pub(super) fn of(mutable: bool) -> Self {
        if mutable { Access::Mutable } else { Access::Shared }
    }
}

impl Place {
    /// The type of the place.
    pub(super) fn ty(&self) -> &Ty {
        match self {
            Place::Fixed(value) => &value.ty,
            Place::Slots(ty, ..) | Place::Memory(_, ty, _) => ty,
        }
    }
}

/// The most shared memory that a block can have on any device: 227 KiB.
const MAX_SHARED: u64 = 227 << 10;

impl Lowering<'_> {
    /// Lowers a place expression, including its bounds checks.
    pub(super) fn place(&mut self, expr: &'static Expr) -> Result<Place> {
        self.place_for(expr, Access::Shared)
    }

    /// As [`place`](Self::place), for an access.
    pub(super) fn place_for(&mut self, expr: &'static Expr, access: Access) -> Result<Place> {
        self.place_as(expr, access, None)
    }

    /// As [`place_for`](Self::place_for); an expression that is no place becomes a value of the expected type.
    fn place_as(&mut self, expr: &'static Expr, access: Access, expected: Option<&Ty>) -> Result<Place> {
        ensure_sufficient_stack(|| self.place_here(expr, access, expected))
    }

    fn place_here(&mut self, expr: &'static Expr, access: Access, expected: Option<&Ty>) -> Result<Place> {
        let Expr(at, kind) = expr;
        let place = match kind {
            ExprKind::Binding(number) if let Some(constant) = self.frame().named_constant(*number).cloned() => {
                self.constant_place(*at, &constant)?
            }
            ExprKind::Binding(number) => match self.frame().locals.get(number) {
                Some(Local::Fixed(value)) => Place::Fixed(value.clone()),
                Some(Local::Memory(ptr, ty)) => Place::Memory(*ptr, ty.clone(), Memory::Write(Space::Local)),
                Some(Local::Slots(ty, slots, root)) => Place::Slots(ty.clone(), slots.clone(), *root),
                // rustc has checked definite initialisation
                Some(Local::Late(_)) => {
                    let ty = self.frame().binding_type(*number);
                    Place::Fixed(self.unreachable(*at, ty.as_ref()))
                }
                None => {
                    let name = self.frame().definition.bindings[*number as usize].name;
                    let text = format!("`{name}` has no value here in the front end; please report this");
                    return Err(self.error(*at, text));
                }
            },
            ExprKind::Const(number) => self.constant_by_number(*at, *number)?,
            ExprKind::Method(receiver, _, number)
                if let Some(constant) = self.scopes.host_constant(receiver, *number) =>
            {
                self.constant_by_number(*at, constant)?
            }
            ExprKind::Field(base, name) => {
                let base = self.place_for(base, access)?;
                let base = self.deref_all(base);
                match base.ty().field(name) {
                    Some(index) => self.build.part(&base, index),
                    None => {
                        let text = format!(
                            "`{}` has no field `{name}` of its own, and kernels do not follow `Deref`; name the field that \
                             is behind it",
                            ty_name(base.ty())
                        );
                        return Err(self.error(*at, text));
                    }
                }
            }
            ExprKind::Index(base, index) => self.index(base, index, access)?,
            ExprKind::Subslice(base, start, end, inclusive) => {
                self.subslice(base, (*start, *end, *inclusive), access)?
            }
            ExprKind::Deref(reference) => {
                let reference = match is_place(reference) {
                    true => {
                        let place = self.place_for(reference, access)?;
                        self.build.read(&place)
                    }
                    false => self.expr(reference, None)?,
                };
                match reference.ty {
                    Ty::Ref(..) => self.pointee_place(reference),
                    Ty::Slice(..) => Place::Fixed(reference),
                    Ty::Closure(_) if let Some(closure) = self.scopes.borrowed_closure(&reference) => {
                        self.pointee_place(closure)
                    }
                    other => {
                        let text = format!("a value of type `{}` cannot be dereferenced", ty_name(&other));
                        return Err(self.error(*at, text));
                    }
                }
            }
            _ => {
                let value = self.expr(expr, expected)?;
                Place::Fixed(self.build.with_addresses(value))
            }
        };
        Ok(self.build.in_memory(place))
    }

    /// Dereferences a reference.
    pub(super) fn pointee_place(&mut self, reference: Val) -> Place {
        match reference.ty {
            Ty::Ref(to, Memory::Value) => {
                let place = Place::Fixed(Val { ty: *to, leaves: reference.leaves });
                self.build.in_memory(place)
            }
            Ty::Ref(_, Memory::Place(number)) => self.scopes.places[number as usize].clone(),
            Ty::Ref(to, memory) if !memory.is_no_address() => Place::Memory(reference.leaves[0], *to, memory),
            _ => Place::Fixed(reference),
        }
    }

    /// Dereferences a place as long as it is a reference.
    pub(super) fn deref_all(&mut self, mut place: Place) -> Place {
        while let Ty::Ref(_, memory) = place.ty()
            && !matches!(memory, Memory::Text(_))
        {
            let reference = self.build.read(&place);
            place = self.pointee_place(reference);
        }
        place
    }

    /// Lowers `&place` or `&mut place`; an array expression may be expected as a slice.
    pub(super) fn reborrow(&mut self, expr: &'static Expr, mutable: bool, expected: Option<&Ty>) -> Result<Val> {
        let wanted = match (expected, &expr.1) {
            (Some(Ty::Slice(element, _)), ExprKind::Array(elements)) => {
                Some(Ty::Array(element.clone(), elements.len() as u64))
            }
            (Some(Ty::Ref(to, _)), _) => Some((**to).clone()),
            _ => None,
        };
        let place = self.place_as(expr, Access::of(mutable), wanted.as_ref())?;
        if mutable {
            self.check_mutable(expr, &place)?;
        }
        // `&*slice` is the slice, and so is `&slice[range]`
        if let (
            ExprKind::Deref(_) | ExprKind::Index(..) | ExprKind::Subslice(..),
            Place::Fixed(slice @ Val { ty: Ty::Slice(..), .. }),
        ) = (&expr.1, &place)
        {
            return Ok(slice.clone());
        }
        Ok(self.reference(place, mutable))
    }

    /// Refuses a mutable reference into an array of references at an index that is not constant: such an element is a
    /// copy.
    pub(super) fn check_mutable(&self, expr: &Expr, place: &Place) -> Result<()> {
        let (Place::Fixed(value), mut of) = (place, expr) else { return Ok(()) };
        while let ExprKind::Field(base, _) = &of.1 {
            of = base;
        }
        match (&of.1, &value.ty) {
            (ExprKind::Index(..), ty) if !matches!(ty, Ty::Slice(..) | Ty::View(..)) => {
                let hint = "an element of an array of references or iterators is changed only where its index is written as a \
                            number; bind each to a name";
                Err(self.error(expr.0, hint))
            }
            _ => Ok(()),
        }
    }

    /// Borrows a place. A mutable reference to a constant points to a copy; one to slots names the place. A shared
    /// reference to a value without an address is the value itself, which cannot change while it is borrowed.
    pub(super) fn reference(&mut self, place: Place, mutable: bool) -> Val {
        let to = |ty: Ty, memory, leaves| Val { ty: Ty::Ref(Box::new(ty), memory), leaves };
        match place {
            Place::Memory(_, _, memory) if mutable && !memory.writable() => {
                let copy = self.build.read(&place);
                self.reference(Place::Fixed(copy), mutable)
            }
            Place::Memory(ptr, ty, memory) => {
                self.build.borrowed(ptr, mutable);
                to(ty, memory, vec![ptr])
            }
            Place::Slots(..) if mutable => self.scopes.place_reference(place),
            Place::Fixed(value) if mutable && value.ty.is_plain() => {
                // `&mut` of an rvalue
                let cell = self.build.new_array("temporary", &value.ty).only();
                self.build.store(cell, Space::Local, &value);
                to(value.ty, Memory::Write(Space::Local), vec![cell])
            }
            Place::Fixed(value) if mutable => {
                let (ty, slots, root) = self.variable("temporary", value);
                self.scopes.place_reference(Place::Slots(ty, slots, root))
            }
            place => {
                let value = self.build.read(&place);
                for (leaf, _) in value.ty.arrays() {
                    self.build.borrowed(value.leaves[leaf], mutable);
                }
                to(value.ty, Memory::Value, value.leaves)
            }
        }
    }

    /// Lowers `shared!(T)`: one array per macro call and specialisation.
    pub(super) fn shared(&mut self, at: Pos, number: u32) -> Result<Val> {
        let frame = self.frame();
        let ty = frame.info.named[number as usize].clone();
        let (definition, generics) = (frame.definition, frame.generics.clone());
        let count = self.program.shared.len() as u32;
        let key = (std::ptr::from_ref(definition), generics, number);
        let id = *self.program.shared_ids.entry(key).or_insert(SharedId(count));
        let element = ty.pointee();
        if id.0 == count {
            let name = super::variable_name(definition.name);
            self.program.shared.push(ArrayDecl { name, element, len: ty.count().max(1) });
            let size = |array: &ArrayDecl| u64::from(array.element.size()).saturating_mul(array.len);
            let bytes = self.program.shared.iter().map(size).fold(0, u64::saturating_add);
            if bytes > MAX_SHARED {
                let text = format!(
                    "with this one the kernel's `shared!` arrays take {bytes} bytes, and no device has more than \
                     {MAX_SHARED} for a block"
                );
                return Err(self.error(at, text));
            }
        }
        let ptr = self.build.value(Op::Shared(id), Type::Ptr(Space::Shared, element));
        Ok(Val { ty: Ty::Ref(Box::new(ty), Memory::Write(Space::Shared)), leaves: vec![ptr] })
    }

    /// Converts a value to the type of a place, whose references may point to wider memories.
    pub(super) fn convert_for_place(&mut self, at: Pos, place: &Place, value: Val) -> Result<Val> {
        if value.ty != *place.ty() && self.scopes.adds_memories(place, &value.ty) {
            // the function is lowered again, with room for this in the variable
            return Err(self.error(at, "this is lowered again"));
        }
        self.conform(at, value, place.ty())
    }

    /// Writes a place, which rustc has checked to be writable. Arrays in the value do not overlap the place, unless
    /// they are the place's own.
    pub(super) fn write(&mut self, at: Pos, place: &Place, value: Val) -> Result<()> {
        let value = self.convert_for_place(at, place, value)?;
        if self.build.ended() {
            return Ok(());
        }
        match place {
            Place::Fixed(_) => return Err(self.error(at, "elements of an array of references cannot be replaced")),
            Place::Memory(_, _, memory) if !memory.writable() => {
                return Err(self.error(at, "this writes to a copy of a constant; bind the copy with `let mut`"));
            }
            Place::Slots(_, slots, _) => self.build.set(slots, &value),
            Place::Memory(ptr, _, memory) => self.build.store(*ptr, memory.space(), &value),
        }
        Ok(())
    }
}

impl Builder {
    /// An array is at the address that a slot or value holds.
    fn in_memory(&mut self, place: Place) -> Place {
        if !matches!(place.ty(), Ty::Array(..)) || !place.ty().is_plain() {
            return place;
        }
        match place {
            Place::Memory(..) => place,
            other => {
                let array = self.read(&other);
                Place::Memory(array.only(), array.ty, Memory::Write(Space::Local))
            }
        }
    }

    /// The place of a part of a tuple, struct or enum.
    pub(super) fn part(&mut self, place: &Place, index: usize) -> Place {
        let part = match place {
            Place::Fixed(value) => Place::Fixed(value.part(index)),
            Place::Slots(ty, slots, root) => {
                let parts = ty.fields();
                let root = match *root {
                    Root::ReferenceVar(ReferenceVar { number, first }) => {
                        let before = parts[..index].iter().map(|(part, _)| part.memories().len()).sum::<usize>();
                        Root::ReferenceVar(ReferenceVar { number, first: first + before })
                    }
                    root => root,
                };
                Place::Slots(parts[index].0.clone(), slots[ty.field_leaves(index)].to_vec(), root)
            }
            Place::Memory(ptr, ty, memory) => {
                let (part, offset) = ty.fields()[index];
                Place::Memory(self.part_at(*ptr, memory.space(), offset, part), part.clone(), *memory)
            }
        };
        self.in_memory(part)
    }

    /// The place of the element `offset` pointees after `ptr`.
    pub(super) fn place_at(&mut self, ptr: Value, offset: Value, element: Ty, memory: Memory) -> Place {
        let at = self.value(Op::Offset(ptr, offset), Type::Ptr(memory.space(), element.pointee()));
        Place::Memory(self.inherit_stability(ptr, at), element, memory)
    }

    /// Emits `index * count` for a constant count.
    pub(super) fn scaled_by(&mut self, index: Value, count: u64) -> Value {
        if count == 1 {
            return index;
        }
        let count_value = self.constant(Scalar::U64, count);
        self.scaled(index, count, count_value)
    }

    /// Emits `index * count`; the count is also given as a value.
    pub(super) fn scaled(&mut self, index: Value, count: u64, value: Value) -> Value {
        if count == 1 { index } else { self.value(Op::Binary(BinaryOp::Mul, index, value), Scalar::U64) }
    }

    /// Reads a place for use before other code of the program runs: arrays are not copied.
    pub(super) fn read(&mut self, place: &Place) -> Val {
        match place {
            Place::Fixed(value) => value.clone(),
            Place::Slots(ty, slots, _) => self.get(ty, slots),
            Place::Memory(ptr, ty, memory) if memory.space() == Space::Local => self.load_in_place(*ptr, ty),
            Place::Memory(ptr, ty, memory) => self.load(*ptr, memory.space(), ty),
        }
    }
}
