//! Figures: statistics of repeated runs, and printing.

use std::fmt::Display;
use std::time::Instant;

use anyhow::Result;

/// Prints a figure: `NAME VALUE UNIT`.
pub(crate) fn print(name: &str, value: impl Display, unit: &str) {
    println!("{name} {value} {unit}");
}

/// Prints a measured figure with few digits, since machines are shared.
pub(crate) fn print_measured(name: &str, value: f64, unit: &str) {
    let digits = if value < 1.0 { 4 } else { 2 };
    println!("{name} {value:.digits$} {unit}");
}

/// Prints the CPU's model and the number of its cores to standard error.
pub(crate) fn print_cpu() -> Result<()> {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let of = |field: &str| cpu.lines().find(|line| line.starts_with(field)).unwrap_or("unknown").replace('\t', "");
    let cores = std::thread::available_parallelism()?;
    eprintln!("{}, {}, {}, {cores} cores", of("model name"), of("cpu family"), of("model\t"));
    Ok(())
}

/// The median of values.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 }
}

/// The first and third quartile, between which half of the values lie.
pub(crate) fn quartiles(mut values: Vec<f64>) -> [f64; 2] {
    values.sort_by(f64::total_cmp);
    let quarter = values.len() / 4;
    [values[quarter], values[values.len() - 1 - quarter]]
}

/// The median time of `work` in seconds over `runs` runs, after `warm_up` runs that are not measured.
pub(crate) fn time(warm_up: usize, runs: usize, mut work: impl FnMut()) -> f64 {
    for _ in 0..warm_up {
        work();
    }
    let mut run = || {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    median((0..runs).map(|_| run()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_one_or_between_two() {
        assert_eq!(median(vec![9.0, 1.0, 5.0]), 5.0);
        assert_eq!(median(vec![9.0, 1.0, 5.0, 6.0]), 5.5);
    }

    #[test]
    fn half_of_the_values_lie_between_the_quartiles() {
        assert_eq!(quartiles(vec![8.0, 1.0, 3.0, 2.0, 9.0]), [2.0, 8.0]);
        assert_eq!(quartiles(vec![7.0]), [7.0, 7.0]);
    }

    #[test]
    fn warm_up_runs_do_not_count() {
        let mut runs = 0;
        let seconds = time(3, 5, || runs += 1);
        assert_eq!(runs, 8);
        assert!(seconds >= 0.0);
    }
}
