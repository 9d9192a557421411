//! The memory layout of a module's variables: the data area of `.global` and `.const`, the area of managed variables,
//! which the modules of a library share, and the window of `.shared`.
//!
//! The layout has offsets only. Addresses exist once a module is instantiated, so loads can share compiled code.

use super::Symbol;
use crate::ptx::{Error, Init, Item, Linkage, Module, Result, Space, Statement, Type, Variable};
use std::collections::{HashMap, HashSet};

/// The largest data area of a module, in bytes.
const MAX_DATA: u64 = 1 << 32;

/// Variables that are contiguous in memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Area {
    /// Initial bytes. The area may be longer; the rest is zero.
    pub(crate) image: Vec<u8>,
    pub(crate) bytes: u64,
    /// Initial values that are addresses in this area.
    pub(crate) own: Vec<Relocation>,
    /// Initial values that are addresses of managed variables.
    pub(crate) managed: Vec<Relocation>,
}

/// An initial value that is an address, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Relocation {
    /// The offset of the value in its area.
    pub(crate) at: u64,
    /// The number of its bytes.
    pub(crate) bytes: u64,
    /// The bits of the address that are left out below it.
    pub(crate) shift: u32,
    /// The offset of the address in the area to which it points.
    pub(crate) offset: u64,
}

impl Relocation {
    /// Writes the value to an area's initial bytes; `base` is the address of the area to which it points.
    pub(crate) fn apply(self, image: &mut [u8], base: u64) {
        let value = (base.wrapping_add(self.offset) >> self.shift).to_le_bytes();
        let (at, bytes) = (self.at as usize, self.bytes as usize);
        image[at..at + bytes].copy_from_slice(&value[..bytes]);
    }
}

/// The bytes between two variables at least, so that an access past the end of one is not to the next one, for the checkers.
const GAP: u64 = 64;

/// A variable that `cuModuleGetGlobal` finds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Global {
    /// Offset in its area.
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
    /// True if it has `.attribute(.managed)`.
    pub(crate) managed: bool,
}

/// A module's data.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    pub(crate) data: Area,
    /// Variables with `.attribute(.managed)`.
    pub(crate) managed: Area,
    /// Offset and size of the part of the data that holds `.const` variables.
    pub(crate) constants: (u64, u64),
    /// The bytes of `.const` variables, without those that the device leaves between them.
    pub(crate) constant_bytes: u64,
    /// Module-level shared memory.
    pub(crate) shared_bytes: u64,
    /// Symbols by name.
    pub(crate) symbols: HashMap<String, Symbol>,
    /// Element sizes of the symbols that are arrays.
    pub(crate) elements: HashMap<String, u64>,
    /// Offset (in its area) and size of each variable that `cuModuleGetGlobal` finds.
    pub(crate) globals: HashMap<String, (u64, u64)>,
}

/// Returns the name of a function-scope variable in global or constant memory. No PTX text can contain such a name.
pub(crate) fn own_name(function: &str, index: usize) -> String {
    format!("{function} {index}")
}

/// Returns the variables in global and constant memory that a function declares, renamed by [`own_name`], also in the
/// initial values of later ones.
fn in_function(item: &Item) -> Vec<Variable> {
    let Item::Function(function) = item else { return Vec::new() };
    let (mut found, mut names) = (Vec::new(), HashMap::new());
    for statement in function.body.iter().flatten() {
        let Statement::Variable(variable @ Variable { space: Space::Global | Space::Const, .. }) = statement else {
            continue;
        };
        let name = own_name(&function.name, found.len());
        let mut own = Variable { name: name.clone(), ..variable.clone() };
        own.init.iter_mut().for_each(|init| rename(init, &names));
        names.insert(variable.name.as_str(), name);
        found.push(own);
    }
    found
}

fn rename(init: &mut Init, names: &HashMap<&str, String>) {
    match init {
        Init::List(items) => items.iter_mut().for_each(|item| rename(item, names)),
        Init::Symbol(name, ..) => {
            if let Some(own) = names.get(name.as_str()) {
                name.clone_from(own);
            }
        }
        Init::Byte(_, address) => rename(address, names),
        _ => {}
    }
}

/// Rounds up to an alignment that is a power of two.
pub(crate) fn align_up(value: u64, align: u64) -> u64 {
    value.saturating_add(align.max(1) - 1) & !(align.max(1) - 1)
}

impl Layout {
    /// Assigns offsets to a module's variables. `functions` has the function addresses that initial values may name.
    pub(crate) fn new(module: &Module, functions: &HashMap<&str, u64>) -> Result<Layout> {
        let mut layout = Layout::default();
        let own: Vec<Variable> = module.items.iter().flat_map(in_function).collect();
        let variables = || {
            let of_module = module.items.iter().filter_map(|item| match item {
                Item::Variable(variable) => Some(variable),
                _ => None,
            });
            of_module.chain(&own)
        };
        let defined = variables().filter(|v| v.linkage != Some(Linkage::Extern)).map(|v| v.name.as_str()).collect();
        // Constants come last, so that an address can be recognised as one of a constant.
        variables().filter(|v| v.space != Space::Const).try_for_each(|v| layout.place(v, &defined))?;
        layout.constants.0 = layout.data.bytes;
        for variable in variables().filter(|v| v.space == Space::Const) {
            let end = layout.data.bytes;
            layout.place(variable, &defined)?;
            if layout.data.bytes > end {
                let bytes = layout.globals.get(&variable.name).map_or(0, |placed| placed.1);
                layout.constant_bytes = align_up(layout.constant_bytes, variable.alignment()) + bytes;
            }
        }
        layout.constants.1 = layout.data.bytes - layout.constants.0;
        for variable in variables() {
            if let Some(init) = &variable.init {
                layout.write(variable, init, functions)?;
            }
        }
        Ok(layout)
    }

    /// Assigns a variable an offset, unless this only declares it. An `.extern` variable with a size counts as a
    /// definition if nothing else defines the name, as in ptxas.
    fn place(&mut self, variable: &Variable, defined: &HashSet<&str>) -> Result<()> {
        let unsized_array = variable.dimensions.contains(&None);
        let is_extern = variable.linkage == Some(Linkage::Extern);
        let is_declared = defined.contains(variable.name.as_str()) || self.symbols.contains_key(&variable.name);
        if is_extern && (is_declared || (unsized_array && variable.space != Space::Shared)) {
            return Ok(());
        }
        if self.symbols.contains_key(&variable.name) {
            return Err(Error::new(variable.position, format!("'{}' is defined twice", variable.name)));
        }
        let symbol = match variable.space {
            Space::Shared if is_extern && unsized_array => Symbol::DynamicShared,
            Space::Shared => Symbol::Shared(place(&mut self.shared_bytes, variable)?),
            Space::Global | Space::Const => {
                let bytes = match (&variable.init, unsized_array) {
                    (Some(Init::List(items)), true) => items.len() as u64 * variable.ty.bytes(),
                    _ => variable.bytes(),
                };
                let area = if variable.managed { &mut self.managed } else { &mut self.data };
                let gap = if area.bytes == 0 { 0 } else { GAP };
                let offset = align_up(area.bytes + gap, variable.alignment());
                area.bytes = offset.saturating_add(bytes);
                if area.bytes > MAX_DATA {
                    return Err(Error::unsupported(variable.position, "the module's variables exceed 4 GiB"));
                }
                self.globals.insert(variable.name.clone(), (offset, bytes));
                if variable.managed { Symbol::Managed(offset) } else { Symbol::Data(offset) }
            }
            space => {
                let message = format!("a .{} variable is not allowed outside of a function", space.name());
                return Err(Error::new(variable.position, message));
            }
        };
        self.elements.extend(variable.element_bytes().map(|bytes| (variable.name.clone(), bytes)));
        self.symbols.insert(variable.name.clone(), symbol);
        Ok(())
    }

    fn write(&mut self, variable: &Variable, init: &Init, functions: &HashMap<&str, u64>) -> Result<()> {
        let (offset, managed) = match self.symbols.get(&variable.name) {
            Some(Symbol::Data(offset)) => (*offset, false),
            Some(Symbol::Managed(offset)) => (*offset, true),
            _ => return Ok(()),
        };
        let mut values = Vec::new();
        flatten(init, &mut values);
        let size = variable.ty.bytes();
        let room = self.globals.get(&variable.name).map_or(0, |g| g.1);
        if values.len() as u64 * size > room {
            return Err(Error::new(variable.position, format!("'{}' has too many initial values", variable.name)));
        }
        let mut area = std::mem::take(if managed { &mut self.managed } else { &mut self.data });
        let end = (offset + values.len() as u64 * size) as usize;
        area.image.resize(area.image.len().max(end), 0);
        for (i, value) in values.into_iter().enumerate() {
            let at = offset + i as u64 * size;
            let (value, shift) = match value {
                Init::Byte(mask, address) => (&**address, Some(mask.trailing_zeros())),
                value => (value, None),
            };
            // A byte is followed by zeros.
            let (bytes, fits) = shift.map_or((size, matches!(size, 4 | 8)), |_| (1, true));
            let shift = shift.unwrap_or(0);
            let relocation = |offset| Relocation { at, bytes, shift, offset };
            let bits = match value {
                Init::Symbol(name, ..) if fits && functions.contains_key(name.as_str()) => {
                    u128::from(functions[name.as_str()] >> shift & (u64::MAX >> (64 - 8 * bytes)))
                }
                Init::Symbol(name, offset, _) => {
                    match self.symbols.get(name).filter(|_| fits) {
                        // Managed variables are shared by contexts, so their initial values cannot name per-context
                        // addresses.
                        Some(Symbol::Data(base)) if !managed => {
                            area.own.push(relocation(base.wrapping_add_signed(*offset)));
                        }
                        Some(Symbol::Managed(base)) => {
                            let places = if managed { &mut area.own } else { &mut area.managed };
                            places.push(relocation(base.wrapping_add_signed(*offset)));
                        }
                        _ => {
                            let message = format!("'{name}' cannot be an initial value here");
                            return Err(Error::unsupported(variable.position, message));
                        }
                    }
                    0
                }
                value => initial_bits(value, variable.ty),
            };
            let bytes = bits.to_le_bytes();
            area.image[at as usize..(at + size) as usize].copy_from_slice(&bytes[..size as usize]);
        }
        *if managed { &mut self.managed } else { &mut self.data } = area;
        Ok(())
    }
}

/// Returns the bits of a number that is an initial value.
fn initial_bits(init: &Init, ty: Type) -> u128 {
    match init {
        Init::Int(value) if ty == Type::F32 => u128::from((*value as f32).to_bits()),
        Init::Int(value) if ty == Type::F64 => u128::from((*value as f64).to_bits()),
        Init::Int(value) => *value as u128,
        Init::F32(bits) => u128::from(*bits),
        Init::F64(bits) if ty == Type::F32 => u128::from((f64::from_bits(*bits) as f32).to_bits()),
        Init::F64(bits) => u128::from(*bits),
        Init::Symbol(..) | Init::Byte(..) | Init::List(_) => 0,
    }
}

/// Places a variable at the end of an area and returns its offset.
pub(crate) fn place(area: &mut u64, variable: &Variable) -> Result<u64> {
    let offset = align_up(*area, variable.alignment());
    let end = offset.saturating_add(variable.bytes());
    if end > 1 << 31 {
        return Err(Error::unsupported(variable.position, format!("'{}' is larger than 2 GiB", variable.name)));
    }
    *area = end;
    Ok(offset)
}

fn flatten<'a>(init: &'a Init, out: &mut Vec<&'a Init>) {
    match init {
        Init::List(items) => items.iter().for_each(|item| flatten(item, out)),
        _ => out.push(init),
    }
}
