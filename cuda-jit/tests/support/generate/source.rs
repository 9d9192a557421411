//! What a debugger is told of a random module's source.

use cuda_jit::kir::build::FunctionBuilder;
use cuda_jit::kir::{
    ArrayDecl, ArrayId, Home, Place, Scalar, SlotId, SourceField, SourceKind, SourceScope, SourceScopeId, SourceType,
    SourceTypeId, Space, Type, Variable,
};

use super::Random;

/// The type of 256 bytes: larger than all slots of a function together.
const LARGE: SourceTypeId = SourceTypeId(1);

/// Types of the source: first two that are always there.
pub(super) fn types(random: &mut Random) -> Vec<SourceType> {
    let of = |name: &str, kind| SourceType { name: name.to_owned(), kind };
    let mut types =
        vec![of("u8", SourceKind::Scalar(Scalar::U8)), of("[u8; 256]", SourceKind::Array(SourceTypeId(0), 256))];
    for index in 0..random.below(6) {
        let part = SourceTypeId(random.below(types.len()) as u32);
        let kind = match random.below(5) {
            0 => SourceKind::Scalar(random.scalar(|_| true)),
            1 => SourceKind::Enum(Scalar::I8, vec![("Less \"\n".to_owned(), 0xff), ("More".to_owned(), 1)]),
            2 => SourceKind::Pointer(random.one_of(&Space::ALL), part),
            3 => SourceKind::Array(part, random.below(4) as u64),
            _ => {
                let fields = (0..random.below(4)).map(|field| SourceField {
                    name: format!("field{field}"),
                    offset: field as u32,
                    ty: SourceTypeId(0),
                });
                SourceKind::Struct(8, fields.collect())
            }
        };
        types.push(SourceType { name: format!("a::Type{index}<\"é\">"), kind });
    }
    types
}

/// A place in a random file.
pub(super) fn place(random: &mut Random) -> Place {
    let (line, column) = (1 + random.below(900) as u32, 1 + random.below(80) as u32);
    let file = random.one_of(&["src/main.rs", "a \"b\"\\c.rs", "é.rs"]);
    Place { file: file.into(), line, column }
}

/// A scope of the function, or none.
pub(super) fn scope(random: &mut Random, count: usize) -> Option<SourceScopeId> {
    let scope = random.below(count + 1);
    (scope < count).then_some(SourceScopeId(scope as u32))
}

/// Adds scopes to a function, and variables for some of its slots and arrays; yields how many scopes there are.
pub(super) fn describe(random: &mut Random, b: &mut FunctionBuilder, slots: &[Type], arrays: &[ArrayDecl]) -> usize {
    let scopes = random.below(4);
    for index in 0..scopes {
        let (outer, place) = (scope(random, index), place(random));
        let inlined = (random.below(3) == 0).then(|| ("g".to_owned(), self::place(random)));
        b.new_scope(SourceScope { outer, place, inlined });
    }
    let (mut held, mut end) = (Vec::new(), 0);
    for (index, ty) in slots.iter().enumerate() {
        if random.below(2) == 0 {
            let offset = (end + random.below(5) as u32).next_multiple_of(ty.bytes());
            held.push((SlotId(index as u32), offset));
            end = offset + ty.bytes();
        }
        if !held.is_empty() && random.below(2) == 0 {
            variable(random, b, scopes, LARGE, Home::Slots(std::mem::take(&mut held)));
            end = 0;
        }
    }
    for index in 0..arrays.len() {
        if random.below(2) == 0 {
            variable(random, b, scopes, SourceTypeId(0), Home::Array(ArrayId(index as u32)));
        }
    }
    scopes
}

fn variable(random: &mut Random, b: &mut FunctionBuilder, scopes: usize, ty: SourceTypeId, home: Home) {
    let (scope, place) = (scope(random, scopes), place(random));
    b.variable(Variable { name: "an \"é\"".to_owned(), ty, scope, place, parameter: None, home });
}
