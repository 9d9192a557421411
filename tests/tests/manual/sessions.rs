//! Example: clicks, sorted by user and time, divided into sessions that end after an hour's pause.

use cuda_prelude::*;

/// The session of a click is the index of its first click.
#[kernel]
fn sessionize(user: &[i64], time: &[i64], timeout: i64, session: &mut [u64]) {
    let i = grid::<1>();
    if i >= user.len() {
        return;
    }
    let starts = |i: usize| i == 0 || user[i] != user[i - 1] || time[i] - time[i - 1] > timeout;
    if !starts(i) {
        return;
    }
    // The thread that finds the start of a session labels all clicks in it.
    session[i] = i as u64;
    let mut next = i + 1;
    while next < user.len() && !starts(next) {
        session[next] = i as u64;
        next += 1;
    }
}

#[test]
fn clicks_become_sessions() -> Result<()> {
    let user = vec![1, 1, 1, 1, 2, 2, 2, 3, 3, 3];
    let time = vec![0, 600, 5000, 5100, 5100, 5200, 9000, 9001, 9002, 20_000];
    let mut session = vec![u64::MAX; user.len()];
    sessionize::launch((1, 32), &user, &time, 3600, &mut session)?;
    assert_eq!(session, [0, 0, 2, 2, 4, 4, 6, 7, 7, 9]);
    Ok(())
}

#[test]
fn many_clicks_are_divided_as_on_the_host() -> Result<()> {
    let n = 50_000;
    let user: Vec<i64> = (0..n).map(|i| i / 37).collect();
    let time: Vec<i64> = (0..n).map(|i| i * 100 + (i * 7919 % 13) / 12 * 5000).collect();
    let mut sorted = time;
    sorted.sort_unstable();
    let mut expected = vec![0; user.len()];
    for i in 1..user.len() {
        let starts = user[i] != user[i - 1] || sorted[i] - sorted[i - 1] > 400;
        expected[i] = if starts { i as u64 } else { expected[i - 1] };
    }
    let mut session = vec![u64::MAX; user.len()];
    sessionize::launch((user.len().div_ceil(128), 128), &user, &sorted, 400, &mut session)?;
    assert_eq!(session, expected);
    Ok(())
}
