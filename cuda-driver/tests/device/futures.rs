//! Futures of streams on two executors, cancelled and not.

use std::future::Future;
use std::pin::pin;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::task::{Context as Task, Poll, Waker};

use cuda_driver::{Event, Stream};
use futures_executor::{ThreadPool, block_on};

use crate::support::context;

/// A stream that waits until something is sent.
fn held_up(stream: &Stream) -> std::sync::mpsc::Sender<()> {
    let (send, receive) = channel();
    let receive = Mutex::new(receive);
    stream.launch_host_fn(move || receive.lock().unwrap().recv().unwrap()).unwrap();
    send
}

#[test]
fn a_future_resolves_on_either_executor_after_the_work() {
    let context = context();
    type BlockOn = fn(cuda_driver::Done) -> cuda_driver::Result<()>;
    for block_on in [block_on as BlockOn, pollster::block_on as BlockOn] {
        let stream = Stream::new(&context).unwrap();
        let go = held_up(&stream);
        let mark = Event::without_timing(&context).unwrap();
        mark.record(&stream).unwrap();
        let done = stream.done();
        assert!(!mark.query().unwrap());
        let sender = std::thread::spawn(move || go.send(()).unwrap());
        block_on(done).unwrap();
        assert!(mark.query().unwrap());
        sender.join().unwrap();
    }
}

#[test]
fn a_pool_of_threads_resolves_many_at_once() {
    let context = context();
    let (pool, (send, receive)) = (ThreadPool::builder().pool_size(2).create().unwrap(), channel());
    let streams: Vec<Stream> = (0..8).map(|_| Stream::new(&context).unwrap()).collect();
    let gates: Vec<_> = streams.iter().map(held_up).collect();
    for (index, stream) in streams.iter().enumerate() {
        let (done, send) = (stream.done(), send.clone());
        pool.spawn_ok(async move {
            done.await.unwrap();
            send.send(index).unwrap();
        });
    }
    // A driver may run the host functions of all streams on one thread, in the order in which they came.
    for (index, gate) in gates.iter().enumerate() {
        gate.send(()).unwrap();
        assert_eq!(receive.recv().unwrap(), index);
    }
}

/// The driver refuses calls of its callback threads, so that the drops of a waker there are deferred.
#[test]
fn a_waker_runs_as_a_host_function_does() {
    struct Asks(std::sync::mpsc::Sender<bool>);
    impl std::task::Wake for Asks {
        fn wake(self: Arc<Self>) {
            self.0.send(cuda_driver::is_in_host_fn()).unwrap();
        }
    }
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let (go, (send, receive)) = (held_up(&stream), channel());
    let mut done = pin!(stream.done());
    let waker = Waker::from(Arc::new(Asks(send)));
    assert!(done.as_mut().poll(&mut Task::from_waker(&waker)).is_pending());
    go.send(()).unwrap();
    assert_eq!(receive.recv(), Ok(true));
    stream.synchronize().unwrap();
}

/// A replaced waker may do anything when it is dropped, such as wait for the stream.
#[test]
fn a_waker_that_is_replaced_is_dropped_outside_the_lock() {
    struct Waits(Stream);
    impl std::task::Wake for Waits {
        fn wake(self: Arc<Self>) {}
    }
    impl Drop for Waits {
        fn drop(&mut self) {
            self.0.synchronize().unwrap();
        }
    }
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let go = held_up(&stream);
    let (send, receive) = channel();
    let mut done = stream.done();
    let waker = Waker::from(Arc::new(Waits(stream.clone())));
    assert!(pin!(&mut done).poll(&mut Task::from_waker(&waker)).is_pending());
    drop(waker);
    std::thread::spawn(move || {
        // The work ends while the waker is dropped, or before.
        send.send(pin!(&mut done).poll(&mut Task::from_waker(Waker::noop())).is_pending()).unwrap();
    });
    std::thread::sleep(std::time::Duration::from_millis(50));
    go.send(()).unwrap();
    receive.recv_timeout(std::time::Duration::from_secs(60)).expect("the callback waits for the lock");
}

#[test]
fn a_dropped_future_cancels_nothing_and_wakes_no_task() {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let go = held_up(&stream);
    let counted = Arc::new(());
    let in_work = counted.clone();
    stream.launch_host_fn(move || drop(in_work)).unwrap();
    {
        // Polled, so that the driver's callback has a waker, and then dropped.
        let mut done = pin!(stream.done());
        let poll = done.as_mut().poll(&mut Task::from_waker(Waker::noop()));
        assert!(matches!(poll, Poll::Pending));
    }
    let other = stream.done();
    go.send(()).unwrap();
    block_on(other).unwrap();
    assert_eq!(Arc::strong_count(&counted), 1, "the work has run");
}

#[test]
fn a_future_moves_from_one_executor_to_another() {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let go = held_up(&stream);
    let mut done = stream.done();
    // The first task gives up after one poll.
    block_on(std::future::poll_fn(|task| {
        assert!(pin!(&mut done).poll(task).is_pending());
        Poll::Ready(())
    }));
    let sender = std::thread::spawn(move || go.send(()).unwrap());
    pollster::block_on(done).unwrap();
    sender.join().unwrap();
}
