//! Lowers source types to DWARF types.

use cuda_llvm::inkwell;
use inkwell::AddressSpace;
use inkwell::debug_info::{
    AsDIScope, DICompileUnit, DIFlags, DIFlagsConstants, DIType, DebugInfoBuilder, LLVMDWARFTypeEncoding,
};

use crate::back::llvm::EmitError;
use crate::kir::{Module, Scalar, SourceField, SourceKind, SourceType, SourceTypeId, Space};

/// DWARF's base type encodings.
const BOOLEAN: LLVMDWARFTypeEncoding = 0x02;
const FLOAT: LLVMDWARFTypeEncoding = 0x04;
const SIGNED: LLVMDWARFTypeEncoding = 0x05;
const UNSIGNED: LLVMDWARFTypeEncoding = 0x07;

/// The DWARF type of each source type of a module.
pub(super) fn described<'ctx>(
    builder: &DebugInfoBuilder<'ctx>,
    unit: &DICompileUnit<'ctx>,
    kir: &Module,
) -> Result<Vec<DIType<'ctx>>, EmitError> {
    let mut types = Types { builder, unit, kir, described: Vec::with_capacity(kir.types.len()) };
    for (index, ty) in kir.types.iter().enumerate() {
        let ty = types.describe(SourceTypeId(index as u32), ty)?;
        types.described.push(ty);
    }
    Ok(types.described)
}

struct Types<'ctx, 'a> {
    builder: &'a DebugInfoBuilder<'ctx>,
    unit: &'a DICompileUnit<'ctx>,
    kir: &'a Module,
    /// The types so far, which later ones refer to.
    described: Vec<DIType<'ctx>>,
}

impl<'ctx> Types<'ctx, '_> {
    fn describe(&self, id: SourceTypeId, SourceType { name, kind }: &SourceType) -> Result<DIType<'ctx>, EmitError> {
        let (scope, file) = (self.unit.as_debug_info_scope(), self.unit.get_file());
        let bits = self.bits(id);
        Ok(match kind {
            SourceKind::Scalar(scalar) => match scalar.lane() {
                Some(lane) => {
                    let lane = self.number(lane.name(), lane)?;
                    self.builder.create_array_type(lane, bits, 0, std::slice::from_ref(&(0..2))).as_type()
                }
                None => self.number(name, *scalar)?,
            },
            SourceKind::Enum(scalar, names) => {
                let unused = 64 - scalar.bits();
                let value = |bits: u64| match scalar.is_signed() {
                    true => (bits << unused) as i64 >> unused,
                    false => bits as i64,
                };
                let name_of = |(name, bits): &(String, u64)| {
                    self.builder.create_enumerator(name, value(*bits), !scalar.is_signed())
                };
                let names: Vec<_> = names.iter().map(name_of).collect();
                let number = self.number(scalar.name(), *scalar)?;
                self.builder.create_enumeration_type(scope, name, file, 0, bits, 0, &names, number).as_type()
            }
            SourceKind::Pointer(space, to) => {
                let (to, class) = (self.described[to.index()], AddressSpace::from(class(*space)));
                self.builder.create_pointer_type(name, to, bits, 0, class).as_type()
            }
            SourceKind::Array(element, count) => {
                let element = self.described[element.index()];
                self.builder.create_array_type(element, bits, 0, std::slice::from_ref(&(0..*count as i64))).as_type()
            }
            SourceKind::Struct(_, fields) => {
                let fields: Vec<_> = fields.iter().map(|field| self.field(field)).collect();
                let (flags, unique) = (DIFlags::ZERO, "");
                self.builder
                    .create_struct_type(scope, name, file, 0, bits, 0, flags, None, &fields, 0, None, unique)
                    .as_type()
            }
        })
    }

    fn number(&self, name: &str, scalar: Scalar) -> Result<DIType<'ctx>, EmitError> {
        let encoding = match scalar {
            Scalar::Bool => BOOLEAN,
            _ if scalar.is_float() => FLOAT,
            _ if scalar.is_signed() => SIGNED,
            _ => UNSIGNED,
        };
        let (name, bits) = (if name.is_empty() { scalar.name() } else { name }, u64::from(scalar.bytes()) * 8);
        let ty = self.builder.create_basic_type(name, bits, encoding, DIFlags::ZERO);
        ty.map(|ty| ty.as_type()).map_err(|error| EmitError::Llvm(error.to_string()))
    }

    fn field(&self, SourceField { name, offset, ty }: &SourceField) -> DIType<'ctx> {
        let (scope, file, bits) = (self.unit.as_debug_info_scope(), self.unit.get_file(), self.bits(*ty));
        let (offset, ty) = (u64::from(*offset) * 8, self.described[ty.index()]);
        self.builder.create_member_type(scope, name, file, 0, bits, 0, offset, DIFlags::ZERO, ty).as_type()
    }

    fn bits(&self, ty: SourceTypeId) -> u64 {
        self.kir.source_size(ty) * 8
    }
}

/// cuda-gdb's address class for a memory space; a pointer to any memory is generic.
fn class(space: Space) -> u16 {
    match space {
        Space::Constant => 4,
        Space::Global => 5,
        Space::Shared => 8,
        Space::Local | Space::Cluster | Space::Generic => 12,
    }
}
