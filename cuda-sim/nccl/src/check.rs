//! The checks of arguments, with NCCL's texts.
//!
//! Buffers are checked always, since the ranks' threads access them directly: each must lie whole in memory that the driver
//! knows. With `NCCL_CHECK_POINTERS=1` it must also be memory of the communicator's device, as NCCL requires then.
//!
//! # Safety
//!
//! Configurations are read through the client's pointers, which are null or valid for the call, as the callers promise.

use crate::abi::{CallConfig, Config, MAGIC, UNDEFINED};
use crate::call::{Call, Function};
use crate::communicator::Communicator;
use crate::driver::call;
use crate::element::DataType;
use crate::failure::{Failure, Result};
use cuda_sys::CUpointer_attribute as Attribute;
use std::ffi::c_int;
use std::sync::OnceLock;

/// Requires a pointer.
pub(crate) fn pointer<T>(function: &str, name: &str, pointer: *const T) -> Result<()> {
    if pointer.is_null() { Err(Failure::argument(format!("{function} : {name} argument is NULL"))) } else { Ok(()) }
}

/// Returns the data type of a client's number.
pub(crate) fn data_type(function: &str, raw: c_int) -> Result<DataType> {
    DataType::of(raw).ok_or_else(|| Failure::argument(format!("{function} : invalid type {raw}")))
}

/// Returns a root or peer of a client's number.
pub(crate) fn rank(communicator: &Communicator, function: &str, name: &str, raw: c_int) -> Result<usize> {
    let found = usize::try_from(raw).ok().filter(|rank| *rank < communicator.ranks);
    found.ok_or_else(|| {
        let ranks = communicator.ranks;
        Failure::argument(format!("{function} : invalid {name} {raw} ({name} should be in the 0..{ranks} range)"))
    })
}

/// True if `NCCL_CHECK_POINTERS` asks for NCCL's own check.
fn is_strict() -> bool {
    static STRICT: OnceLock<bool> = OnceLock::new();
    *STRICT.get_or_init(|| std::env::var("NCCL_CHECK_POINTERS").is_ok_and(|value| value.trim() == "1"))
}

/// Asks the driver for a property of an address; `None` for an address that it does not know.
fn attribute<T: Default>(which: Attribute, address: usize) -> Result<Option<T>> {
    let mut value = T::default();
    let asked = call!(cuPointerGetAttribute((&raw mut value).cast(), which, address as u64));
    match asked {
        Ok(()) => Ok(Some(value)),
        Err(failure) if failure.text.starts_with("Cuda failure 1 ") => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Requires that a buffer lies in memory that the driver knows.
fn buffer(communicator: &Communicator, function: &str, name: &str, address: usize, bytes: usize) -> Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    pointer(function, name, address as *const u8)?;
    let end = address.checked_add(bytes);
    let mut reached = address;
    loop {
        let start: Option<u64> = attribute(Attribute::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, reached)?;
        let size: Option<usize> = attribute(Attribute::CU_POINTER_ATTRIBUTE_RANGE_SIZE, reached)?;
        let Some((start, size)) = start.zip(size) else {
            let text = match reached == address {
                true => format!("{function} : {name} {address:#x} is not a valid pointer"),
                false => {
                    format!(
                        "{function} : {name} {address:#x} is not valid for {bytes} bytes, only for {}",
                        reached - address
                    )
                }
            };
            return Err(Failure::argument(text));
        };
        if reached == address && is_strict() {
            own_memory(communicator, function, name, address)?;
        }
        reached = start as usize + size;
        if end.is_some_and(|end| end <= reached) {
            return Ok(());
        }
    }
}

/// Requires memory of the communicator's device; host memory and managed memory are accessible to it.
fn own_memory(communicator: &Communicator, function: &str, name: &str, address: usize) -> Result<()> {
    let kind: Option<u32> = attribute(Attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address)?;
    let managed: Option<u32> = attribute(Attribute::CU_POINTER_ATTRIBUTE_IS_MANAGED, address)?;
    let device: Option<c_int> = attribute(Attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address)?;
    let is_device_memory = kind == Some(2) && managed == Some(0);
    match device.filter(|device| is_device_memory && *device != communicator.device) {
        None => Ok(()),
        Some(device) => Err(Failure::argument(format!(
            "{function} : {name} allocated on device {device} mismatchs with NCCL device {}",
            communicator.device
        ))),
    }
}

/// Requires that a call's buffers are as long as its count says.
pub(crate) fn buffers(communicator: &Communicator, call: &Call) -> Result<()> {
    let (ranks, is_root) = (communicator.ranks, communicator.rank == call.root);
    let (send, receive) = match call.function {
        Function::AllReduce => (1, 1),
        Function::Broadcast => (usize::from(is_root), 1),
        Function::Reduce => (1, usize::from(is_root)),
        Function::AllGather => (1, ranks),
        Function::ReduceScatter => (ranks, 1),
        Function::AllToAll => (ranks, ranks),
        Function::Gather => (1, if is_root { ranks } else { 0 }),
        Function::Scatter => (if is_root { ranks } else { 0 }, 1),
        Function::Send => (1, 0),
        Function::Receive => (0, 1),
    };
    let bytes = |blocks: usize| {
        let bytes = call.count.checked_mul(blocks).and_then(|count| count.checked_mul(call.kind.size()));
        bytes.filter(|bytes| *bytes <= isize::MAX as usize).ok_or_else(|| {
            Failure::argument(format!("{} : count {} is larger than memory", call.function.name(), call.count))
        })
    };
    let (send, receive) = (bytes(send)?, bytes(receive)?);
    buffer(communicator, call.function.name(), "sendbuff", call.send, send)?;
    buffer(communicator, call.function.name(), "recvbuff", call.receive, receive)?;
    let overlap = call.send < call.receive + receive && call.receive < call.send + send;
    if call.function == Function::AllToAll && overlap && send > 0 {
        return Err(Failure::argument(
            "ncclAlltoAll : sendbuff and recvbuff overlap, and the function does not work in place",
        ));
    }
    Ok(())
}

/// The head of a configuration.
#[repr(C)]
struct Head {
    size: usize,
    magic: u32,
}

/// Returns true if a communicator blocks: by its configuration, else by `NCCL_COMM_BLOCKING`, else by its parent.
///
/// # Safety
///
/// The configuration is null, or one of the client's that lives through the call.
pub(crate) unsafe fn blocks(config: *const Config, inherited: bool) -> Result<bool> {
    let environment = std::env::var("NCCL_COMM_BLOCKING").ok().and_then(|value| value.trim().parse::<c_int>().ok());
    let default = environment.map_or(inherited, |value| value != 0);
    if config.is_null() {
        return Ok(default);
    }
    // A client of an older header has a shorter structure, so that only its fields are read.
    // SAFETY: every version of the structure begins so, and the caller promises that it lives.
    let Head { size, magic } = unsafe { config.cast::<Head>().read() };
    if magic != MAGIC {
        return Err(Failure::argument("ncclConfig_t argument not initialized via NCCL_CONFIG_INITIALIZER"));
    }
    if size < std::mem::offset_of!(Config, cgaClusterSize) {
        return Err(Failure::argument(format!(
            "ncclConfig_t has a size of {size} bytes, which no version of NCCL has"
        )));
    }
    // SAFETY: the structure's size contains the field.
    match unsafe { (*config).blocking } {
        UNDEFINED => Ok(default),
        asked @ (0 | 1) => Ok(asked == 1),
        other => Err(Failure::argument(format!("Invalid config blocking attribute value {other}"))),
    }
}

/// Requires that a call's configuration was initialised.
///
/// # Safety
///
/// The configuration is null, or one of the client's that lives through the call.
pub(crate) unsafe fn call_config(function: &str, config: *const CallConfig) -> Result<()> {
    if config.is_null() {
        return Ok(());
    }
    // SAFETY: every version of the structure begins so, and the caller promises that it lives.
    let Head { size, magic } = unsafe { config.cast::<Head>().read() };
    if magic == MAGIC && size >= std::mem::offset_of!(CallConfig, ext) {
        return Ok(());
    }
    let text = "ncclCollConfig_t argument not initialized via NCCL_COLLCONFIG_INITIALIZER";
    Err(Failure::argument(format!("{function} : {text}")))
}
