//! [`Roster`]: the list of ranks that have come to rank 0, and the messages of both sides. It does no input or output.
//!
//! A rank says hello with 16 bytes: a word of 8 bytes, the number of ranks and its own, in the order of the network. Rank 0
//! answers when all have come, or when two disagree: one byte, 0 with the identifier's bytes, or 1 with a text and before it
//! its length.

use std::net::SocketAddr;

use super::BootstrapError;
use crate::library::UniqueId;

/// The first bytes of a rank's message; a connection that sends others is none of ours.
const WORD: [u8; 8] = *b"CUNCCL\x00\x01";

/// The size of a rank's message.
pub(super) const HELLO: usize = 16;

/// The longest text of a refusal.
const MAX_TEXT: usize = 1024;

/// A rank's message.
pub(super) fn hello(rank: usize, size: usize) -> [u8; HELLO] {
    let mut message = [0; HELLO];
    message[..8].copy_from_slice(&WORD);
    message[8..12].copy_from_slice(&(size as u32).to_be_bytes());
    message[12..].copy_from_slice(&(rank as u32).to_be_bytes());
    message
}

/// The number of ranks and the rank of a message; `None` if these bytes cannot begin one.
pub(super) fn read_hello(message: &[u8; HELLO]) -> Option<(usize, usize)> {
    let number =
        |at: usize| u32::from_be_bytes([message[at], message[at + 1], message[at + 2], message[at + 3]]) as usize;
    (message[..8] == WORD).then(|| (number(8), number(12)))
}

/// Returns true if the bytes can begin a rank's message.
pub(super) fn is_plausible(start: &[u8]) -> bool {
    let known = start.len().min(WORD.len());
    start[..known] == WORD[..known]
}

/// Rank 0's answer.
pub(super) fn answer(result: Result<&UniqueId, &BootstrapError>) -> Vec<u8> {
    match result {
        Ok(id) => [&[0][..], &id.to_bytes()].concat(),
        Err(error) => {
            let text = error.to_string();
            let text = &text.as_bytes()[..text.len().min(MAX_TEXT)];
            [&[1][..], &(text.len() as u32).to_be_bytes(), text].concat()
        }
    }
}

/// Reads rank 0's answer: the identifier, or the text of the refusal.
pub(super) fn read_answer(mut from: impl std::io::Read) -> std::io::Result<Result<UniqueId, String>> {
    let mut kind = [0];
    from.read_exact(&mut kind)?;
    if kind == [0] {
        let mut id = [0; UniqueId::LEN];
        from.read_exact(&mut id)?;
        return Ok(Ok(UniqueId::from_bytes(id)));
    }
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let mut text = vec![0; (u32::from_be_bytes(length) as usize).min(MAX_TEXT)];
    from.read_exact(&mut text)?;
    Ok(Err(String::from_utf8_lossy(&text).into_owned()))
}

/// The ranks that have come to rank 0.
pub(super) struct Roster {
    /// By rank; rank 0 is there from the beginning.
    places: Vec<Option<SocketAddr>>,
    absent: usize,
}

impl Roster {
    pub(super) fn new(size: usize) -> Roster {
        Roster { places: vec![None; size], absent: size - 1 }
    }

    /// Adds a rank.
    pub(super) fn add(&mut self, peer: SocketAddr, size: usize, rank: usize) -> Result<(), BootstrapError> {
        let own = self.places.len();
        if size != own || rank == 0 || rank >= own {
            return Err(BootstrapError::OtherSize { peer, rank, theirs: size, size: own });
        }
        if let Some(first) = self.places[rank] {
            return Err(BootstrapError::SameRank { rank, size, first, second: peer });
        }
        self.places[rank] = Some(peer);
        self.absent -= 1;
        Ok(())
    }

    pub(super) fn is_complete(&self) -> bool {
        self.absent == 0
    }

    /// The ranks that have not come.
    pub(super) fn absent(&self) -> Vec<usize> {
        self.places.iter().enumerate().skip(1).filter(|(_, place)| place.is_none()).map(|(rank, _)| rank).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(port: u16) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], port))
    }

    #[test]
    fn messages_are_read_as_they_were_written() {
        assert_eq!(read_hello(&hello(3, 8)), Some((8, 3)));
        assert_eq!(read_hello(b"GET / HTTP/1.1\r\n"), None);
        assert!(is_plausible(b"") && is_plausible(&hello(1, 2)[..5]) && !is_plausible(b"GE"));
        let id = UniqueId::from_bytes([9; UniqueId::LEN]);
        assert_eq!(read_answer(&answer(Ok(&id))[..]).unwrap(), Ok(id));
        let error = BootstrapError::OtherSize { peer: peer(1), rank: 2, theirs: 3, size: 4 };
        assert_eq!(read_answer(&answer(Err(&error))[..]).unwrap(), Err(error.to_string()));
        assert!(read_answer(&answer(Ok(&id))[..50]).is_err());
    }

    #[test]
    fn the_roster_is_complete_when_each_rank_has_come_once() {
        let mut roster = Roster::new(3);
        assert!(!roster.is_complete() && Roster::new(1).is_complete());
        roster.add(peer(2), 3, 2).unwrap();
        assert_eq!(roster.absent(), [1]);
        let error = roster.add(peer(7), 3, 2).unwrap_err().to_string();
        assert_eq!(error, "two processes say that they are rank 2 of 3: at 127.0.0.1:2 and at 127.0.0.1:7");
        roster.add(peer(1), 3, 1).unwrap();
        assert!(roster.is_complete());
    }

    #[test]
    fn a_rank_of_another_world_is_refused() {
        for (size, rank) in [(4, 1), (3, 0), (3, 3)] {
            let error = Roster::new(3).add(peer(5), size, rank).unwrap_err().to_string();
            let expected = format!("says that it is rank {rank} of {size}, and rank 0 expects 3 ranks");
            assert!(error.contains(&expected), "{error}");
        }
    }
}
