//! The record of a kernel's panic: made once, decoded, reported once, and reset.

use std::sync::Arc;

use cuda_driver::{Error, Event, KernelPanic, PanicRecord, RawPanic, Stream};
use cuda_sys::CUresult;

use crate::support::Session;

/// Plays the device: writes `words` from `offset` on.
fn write(record: *mut u8, offset: usize, words: &[u32]) {
    for (index, word) in words.iter().enumerate() {
        // SAFETY: the record has 104 bytes and is aligned; nobody reads it meanwhile.
        unsafe { record.wrapping_add(offset + 4 * index).cast::<u32>().write_volatile(*word) };
    }
}

fn state_word(record: *mut u8) -> u32 {
    // SAFETY: the record begins with this word, and nobody writes it meanwhile.
    unsafe { record.cast::<u32>().read_volatile() }
}

fn decoder(raw: &RawPanic) -> KernelPanic {
    KernelPanic {
        kernel: "add".into(),
        message: format!("index {} is out of bounds of length {}", raw.args[0], raw.args[1]),
        file: "kernels.rs".into(),
        line: 10 + raw.site,
        column: 5,
        block: raw.block,
        thread: raw.thread,
    }
}

#[test]
fn a_panic_is_decoded_and_reported_once_by_each_kind_of_wait() {
    let session = Session::new();
    let context = session.context();
    let stream = Stream::new(&context).unwrap();
    let event = Event::new(&context).unwrap();
    event.record(&stream).unwrap();
    let id = context.register_kernel(Arc::new(decoder));
    assert_ne!(id, 0);
    let record = context.panic_record().unwrap();
    assert_eq!(PanicRecord::SIZE, 104);
    assert_eq!(context.panic_record().unwrap(), record);
    assert_eq!(session.count("cuMemHostAlloc"), 1);
    assert_eq!(record.device_ptr(), session.host_memory().addr() as u64);
    context.synchronize().unwrap();

    type Wait<'a> = &'a dyn Fn() -> cuda_driver::Result<()>;
    let waits: [Wait<'_>; 4] =
        [&|| context.synchronize(), &|| stream.synchronize(), &|| event.synchronize(), &|| stream.scope(|_| Ok(()))];
    for wait in waits {
        write(session.host_memory(), 0, &[1, id, 2, 3, 0, 0, 4, 0, 0, 0, 8, 0, 7, 0]);
        let error = wait().unwrap_err();
        assert_eq!(
            error.to_string(),
            "kernel `add` panicked at kernels.rs:12:5: index 8 is out of bounds of length 7 (block 3, 0, 0; thread 4, 0, 0)"
        );
        assert!(matches!(error, Error::KernelPanic(_)) && !error.is_sticky());
        assert_eq!(state_word(session.host_memory()), 0, "the next panic can claim the record");
        wait().unwrap();
    }
    drop((event, stream, context));
    session.finish();
}

#[test]
fn a_record_that_is_being_written_is_left_for_later() {
    let session = Session::new();
    let context = session.context();
    let id = context.register_kernel(Arc::new(decoder));
    context.panic_record().unwrap();
    write(session.host_memory(), 0, &[1]);
    context.synchronize().unwrap();
    write(session.host_memory(), 4, &[id]);
    assert!(context.synchronize().is_err());
}

#[test]
fn a_decoder_that_panics_or_is_not_there_still_gives_the_place() {
    let session = Session::new();
    let context = session.context();
    let id = context.register_kernel(Arc::new(|_| panic!("in a decoder")));
    context.panic_record().unwrap();
    for (kernel, why) in [(id, "its decoder panicked"), (id + 1, "no kernel is registered under this number")] {
        write(session.host_memory(), 0, &[1, kernel, 0, 1, 2, 3, 4, 5, 6]);
        let text = context.synchronize().unwrap_err().to_string();
        let expected = format!("check 0 failed with [0, 0, 0, 0, 0, 0, 0, 0]; {why} (block 1, 2, 3; thread 4, 5, 6)");
        assert!(text.ends_with(&expected), "{text}");
    }
}

#[test]
fn no_record_is_looked_at_before_it_is_made_and_none_leaks() {
    let session = Session::new();
    let context = session.context();
    session.fail("cuMemHostGetDevicePointer_v2", 1, CUresult::CUDA_ERROR_INVALID_VALUE);
    assert!(context.panic_record().is_err());
    assert_eq!(session.live().host, 0);
    context.synchronize().unwrap();
    assert!(context.panic_record().is_ok());
    drop(context);
    session.finish();
}
