//! The contents of a bundle's entry: the encoding of a compiled kernel.
//!
//! They begin with the version of this crate, since launches of another version may pass other parameters. Host-updatable
//! constants are encoded by their numbers in the [`Fingerprint`].

use std::borrow::Cow;

use crate::compiled::Compiled;
use crate::error::NotBundled;
use crate::kir::Site;
use crate::requirements::Requirements;
use crate::syntax::code::{Code, Decode};
use crate::target::Target;
use crate::typeinfo::{Fingerprint, Instance};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Encodes a kernel with its machine code, which may be empty.
#[cfg(feature = "compiler")]
pub(crate) fn encode(compiled: &Compiled, cubin: &[u8], fingerprint: &Fingerprint) -> Vec<u8> {
    use crate::syntax::code::Encode;
    let Compiled { entry, grid_dims, host_constants, cooperative, spilled_bytes, sites, ptx, requirements, .. } =
        compiled;
    let host_constants = host_constants.iter().map(|(symbol, constant)| {
        let number = fingerprint.number_of(constant).expect("a fingerprint meets every constant of its specialisation");
        (symbol.clone(), number as u64)
    });
    let mut bytes = Vec::new();
    VERSION.encode(&mut bytes);
    (**entry).encode(&mut bytes);
    (*grid_dims as u64).encode(&mut bytes);
    cooperative.encode(&mut bytes);
    (*spilled_bytes as u64).encode(&mut bytes);
    compiled.recursion_stack.encode(&mut bytes);
    host_constants.collect::<Vec<_>>().encode(&mut bytes);
    let site = |Site { message, file, line, column }: &Site| ((message.clone(), file.clone()), (*line, *column));
    sites.iter().map(site).collect::<Vec<_>>().encode(&mut bytes);
    requirements.as_ref().map(Requirements::cells).encode(&mut bytes);
    (**ptx).encode(&mut bytes);
    bytes.extend(cubin);
    bytes
}

/// Decodes a kernel that [`encode`] has encoded, for a specialisation with this fingerprint.
pub(crate) fn decode(
    bytes: &'static [u8],
    target: Target,
    instance: &Instance,
    fingerprint: &Fingerprint,
) -> Result<Compiled, NotBundled> {
    let mut code = Code { bytes, names: &[] };
    match <&str>::decode(&mut code) {
        Some(VERSION) => compiled(&mut code, target, instance, fingerprint).ok_or(NotBundled::Damaged(0)),
        Some(other) => Err(NotBundled::OtherVersion(other.to_owned())),
        None => Err(NotBundled::Damaged(0)),
    }
}

fn compiled(code: &mut Code, target: Target, instance: &Instance, fingerprint: &Fingerprint) -> Option<Compiled> {
    let entry = <&str>::decode(code)?;
    let number = |code: &mut Code| usize::try_from(u64::decode(code)?).ok();
    let grid_dims = number(code)?;
    let cooperative = bool::decode(code)?;
    let spilled_bytes = number(code)?;
    let recursion_stack = Option::<u64>::decode(code)?;
    let host_constants = Vec::<(String, u64)>::decode(code)?
        .into_iter()
        .map(|(symbol, number)| Some((symbol, fingerprint.constants.get(usize::try_from(number).ok()?)?.clone())));
    let host_constants = host_constants.collect::<Option<_>>()?;
    let sites = Vec::<((String, String), (u32, u32))>::decode(code)?;
    let site = |((message, file), (line, column))| Site { message, file, line, column };
    let requirements = match Option::<Vec<u64>>::decode(code)? {
        Some(cells) => Some(Requirements::from_cells(&cells)?),
        None => None,
    };
    let ptx = <&str>::decode(code)?;
    #[cfg(not(feature = "compiler"))]
    let _ = instance;
    Some(Compiled {
        target,
        entry: Cow::Borrowed(entry),
        grid_dims,
        host_constants,
        cooperative,
        spilled_bytes,
        recursion_stack,
        sites: sites.into_iter().map(site).collect(),
        requirements,
        ptx: Cow::Borrowed(ptx),
        cubin: Some(code.bytes).filter(|cubin| !cubin.is_empty()),
        #[cfg(feature = "compiler")]
        source: crate::compile::Source::new(instance.clone()),
    })
}
