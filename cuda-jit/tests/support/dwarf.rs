//! Reads debug sections: those that PTX spells out byte by byte, and those of machine code.

use std::collections::HashMap;

use gimli::{
    Abbreviations, AttributeValue, DebugAbbrev, DebugInfo, DebuggingInformationEntry, DwTag, EndianSlice, LittleEndian,
    UnitHeader, UnitOffset, constants,
};

type Bytes<'b> = EndianSlice<'b, LittleEndian>;
type Entry<'b> = DebuggingInformationEntry<Bytes<'b>>;

/// Debug sections by their names.
pub(crate) type Sections = HashMap<String, Vec<u8>>;

/// A debug entry: a variable, parameter or scope.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// Its depth in the tree.
    pub(crate) depth: isize,
    pub(crate) tag: DwTag,
    pub(crate) name: String,
    pub(crate) line: u64,
    /// The type's name, or a description if it has none.
    pub(crate) ty: String,
    /// The location expression; for a field, relative to the type's start.
    pub(crate) location: Vec<u8>,
    /// The value of an enumerator.
    pub(crate) value: Option<i64>,
    /// cuda-gdb's address class.
    pub(crate) class: Option<u64>,
    /// The range of its code.
    pub(crate) range: Option<(u64, u64)>,
}

/// The debug sections of PTX. An address in the code is the line number of its label; any other address is zero.
pub(crate) fn of_ptx(ptx: &str) -> Sections {
    let label = |line: &str| line.trim().strip_suffix(':').map(str::to_owned);
    let places: HashMap<String, u64> =
        ptx.lines().zip(1_u64..).filter_map(|(line, number)| Some((label(line)?, number))).collect();
    let (mut sections, mut open) = (Sections::new(), None);
    for line in ptx.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix(".section") {
            open = Some(name.trim().to_owned());
        } else if line == "}" {
            open = None;
        } else if let (Some(name), Some((size, values))) = (&open, line.strip_prefix(".b").and_then(split)) {
            let bytes = sections.entry(name.clone()).or_default();
            for value in values.split(',').map(str::trim) {
                let value = value.parse().ok().or_else(|| places.get(value).copied()).unwrap_or(0_u64);
                bytes.extend(&value.to_le_bytes()[..size / 8]);
            }
        }
    }
    sections
}

fn split(data: &str) -> Option<(usize, &str)> {
    let (size, values) = data.split_once([' ', '\t'])?;
    Some((size.parse().ok()?, values))
}

/// Every entry that has a name or code, in the order of the tree.
pub(crate) fn found(sections: &Sections) -> Vec<Found> {
    let section = |name: &str| EndianSlice::new(sections.get(name).map_or(&[][..], Vec::as_slice), LittleEndian);
    let (info, abbreviations) = (DebugInfo::from(section(".debug_info")), DebugAbbrev::from(section(".debug_abbrev")));
    let mut found = Vec::new();
    let mut units = info.units();
    while let Some(unit) = units.next().expect("a unit") {
        let reader = Reader { unit, abbreviations: unit.abbreviations(&abbreviations).expect("its abbreviations") };
        let mut entries = unit.entries(&reader.abbreviations);
        while let Some(entry) = entries.next_dfs().expect("an entry") {
            found.push(reader.found(entry));
        }
    }
    found
}

struct Reader<'b> {
    unit: UnitHeader<Bytes<'b>>,
    abbreviations: Abbreviations,
}

impl<'b> Reader<'b> {
    fn found(&self, entry: &Entry<'b>) -> Found {
        let origin = self.referenced(entry, constants::DW_AT_abstract_origin);
        let described = origin.as_ref().unwrap_or(entry);
        let number = |entry: &Entry<'b>, attribute| entry.attr_value(attribute).and_then(|value| value.udata_value());
        let location = entry.attr_value(constants::DW_AT_location);
        let location = match location.or_else(|| entry.attr_value(constants::DW_AT_data_member_location)) {
            Some(AttributeValue::Exprloc(expression)) => expression.0.slice().to_vec(),
            Some(AttributeValue::Block(bytes)) => bytes.slice().to_vec(),
            _ => Vec::new(),
        };
        let address = |attribute| match entry.attr_value(attribute) {
            Some(AttributeValue::Addr(address)) => Some(address),
            _ => None,
        };
        let range = address(constants::DW_AT_low_pc).zip(address(constants::DW_AT_high_pc));
        Found {
            depth: entry.depth(),
            tag: entry.tag(),
            name: self.name(described),
            line: number(described, constants::DW_AT_decl_line).unwrap_or(0),
            ty: self.ty(described),
            location,
            value: entry.attr_value(constants::DW_AT_const_value).and_then(|value| value.sdata_value()),
            class: match entry.attr_value(constants::DW_AT_address_class) {
                Some(AttributeValue::AddressClass(class)) => Some(class.0),
                _ => None,
            },
            range,
        }
    }

    fn name(&self, entry: &Entry<'b>) -> String {
        match entry.attr_value(constants::DW_AT_name) {
            Some(AttributeValue::String(name)) => name.to_string_lossy().into_owned(),
            _ => String::new(),
        }
    }

    fn referenced(&self, entry: &Entry<'b>, attribute: gimli::DwAt) -> Option<Entry<'b>> {
        let Some(AttributeValue::UnitRef(at)) = entry.attr_value(attribute) else { return None };
        Some(self.entry(at))
    }

    fn entry(&self, at: UnitOffset) -> Entry<'b> {
        self.unit.entry(&self.abbreviations, at).expect("an entry")
    }

    /// The name of an entry's type; `[T; N]` for an array, which has none.
    fn ty(&self, entry: &Entry<'b>) -> String {
        let Some(ty) = self.referenced(entry, constants::DW_AT_type) else { return String::new() };
        if ty.tag() != constants::DW_TAG_array_type {
            return self.name(&ty);
        }
        let mut within = self.unit.entries_at_offset(&self.abbreviations, ty.offset()).expect("the array's entries");
        let mut count = 0;
        within.next_dfs().expect("the array");
        if let Some(part) = within.next_dfs().expect("its extent") {
            count = part.attr_value(constants::DW_AT_count).and_then(|count| count.udata_value()).unwrap_or(0);
        }
        format!("[{}; {count}]", self.ty(&ty))
    }
}
