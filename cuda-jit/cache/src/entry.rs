//! The format of an entry, and the checks before its contents are used.
//!
//! | bytes | |
//! |---|---|
//! | 8 | `CUDAJIT` and the version of this format |
//! | 32 | the key |
//! | 4, 8 | the lengths of label and contents, little-endian |
//! | | the label, the contents |
//! | 32 | the BLAKE3 hash of everything before |

use std::fmt;

/// The format's name and version. An entry of another version is a miss.
const MAGIC: [u8; 8] = *b"CUDAJIT\x01";
pub(crate) const HASH: usize = 32;
pub(crate) const HEAD: usize = MAGIC.len() + HASH + 4 + 8;

/// The key of an entry: a hash of everything that its contents depend on.
///
/// # Examples
///
/// ```
/// use cuda_jit_cache::Key;
///
/// assert_eq!(Key::new(&[b"ab", b"c"]), Key::new(&[b"ab", b"c"]));
/// assert_ne!(Key::new(&[b"ab", b"c"]), Key::new(&[b"a", b"bc"]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key([u8; HASH]);

impl Key {
    /// The hash of these parts together, in this order.
    #[must_use]
    pub fn new(parts: &[&[u8]]) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Key(*hasher.finalize().as_bytes())
    }

    /// The hash, 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The key with that hash, as [`Key::as_bytes`] returned it.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit_cache::Key;
    ///
    /// let key = Key::new(&[b"source"]);
    /// assert_eq!(Key::from_bytes(*key.as_bytes()), key);
    /// ```
    #[must_use]
    pub const fn from_bytes(hash: [u8; 32]) -> Self {
        Key(hash)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The bytes of an entry.
pub(crate) fn encode(key: &Key, label: &str, contents: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD + label.len() + contents.len() + HASH);
    bytes.extend(MAGIC);
    bytes.extend(key.0);
    bytes.extend((label.len() as u32).to_le_bytes());
    bytes.extend((contents.len() as u64).to_le_bytes());
    bytes.extend(label.as_bytes());
    bytes.extend(contents);
    let hash = blake3::hash(&bytes);
    bytes.extend(hash.as_bytes());
    bytes
}

/// The length of an entry, according to its header, if it is one: compared with a file's length before the whole file is
/// read.
pub(crate) const fn encoded_len(head: &[u8; HEAD]) -> Option<u64> {
    let mut at = 0;
    while at < MAGIC.len() {
        if head[at] != MAGIC[at] {
            return None;
        }
        at += 1;
    }
    let (_, lengths) = head.split_at(MAGIC.len() + HASH);
    let (Some((label, rest)), around) = (lengths.split_first_chunk(), (HEAD + HASH) as u64) else { return None };
    let Some((contents, _)) = rest.split_first_chunk() else { return None };
    (around + u32::from_le_bytes(*label) as u64).checked_add(u64::from_le_bytes(*contents))
}

/// The key and the label of an entry, without checking its contents.
pub(crate) fn head(bytes: &[u8]) -> Option<(Key, &str)> {
    let (key, rest) = bytes.strip_prefix(&MAGIC)?.split_first_chunk::<HASH>()?;
    let (label, rest) = rest.split_first_chunk()?;
    let label = rest.get(size_of::<u64>()..)?.get(..u32::from_le_bytes(*label) as usize)?;
    Some((Key(*key), std::str::from_utf8(label).ok()?))
}

/// Returns true if an entry's hash matches the bytes before it.
pub(crate) fn is_intact(bytes: &[u8]) -> bool {
    let split = bytes.split_last_chunk::<HASH>();
    split.is_some_and(|(body, hash)| blake3::hash(body) == blake3::Hash::from_bytes(*hash))
}

/// A decoded entry.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Decoded {
    pub(crate) key: Key,
    pub(crate) label: String,
    pub(crate) contents: Vec<u8>,
}

/// Decodes bytes that are exactly one valid entry.
pub(crate) fn decode(bytes: &[u8]) -> Option<Decoded> {
    let (body, _) = bytes.split_last_chunk::<HASH>()?;
    let rest = body.strip_prefix(&MAGIC)?;
    if !is_intact(bytes) {
        return None;
    }
    let (key, rest) = rest.split_first_chunk::<HASH>()?;
    let (label, rest) = rest.split_first_chunk()?;
    let (contents, rest) = rest.split_first_chunk()?;
    let label_len = usize::try_from(u32::from_le_bytes(*label)).ok()?;
    let contents_len = usize::try_from(u64::from_le_bytes(*contents)).ok()?;
    let (label, contents) = rest.split_at_checked(label_len)?;
    if contents.len() != contents_len {
        return None;
    }
    Some(Decoded { key: Key(*key), label: String::from_utf8(label.to_vec()).ok()?, contents: contents.to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> (Key, Vec<u8>) {
        let key = Key::new(&[b"key"]);
        (key, encode(&key, "label", b"some contents"))
    }

    #[test]
    fn an_entry_reads_back() {
        let (key, bytes) = sample();
        let expected = Decoded { key, label: "label".to_owned(), contents: b"some contents".to_vec() };
        assert_eq!(decode(&bytes), Some(expected));
    }

    #[test]
    fn a_head_announces_the_length() {
        let (_, bytes) = sample();
        let mut head = *bytes.first_chunk().unwrap();
        assert_eq!(encoded_len(&head), Some(bytes.len() as u64));
        head[HEAD - 8..].fill(0xff);
        assert_eq!(encoded_len(&head), None, "beyond all lengths");
        head[0] = b'c';
        assert_eq!(encoded_len(&head), None, "another form");
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let (_, bytes) = sample();
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(decode(&damaged), None, "bit {bit}");
        }
    }

    #[test]
    fn every_length_but_the_right_one_is_noticed() {
        let (_, bytes) = sample();
        for len in 0..bytes.len() {
            assert_eq!(decode(&bytes[..len]), None, "cut to {len}");
        }
        assert_eq!(decode(&[&bytes[..], &[0]].concat()), None);
        assert_eq!(decode(&[&[0], &bytes[..]].concat()), None);
    }

    #[test]
    fn lengths_that_lie_are_noticed_under_a_right_hash() {
        let (_, bytes) = sample();
        for (at, value) in [(40, u8::MAX), (43, u8::MAX), (44, 1), (51, u8::MAX)] {
            let mut body = bytes[..bytes.len() - HASH].to_vec();
            body[at] = value;
            let hash = blake3::hash(&body);
            body.extend(hash.as_bytes());
            assert_eq!(decode(&body), None, "byte {at}");
        }
    }

    #[test]
    fn another_form_is_no_entry_although_its_hash_is_right() {
        let (_, bytes) = sample();
        let mut body = bytes[..bytes.len() - HASH].to_vec();
        body[7] = 0;
        let hash = blake3::hash(&body);
        body.extend(hash.as_bytes());
        assert_eq!(decode(&body), None);
    }
}
