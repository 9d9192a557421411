//! Threads that launch the same uncompiled kernel wait for one compilation.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use cuda_prelude::*;
use tracing::dispatcher::{Dispatch, with_default};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

#[kernel]
fn cold(out: &mut [u32], value: u32) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = value;
    }
}

/// A subscriber that counts the compilations of `cold`.
#[derive(Clone, Default)]
struct Compilations(Arc<AtomicUsize>);

/// A visitor that records whether a span is about `cold`.
#[derive(Default)]
struct IsCold(bool);

impl Visit for IsCold {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0 |= field.name() == "kernel" && format!("{value:?}").trim_matches('"') == "cold";
    }
}

impl Subscriber for Compilations {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span() && metadata.name() == "compile"
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut about = IsCold::default();
        span.record(&mut about);
        self.0.fetch_add(about.0.into(), Ordering::SeqCst);
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[test]
fn a_cold_kernel_is_compiled_once() {
    const THREADS: u32 = 8;
    let compilations = Compilations::default();
    let dispatch = Dispatch::new(compilations.clone());
    let together = Barrier::new(THREADS as usize);
    let launch = |value: u32| -> Result<u32> {
        let mut out = zeros::<u32, _>(32)?;
        together.wait();
        cold::launch((1, 32), &mut out, value)?;
        Ok(out.copy_to_host()?.sum())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS)
            .map(|value| {
                let (dispatch, launch) = (&dispatch, &launch);
                scope.spawn(move || with_default(dispatch, || launch(value)))
            })
            .collect();
        for (value, worker) in (0..THREADS).zip(workers) {
            let sum = worker.join().expect("it does not panic").expect("it runs");
            assert_eq!(sum, 32 * value);
        }
    });
    assert_eq!(compilations.0.load(Ordering::SeqCst), 1);
}
