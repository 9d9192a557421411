//! Cooperative groups: a grid-wide barrier between the rows of a table, each of which depends on the whole row before.

use cuda_prelude::*;
use ndarray::{Array2, ArrayViewMut2};

/// Each number is one more than its mirror image in the row before.
#[kernel]
fn mirrored_rows(mut table: ArrayViewMut2<'_, i32>) {
    let (column, grid) = (grid::<1>(), this_grid());
    let (rows, columns) = table.dim();
    for row in 1..rows {
        if column < columns {
            table[[row, column]] = table[[row - 1, columns - column - 1]] + 1;
        }
        grid.sync();
    }
}

#[test]
fn rows_wait_for_the_row_before() -> Result<()> {
    let (rows, columns) = (9, 200);
    let mut table = Array2::from_shape_fn((rows, columns), |(row, column)| if row == 0 { column as i32 } else { -1 });
    let mut on_device = to_device(&table)?;
    let blocks = columns.div_ceil(64);
    mirrored_rows::launch((blocks, 64), &mut on_device)?;
    for row in 1..rows {
        for column in 0..columns {
            table[[row, column]] = table[[row - 1, columns - column - 1]] + 1;
        }
    }
    assert_eq!(on_device.copy_to_host()?, table);
    Ok(())
}

#[test]
fn a_grid_that_does_not_fit_the_device_is_refused() -> Result<()> {
    let kernel = mirrored_rows::compile()?;
    let most = kernel.max_cooperative_blocks(64, 0)?;
    assert!(most > 0);
    let mut table = zeros::<i32, _>((2, 64))?;
    mirrored_rows::launch((most as usize, 64), &mut table)?;
    let error = mirrored_rows::launch((most as usize + 1, 64), &mut table).unwrap_err().to_string();
    assert!(error.contains("COOPERATIVE_LAUNCH_TOO_LARGE"), "{error}");
    synchronize()
}
