//! Processes that measure on request, one for each compared configuration: a process' environment selects the engine and the
//! number of workers, and peers are other programs. They are queried in turn, so that other load on the machine affects all of
//! them.
//!
//! A request is a line `NAME RUNS`, its response a line with the seconds of the fastest run, or `error: REASON`.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};

/// Runs a kernel and waits for it.
pub(crate) type Run = Box<dyn FnMut() -> Result<()>>;

/// Serves requests until the input ends. `prepare` compiles a kernel, checks its result, and returns its run.
pub(crate) fn serve(mut prepare: impl FnMut(&str) -> Result<Run>) -> Result<()> {
    let mut runs: HashMap<String, Run> = HashMap::new();
    for line in std::io::stdin().lines() {
        let line = line?;
        let (name, count) = line.split_once(' ').context("a question is a name and a number")?;
        let mut measure = || {
            if !runs.contains_key(name) {
                runs.insert(name.to_owned(), prepare(name)?);
            }
            fastest(count.parse()?, runs.get_mut(name).expect("it was just put there"))
        };
        match measure() {
            Ok(seconds) => println!("{seconds:e}"),
            Err(error) => println!("error: {}", format!("{error:#}").replace('\n', " ")),
        }
    }
    Ok(())
}

fn fastest(count: usize, run: &mut Run) -> Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..count {
        let start = Instant::now();
        run()?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}

/// A process that measures on request.
pub(crate) struct Server {
    child: Child,
    requests: ChildStdin,
    responses: BufReader<ChildStdout>,
}

impl Server {
    /// Starts this program with another argument and environment.
    pub(crate) fn start(argument: &str, variables: &[(&str, &str)]) -> Result<Server> {
        Server::of(Command::new(std::env::current_exe()?).arg(argument).envs(variables.iter().copied()))
    }

    /// Starts any program that serves requests.
    pub(crate) fn of(command: &mut Command) -> Result<Server> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
        let requests = child.stdin.take().context("the process has no input")?;
        let responses = BufReader::new(child.stdout.take().context("the process has no output")?);
        Ok(Server { child, requests, responses })
    }

    /// Requests the fastest of that many runs, in seconds.
    pub(crate) fn ask(&mut self, name: &str, runs: usize) -> Result<f64> {
        writeln!(self.requests, "{name} {runs}").with_context(|| format!("no one measures {name}"))?;
        let mut answer = String::new();
        self.responses.read_line(&mut answer)?;
        match answer.trim().strip_prefix("error: ") {
            Some(why) => bail!("{name}: {why}"),
            None => answer.trim().parse().with_context(|| format!("{name}: `{answer}` is no time")),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The process is killed, since it may hang and not notice the end of its input.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
