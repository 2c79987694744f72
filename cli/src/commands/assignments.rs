//! `braid assignments`: the paths that applications have set aside.

use braid_api::{AssignedPath, Assignment};
use braid_client::List;

use crate::client::{WatchArgs, format, show_or_watch};
use crate::table::table;

pub(crate) fn execute(args: &WatchArgs) -> anyhow::Result<()> {
    show_or_watch(args, |answer: &List<Assignment>| {
        let ends = |it: &Assignment| format::duration(it.expires_at.since(answer.now));
        let rows = answer.items.iter().flat_map(|it| rows(it, ends(it)));
        table(
            [
                "ASSIGNMENT",
                "OWNER",
                "BETWEEN",
                "AND",
                "ENDS IN",
                "AVAILABLE",
                "ROUND TRIP",
                "STREAMS",
                "PATH",
            ],
            rows,
        )
    })
}

/// A row for each path; the first one has the columns of the assignment.
fn rows(assignment: &Assignment, ends: String) -> Vec<[String; 9]> {
    let Assignment { id, owner, src, dst, paths, .. } = assignment;
    let about = [id.clone(), owner.clone(), src.to_string(), dst.to_string(), ends];
    let abouts = std::iter::once(about).chain(std::iter::repeat([const { String::new() }; 5]));
    if paths.is_empty() {
        return abouts.take(1).map(|about| row(about, None)).collect();
    }
    paths.iter().zip(abouts).map(|(path, about)| row(about, Some(path))).collect()
}

fn row([id, owner, src, dst, ends]: [String; 5], path: Option<&AssignedPath>) -> [String; 9] {
    let cell = |show: fn(&AssignedPath) -> String| path.map_or_else(|| "-".to_owned(), show);
    [
        id,
        owner,
        src,
        dst,
        ends,
        cell(|it| format::rate(it.available_bps)),
        cell(|it| format::micros(it.round_trip_us)),
        cell(|it| format!("{} of {:.0}", it.streams, it.best_streams)),
        cell(|it| format::list(format::path(&it.switch_names, &it.switches), " > ")),
    ]
}
