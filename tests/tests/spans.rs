//! The spans that a subscriber of `tracing` sees: of compiling, loading, launching, copying, graphs and constants, with their fields.

use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};

use cuda_prelude::*;
use tracing::dispatcher::{Dispatch, with_default};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// A kernel of this test alone, which nothing else has compiled.
#[kernel]
fn traced(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = x[i] ^ 0x5350_414e;
    }
}

static SCALE: Constant<[f32; 4]> = Constant::new([1.0; 4]);

#[kernel]
fn scaled(x: &mut [f32]) {
    let i = grid::<1>();
    if i < x.len() {
        x[i] *= SCALE.get()[i % 4];
    }
}

/// The spans that were made, a line each.
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<Vec<String>>>);

/// A span's fields, as text.
struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {}={value:?}", field.name()).expect("a text takes all");
    }
}

impl Subscriber for Spans {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span() && metadata.target().starts_with("cuda_")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields(span.metadata().name().to_owned());
        span.record(&mut fields);
        self.0.lock().unwrap().push(fields.0);
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[test]
fn compiling_loading_launching_and_copying_are_spans() {
    let seen = Spans::default();
    let stream = stream().unwrap();
    with_default(&Dispatch::new(seen.clone()), || {
        let x = to_device(&[1_u32; 100]).unwrap();
        let mut out = device_array_like(&x).unwrap();
        traced::launch(((2, 1), 64, &stream), &x, &mut out).unwrap();
        traced::launch((2, 64), &x, &mut out).unwrap();
        out.copy_to_host().unwrap();
    });
    let seen = seen.0.lock().unwrap();
    let names: Vec<&str> = seen.iter().map(|line| line.split(' ').next().unwrap_or_default()).collect();
    assert_eq!(names, ["copy", "compile", "load", "load_module", "launch", "launch", "copy"], "{seen:#?}");
    assert_eq!(seen[0], r#"copy from="host" to="device" bytes=400"#);
    assert!(seen[1].starts_with("compile kernel=\"traced\" target="), "{}", seen[1]);
    assert!(seen[2].starts_with("load kernel=traced target="), "{}", seen[2]);
    assert_eq!(seen[3], "load_module device=0");
    let launched = |stream: &Stream| format!("launch kernel=traced grid=[2, 1, 1] block=[64, 1, 1] stream={stream}");
    assert_eq!(seen[4..6], [launched(&stream), launched(&default_stream().unwrap())]);
    assert_eq!(seen[6], r#"copy from="device" to="host" bytes=400"#);
}

#[test]
fn a_copy_in_a_stream_says_which() {
    let seen = Spans::default();
    let stream = stream().unwrap();
    let x = from_slice(&[1_u32, 2, 3]).unwrap();
    let mut host = ndarray::Array1::zeros(3);
    with_default(&Dispatch::new(seen.clone()), || {
        stream.scope(|s| Ok(x.copy_to_host_in(&mut host, s)?)).unwrap();
    });
    assert_eq!(*seen.0.lock().unwrap(), [format!(r#"copy from="device" to="host" bytes=12 stream={stream}"#)]);
}

#[test]
fn capturing_and_launching_a_graph_and_setting_a_constant_are_spans() {
    let seen = Spans::default();
    let (context, stream) = (current_context().unwrap(), stream().unwrap());
    let mut x = from_slice(&[1.0_f32; 8]).unwrap();
    // Compiled and loaded before.
    scaled::launch((1, 8), &mut x).unwrap();
    with_default(&Dispatch::new(seen.clone()), || {
        let graph = Graph::capture(&context, |c| Ok(scaled::launch((1, 8, c), &mut x)?)).unwrap();
        let exec = graph.instantiate().unwrap();
        SCALE.set(&stream, &[3.0; 4]).unwrap();
        exec.launch(&stream, &mut x).unwrap();
    });
    let expected = [
        "capture_launch kernel=\"scaled\" grid=[1, 1, 1] block=[8, 1, 1]".to_owned(),
        format!("set_constant bytes=16 stream={stream}"),
        format!("launch_graph stream={stream}"),
    ];
    assert_eq!(*seen.0.lock().unwrap(), expected);
    assert_eq!(x.copy_to_host().unwrap().to_vec(), [3.0; 8]);
}
