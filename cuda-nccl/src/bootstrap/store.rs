//! The meeting of the ranks by TCP: rank 0 listens, hears each rank's hello, and answers all at once.
//!
//! One thread polls all connections, so that there are neither locks nor a connection that holds up the others. A connection
//! that is none of ours, or that says nothing, changes nothing.

use std::io::{Error as IoError, ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::BootstrapError;
use super::roster::{HELLO, Roster, answer, hello, is_plausible, read_answer, read_hello};
use crate::library::UniqueId;

/// The time between two rounds of polling.
const ROUND: Duration = Duration::from_millis(2);

/// The time within which an answer is written to each rank.
const WRITING: Duration = Duration::from_secs(10);

/// The most connections that have not said hello.
const MAX_SILENT: usize = 4096;

/// Listens for the ranks other than 0.
pub(super) fn listen(host: &str, port: u16) -> Result<TcpListener, BootstrapError> {
    // Other machines reach rank 0 by one of its addresses; which one it is, only they know.
    let all = TcpListener::bind(("::", port)).or_else(|_| TcpListener::bind(("0.0.0.0", port)));
    let address = || format!("port {port} (MASTER_ADDR={host})");
    let listener = all.map_err(|cause| BootstrapError::Listen { address: address(), cause: Arc::new(cause) })?;
    let shared = listener.set_nonblocking(true);
    shared.map_err(|cause| BootstrapError::Listen { address: address(), cause: Arc::new(cause) })?;
    Ok(listener)
}

/// A connection of a rank, or of somebody else.
struct Connection {
    stream: TcpStream,
    peer: SocketAddr,
    message: [u8; HELLO],
    read: usize,
}

impl Connection {
    /// Reads what has come. Returns the number of ranks and the rank once they are there; an error ends the connection.
    fn poll(&mut self) -> std::io::Result<Option<(usize, usize)>> {
        match self.stream.read(&mut self.message[self.read..]) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(more) => self.read += more,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => return Ok(None),
            Err(error) => return Err(error),
        }
        if !is_plausible(&self.message[..self.read]) {
            return Err(ErrorKind::InvalidData.into());
        }
        match self.read {
            HELLO => read_hello(&self.message).map(Some).ok_or_else(|| ErrorKind::InvalidData.into()),
            _ => Ok(None),
        }
    }

    fn write(&mut self, answer: &[u8]) -> std::io::Result<()> {
        self.stream.set_nonblocking(false)?;
        self.stream.set_write_timeout(Some(WRITING))?;
        self.stream.write_all(answer)
    }
}

/// Waits for all ranks as rank 0, and gives them the identifier.
pub(super) fn serve(listener: &TcpListener, size: usize, id: &UniqueId, limit: Duration) -> Result<(), BootstrapError> {
    let end = Instant::now().checked_add(limit);
    let mut roster = Roster::new(size);
    let (mut silent, mut ranks): (Vec<Connection>, Vec<Connection>) = (Vec::new(), Vec::new());
    let result = loop {
        if roster.is_complete() {
            break Ok(());
        }
        if end.is_some_and(|end| Instant::now() >= end) {
            break Err(BootstrapError::Absent { ranks: roster.absent(), size, limit });
        }
        accept(listener, &mut silent);
        if let Err(error) = hear(&mut silent, &mut ranks, &mut roster) {
            break Err(error);
        }
        std::thread::sleep(ROUND);
    };
    let message = answer(result.as_ref().map(|()| id));
    for rank in &mut ranks {
        if let Err(error) = rank.write(&message) {
            tracing::warn!(%error, peer = %rank.peer, "a rank could not be answered");
        }
    }
    result
}

/// Accepts the connections that have come.
fn accept(listener: &TcpListener, silent: &mut Vec<Connection>) {
    while let Ok((stream, peer)) = listener.accept() {
        if silent.len() < MAX_SILENT && stream.set_nonblocking(true).is_ok() {
            silent.push(Connection { stream, peer, message: [0; HELLO], read: 0 });
        }
    }
}

/// Reads from the connections that have not said hello, and moves those that have to the ranks.
fn hear(silent: &mut Vec<Connection>, ranks: &mut Vec<Connection>, roster: &mut Roster) -> Result<(), BootstrapError> {
    let mut at = 0;
    while at < silent.len() {
        match silent[at].poll() {
            Ok(None) => at += 1,
            Ok(Some((size, rank))) => {
                let connection = silent.swap_remove(at);
                let peer = connection.peer;
                ranks.push(connection);
                roster.add(peer, size, rank)?;
            }
            Err(error) => {
                let stray = silent.swap_remove(at);
                tracing::debug!(%error, peer = %stray.peer, "a connection that is no rank's");
            }
        }
    }
    Ok(())
}

/// Asks rank 0 for the identifier, as another rank.
pub(super) fn ask(
    host: &str,
    port: u16,
    rank: usize,
    size: usize,
    limit: Duration,
) -> Result<UniqueId, BootstrapError> {
    let end = Instant::now().checked_add(limit);
    let left = || end.map(|end| end.saturating_duration_since(Instant::now())).filter(|left| !left.is_zero());
    let lost = |cause| BootstrapError::Lost { rank, size, cause: Arc::new(cause) };
    let mut stream = loop {
        match connect(host, port) {
            Ok(stream) => break stream,
            // Rank 0 may not listen yet.
            Err(_) if left().is_some() || end.is_none() => std::thread::sleep(Duration::from_millis(50)),
            Err(cause) => {
                let (address, cause) = (format!("{host}:{port}"), Arc::new(cause));
                return Err(BootstrapError::Unreachable { rank, size, address, limit, cause });
            }
        }
    };
    // Rank 0 answers within its own time limit, which is the same.
    stream.set_read_timeout(left().map(|left| left + WRITING)).map_err(lost)?;
    stream.write_all(&hello(rank, size)).map_err(lost)?;
    let answer = read_answer(&mut stream).map_err(lost)?;
    answer.map_err(|reason| BootstrapError::Refused { rank, size, reason })
}

/// Connects to one of the host's addresses.
fn connect(host: &str, port: u16) -> std::io::Result<TcpStream> {
    let mut last = IoError::from(ErrorKind::NotFound);
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, Duration::from_secs(5)) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_secs(20);

    fn id() -> UniqueId {
        UniqueId::from_bytes(std::array::from_fn(|at| at as u8))
    }

    /// Rank 0 of so many ranks, with its port, and `work` with the port.
    fn with_server<R: Send>(
        size: usize,
        limit: Duration,
        work: impl FnOnce(u16) -> R + Send,
    ) -> (Result<(), BootstrapError>, R) {
        let listener = listen("localhost", 0).unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::scope(|scope| {
            let server = scope.spawn(move || serve(&listener, size, &id(), limit));
            let worked = work(port);
            (server.join().unwrap(), worked)
        })
    }

    #[test]
    fn all_ranks_get_the_identifier_also_if_they_come_before_rank_0() {
        let port = listen("localhost", 0).unwrap().local_addr().unwrap().port();
        std::thread::scope(|scope| {
            let ranks: Vec<_> =
                (1..5).map(|rank| scope.spawn(move || ask("localhost", port, rank, 5, SOON).unwrap())).collect();
            std::thread::sleep(Duration::from_millis(100));
            let listener = listen("localhost", port).unwrap();
            serve(&listener, 5, &id(), SOON).unwrap();
            assert!(ranks.into_iter().all(|rank| rank.join().unwrap() == id()));
        });
    }

    #[test]
    fn stray_connections_change_nothing() {
        let (served, answer) = with_server(2, SOON, |port| {
            let silent = TcpStream::connect(("localhost", port)).unwrap();
            let mut other = TcpStream::connect(("localhost", port)).unwrap();
            other.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
            let mut half = TcpStream::connect(("localhost", port)).unwrap();
            half.write_all(&hello(1, 2)[..9]).unwrap();
            drop(half);
            std::thread::sleep(Duration::from_millis(20));
            let answer = ask("localhost", port, 1, 2, SOON);
            drop((silent, other));
            answer
        });
        assert!(served.is_ok());
        assert_eq!(answer.unwrap(), id());
    }

    #[test]
    fn two_ranks_of_one_number_are_refused_on_all_sides() {
        let (served, texts) = with_server(4, SOON, |port| {
            std::thread::scope(|scope| {
                let ranks: Vec<_> = [1, 2, 2]
                    .map(|rank| {
                        let asked = scope.spawn(move || ask("localhost", port, rank, 4, SOON));
                        std::thread::sleep(Duration::from_millis(50));
                        asked
                    })
                    .into();
                ranks.into_iter().map(|rank| rank.join().unwrap().unwrap_err().to_string()).collect::<Vec<_>>()
            })
        });
        assert!(matches!(served, Err(BootstrapError::SameRank { rank: 2, size: 4, .. })), "{served:?}");
        for text in texts {
            assert!(text.contains("of 4: two processes say that they are rank 2 of 4: at "), "{text}");
            assert!(text.starts_with("rank 0 has refused rank "), "{text}");
        }
    }

    #[test]
    fn a_rank_of_another_world_is_refused_on_both_sides() {
        let (served, asked) = with_server(3, SOON, |port| ask("localhost", port, 1, 2, SOON));
        assert!(matches!(served, Err(BootstrapError::OtherSize { rank: 1, theirs: 2, size: 3, .. })), "{served:?}");
        let text = asked.unwrap_err().to_string();
        assert!(text.contains("says that it is rank 1 of 2, and rank 0 expects 3 ranks"), "{text}");
    }

    #[test]
    fn ranks_that_do_not_come_are_named_to_all() {
        let soon = Duration::from_millis(200);
        let (served, asked) = with_server(4, soon, |port| ask("localhost", port, 2, 4, SOON));
        assert!(matches!(&served, Err(BootstrapError::Absent { ranks, .. }) if ranks == &[1, 3]), "{served:?}");
        let text = asked.unwrap_err().to_string();
        assert!(text.ends_with("of 4 ranks these did not come within 200ms: 1, 3"), "{text}");
    }

    #[test]
    fn a_rank_without_a_rank_0_ends_within_its_limit() {
        let listener = listen("localhost", 0).unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let begin = Instant::now();
        let error = ask("localhost", port, 1, 2, Duration::from_millis(200)).unwrap_err();
        assert!(begin.elapsed() < Duration::from_secs(8));
        assert!(error.to_string().starts_with("rank 1 of 2 did not reach rank 0 on localhost:"), "{error}");
    }

    #[test]
    fn a_rank_0_that_ends_before_its_answer_is_lost() {
        let listener = TcpListener::bind("localhost:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = std::thread::spawn(move || drop(listener.accept().unwrap()));
        let error = ask("localhost", port, 1, 2, SOON).unwrap_err();
        server.join().unwrap();
        assert!(matches!(error, BootstrapError::Lost { rank: 1, size: 2, .. }), "{error}");
    }

    #[test]
    fn a_port_in_use_is_named() {
        let listener = listen("localhost", 0).unwrap();
        let port = listener.local_addr().unwrap().port();
        let error = listen("localhost", port).unwrap_err().to_string();
        assert!(error.contains(&format!("port {port}")) && error.contains("CUDA_NCCL_PORT"), "{error}");
    }
}
