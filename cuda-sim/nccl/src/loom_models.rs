//! Loom models: every interleaving of a producer and a consumer on a ring, and of doorbells that ring while ranks fall asleep.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p cuda-nccl-sim --lib loom --profile loom`. Loom also reports a thread that waits for
//! ever, so each model shows that no wake-up is lost.
//!
//! # Safety
//!
//! The cells are tracked by loom: an unordered access fails the model.

use crate::ring::RingFlags;
use crate::sync::Doorbell;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use std::time::Duration;

/// A ring with its slots and the doorbells of both ranks.
struct Channel<const SLOTS: usize> {
    flags: RingFlags,
    slots: [UnsafeCell<u64>; SLOTS],
    of_producer: Doorbell,
    of_consumer: Doorbell,
}

// SAFETY: loom checks that all accesses to the slots are ordered.
unsafe impl<const SLOTS: usize> Send for Channel<SLOTS> {}
// SAFETY: loom checks that all accesses to the slots are ordered.
unsafe impl<const SLOTS: usize> Sync for Channel<SLOTS> {}

impl<const SLOTS: usize> Channel<SLOTS> {
    fn new() -> Arc<Self> {
        Arc::new(Channel {
            flags: RingFlags::default(),
            slots: std::array::from_fn(|_| UnsafeCell::new(0)),
            of_producer: Doorbell::default(),
            of_consumer: Doorbell::default(),
        })
    }

    fn send(&self, value: u64) {
        let at = until(&self.of_producer, || self.flags.writable(SLOTS as u64));
        // SAFETY: loom checks that no other access is concurrent.
        self.slots[at].with_mut(|slot| unsafe { *slot = value });
        self.flags.publish();
        self.of_consumer.ring();
    }

    fn receive(&self) -> u64 {
        let at = until(&self.of_consumer, || self.flags.readable(SLOTS as u64));
        // SAFETY: loom checks that no other access is concurrent.
        let value = self.slots[at].with(|slot| unsafe { *slot });
        self.flags.release();
        self.of_producer.ring();
        value
    }
}

/// Sleeps on a doorbell until there is a slot, as ranks do.
fn until(doorbell: &Doorbell, found: impl Fn() -> Option<usize>) -> usize {
    loop {
        let ticket = doorbell.ticket();
        if let Some(at) = found() {
            return at;
        }
        doorbell.wait(ticket, Duration::MAX);
    }
}

fn model(body: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(body);
}

fn passes<const SLOTS: usize>(values: u64) {
    model(move || {
        let channel = Channel::<SLOTS>::new();
        let producer = {
            let channel = Arc::clone(&channel);
            loom::thread::spawn(move || (1..=values).for_each(|value| channel.send(value)))
        };
        for value in 1..=values {
            assert_eq!(channel.receive(), value);
        }
        producer.join().unwrap();
    });
}

#[test]
fn loom_values_arrive_in_order_through_one_slot() {
    passes::<1>(3);
}

#[test]
fn loom_values_arrive_in_order_through_two_slots() {
    passes::<2>(3);
}

#[test]
fn loom_two_peers_wake_one_rank() {
    model(|| {
        let doorbell = Arc::new(Doorbell::default());
        let rings: [Arc<RingFlags>; 2] = std::array::from_fn(|_| Arc::new(RingFlags::default()));
        let peers = rings.clone().map(|flags| {
            let doorbell = Arc::clone(&doorbell);
            loom::thread::spawn(move || {
                flags.publish();
                doorbell.ring();
            })
        });
        for flags in &rings {
            until(&doorbell, || flags.readable(1));
        }
        peers.into_iter().for_each(|peer| peer.join().unwrap());
    });
}

#[test]
fn loom_two_sleepers_are_woken_by_one_ring() {
    model(|| {
        let doorbell = Arc::new(Doorbell::default());
        let flags = Arc::new(RingFlags::default());
        let sleeper = {
            let (doorbell, flags) = (Arc::clone(&doorbell), Arc::clone(&flags));
            loom::thread::spawn(move || until(&doorbell, || flags.readable(1)))
        };
        let ringer = {
            let (doorbell, flags) = (Arc::clone(&doorbell), Arc::clone(&flags));
            loom::thread::spawn(move || {
                flags.publish();
                doorbell.ring();
            })
        };
        until(&doorbell, || flags.readable(1));
        sleeper.join().unwrap();
        ringer.join().unwrap();
    });
}
