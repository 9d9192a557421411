//! Stacks that grow: what recurses as deeply as a user's expression nests must not depend on the calling thread's stack.

/// The stack that is left at the least when a recursive function is entered: more than any of them takes until it enters
/// the next one, in builds without optimisation too.
const RED_ZONE: usize = 256 << 10;

/// The size of each further piece of stack. Pages that nothing touches take no memory.
const PIECE: usize = 8 << 20;

/// Runs `f` with stack enough for a level of recursion: on this stack, or on a new piece where little of it is left.
pub fn ensure_sufficient_stack<R>(f: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(RED_ZONE, PIECE, f)
}

/// Runs `f` with so many bytes of stack, for recursion in code that cannot ask for more.
pub fn with_stack<R>(bytes: usize, f: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(bytes, bytes, f)
}
