//! The rules of debug information.

use super::{Parser, Result};
use crate::text::names::SPACE;
use crate::{
    ArrayId, Location, SlotId, SourceField, SourceKind, SourceScope, SourceScopeId, SourceType, SourceTypeId, Storage,
    Variable,
};

impl Parser {
    pub(super) fn source_type(&mut self, index: usize) -> Result<SourceType> {
        self.at_index(index, |parser| parser.source_type_id().map(|ty| ty.0))?;
        let name = self.text()?;
        self.sign(':')?;
        Ok(SourceType { name, kind: self.source_kind()? })
    }

    fn source_kind(&mut self) -> Result<SourceKind> {
        if self.is_word("enum") {
            let scalar = self.scalar()?;
            let names = self.braced(|parser| Ok((parser.text()?, parser.number("the bits of a value")?)))?;
            return Ok(SourceKind::Enum(scalar, names));
        }
        if self.is_word("pointer") {
            return Ok(SourceKind::Pointer(self.item(SPACE, "a memory space")?, self.source_type_id()?));
        }
        if self.is_word("array") {
            let count = self.number("a length")?;
            return Ok(SourceKind::Array(self.source_type_id()?, count));
        }
        if self.is_word("struct") {
            let size = self.number("a size in bytes")?;
            return Ok(SourceKind::Struct(size, self.braced(Self::source_field)?));
        }
        self.scalar().map(SourceKind::Scalar)
    }

    fn source_field(&mut self) -> Result<SourceField> {
        let (name, offset) = (self.text()?, self.number("an offset in bytes")?);
        self.sign(':')?;
        Ok(SourceField { name, offset, ty: self.source_type_id()? })
    }

    /// `{ item, item }`
    fn braced<T>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut items = Vec::new();
        self.sign('{')?;
        while !self.is_sign('}') {
            if !items.is_empty() {
                self.sign(',')?;
            }
            items.push(item(self)?);
        }
        Ok(items)
    }

    pub(super) fn scopes(&mut self) -> Result<Vec<SourceScope>> {
        let mut scopes = Vec::new();
        while self.is_word("scope") {
            self.at_index(scopes.len(), |parser| parser.source_scope_id().map(|scope| scope.0))?;
            let (location, outer) = (self.location()?, self.within()?);
            let inlined = if self.is_word("inlined") { Some((self.text()?, self.location()?)) } else { None };
            scopes.push(SourceScope { outer, location, inlined });
        }
        Ok(scopes)
    }

    pub(super) fn variables(&mut self) -> Result<Vec<Variable>> {
        let mut variables = Vec::new();
        while self.is_word("variable") {
            let name = self.text()?;
            self.sign(':')?;
            let (ty, location, scope) = (self.source_type_id()?, self.location()?, self.within()?);
            let parameter = if self.is_word("parameter") { Some(self.number("a parameter's number")?) } else { None };
            self.word("at")?;
            variables.push(Variable { name, ty, scope, location, parameter, storage: self.storage()? });
        }
        Ok(variables)
    }

    fn storage(&mut self) -> Result<Storage> {
        if let Some(array) = self.try_index("a") {
            return Ok(Storage::Array(ArrayId(array)));
        }
        let mut slots = Vec::new();
        while let Some(slot) = self.try_index("s") {
            slots.push((SlotId(slot), self.number("an offset in bytes")?));
        }
        Ok(Storage::Slots(slots))
    }

    /// Parses a source location.
    pub(super) fn location(&mut self) -> Result<Location> {
        let file = self.text()?.into();
        self.sign(':')?;
        let line = self.number("a line")?;
        self.sign(':')?;
        Ok(Location { file, line, column: self.number("a column")? })
    }

    /// Parses the scope that something belongs to.
    pub(super) fn within(&mut self) -> Result<Option<SourceScopeId>> {
        if self.is_word("in") { self.source_scope_id().map(Some) } else { Ok(None) }
    }

    fn source_scope_id(&mut self) -> Result<SourceScopeId> {
        self.index("x", "a scope").map(SourceScopeId)
    }

    fn source_type_id(&mut self) -> Result<SourceTypeId> {
        self.index("t", "a type of the source").map(SourceTypeId)
    }
}
