//! Processes that measure when they are asked: one for each who is compared, since engines and numbers of workers are
//! chosen by a process' environment, and peers are other programs. Asking them in turn lets what else the machine does
//! meet all of them.
//!
//! A question is a line `NAME RUNS`, its answer a line with the seconds of the fastest run, or `error: WHY`.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};

/// One run of a kernel, waited for.
pub(crate) type Run = Box<dyn FnMut() -> Result<()>>;

/// Answers questions until there are no more. `prepare` gives a kernel's run, compiled and with its result checked.
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

/// A process that measures.
pub(crate) struct Server {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Server {
    /// Starts this program with another argument and environment.
    pub(crate) fn start(argument: &str, variables: &[(&str, &str)]) -> Result<Server> {
        Server::of(Command::new(std::env::current_exe()?).arg(argument).envs(variables.iter().copied()))
    }

    /// Starts any program that answers questions.
    pub(crate) fn of(command: &mut Command) -> Result<Server> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
        let questions = child.stdin.take().context("the process has no input")?;
        let answers = BufReader::new(child.stdout.take().context("the process has no output")?);
        Ok(Server { child, questions, answers })
    }

    /// Seconds of the fastest of that many runs.
    pub(crate) fn ask(&mut self, name: &str, runs: usize) -> Result<f64> {
        writeln!(self.questions, "{name} {runs}").with_context(|| format!("no one measures {name}"))?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        match answer.trim().strip_prefix("error: ") {
            Some(why) => bail!("{name}: {why}"),
            None => answer.trim().parse().with_context(|| format!("{name}: `{answer}` is no time")),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It is killed rather than asked, since it may hang; either way nothing of it remains.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
