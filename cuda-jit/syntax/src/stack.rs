//! Stacks that grow: recursion over deeply nested expressions must not depend on the calling thread's stack.

/// The stack that is left at least when a recursive function is entered: more than any of them uses until it enters the
/// next one, also in builds without optimisation.
const RED_ZONE: usize = 256 << 10;

/// The size of each further piece of stack. Untouched pages take no memory.
const PIECE: usize = 8 << 20;

/// Runs `f` with enough stack for one level of recursion: on this stack, or on a new piece if little is left.
///
/// # Examples
///
/// ```
/// use cuda_jit_syntax::ensure_sufficient_stack;
///
/// fn depth(levels: u32) -> u32 {
///     ensure_sufficient_stack(|| if levels == 0 { 0 } else { 1 + depth(levels - 1) })
/// }
/// assert_eq!(depth(50_000), 50_000);
/// ```
pub fn ensure_sufficient_stack<R>(f: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(RED_ZONE, PIECE, f)
}

/// Runs `f` with this many bytes of stack, for recursion in code that cannot grow the stack.
///
/// # Examples
///
/// ```
/// use cuda_jit_syntax::with_stack;
///
/// let sum = with_stack(16 << 20, || [1_u8; 8 << 20].iter().map(|byte| u32::from(*byte)).sum::<u32>());
/// assert_eq!(sum, 8 << 20);
/// ```
pub fn with_stack<R>(bytes: usize, f: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(bytes, bytes, f)
}
