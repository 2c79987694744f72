//! Regular networks: lines, rings and tori.

use super::{GenerateError, Links};
use crate::blueprint::{Blueprint, BlueprintError, Builder, NewSwitch};

/// Switches `s1`, `s2`, … in a row, with a host each: `h1`, `h2`, ….
///
/// # Errors
///
/// [`GenerateError`] for no switch at all or more than [`MAX_SWITCHES`](crate::blueprint::MAX_SWITCHES).
pub fn line(switches: usize, links: Links) -> Result<Blueprint, GenerateError> {
    at_least("line", "the number of switches", switches, 1)?;
    let mut builder = Blueprint::builder(format!("line:{switches}"));
    add_switches(&mut builder, switches, links)?;
    (1..switches).try_for_each(|next| builder.link(next - 1, next, links.state()))?;
    Ok(builder.build())
}

/// A [`line()`] whose ends are joined: two paths between any two switches.
///
/// # Errors
///
/// [`GenerateError`] for fewer than 3 switches or more than [`MAX_SWITCHES`](crate::blueprint::MAX_SWITCHES).
pub fn ring(switches: usize, links: Links) -> Result<Blueprint, GenerateError> {
    at_least("ring", "the number of switches", switches, 3)?;
    let mut builder = Blueprint::builder(format!("ring:{switches}"));
    add_switches(&mut builder, switches, links)?;
    (0..switches).try_for_each(|at| builder.link(at, (at + 1) % switches, links.state()))?;
    Ok(builder.build())
}

/// A grid whose rows and columns are rings: every switch has four neighbours. Switch `s1` is the first of the first
/// row, `s2` the second of that row; each has a host `h1`, `h2`, ….
///
/// # Errors
///
/// [`GenerateError`] for fewer than 3 rows or columns, or more switches than
/// [`MAX_SWITCHES`](crate::blueprint::MAX_SWITCHES).
pub fn torus(rows: usize, columns: usize, links: Links) -> Result<Blueprint, GenerateError> {
    at_least("torus", "the number of rows", rows, 3)?;
    at_least("torus", "the number of columns", columns, 3)?;
    let mut builder = Blueprint::builder(format!("torus:{rows},{columns}"));
    add_switches(&mut builder, rows.saturating_mul(columns), links)?;
    for row in 0..rows {
        for column in 0..columns {
            let at = row * columns + column;
            builder.link(at, row * columns + (column + 1) % columns, links.state())?;
            builder.link(at, (row + 1) % rows * columns + column, links.state())?;
        }
    }
    Ok(builder.build())
}

fn add_switches(builder: &mut Builder, count: usize, links: Links) -> Result<(), BlueprintError> {
    for number in 1..=count {
        let switch = builder.switch(NewSwitch::named(format!("s{number}")))?;
        builder.host(format!("h{number}"), [switch], links.state())?;
    }
    Ok(())
}

fn at_least(
    family: &'static str,
    parameter: &'static str,
    value: usize,
    least: usize,
) -> Result<(), GenerateError> {
    if value >= least {
        return Ok(());
    }
    Err(GenerateError::size(family, parameter, value, format!("it takes {least} or more")))
}
