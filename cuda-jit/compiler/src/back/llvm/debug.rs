//! Lowers debug information to LLVM's debug metadata: the source location of each instruction, and the scopes,
//! variables and types of the source.
//!
//! A module without [`Op::Line`] has none. [`lines_only`] restricts it to locations.

mod types;

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use cuda_llvm::inkwell;
use inkwell::basic_block::BasicBlock;
use inkwell::context::Context;
use inkwell::debug_info::{
    AsDIScope, DICompileUnit, DIFile, DIFlags, DIFlagsConstants, DILocation, DIScope, DISubprogram, DIType,
    DWARFEmissionKind, DWARFSourceLanguage, DebugInfoBuilder,
};
use inkwell::module::{FlagBehavior, Linkage, Module as LlvmModule};
use inkwell::values::{FunctionValue, PointerValue};

use super::{EmitError, raw};
use crate::kir::{Function, Location, Module, Op, SourceScopeId, Variable};

/// LLVM's version of its debug metadata.
const METADATA_VERSION: u64 = 3;
/// The DWARF version that PTX's debug sections support.
const DWARF_VERSION: u64 = 2;

/// The emission kind in LLVM's text: everything, which [`DebugInfo`] asks for, or with [`lines_only`] only locations,
/// for which LLVM's C API has no constant.
const ALL: &str = "emissionKind: FullDebug";
const LINES: &str = "emissionKind: DebugDirectivesOnly";

/// A module's debug metadata under construction.
pub(super) struct DebugInfo<'ctx> {
    context: &'ctx Context,
    builder: DebugInfoBuilder<'ctx>,
    unit: DICompileUnit<'ctx>,
    optimized: bool,
    files: RefCell<HashMap<Arc<str>, DIFile<'ctx>>>,
    /// The source types.
    types: Vec<DIType<'ctx>>,
}

/// The metadata of a function and its scopes.
pub(super) struct Described<'ctx> {
    function: DISubprogram<'ctx>,
    scopes: Vec<Scope<'ctx>>,
}

/// A scope, and the location of its call if it is inlined.
#[derive(Clone, Copy)]
struct Scope<'ctx> {
    scope: DIScope<'ctx>,
    inlined_at: Option<DILocation<'ctx>>,
}

impl<'ctx> Described<'ctx> {
    fn scope(&self, scope: Option<SourceScopeId>) -> Scope<'ctx> {
        let function = Scope { scope: self.function.as_debug_info_scope(), inlined_at: None };
        scope.map_or(function, |scope| self.scopes[scope.index()])
    }
}

impl<'ctx> DebugInfo<'ctx> {
    /// Creates the metadata of a module, if any of its instructions has a location.
    pub(super) fn of(
        context: &'ctx Context,
        module: &LlvmModule<'ctx>,
        kir: &Module,
        optimized: bool,
    ) -> Result<Option<Self>, EmitError> {
        let Some(Location { file, .. }) = kir.functions.iter().find_map(first_location) else { return Ok(None) };
        let number = context.i32_type();
        let flag =
            |name, value| module.add_basic_value_flag(name, FlagBehavior::Warning, number.const_int(value, false));
        flag("Debug Info Version", METADATA_VERSION);
        flag("Dwarf Version", DWARF_VERSION);
        let (language, kind) = (DWARFSourceLanguage::Rust, DWARFEmissionKind::Full);
        let (builder, unit) = module.create_debug_info_builder(
            true,
            language,
            &ptxas_name(file),
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
        let types = types::described(&builder, &unit, kir)?;
        Ok(Some(DebugInfo { context, builder, unit, optimized, files: RefCell::default(), types }))
    }

    /// Describes a function that has a location.
    pub(super) fn describe(&self, function: &Function, declared: FunctionValue<'ctx>) -> Option<Described<'ctx>> {
        let local = declared.get_linkage() == Linkage::Internal;
        let described = self.function(&function.name, first_location(function)?, local);
        declared.set_subprogram(described);
        let mut described = Described { function: described, scopes: Vec::with_capacity(function.scopes.len()) };
        for scope in &function.scopes {
            let outer = described.scope(scope.outer);
            described.scopes.push(match &scope.inlined {
                Some((name, call)) => Scope {
                    scope: self.function(name, &scope.location, true).as_debug_info_scope(),
                    inlined_at: Some(self.location_in(call, outer)),
                },
                None => {
                    let Location { file, line, column } = &scope.location;
                    let block = self.builder.create_lexical_block(outer.scope, self.file(file), *line, *column);
                    Scope { scope: block.as_debug_info_scope(), ..outer }
                }
            });
        }
        Some(described)
    }

    fn function(&self, name: &str, Location { file, line, .. }: &Location, local: bool) -> DISubprogram<'ctx> {
        let (file, scope, flags) = (self.file(file), self.unit.as_debug_info_scope(), DIFlags::PUBLIC);
        let ty = self.builder.create_subroutine_type(file, None, &[], flags);
        self.builder.create_function(scope, name, None, file, *line, ty, local, true, *line, flags, self.optimized)
    }

    /// A location in one of a function's scopes.
    pub(super) fn location(
        &self,
        location: &Location,
        scope: Option<SourceScopeId>,
        function: &Described<'ctx>,
    ) -> DILocation<'ctx> {
        self.location_in(location, function.scope(scope))
    }

    fn location_in(&self, Location { line, column, .. }: &Location, scope: Scope<'ctx>) -> DILocation<'ctx> {
        self.builder.create_debug_location(self.context, *line, *column, scope.scope, scope.inlined_at)
    }

    /// Declares, at the end of the entry block, that a variable is in memory at `home`.
    pub(super) fn declare(
        &self,
        variable: &Variable,
        function: &Described<'ctx>,
        (home, entry): (PointerValue<'ctx>, BasicBlock<'ctx>),
    ) {
        let Variable { name, ty, scope, location, parameter, .. } = variable;
        let scope = function.scope(*scope);
        let (file, line, ty, flags) = (self.file(&location.file), location.line, self.types[ty.index()], DIFlags::ZERO);
        let described = match parameter {
            Some(number) => {
                self.builder.create_parameter_variable(scope.scope, name, *number, file, line, ty, true, flags)
            }
            None => self.builder.create_auto_variable(scope.scope, name, file, line, ty, true, flags, 0),
        };
        raw::declare(&self.builder, home, described, self.location_in(location, scope), entry);
    }

    /// Completes the metadata.
    pub(super) fn finish(&self) {
        self.builder.finalize();
    }

    fn file(&self, name: &Arc<str>) -> DIFile<'ctx> {
        let mut files = self.files.borrow_mut();
        *files.entry(name.clone()).or_insert_with(|| self.builder.create_file(&ptxas_name(name), ""))
    }
}

/// A file's name for ptxas: a PTX string ends at its first quotation mark, even after a backslash.
fn ptxas_name(name: &str) -> Cow<'_, str> {
    if name.contains('"') { name.replace('"', "'").into() } else { name.into() }
}

/// The first location in a function.
pub(super) fn first_location(function: &Function) -> Option<&Location> {
    function.blocks.iter().flat_map(|block| &block.insts).find_map(|inst| match &inst.op {
        Op::Line(location, _) => Some(location),
        _ => None,
    })
}

/// A module's text with only locations emitted, which ptxas accepts together with optimisation.
pub(super) fn lines_only(text: &str) -> String {
    text.replacen(ALL, LINES, 1)
}
