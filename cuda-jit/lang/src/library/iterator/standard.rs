//! The standard library's traits of iterators for the device library's types, so that a function over any `I: Iterator` may be
//! called with them.
//!
//! Only rustc reads these implementations: a kernel calls the methods of [`DeviceIterator`], and on the host an iterator has the
//! standard library's type.

use super::partition::{ChunkBy, Split, SplitInclusive, SplitN};
use super::{
    Chain, Copied, Cycle, DeviceDoubleEnded, DeviceExactSize, DeviceIterator, Enumerate, Filter, FilterMap, Flatten,
    FromFn, Fuse, Indexed, Inspect, Map, MapWhile, OptionElements, Peekable, Repeat, Rev, Scan, Skip, SkipWhile,
    StepBy, Successors, Take, TakeWhile, Zip, views,
};
use crate::device::library::TraversedView;

macro_rules! standard {
    ($($name:ty: [$($parameters:tt)*];)*) => { $(
        impl<$($parameters)*> Iterator for $name
        where
            Self: DeviceIterator,
        {
            type Item = <Self as DeviceIterator>::Item;

            fn next(&mut self) -> Option<<Self as DeviceIterator>::Item> {
                DeviceIterator::next(self)
            }
        }

        impl<$($parameters)*> DoubleEndedIterator for $name
        where
            Self: DeviceDoubleEnded,
        {
            fn next_back(&mut self) -> Option<<Self as DeviceIterator>::Item> {
                DeviceDoubleEnded::next_back(self)
            }
        }

        impl<$($parameters)*> ExactSizeIterator for $name
        where
            Self: DeviceExactSize,
        {
            fn len(&self) -> usize {
                DeviceExactSize::len(self)
            }
        }
    )* };
}

standard! {
    Chain<A, B>: [A, B];
    ChunkBy<S, F>: [S, F];
    Copied<I>: [I];
    Cycle<I>: [I];
    Enumerate<I>: [I];
    Filter<I, P>: [I, P];
    FilterMap<I, F>: [I, F];
    Flatten<I, U>: [I, U];
    FromFn<F>: [F];
    Fuse<I>: [I];
    Indexed<S>: [S];
    Inspect<I, F>: [I, F];
    Map<I, F>: [I, F];
    MapWhile<I, F>: [I, F];
    OptionElements<T>: [T];
    Peekable<I>: [I: DeviceIterator];
    Repeat<T>: [T];
    Rev<I>: [I];
    Scan<I, S, F>: [I, S, F];
    Skip<I>: [I];
    SkipWhile<I, P>: [I, P];
    Split<S, F>: [S, F];
    SplitInclusive<S, F>: [S, F];
    SplitN<I>: [I];
    StepBy<I>: [I];
    Successors<T, F>: [T, F];
    Take<I>: [I];
    TakeWhile<I, P>: [I, P];
    Zip<A, B>: [A, B];
    views::Elements<V>: [V: TraversedView];
    views::IndexedElements<V>: [V: TraversedView];
}
