//! Line tables: which place of the source each instruction was written at, as LLVM's debug metadata.
//!
//! It describes lines and functions, and no variables. A module without [`Op::Line`] gets none of it.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use cuda_llvm::inkwell;
use inkwell::context::Context;
use inkwell::debug_info::{
    AsDIScope, DICompileUnit, DIFile, DIFlagsConstants, DILocation, DISubprogram, DWARFEmissionKind,
    DWARFSourceLanguage, DebugInfoBuilder,
};
use inkwell::module::{FlagBehavior, Module as LlvmModule};
use inkwell::values::FunctionValue;

use crate::kir::{Function, Module, Op, Place};

/// LLVM's number for the form of its debug metadata.
const METADATA_VERSION: u64 = 3;
/// What PTX's sections can say.
const DWARF_VERSION: u64 = 2;

/// How LLVM's text says what of the metadata is to be emitted: all of it, as [`DebugInfo`] asks for, and with
/// [`lines_only`] the places of instructions alone, for which its C functions have no number.
const ALL: &str = "emissionKind: FullDebug";
const LINES: &str = "emissionKind: DebugDirectivesOnly";

/// A module's debug metadata under construction.
pub(super) struct DebugInfo<'ctx> {
    context: &'ctx Context,
    builder: DebugInfoBuilder<'ctx>,
    unit: DICompileUnit<'ctx>,
    files: RefCell<HashMap<Arc<str>, DIFile<'ctx>>>,
}

impl<'ctx> DebugInfo<'ctx> {
    /// The metadata for a module, if any of its instructions has a place.
    pub(super) fn of(context: &'ctx Context, module: &LlvmModule<'ctx>, kir: &Module, optimized: bool) -> Option<Self> {
        let Place { file, .. } = kir.functions.iter().find_map(first_place)?;
        let number = context.i32_type();
        let flag =
            |name, value| module.add_basic_value_flag(name, FlagBehavior::Warning, number.const_int(value, false));
        flag("Debug Info Version", METADATA_VERSION);
        flag("Dwarf Version", DWARF_VERSION);
        let (language, kind) = (DWARFSourceLanguage::Rust, DWARFEmissionKind::Full);
        let (builder, unit) = module.create_debug_info_builder(
            true,
            language,
            &assembled(file),
            "",
            "cuda-jit",
            optimized,
            "",
            0,
            "",
            kind,
            0,
            false,
            false,
            "",
            "",
        );
        Some(DebugInfo { context, builder, unit, files: RefCell::default() })
    }

    /// Describes a function that has a place.
    pub(super) fn describe(&self, function: &Function, declared: FunctionValue<'ctx>) -> Option<DISubprogram<'ctx>> {
        let Place { file, line, .. } = first_place(function)?;
        let (file, flags) = (self.file(file), inkwell::debug_info::DIFlags::PUBLIC);
        let ty = self.builder.create_subroutine_type(file, None, &[], flags);
        let (scope, name) = (self.unit.as_debug_info_scope(), function.name.as_str());
        let local = declared.get_linkage() == inkwell::module::Linkage::Internal;
        let described =
            self.builder.create_function(scope, name, None, file, *line, ty, local, true, *line, flags, true);
        declared.set_subprogram(described);
        Some(described)
    }

    /// A place in a function.
    pub(super) fn location(&self, place: &Place, function: DISubprogram<'ctx>) -> DILocation<'ctx> {
        let Place { line, column, .. } = *place;
        self.builder.create_debug_location(self.context, line, column, function.as_debug_info_scope(), None)
    }

    /// Completes the metadata.
    pub(super) fn finish(&self) {
        self.builder.finalize();
    }

    fn file(&self, name: &Arc<str>) -> DIFile<'ctx> {
        let mut files = self.files.borrow_mut();
        *files.entry(name.clone()).or_insert_with(|| self.builder.create_file(&assembled(name), ""))
    }
}

/// A file's name as ptxas takes it: a string of PTX ends at its first quotation mark, also behind a backslash.
fn assembled(name: &str) -> Cow<'_, str> {
    if name.contains('"') { name.replace('"', "'").into() } else { name.into() }
}

/// Where a function begins, as far as its instructions say.
pub(super) fn first_place(function: &Function) -> Option<&Place> {
    function.blocks.iter().flat_map(|block| &block.insts).find_map(|inst| match &inst.op {
        Op::Line(place) => Some(place),
        _ => None,
    })
}

/// A module's text with places of instructions as all that is to be emitted of its debug metadata: what ptxas takes
/// beside optimisation.
pub(super) fn lines_only(text: &str) -> String {
    text.replacen(ALL, LINES, 1)
}
