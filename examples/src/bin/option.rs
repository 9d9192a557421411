//! The price of a European call option by the Monte Carlo method, compared with the Black-Scholes formula.

use anyhow::{Result, ensure};
use clap::Parser as _;
use cuda_examples::Options;
use cuda_prelude::*;
use ndarray::ArrayViewMut2;
use plotters::prelude::*;

const THREADS: usize = 256;
/// Paths of each thread.
const PATHS: usize = 16;

/// A European call option on a stock, whose price follows a geometric Brownian motion.
#[repr(C)]
#[derive(Clone, Copy, DeviceType)]
struct Call {
    /// Today's price of the stock.
    spot: f64,
    strike: f64,
    /// Risk-free interest rate per year.
    rate: f64,
    /// Standard deviation of the stock's return over a year.
    volatility: f64,
    /// Years until the option is exercised.
    maturity: f64,
}

#[device]
impl Call {
    /// The discounted payoff of a path, for a random number of the standard normal distribution.
    fn payoff(&self, normal: f64) -> f64 {
        let drift = (self.rate - 0.5 * self.volatility * self.volatility) * self.maturity;
        let price = self.spot * (drift + self.volatility * self.maturity.sqrt() * normal).exp();
        (price - self.strike).max(0.0) * (-self.rate * self.maturity).exp()
    }
}

/// SplitMix64, a counter-based generator: a pseudorandom number for each value of the counter.
#[device]
fn random(counter: u64) -> u64 {
    let mut x = (counter + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// A number of the standard normal distribution, by the Box-Muller transform.
#[device]
fn normal(counter: u64) -> f64 {
    let uniform = |bits: u64| ((bits >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    let (u, v) = (uniform(random(2 * counter)), uniform(random(2 * counter + 1)));
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// Sums the payoffs of each block's paths, and their squares, into the block's row.
#[kernel(launch_bounds(256))]
fn simulate(call: Call, mut sums: ArrayViewMut2<'_, f64>) {
    let tile = shared!([[f64; 2]; THREADS]);
    let (thread, first) = (thread_idx().x, grid::<1>() * PATHS);
    tile[thread] = [0.0, 0.0];
    for path in first..first + PATHS {
        let payoff = call.payoff(normal(path as u64));
        tile[thread][0] += payoff;
        tile[thread][1] += payoff * payoff;
    }
    let mut stride = THREADS / 2;
    while stride > 0 {
        sync_threads();
        if thread < stride {
            tile[thread][0] += tile[thread + stride][0];
            tile[thread][1] += tile[thread + stride][1];
        }
        stride /= 2;
    }
    if thread == 0 {
        sums[[block_idx().x, 0]] = tile[0][0];
        sums[[block_idx().x, 1]] = tile[0][1];
    }
}

/// Cumulative distribution function of the standard normal distribution, by Simpson's rule from 0 to `x`.
fn normal_cdf(x: f64) -> f64 {
    let density = |t: f64| (-0.5 * t * t).exp() / std::f64::consts::TAU.sqrt();
    let h = x / 1000.0;
    let part = |k: i32| density(h * f64::from(k)) * if k % 2 == 0 { 2.0 } else { 4.0 };
    0.5 + h / 3.0 * (density(0.0) + (1..1000).map(part).sum::<f64>() + density(x))
}

/// The price by the Black-Scholes formula.
fn black_scholes(call: Call) -> f64 {
    let deviation = call.volatility * call.maturity.sqrt();
    let d = ((call.spot / call.strike).ln() + call.rate * call.maturity) / deviation + 0.5 * deviation;
    let strike = call.strike * (-call.rate * call.maturity).exp();
    call.spot * normal_cdf(d) - strike * normal_cdf(d - deviation)
}

/// Estimate of the price, and its standard error.
struct Estimate {
    paths: f64,
    price: f64,
    error: f64,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let call = Call { spot: 100.0, strike: 105.0, rate: 0.03, volatility: 0.25, maturity: 1.0 };
    let blocks = options.pick(1024, 64);
    let mut sums = device_array::<f64, _>((blocks, 2))?;
    simulate::launch((blocks, THREADS), call, &mut sums)?;

    // The running estimate after each block.
    let (mut sum, mut squares, mut estimates) = (0.0, 0.0, Vec::new());
    for (block, row) in (1..).zip(sums.copy_to_host()?.rows()) {
        let paths = (block * THREADS * PATHS) as f64;
        (sum, squares) = (sum + row[0], squares + row[1]);
        let price = sum / paths;
        estimates.push(Estimate { paths, price, error: ((squares / paths - price * price) / paths).sqrt() });
    }
    let (exact, last) = (black_scholes(call), &estimates[blocks - 1]);
    println!("{} paths: {:.4} ± {:.4}, exact {exact:.4}", last.paths, last.price, last.error);
    ensure!((last.price - exact).abs() < 4.0 * last.error, "the estimate is not within 4 standard errors");
    plot(options, &estimates, exact)
}

fn plot(options: &Options, estimates: &[Estimate], exact: f64) -> Result<()> {
    let file = options.file("option.svg");
    std::fs::create_dir_all(&options.out)?;
    let root = SVGBackend::new(&file, (640, 400)).into_drawing_area();
    root.fill(&WHITE)?;
    let (first, last) = (&estimates[0], &estimates[estimates.len() - 1]);
    let prices = exact - 3.0 * first.error..exact + 3.0 * first.error;
    let mut chart = ChartBuilder::on(&root)
        .caption("Estimate (blue), its 95 % confidence band, exact price (red)", ("sans-serif", 16))
        .margin(16)
        .x_label_area_size(40)
        .y_label_area_size(50)
        .build_cartesian_2d((first.paths..last.paths).log_scale(), prices)?;
    chart.configure_mesh().max_light_lines(1).x_label_formatter(&|x| format!("{x:.0}")).x_desc("paths").draw()?;
    let upper = estimates.iter().map(|e| (e.paths, e.price + 1.96 * e.error));
    let lower = estimates.iter().map(|e| (e.paths, e.price - 1.96 * e.error)).rev();
    chart.draw_series([Polygon::new(upper.chain(lower).collect::<Vec<_>>(), BLUE.mix(0.2))])?;
    chart.draw_series(LineSeries::new(estimates.iter().map(|e| (e.paths, e.price)), BLUE))?;
    chart.draw_series(LineSeries::new([(first.paths, exact), (last.paths, exact)], RED))?;
    root.present()?;
    println!("{}", file.display());
    Ok(())
}

fn main() -> Result<()> {
    run(&Options::parse())
}
