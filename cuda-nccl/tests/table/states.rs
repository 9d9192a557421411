//! Communicators that fail, that are slow, that are in graphs, and that end.

use std::sync::atomic::Ordering::SeqCst;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use cuda_driver::{Graph, Stream};
use cuda_mem::zeros;
use cuda_nccl::{Communicator, Error, Options, Reduction, group};
use cuda_sys::nccl::ncclResult_t;

use crate::recorder::{CREATION, calls, nccl, of};
use crate::{context, rank, rank_within};

const SOON: Duration = Duration::from_millis(150);

#[test]
fn a_call_in_progress_is_waited_for() {
    let (c, s) = (rank(0, 2), Stream::new(&context(0)).unwrap());
    let mut x = zeros::<f32, _>(&context(0), 4).unwrap();
    let comm = of(c.as_raw());
    comm.progress.store(300, SeqCst);
    comm.next.store(ncclResult_t::ncclInProgress.0, SeqCst);
    c.all_reduce_in_place(&mut x, Reduction::Sum, &s).unwrap();
    assert_eq!((comm.progress.load(SeqCst), comm.state.load(SeqCst)), (0, 0));
}

#[test]
fn a_call_that_stays_in_progress_ends_the_communicator() {
    let (c, s) = (rank_within(0, 2, SOON).unwrap(), Stream::new(&context(0)).unwrap());
    let mut x = zeros::<f32, _>(&context(0), 4).unwrap();
    let comm = of(c.as_raw());
    comm.progress.store(u32::MAX, SeqCst);
    comm.next.store(ncclResult_t::ncclInProgress.0, SeqCst);
    let error = c.all_reduce_in_place(&mut x, Reduction::Sum, &s).unwrap_err();
    assert!(
        matches!(&error, Error::Timeout(late) if late.limit == SOON && late.subject.operation == "all_reduce"),
        "{error}"
    );
    assert!(comm.aborted.load(SeqCst) && c.as_raw().is_null());
}

#[test]
fn an_asynchronous_error_ends_the_wait_and_every_later_call() {
    let (c, s) = (rank(1, 2), Stream::new(&context(0)).unwrap());
    let mut x = zeros::<f32, _>(&context(0), 4).unwrap();
    let comm = of(c.as_raw());
    c.recv(&mut x, 0, &s).unwrap();
    comm.state.store(ncclResult_t::ncclRemoteError.0, SeqCst);
    let error = c.wait(&s).unwrap_err().to_string();
    assert_eq!(
        error,
        "rank 1 of 2: `recv` from rank 0: ncclCommGetAsyncError: ncclRemoteError (6): a peer is gone: socket closed"
    );
    assert!(comm.aborted.load(SeqCst));
    calls();
    for result in
        [c.send(&x, 0, &s), c.check(), c.wait(&s), group(|g| g.send(&c, &x, 0, &s)), c.split(None, 0).map(drop)]
    {
        let error = result.unwrap_err();
        assert_eq!(error.code(), Some(ncclResult_t::ncclRemoteError));
        assert!(
            error.to_string().contains("not called: the communicator has failed before: rank 1 of 2: `recv`"),
            "{error}"
        );
    }
    assert!(calls().is_empty());
}

#[test]
fn refused_arguments_leave_the_communicator_as_it_is() {
    let (c, s) = (rank(1, 2), Stream::new(&context(0)).unwrap());
    let x = zeros::<f32, _>(&context(0), 4).unwrap();
    let comm = of(c.as_raw());
    comm.next.store(ncclResult_t::ncclInvalidArgument.0, SeqCst);
    let error = c.send(&x, 0, &s).unwrap_err().to_string();
    assert_eq!(error, "rank 1 of 2: `send` to rank 0: ncclSend: ncclInvalidArgument (4): some text: socket closed");
    comm.next.store(ncclResult_t::ncclInvalidArgument.0, SeqCst);
    assert!(group(|g| g.send(&c, &x, 0, &s)).unwrap_err().to_string().contains("ncclSend: ncclInvalidArgument"));
    c.send(&x, 0, &s).unwrap();
    comm.next.store(ncclResult_t::ncclUnhandledCudaError.0, SeqCst);
    assert!(c.send(&x, 0, &s).is_err());
    assert!(comm.aborted.load(SeqCst));
}

/// A stream whose work ends when the returned value is dropped.
fn blocked() -> (Stream, std::sync::mpsc::Sender<()>) {
    let (stream, (sender, receiver)) = (Stream::new(&context(0)).unwrap(), channel::<()>());
    stream.launch_host_fn(move || receiver.recv().unwrap_or_default()).unwrap();
    (stream, sender)
}

#[test]
fn a_wait_ends_at_the_time_limit() {
    let c = rank_within(0, 4, SOON).unwrap();
    let comm = of(c.as_raw());
    let mut x = zeros::<f32, _>(&context(0), 4).unwrap();
    let (s, block) = blocked();
    c.broadcast(&mut x, 2, &s).unwrap();
    let begin = Instant::now();
    let error = c.wait(&s).unwrap_err().to_string();
    assert!(error.contains("did not finish within 150ms") || error.contains("has failed before"), "{error}");
    assert!(begin.elapsed() >= SOON && begin.elapsed() < SOON * 40);
    assert!(comm.aborted.load(SeqCst));
    drop(block);
}

#[test]
fn the_watchdog_ends_operations_that_nobody_waits_for() {
    let c = rank_within(3, 4, SOON).unwrap();
    let comm = of(c.as_raw());
    let mut x = zeros::<f32, _>(&context(0), 4).unwrap();
    let (s, block) = blocked();
    c.reduce_in_place(&mut x, Reduction::Sum, 1, &s).unwrap();
    let begin = Instant::now();
    while !comm.aborted.load(SeqCst) {
        assert!(begin.elapsed() < Duration::from_secs(30), "nobody has ended it");
        std::thread::sleep(Duration::from_millis(10));
    }
    drop(block);
    let error = c.check().unwrap_err().to_string();
    assert!(error.contains("rank 3 of 4: `reduce` with root 1 did not finish within 150ms"), "{error}");
    // A stream that is busy with work that ends is left alone.
    let c = rank_within(0, 4, SOON).unwrap();
    let comm = of(c.as_raw());
    let begin = Instant::now();
    while begin.elapsed() < SOON * 4 {
        c.broadcast(&mut x, 0, &s).unwrap();
        s.launch_host_fn(|| std::thread::sleep(Duration::from_millis(5))).unwrap();
        std::thread::sleep(Duration::from_millis(4));
    }
    assert!(!comm.aborted.load(SeqCst));
    s.synchronize().unwrap();
}

#[test]
fn a_communicator_that_is_not_made_is_an_error() {
    CREATION.set(ncclResult_t::ncclSystemError);
    let error = rank_within(1, 2, SOON).unwrap_err().to_string();
    let expected = "rank 1 of 2: `the creation of the communicator`: ncclCommInitRankConfig: ncclSystemError (2)";
    assert!(error.starts_with(expected), "{error}");
    CREATION.set(ncclResult_t::ncclInProgress);
    assert_eq!(rank_within(1, 2, SOON).unwrap().rank(), 1);
    let library = nccl(true);
    let id = library.unique_id().unwrap();
    let error = Communicator::from_id(&library, &context(0), id, 2, 2, &Options::new()).unwrap_err().to_string();
    assert_eq!(error, "rank 2 of 2: the ranks of a communicator are 0 to its size - 1");
    let error = Communicator::all(&library, &[], &Options::new()).unwrap_err().to_string();
    assert_eq!(error, "a communicator has at least one rank; no context was given");
}

#[test]
fn a_program_can_end_a_communicator() {
    let (c, s) = (rank(0, 2), Stream::new(&context(0)).unwrap());
    let comm = of(c.as_raw());
    c.abort();
    c.abort();
    assert!(comm.aborted.load(SeqCst));
    let x = zeros::<f32, _>(&context(0), 4).unwrap();
    let error = c.send(&x, 1, &s).unwrap_err().to_string();
    assert!(error.ends_with("rank 0 of 2: `abort`: the program ended the communicator"), "{error}");
    assert!(c.close().is_err());
}

#[test]
fn a_communicator_is_freed_after_its_operations() {
    let c = rank(0, 2);
    let comm = of(c.as_raw());
    let mut x = zeros::<f32, _>(&context(0), 4).unwrap();
    let (s, block) = blocked();
    c.broadcast(&mut x, 0, &s).unwrap();
    let closing = std::thread::spawn(move || c.close());
    std::thread::sleep(Duration::from_millis(50));
    assert!(!comm.destroyed.load(SeqCst));
    drop(block);
    closing.join().unwrap().unwrap();
    assert!(comm.destroyed.load(SeqCst) && !comm.aborted.load(SeqCst));
}

#[test]
fn operations_in_a_graph_bind_their_arrays_and_keep_the_communicator() {
    let (c, s) = (rank(1, 2), Stream::new(&context(0)).unwrap());
    let comm = of(c.as_raw());
    let (x, mut y) = (zeros::<f32, _>(&context(0), 4).unwrap(), zeros::<f32, _>(&context(0), 4).unwrap());
    let graph = Graph::capture(&context(0), |capture| {
        c.all_reduce(&x, &mut y, Reduction::Sum, capture)?;
        group(|g| {
            g.send(&c, &x, 0, capture)?;
            g.recv(&c, &mut y, 0, capture)
        })?;
        Ok(())
    })
    .unwrap();
    let names: Vec<_> = calls().iter().map(|call| call.split(' ').next().unwrap().to_owned()).collect();
    assert_eq!(names, ["all_reduce", "start", "send", "recv", "end"]);
    let exec = graph.instantiate().unwrap();
    let error = exec.launch(&s, &x).unwrap_err().to_string();
    assert!(error.starts_with("the graph uses the result of `all_reduce` (16 bytes), which was not bound"), "{error}");
    exec.launch(&s, (&x, &mut y)).unwrap();
    s.synchronize().unwrap();
    drop(c);
    assert!(!comm.destroyed.load(SeqCst), "the graph holds it");
    drop((graph, exec));
    assert!(comm.destroyed.load(SeqCst) && !comm.aborted.load(SeqCst));
}

#[test]
fn a_graph_is_not_launched_with_a_communicator_that_has_failed() {
    let (c, s) = (rank(0, 2), Stream::new(&context(0)).unwrap());
    let mut x = zeros::<f32, _>(&context(0), 4).unwrap();
    let graph = Graph::capture(&context(0), |capture| Ok(c.broadcast(&mut x, 0, capture)?)).unwrap();
    let exec = graph.instantiate().unwrap();
    exec.launch(&s, &mut x).unwrap();
    c.wait(&s).unwrap();
    c.abort();
    let error = exec.launch(&s, &mut x).unwrap_err().to_string();
    assert!(
        error.starts_with("rank 0 of 2: `the launch of a graph` not called: the communicator has failed"),
        "{error}"
    );
}

#[test]
fn a_group_is_in_streams_or_in_one_graph() {
    let (c, s) = (rank(0, 2), Stream::new(&context(0)).unwrap());
    let (x, y) = (zeros::<f32, _>(&context(0), 4).unwrap(), zeros::<f32, _>(&context(0), 4).unwrap());
    let expected =
        "rank 0 of 2: `send` to rank 1: the operations of a group are either in streams or in one branch of one graph";
    Graph::capture(&context(0), |capture| {
        let mixed = group(|g| {
            g.send(&c, &x, 1, capture)?;
            g.send(&c, &y, 1, &s)
        });
        assert_eq!(mixed.unwrap_err().to_string(), expected);
        let side = capture.fork()?;
        let branches = group(|g| {
            g.send(&c, &x, 1, capture)?;
            g.send(&c, &y, 1, &side)
        });
        assert_eq!(branches.unwrap_err().to_string(), expected);
        Ok(())
    })
    .unwrap();
    assert!(calls().is_empty());
}
