//! Instances of instructions: each form of the table with each combination of its modifiers and types.

use cuda_sim::ptx::isa::{Form, Shape, TABLES};
use cuda_sim::ptx::{Modifier, Opcode, Type};

/// A form with modifiers and types chosen.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    pub(crate) form: &'static Form,
    pub(crate) modifiers: Vec<Modifier>,
    pub(crate) types: Vec<Type>,
    /// The value of the form's immediate operand, if it has one.
    pub(crate) immediate: u32,
}

/// The tables of `lop3` that are tested.
const IMMEDIATES: [u32; 6] = [0x00, 0xff, 0xe8, 0x96, 0x1b, 0xca];

impl Instance {
    pub(crate) fn has(&self, modifier: Modifier) -> bool {
        self.modifiers.contains(&modifier)
    }

    pub(crate) fn ty(&self) -> Type {
        self.types.first().copied().unwrap_or(Type::B32)
    }

    pub(crate) fn opcode(&self) -> Opcode {
        self.form.opcode
    }

    /// Returns the name in PTX; `prmt` has its mode after the type.
    pub(crate) fn name(&self) -> String {
        let mut parts = vec![self.form.opcode.name()];
        let modifiers = self.modifiers.iter().map(|m| m.name());
        let types = self.types.iter().map(|t| t.name());
        match self.form.opcode {
            Opcode::Prmt => parts.extend(types.chain(modifiers)),
            _ => parts.extend(modifiers.chain(types)),
        }
        parts.join(".")
    }

    /// Returns the type of an operand.
    pub(crate) fn operand_type(&self, shape: Shape) -> Type {
        let wide = |ty: Type| match ty {
            Type::S16 => Type::S32,
            Type::U16 => Type::U32,
            Type::S32 => Type::S64,
            _ => Type::U64,
        };
        match shape {
            Shape::Dest(i) | Shape::Source(i) | Shape::DestVector(i) | Shape::SourceVector(i) => self.types[i],
            Shape::DestWide(i) | Shape::SourceWide(i) => wide(self.types[i]),
            Shape::DestAs(ty) | Shape::SourceAs(ty) => ty,
            Shape::CarryIn
            | Shape::CarryOut
            | Shape::DestPred
            | Shape::DestOnePred
            | Shape::DestTwoPreds
            | Shape::SourcePred => Type::Pred,
            _ => Type::B32,
        }
    }

    pub(crate) fn sources(&self) -> Vec<Type> {
        let is_source = |shape: &&Shape| {
            matches!(
                shape,
                Shape::Source(_) | Shape::SourceWide(_) | Shape::SourceAs(_) | Shape::SourcePred | Shape::CarryIn
            )
        };
        self.form.operands.iter().filter(is_source).map(|shape| self.operand_type(*shape)).collect()
    }
}

fn product<T: Clone>(sets: &[Vec<Vec<T>>]) -> Vec<Vec<T>> {
    sets.iter().fold(vec![Vec::new()], |all, set| {
        all.iter().flat_map(|start| set.iter().map(move |more| [start.as_slice(), more].concat())).collect()
    })
}

/// Returns every instance of a form.
pub(crate) fn instances(form: &'static Form) -> Vec<Instance> {
    let groups: Vec<Vec<Vec<Modifier>>> = form
        .groups
        .iter()
        .map(|group| {
            let none = if group.required { vec![] } else { vec![vec![]] };
            none.into_iter().chain(group.choices.iter().map(|m| vec![*m])).collect()
        })
        .collect();
    let types: Vec<Vec<Vec<Type>>> = form.types.iter().map(|set| set.iter().map(|ty| vec![*ty]).collect()).collect();
    let immediates: &[u32] = if form.operands.contains(&Shape::Immediate) { &IMMEDIATES } else { &[0] };
    let mut all = Vec::new();
    for modifiers in product(&groups) {
        for types in product(&types) {
            for immediate in immediates {
                all.push(Instance { form, modifiers: modifiers.clone(), types: types.clone(), immediate: *immediate });
            }
        }
    }
    all
}

/// Returns every form of the table.
pub(crate) fn forms() -> impl Iterator<Item = &'static Form> {
    TABLES.iter().copied().flatten()
}
