//! Ranks that are lost or that do not come: nobody waits beyond the time limit.

use std::time::{Duration, Instant};

use cuda_mem::{from_slice, zeros};
use cuda_nccl::{Communicator, Options, Reduction};

use crate::{MACHINE, Rank, communicators, turn, with_ranks_within};

const SOON: Duration = Duration::from_millis(700);
const LATE: Duration = Duration::from_secs(30);

#[test]
fn a_rank_that_does_not_call_ends_the_wait_of_the_others() {
    let begin = Instant::now();
    with_ranks_within(3, &Options::new().timeout(SOON), |rank| {
        if rank.rank() == 2 {
            std::thread::sleep(4 * SOON);
            rank.communicator.abort();
            return Ok(());
        }
        let mut x = zeros::<f32, _>(&rank.stream, 1000)?;
        let enqueued = rank.communicator.all_reduce_in_place(&mut x, Reduction::Sum, &rank.stream);
        let error = enqueued.and_then(|()| rank.communicator.wait(&rank.stream)).unwrap_err().to_string();
        assert!(error.contains("`all_reduce`"), "{error}");
        Ok(())
    });
    assert!(begin.elapsed() < LATE);
}

#[test]
fn a_copy_to_the_host_ends_too_and_the_check_after_it_tells() {
    let _turn = turn();
    let Some(mut all) = communicators(2, &Options::new().timeout(SOON)) else { return };
    let (_lost, rank) = (all.pop(), Rank::new(all.pop().unwrap()));
    let begin = Instant::now();
    let mut x = from_slice(&rank.stream, &[1.0_f32; 1000]).unwrap();
    let result = rank.communicator.all_reduce_in_place(&mut x, Reduction::Sum, &rank.stream);
    let ended = result.and_then(|()| Ok(x.copy_to_host().map(drop)?)).and_then(|()| rank.communicator.check());
    assert!(ended.is_err());
    assert!(begin.elapsed() < LATE);
}

#[test]
fn a_rank_that_does_not_come_ends_the_creation() {
    let Some((nccl, driver)) = &*MACHINE else {
        return println!("skipped: no library");
    };
    let _turn = turn();
    let begin = Instant::now();
    let context = driver.device(0).unwrap().primary_context().unwrap();
    let id = nccl.unique_id().unwrap();
    let error = Communicator::from_id(nccl, &context, id, 0, 2, &Options::new().timeout(SOON)).unwrap_err().to_string();
    assert!(error.starts_with("rank 0 of 2: `the creation of the communicator`"), "{error}");
    assert!(begin.elapsed() < LATE);
}
