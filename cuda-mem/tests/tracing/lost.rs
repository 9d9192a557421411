//! A context is lost while work accesses borrowed memory: no borrow ends before a wait that the driver does not refuse.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use cuda_driver::{Context, LaunchConfig, Stream};
use cuda_mem::{Buffer, device_array, from_slice, mapped, pinned, zeros};

use crate::order::Kernels;
use crate::support::Session;

/// A program that lets work borrow memory, and then checks that its owner may use it again.
type Program = fn(&Session, &Context);

/// An error that loses the context comes from another stream.
fn lose(session: &Session, context: &Context) {
    session.lose("cuStreamQuery", 1);
    Stream::new(context).and_then(|other| other.query()).unwrap_err();
}

fn write_mapped(session: &Session, context: &Context) {
    let (write, stream) = (Kernels::new(context).function("w"), Stream::new(context).unwrap());
    let mut host = ndarray::Array1::<f32>::zeros(1000);
    let result = mapped(context, &mut host, |x| {
        let mut view = x.device_mut();
        view.prepare_write(&stream).unwrap();
        let mut address = view.device_ptr();
        // SAFETY: one pointer, as the function's name says, of memory whose use is recorded.
        unsafe { write.launch(&LaunchConfig::new(1, 1), &stream, &mut [(&raw mut address).cast()]) }.unwrap();
        lose(session, context);
    });
    assert!(result.is_err());
    session.give_back(host.as_slice().unwrap());
}

fn unwind_from_mapped(session: &Session, context: &Context) {
    let stream = Stream::new(context).unwrap();
    let mut host = ndarray::Array1::<u8>::zeros(1000);
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        mapped(context, &mut host, |x| {
            x.device_mut().fill_on(1, &stream).unwrap();
            lose(session, context);
            panic!("on the way");
        })
    }));
    assert!(unwound.is_err());
    session.give_back(host.as_slice().unwrap());
}

fn copy_to_pinned(session: &Session, context: &Context) {
    let (x, stream) = (from_slice(context, &[1_u8; 100]).unwrap(), Stream::new(context).unwrap());
    let mut host = ndarray::Array1::<u8>::zeros(100);
    let result = pinned(context, &mut host, |host| {
        x.copy_to_pinned_mut(host, &stream).unwrap();
        lose(session, context);
    });
    assert!(result.is_err());
    session.give_back(host.as_slice().unwrap());
}

fn copy_in_a_scope(session: &Session, context: &Context) {
    let (x, stream) = (from_slice(context, &[1_u8; 100]).unwrap(), Stream::new(context).unwrap());
    for unwinds in [false, true] {
        let mut host = ndarray::Array1::<u8>::zeros(100);
        // Page-locked, so that the copy is asynchronous.
        let _ = pinned(context, &mut host, |host| {
            let mut host = host.view_mut().unwrap();
            let scope = catch_unwind(AssertUnwindSafe(|| {
                stream.scope(|s| {
                    x.copy_to_host_in(&mut host, s).map_err(cuda_driver::Error::other)?;
                    lose(session, context);
                    assert!(!unwinds, "on the way");
                    Ok(())
                })
            }));
            assert!(matches!(scope, Ok(Err(_)) | Err(_)));
            session.give_back(host.as_slice().unwrap());
        });
        if context.is_lost() {
            break;
        }
    }
}

fn fill_memory_of_another_owner(session: &Session, context: &Context) {
    let stream = Stream::new(context).unwrap();
    let (whole, stream_of) = (Buffer::new(&stream, 256).unwrap(), stream.clone());
    // SAFETY: the memory lies in `whole`, which is used in no other way.
    let mut part = unsafe { Buffer::external(context, whole.address(), 256, ()) };
    part.fill(1, &stream_of).unwrap();
    lose(session, context);
    session.forget();
    drop(part);
    assert_eq!(session.names(), ["cuCtxSynchronize"], "before the owner has it again");
    session.forget();
    drop(whole);
    assert_eq!(session.names(), [""; 0], "memory of the context's own is gone with it");
}

#[test]
fn external_memory_is_leaked_if_work_cannot_be_waited_for() {
    let session = Session::new();
    let context = session.context();
    let (stream, held) = (Stream::new(&context).unwrap(), Arc::new(()));
    let whole = Buffer::new(&stream, 256).unwrap();
    // SAFETY: the memory lies in `whole`, which is used in no other way.
    let mut part = unsafe { Buffer::external(&context, whole.address(), 256, held.clone()) };
    part.fill(1, &stream).unwrap();
    lose(&session, &context);
    session.never_waits();
    drop(part);
    assert_eq!(Arc::strong_count(&held), 2, "the owner is never told that it has the memory back");
}

#[test]
fn no_borrow_ends_before_the_work_of_a_lost_context() {
    let programs: [Program; 5] =
        [write_mapped, unwind_from_mapped, copy_to_pinned, copy_in_a_scope, fill_memory_of_another_owner];
    for program in programs {
        let session = Session::new();
        let context = session.context();
        program(&session, &context);
        assert_eq!(session.take_violations(), [""; 0]);
    }
}

/// A program that lets work borrow memory in every way; each of its calls is made to lose the context in turn.
fn borrow_in_every_way(session: &Session, context: &Context) -> Result<(), Box<dyn std::error::Error>> {
    let (a, b) = (Stream::new(context)?, Stream::new(context)?);
    let mut x = device_array::<f32, _>(context, 64)?;
    let mut host = ndarray::Array1::<f32>::zeros(64);
    let mut copied = ndarray::Array1::<f32>::zeros(64);
    let result = (|| {
        mapped(context, &mut host, |host| {
            host.device_mut().fill_on(2.0, &a)?;
            x.assign_on(&host.device(), &b)
        })??;
        pinned(context, &mut copied, |copied| x.copy_to_pinned_mut(copied, &a))??;
        pinned(context, &mut copied, |copied| {
            let mut copied = copied.view_mut()?;
            let scoped = b.scope(|s| x.copy_to_host_in(&mut copied, s).map_err(cuda_driver::Error::other));
            session.give_back(copied.as_slice().unwrap_or(&[]));
            Ok::<_, cuda_mem::Error>(scoped?)
        })??;
        let y = zeros::<f32, _>(context, 64)?;
        y.copy_to_host_into(&mut copied)?;
        Ok(())
    })();
    session.give_back(host.as_slice().unwrap_or(&[]));
    session.give_back(copied.as_slice().unwrap_or(&[]));
    result
}

#[test]
fn whichever_call_loses_the_context_no_borrow_ends_before_its_work() {
    let mut lost = 0;
    let names = {
        let session = Session::new();
        let context = session.context();
        session.forget();
        borrow_in_every_way(&session, &context).unwrap();
        session.names()
    };
    for (at, name) in names.iter().enumerate() {
        let session = Session::new();
        let context = session.context();
        let nth = names[..=at].iter().filter(|other| *other == name).count();
        session.lose(name, nth);
        if borrow_in_every_way(&session, &context).is_err() {
            lost += 1;
        }
        drop(context);
        assert_eq!(session.take_violations(), [""; 0], "call {at}, {name}");
    }
    assert!(lost > 20, "{lost} of {} calls", names.len());
}
