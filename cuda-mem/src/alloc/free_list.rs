//! [`FreeList`]: the cached free blocks, and the choice among them.
//!
//! It makes no driver calls. Invariant: a block is in the list or owned by one caller.

use crate::sync::Mutex;

/// A block that was freed on a stream and can be reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FreeBlock<E> {
    pub(crate) address: u64,
    pub(crate) bytes: usize,
    /// The ids of the context and of the stream that it was freed on last.
    pub(crate) context: u64,
    pub(crate) stream: u64,
    /// The event that another stream has to wait for.
    pub(crate) freed: E,
}

pub(crate) struct FreeList<E>(Mutex<Vec<FreeBlock<E>>>);

impl<E> Default for FreeList<E> {
    fn default() -> Self {
        FreeList(Mutex::default())
    }
}

/// The rounded size of an allocation, so that similar sizes share blocks.
pub(crate) fn round_up(bytes: usize) -> usize {
    const SMALL: usize = 1 << 20;
    let step = if bytes <= SMALL { 512 } else { SMALL };
    bytes.checked_next_multiple_of(step).unwrap_or(bytes)
}

impl<E> FreeList<E> {
    /// Takes the smallest block of at least `bytes` that is at most a quarter larger; among equals, one of the same
    /// stream.
    pub(crate) fn take(&self, bytes: usize, context: u64, stream: u64) -> Option<FreeBlock<E>> {
        let max_bytes = bytes.saturating_add(bytes / 4);
        let mut blocks = self.0.lock();
        let fits = |block: &FreeBlock<E>| block.context == context && (bytes..=max_bytes).contains(&block.bytes);
        let fitting = blocks.iter().enumerate().filter(|(_, block)| fits(block));
        let best = fitting.min_by_key(|(_, block)| (block.bytes, block.stream != stream))?.0;
        Some(blocks.swap_remove(best))
    }

    pub(crate) fn put(&self, block: FreeBlock<E>) {
        self.0.lock().push(block);
    }

    /// Takes all blocks of a context.
    pub(crate) fn drain(&self, context: u64) -> Vec<FreeBlock<E>> {
        self.0.lock().extract_if(.., |block| block.context == context).collect()
    }

    /// The bytes of all blocks.
    pub(crate) fn bytes(&self) -> usize {
        self.0.lock().iter().map(|block| block.bytes).sum()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn free_list(blocks: &[(usize, u64, u64)]) -> FreeList<()> {
        let free_list = FreeList::default();
        for (at, (bytes, context, stream)) in blocks.iter().enumerate() {
            free_list.put(FreeBlock {
                address: at as u64,
                bytes: *bytes,
                context: *context,
                stream: *stream,
                freed: (),
            });
        }
        free_list
    }

    #[test]
    fn the_smallest_fitting_block_is_taken_and_preferably_of_the_same_stream() {
        let free_list = free_list(&[(1024, 1, 1), (512, 1, 1), (512, 1, 2), (512, 2, 2)]);
        assert_eq!(free_list.take(512, 1, 2).unwrap().address, 2);
        assert_eq!(free_list.take(512, 1, 2).unwrap().address, 1, "else another stream's");
        assert_eq!(free_list.take(512, 1, 2), None, "1024 are too many, and context 2 is another");
        assert_eq!(free_list.take(900, 1, 9).unwrap().address, 0);
        assert_eq!(free_list.bytes(), 512);
        assert_eq!((free_list.drain(1).len(), free_list.drain(2).len(), free_list.bytes()), (0, 1, 0));
    }

    #[test]
    fn sizes_are_rounded_without_overflow() {
        assert_eq!([1, 512, 513, 1 << 20].map(round_up), [512, 512, 1024, 1 << 20]);
        assert_eq!(round_up((1 << 20) + 1), 2 << 20);
        assert_eq!(round_up(usize::MAX), usize::MAX);
    }
}
