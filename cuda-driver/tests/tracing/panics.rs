//! The records of kernel panics: each panic is reported once, to the right waits, or at the end.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::mpsc::channel;

use cuda_driver::{Context, Error, Event, Graph, KernelPanic, PanicRecord, RawPanic, Result, Stream, StreamPosition};
use cuda_sys::CUresult;

use crate::support::Session;

/// Plays the device: writes `words` from an address on.
fn write(address: u64, words: &[u32]) {
    let record: *mut u8 = std::ptr::with_exposed_provenance_mut(address as usize);
    for (index, word) in words.iter().enumerate() {
        // SAFETY: the record has 104 bytes and is aligned; nothing reads it meanwhile.
        unsafe { record.wrapping_add(4 * index).cast::<u32>().write_volatile(*word) };
    }
}

fn state_word(address: u64) -> u32 {
    let record: *const u32 = std::ptr::with_exposed_provenance(address as usize);
    // SAFETY: the record begins with this word, and nothing writes it meanwhile.
    unsafe { record.read_volatile() }
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
        others: Vec::new(),
    }
}

/// A thread of a launch panics, in block 3 and thread 4.
fn panic_in(address: u64, tag: u64, site: u32) {
    let (kernel, launch) = (tag as u32, (tag >> 32) as u32);
    write(address, &[1, kernel, site, 3, 0, 0, 4, 0, 0, launch, 8, 0, 7, 0]);
}

/// A launch in the stream that panics at a site.
fn panicking(stream: &Stream, kernel: u32, site: u32) -> u64 {
    let record = stream.panic_record().unwrap();
    panic_in(record.device_ptr(), record.tag(kernel), site);
    record.device_ptr()
}

fn healthy(stream: &Stream) {
    stream.panic_record().unwrap();
}

/// The site of a panic that was reported, and those of the others.
fn sites(result: Result<()>) -> Vec<u32> {
    match result {
        Ok(()) => Vec::new(),
        Err(Error::KernelPanic(panic)) => {
            let others = panic.others.iter().map(|other| other.line - 10);
            [panic.line - 10].into_iter().chain(others).collect()
        }
        Err(error) => panic!("{error}"),
    }
}

fn kernel(context: &Context) -> u32 {
    context.register_kernel(Arc::new(decoder))
}

#[test]
fn a_panic_is_decoded_and_reported_once_by_each_kind_of_wait() {
    let session = Session::new();
    let context = session.context();
    let (stream, event) = (Stream::new(&context).unwrap(), Event::new(&context).unwrap());
    let id = kernel(&context);
    assert_ne!(id, 0);
    assert_eq!(PanicRecord::SIZE, 104);
    type Wait<'a> = &'a dyn Fn() -> Result<()>;
    let by_event = || event.record(&stream).and_then(|()| event.synchronize());
    let waits: [Wait<'_>; 5] =
        [&|| context.synchronize(), &|| stream.synchronize(), &by_event, &|| stream.scope(|_| Ok(())), &|| {
            pollster::block_on(stream.done())
        }];
    for wait in waits {
        let address = panicking(&stream, id, 2);
        let error = wait().unwrap_err();
        assert_eq!(
            error.to_string(),
            "kernel `add` panicked at kernels.rs:12:5: index 8 is out of bounds of length 7 (block 3, 0, 0; thread 4, 0, 0)"
        );
        assert!(matches!(error, Error::KernelPanic(_)) && !error.is_sticky());
        assert_eq!(state_word(address), 0, "a later launch can claim the record");
        wait().unwrap();
        context.synchronize().unwrap();
    }
    assert_eq!(session.count("cuMemHostAlloc"), 1);
    drop((event, stream, context));
    session.finish();
}

#[test]
fn a_panic_belongs_to_its_stream_and_to_waits_that_come_after_it() {
    let session = Session::new();
    let context = session.context();
    let (id, a, b) = (kernel(&context), Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
    let (before, after) = (Event::new(&context).unwrap(), Event::new(&context).unwrap());
    healthy(&a);
    before.record(&a).unwrap();
    panicking(&a, id, 1);
    healthy(&a);
    after.record(&a).unwrap();
    panicking(&a, id, 2);
    healthy(&b);
    b.synchronize().unwrap();
    before.synchronize().unwrap();
    assert_eq!(sites(after.synchronize()), [1]);
    after.synchronize().unwrap();
    assert_eq!(sites(a.synchronize()), [2]);
    a.synchronize().unwrap();
}

#[test]
fn several_panics_are_one_error_in_the_order_of_streams_and_launches() {
    let session = Session::new();
    let context = session.context();
    let (id, a, b) = (kernel(&context), Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
    assert!(a.id().number() < b.id().number());
    panicking(&b, id, 3);
    panicking(&a, id, 1);
    panicking(&a, id, 2);
    panicking(&context.default_stream(), id, 0);
    let error = context.synchronize().unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("kernel `add` panicked at kernels.rs:10:5: "), "{text}");
    assert_eq!(text.matches("; also kernel `add` panicked at kernels.rs:").count(), 3, "{text}");
    assert_eq!(sites(Err(error)), [0, 1, 2, 3]);
    context.synchronize().unwrap();
    panicking(&a, id, 4);
    panicking(&a, id, 5);
    assert_eq!(sites(a.synchronize()), [4, 5]);
}

#[test]
fn panics_of_streams_that_a_stream_waited_for_are_reported_by_its_waits() {
    let session = Session::new();
    let context = session.context();
    let [a, b, c] = [(); 3].map(|()| Stream::new(&context).unwrap());
    let (id, event) = (kernel(&context), Event::new(&context).unwrap());
    panicking(&a, id, 1);
    b.wait_for(&a).unwrap();
    panicking(&a, id, 2);
    event.record(&b).unwrap();
    c.wait_event(&event).unwrap();
    assert_eq!(sites(c.synchronize()), [1], "by way of b, and without what came later");
    b.synchronize().unwrap();
    assert_eq!(sites(a.synchronize()), [2]);
    // A cycle of waits is harmless.
    a.wait_for(&c).unwrap();
    panicking(&a, id, 3);
    c.wait_for(&a).unwrap();
    assert_eq!(sites(c.synchronize()), [3]);
    // A wait that the driver has refused orders nothing.
    panicking(&a, id, 4);
    session.fail("cuStreamWaitEvent", 1, CUresult::CUDA_ERROR_INVALID_VALUE);
    b.wait_for(&a).unwrap_err();
    b.synchronize().unwrap();
    assert_eq!(sites(a.synchronize()), [4]);
}

#[test]
fn threads_that_share_a_stream_do_not_take_each_others_panics() {
    let session = Session::new();
    let context = session.context();
    let (id, stream) = (kernel(&context), Stream::new(&context).unwrap());
    let (go, wait) = channel::<()>();
    let (launched, is_launched) = channel();
    std::thread::scope(|scope| {
        let other = scope.spawn({
            let stream = &stream;
            move || {
                panicking(stream, id, 1);
                launched.send(()).unwrap();
                wait.recv().unwrap();
                (sites(stream.synchronize()), sites(stream.synchronize()))
            }
        });
        is_launched.recv().unwrap();
        panicking(&stream, id, 2);
        assert_eq!(sites(stream.synchronize()), [1, 2], "whoever waits for the stream is told of all");
        assert_eq!(sites(context.synchronize()), [0; 0], "once");
        go.send(()).unwrap();
        let (first, second) = other.join().unwrap();
        assert_eq!((first, second), (vec![1], vec![]), "and the thread that launched is told too");
    });
    context.synchronize().unwrap();
}

#[test]
fn panics_of_an_ended_thread_are_reported_to_the_next_wait_once() {
    let session = Session::new();
    let context = session.context();
    let (id, stream) = (kernel(&context), Stream::new(&context).unwrap());
    for by_context in [false, true] {
        std::thread::scope(|scope| {
            scope.spawn(|| panicking(&stream, id, 1)).join().unwrap();
        });
        let wait = || if by_context { context.synchronize() } else { stream.synchronize() };
        assert_eq!(sites(wait()), [1]);
        assert_eq!(sites(wait()), [0; 0]);
    }
}

#[test]
fn a_synchronous_launch_reports_only_its_own_panic() {
    let session = Session::new();
    let context = session.context();
    let (id, stream) = (kernel(&context), Stream::new(&context).unwrap());
    panicking(&stream, id, 1);
    let (first, second) = (context.detached_panic_record().unwrap(), context.detached_panic_record().unwrap());
    assert_ne!(first.device_ptr(), second.device_ptr());
    panic_in(first.device_ptr(), first.tag(id), 2);
    cuda_driver::withholding_panics(|| stream.synchronize().and_then(|()| context.synchronize())).unwrap();
    second.finish().unwrap();
    assert_eq!(sites(first.finish()), [2]);
    // A record that is never finished, since waiting for it has failed.
    let dropped = context.detached_panic_record().unwrap();
    panic_in(dropped.device_ptr(), dropped.tag(id), 3);
    drop(dropped);
    assert_eq!(sites(context.synchronize()), [3, 1], "with what was withheld");
    context.synchronize().unwrap();
}

#[test]
fn a_record_with_a_panic_is_skipped_until_it_is_waited_for() {
    let session = Session::new();
    let context = session.context();
    let (id, stream) = (kernel(&context), Stream::new(&context).unwrap());
    let event = Event::new(&context).unwrap();
    let kept = panicking(&stream, id, 1);
    event.record(&stream).unwrap();
    for _ in 0..1000 {
        let record = stream.panic_record().unwrap();
        assert_ne!(record.device_ptr(), kept);
    }
    panicking(&stream, id, 2);
    assert_eq!(sites(event.synchronize()), [1]);
    assert_eq!(sites(stream.synchronize()), [2]);
    assert!((0..1000).any(|_| stream.panic_record().unwrap().device_ptr() == kept), "it is used again");
    // As many panics as there are records, and more, whose own are lost.
    (0..300).for_each(|site| panicking_if_free(&stream, id, site));
    let told = sites(stream.synchronize());
    assert_eq!((told.len(), told[0]), (128, 0));
    stream.synchronize().unwrap();
    // Then all records are used as before.
    (0..300).for_each(|_| healthy(&stream));
    (0..128).for_each(|site| panicking_if_free(&stream, id, site));
    assert_eq!(sites(stream.synchronize()).len(), 128);
}

/// Launches that panic in free records: the records of others are left unchanged.
fn panicking_if_free(stream: &Stream, id: u32, site: u32) {
    let record = stream.panic_record().unwrap();
    if state_word(record.device_ptr()) == 0 {
        panic_in(record.device_ptr(), record.tag(id), site);
    }
}

#[test]
fn a_record_of_a_launch_that_was_not_waited_for_is_unchanged() {
    let session = Session::new();
    let context = session.context();
    let (id, stream) = (kernel(&context), Stream::new(&context).unwrap());
    let position: StreamPosition = stream.position();
    let running = stream.panic_record().unwrap();
    // It is being written.
    write(running.device_ptr(), &[1]);
    context.synchronize().unwrap();
    panic_in(running.device_ptr(), running.tag(id), 1);
    // The launch's call has not returned yet, so that the waits may not have covered it.
    position.report_panics().unwrap();
    assert_eq!(state_word(running.device_ptr()), 1, "other threads of the launch may look at it");
    drop(running);
    assert_eq!(sites(context.synchronize()), [1]);
}

#[test]
fn panics_of_graphs_are_reported_by_the_stream_of_the_launch() {
    let session = Session::new();
    let context = session.context();
    let (id, mut records) = (kernel(&context), Vec::new());
    let reached = Event::new(&context).unwrap();
    let graph = Graph::capture(&context, |c| {
        for _ in 0..2 {
            let record = c.open()?.panic_record()?;
            records.push((record.device_ptr(), record.tag(id)));
        }
        c.record(&reached)
    })
    .unwrap();
    assert_ne!(records[0], records[1]);
    let (exec, a, b) = (graph.instantiate().unwrap(), Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
    exec.launch(&a, ()).unwrap();
    panic_in(records[0].0, records[0].1, 1);
    panic_in(records[1].0, records[1].1, 2);
    b.synchronize().unwrap();
    assert_eq!(sites(reached.synchronize()), [1, 2]);
    a.synchronize().unwrap();
    // A panic that was not waited for is found before the next launch, whose kernels find their records free.
    exec.launch(&a, ()).unwrap();
    panic_in(records[0].0, records[0].1, 3);
    exec.launch(&b, ()).unwrap();
    assert_eq!(state_word(records[0].0), 0);
    panic_in(records[0].0, records[0].1, 4);
    assert_eq!(sites(b.synchronize()), [4]);
    assert_eq!(sites(a.synchronize()), [3]);
    context.synchronize().unwrap();
}

/// Launches of one graph write to the same records, so that a panic may be of any launch that has not been waited for:
/// it is reported for all of them, and the record stays claimed as long as threads of one may read it.
#[test]
fn a_panic_of_several_launches_of_a_graph_is_reported_for_each() {
    let session = Session::new();
    let context = session.context();
    let (id, mut record) = (kernel(&context), None);
    let graph = Graph::capture(&context, |c| {
        let panics = c.open()?.panic_record()?;
        record = Some((panics.device_ptr(), panics.tag(id)));
        Ok(())
    })
    .unwrap();
    let (address, tag) = record.unwrap();
    let [a, b] = [(); 2].map(|()| Stream::new(&context).unwrap());
    let (first, second) = (graph.instantiate().unwrap(), graph.instantiate().unwrap());
    for (in_a, in_b) in [(&first, &first), (&first, &second)] {
        in_a.launch(&a, ()).unwrap();
        in_b.launch(&b, ()).unwrap();
        panic_in(address, tag, 1);
        assert_eq!(sites(a.synchronize()), [1]);
        assert_eq!(state_word(address), 1, "the launch in b may run, and its threads wait for one that has panicked");
        assert_eq!(sites(b.synchronize()), [1]);
        assert_eq!(state_word(address), 0);
        context.synchronize().unwrap();
    }
    // The panic of a launch of one executable graph is found before the other one is launched.
    first.launch(&a, ()).unwrap();
    panic_in(address, tag, 2);
    second.launch(&b, ()).unwrap();
    assert_eq!(state_word(address), 0, "a cooperative kernel would take it for its own");
    b.synchronize().unwrap();
    assert_eq!(sites(a.synchronize()), [2]);
    context.synchronize().unwrap();
}

#[test]
fn panics_of_a_destroyed_stream_are_reported_by_waits_for_the_context_and_not_for_the_next_stream() {
    let session = Session::new();
    let context = session.context();
    let (id, stream) = (kernel(&context), Stream::new(&context).unwrap());
    let raw = stream.as_raw();
    panicking(&stream, id, 1);
    drop(stream);
    let next = Stream::new(&context).unwrap();
    assert_eq!(next.as_raw(), raw, "the driver's stream is the same");
    next.synchronize().unwrap();
    panicking(&next, id, 2);
    assert_eq!(sites(next.synchronize()), [2]);
    assert_eq!(sites(context.synchronize()), [1]);
    context.synchronize().unwrap();
}

#[test]
fn events_futures_and_streams_after_a_destroyed_stream_report_its_panics() {
    let session = Session::new();
    let context = session.context();
    let id = kernel(&context);
    type Later<'a> = Box<dyn FnOnce() -> Result<()> + 'a>;
    type Order<'a> = &'a dyn Fn(&Stream) -> Later<'a>;
    let by_event: Order<'_> = &|stream| {
        let event = Event::new(&context).unwrap();
        event.record(stream).unwrap();
        Box::new(move || event.synchronize())
    };
    let by_position: Order<'_> = &|stream| {
        let position = stream.position();
        Box::new(move || position.report_panics())
    };
    let by_stream: Order<'_> = &|stream| {
        let second = Stream::new(&context).unwrap();
        second.wait_for(stream).unwrap();
        Box::new(move || second.synchronize())
    };
    let by_stream_and_event: Order<'_> = &|stream| {
        let (event, second) = (Event::new(&context).unwrap(), Stream::new(&context).unwrap());
        event.record(stream).unwrap();
        Box::new(move || second.wait_event(&event).and_then(|()| second.synchronize()))
    };
    for order in [by_event, by_position, by_stream, by_stream_and_event] {
        let first = Stream::new(&context).unwrap();
        panicking(&first, id, 1);
        let later = order(&first);
        panicking(&first, id, 2);
        drop(first);
        // It reuses the raw stream of the previous one.
        let next = Stream::new(&context).unwrap();
        panicking(&next, id, 3);
        assert_eq!(sites(next.synchronize()), [3]);
        assert_eq!(sites(later()), [1]);
        assert_eq!(sites(context.synchronize()), [2]);
    }
}

/// A panic found by a wait that did not report it is still reported to a stream that is ordered behind it afterwards.
#[test]
fn a_panic_that_was_found_and_not_reported_is_reported_by_later_streams() {
    let session = Session::new();
    let context = session.context();
    let (id, [first, second]) = (kernel(&context), [(); 2].map(|()| Stream::new(&context).unwrap()));
    panicking(&first, id, 1);
    cuda_driver::withholding_panics(|| first.synchronize()).unwrap();
    second.wait_for(&first).unwrap();
    assert_eq!(sites(second.synchronize()), [1]);
    context.synchronize().unwrap();
}

/// Destroyed streams with unreported panics do not use up memory: the context keeps only the panics.
#[test]
fn many_destroyed_streams_with_panics_share_records() {
    let session = Session::new();
    let context = session.context();
    let id = kernel(&context);
    for _ in 0..500 {
        panicking(&Stream::new(&context).unwrap(), id, 1);
    }
    assert!(session.count("cuMemHostAlloc") <= 70, "{}", session.count("cuMemHostAlloc"));
    assert_eq!(sites(context.synchronize()).len(), 500);
    context.synchronize().unwrap();
}

/// A forked child has copies of its parent's panics, which are the parent's to report.
#[test]
fn a_forked_child_that_exits_reports_nothing() {
    let session = Session::new();
    let context = session.context();
    let (id, stream) = (kernel(&context), Stream::new(&context).unwrap());
    panicking(&stream, id, 1);
    let mut pipe = [0; 2];
    // SAFETY: the array has room for the two descriptors.
    assert_eq!(unsafe { libc::pipe(pipe.as_mut_ptr()) }, 0);
    // SAFETY: the child makes three calls, and exits.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: both descriptors are open.
        unsafe { libc::dup2(pipe[1], 2) };
        // SAFETY: the default action ends the child should it wait for a lock.
        unsafe { libc::alarm(20) };
        // SAFETY: runs what was registered with `atexit`, which is what is tested.
        unsafe { libc::exit(0) };
    }
    // SAFETY: the descriptor is open, and this process's own; the child has its own.
    unsafe { libc::close(pipe[1]) };
    let mut status = -1;
    // SAFETY: `child` is our child, and `status` lives through the call.
    let waited = unsafe { libc::waitpid(child, &mut status, 0) };
    assert_eq!((waited, status), (child, 0));
    let mut text = [0_u8; 4096];
    // SAFETY: the descriptor is open, and the buffer has that many bytes.
    let read = unsafe { libc::read(pipe[0], text.as_mut_ptr().cast(), text.len()) };
    // SAFETY: the descriptor is open, and this process's own.
    unsafe { libc::close(pipe[0]) };
    assert_eq!(String::from_utf8_lossy(&text[..read.max(0) as usize]), "");
    assert_eq!(sites(context.synchronize()), [1]);
}

/// The scope's result has no room for the kernel's panic.
#[test]
fn a_scope_that_fails_leaves_panics_to_the_next_wait() {
    let session = Session::new();
    let context = session.context();
    let (id, stream) = (kernel(&context), Stream::new(&context).unwrap());
    let failed = stream.scope(|s| {
        panicking(s, id, 1);
        Err::<(), _>(Error::Invalid("no".into()))
    });
    assert!(matches!(failed, Err(Error::Invalid(_))));
    assert_eq!(sites(stream.synchronize()), [1]);
    let unwound = std::panic::catch_unwind(AssertUnwindSafe(|| {
        stream.scope(|s| -> Result<()> {
            panicking(s, id, 2);
            std::panic::resume_unwind(Box::new("in the scope"))
        })
    }));
    assert!(unwound.is_err());
    assert_eq!(sites(stream.synchronize()), [2]);
}

#[test]
fn a_missing_or_panicking_decoder_still_gives_the_position() {
    let session = Session::new();
    let context = session.context();
    let stream = Stream::new(&context).unwrap();
    let id = context.register_kernel(Arc::new(|_| panic!("in a decoder")));
    for (kernel, why) in [(id, "its decoder panicked"), (id + 1, "no kernel is registered under this number")] {
        let record = stream.panic_record().unwrap();
        let launch = (record.tag(kernel) >> 32) as u32;
        write(record.device_ptr(), &[1, kernel, 0, 1, 2, 3, 4, 5, 6, launch, 0, 0, 0, 0]);
        drop(record);
        let text = stream.synchronize().unwrap_err().to_string();
        let expected = format!("check 0 failed with [0, 0, 0, 0, 0, 0, 0, 0]; {why} (block 1, 2, 3; thread 4, 5, 6)");
        assert!(text.ends_with(&expected), "{text}");
    }
}

#[test]
fn no_record_is_read_before_it_is_allocated_and_none_leaks() {
    let session = Session::new();
    let context = session.context();
    let stream = Stream::new(&context).unwrap();
    session.fail("cuMemHostGetDevicePointer_v2", 1, CUresult::CUDA_ERROR_INVALID_VALUE);
    assert!(stream.panic_record().is_err());
    assert_eq!(session.live().host, 0);
    context.synchronize().unwrap();
    assert!(stream.panic_record().is_ok());
    session.fail("cuMemHostAlloc", 1, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    assert!(context.detached_panic_record().is_err());
    drop((stream, context));
    session.finish();
}
