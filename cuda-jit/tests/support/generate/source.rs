//! Generates the debug information of random modules.

use cuda_jit::kir::build::FunctionBuilder;
use cuda_jit::kir::{
    ArrayDecl, ArrayId, Location, Scalar, SlotId, SourceField, SourceKind, SourceScope, SourceScopeId, SourceType,
    SourceTypeId, Space, Storage, Type, Variable,
};

use super::Random;

/// A type of 256 bytes, larger than all slots of a function.
const LARGE: SourceTypeId = SourceTypeId(1);

/// Source types, of which the first two are always there.
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

/// A location in a random file.
pub(super) fn location(random: &mut Random) -> Location {
    let (line, column) = (1 + random.below(900) as u32, 1 + random.below(80) as u32);
    let file = random.one_of(&["src/main.rs", "a \"b\"\\c.rs", "é.rs"]);
    Location { file: file.into(), line, column }
}

/// A scope of the function, or none.
pub(super) fn scope(random: &mut Random, count: usize) -> Option<SourceScopeId> {
    let scope = random.below(count + 1);
    (scope < count).then_some(SourceScopeId(scope as u32))
}

/// Adds scopes to a function, and variables for some of its slots and arrays; returns the number of scopes.
pub(super) fn describe(random: &mut Random, b: &mut FunctionBuilder, slots: &[Type], arrays: &[ArrayDecl]) -> usize {
    let scopes = random.below(4);
    for index in 0..scopes {
        let (outer, location) = (scope(random, index), location(random));
        let inlined = (random.below(3) == 0).then(|| ("g".to_owned(), self::location(random)));
        b.new_scope(SourceScope { outer, location, inlined });
    }
    let (mut held, mut end) = (Vec::new(), 0);
    for (index, ty) in slots.iter().enumerate() {
        if random.below(2) == 0 {
            let offset = (end + random.below(5) as u32).next_multiple_of(ty.bytes());
            held.push((SlotId(index as u32), offset));
            end = offset + ty.bytes();
        }
        if !held.is_empty() && random.below(2) == 0 {
            variable(random, b, scopes, LARGE, Storage::Slots(std::mem::take(&mut held)));
            end = 0;
        }
    }
    for index in 0..arrays.len() {
        if random.below(2) == 0 {
            variable(random, b, scopes, SourceTypeId(0), Storage::Array(ArrayId(index as u32)));
        }
    }
    scopes
}

fn variable(random: &mut Random, b: &mut FunctionBuilder, scopes: usize, ty: SourceTypeId, storage: Storage) {
    let (scope, location) = (scope(random, scopes), location(random));
    b.variable(Variable { name: "an \"é\"".to_owned(), ty, scope, location, parameter: None, storage });
}
