//! NVTX with a tool and without one. A process has at most one tool, so each case runs in its own process.

use std::path::Path;
use std::process::Command;

use cuda_driver::nvtx::{self, Annotation, Color, Domain, Named};
use cuda_driver::{Driver, Event, Stream};

/// The variable that marks the processes that the tests start.
const CHILD: &str = "CUDA_DRIVER_NVTX_CHILD";
const VARIABLE: &str = "NVTX_INJECTION64_PATH";

/// Compiles the tool to a library.
fn listener() -> String {
    let library = format!("{}/liblistener.so", env!("CARGO_TARGET_TMPDIR"));
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/nvtx/listener.c");
    let compiled = Command::new("cc").args(["-shared", "-fPIC", "-Wall", "-Werror", "-o", &library, source]).status();
    assert!(compiled.expect("a C compiler").success());
    library
}

/// The lines between the markers that the process below prints, with this tool.
fn told(tool: Option<&str>) -> Vec<String> {
    let mut child = Command::new(std::env::current_exe().expect("this test"));
    child.args(["--exact", "what_a_program_says", "--nocapture"]).env(CHILD, "1").env_remove(VARIABLE);
    let output = child.envs(tool.map(|tool| (VARIABLE, tool))).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let lines = text.lines().skip_while(|line| *line != "begin").skip(1);
    lines.take_while(|line| *line != "end of it").map(str::to_owned).collect()
}

#[test]
fn what_a_program_says() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    println!("\nbegin");
    println!("{}", nvtx::require_tool().map_or_else(|error| error.to_string(), |path| path.display().to_string()));
    {
        let _outer = nvtx::range("outer");
        let inner = nvtx::range(Annotation::new("inner").color(Color::ORANGE).payload(7_u64));
        drop(inner);
        nvtx::mark("a\0b");
    }
    let range = nvtx::start(&String::from("anywhere"));
    std::thread::spawn(move || drop(range)).join().expect("a range ends on any thread");
    let domain = Domain::new("mine");
    let (io, shared) = (domain.category("io"), Domain::global().category("shared"));
    let name = domain.name("again and again");
    drop(domain.range(Annotation::from(&name).category(&io).payload(0.5)));
    // Objects of another domain are ignored here.
    nvtx::mark(Annotation::from(&name).category(&io));
    domain.mark(Annotation::from("plain").category(&shared));
    drop(domain.start("a request"));
    drop((domain, io));
    println!("the name holds its domain");
    drop(name);
    nvtx::name_thread("main");
    let context = Driver::new(cuda_tests_support::driver_api()).and_then(|driver| driver.device(0)?.primary_context());
    let context = context.expect("the software device");
    Stream::new(&context).expect("a stream").name_for_profilers("uploads");
    Event::new(&context).expect("an event").name_for_profilers("ready");
    context.name_for_profilers("the context");
    context.device().name_for_profilers("the device");
    println!("end of it");
}

#[test]
fn a_tool_receives_ranges_marks_names_and_domains() {
    let library = listener();
    let expected = [
        &library,
        "push in (nil) v3 48: 'outer'",
        "push in (nil) v3 48: 'inner' color ffffa500 u64 7",
        "pop",
        "mark in (nil) v3 48: 'a␀b'",
        "pop",
        "start in (nil) v3 48: 'anywhere'",
        "end 101",
        "domain 'mine'",
        "category 1 'io' in 0x1000",
        "category 1 'shared'",
        "register 'again and again' in 0x1000",
        "push in 0x1000 v3 48: name 0x500 category 1 f64 0.5",
        "pop in 0x1000",
        "mark in (nil) v3 48: 'again and again'",
        "mark in 0x1000 v3 48: 'plain'",
        "start in 0x1000 v3 48: 'a request'",
        "end 102 in 0x1000",
        "the name holds its domain",
        "destroy 0x1000",
        "thread 1 'main'",
        "object 1 'uploads'",
        "object 1 'ready'",
        "object 1 'the context'",
        "device 0 'the device'",
    ];
    assert_eq!(told(Some(&library)), expected);
}

#[test]
fn without_a_tool_nothing_happens_and_require_tool_is_an_error() {
    let why = "no tool listens to NVTX: NVTX_INJECTION64_PATH";
    let hint = format!("{why} is not set; start the program under a profiler, such as `nsys profile`");
    assert_eq!(told(None), [hint.as_str(), "the name holds its domain"]);
    for wrong in ["/nowhere/libtool.so", env!("CARGO_MANIFEST_DIR")] {
        let refused = format!("{why}={wrong} is no library that can be opened and starts");
        assert!(Path::new(wrong).is_absolute());
        assert_eq!(told(Some(wrong)), [refused.as_str(), "the name holds its domain"]);
    }
}
