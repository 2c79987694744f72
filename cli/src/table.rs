//! Aligned tables in the style of `ps`.

use comfy_table::{Row, Table, presets};

/// A table with aligned columns, in the style of `ps`.
pub(crate) fn table<const N: usize>(
    heading: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> String {
    align(heading, rows)
}

/// As [`table`], from columns: each has a heading and its cells from the top.
pub(crate) fn of_columns(columns: Vec<(&str, Vec<String>)>) -> String {
    let (headings, columns): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    let mut columns: Vec<_> = columns.into_iter().map(Vec::into_iter).collect();
    let rows = std::iter::from_fn(|| columns.iter_mut().map(Iterator::next).collect::<Option<Vec<_>>>());
    align(headings, rows)
}

fn align<T: Into<Row>>(heading: impl Into<Row>, rows: impl IntoIterator<Item = T>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(heading).add_rows(rows);
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_lines_end_without_spaces() {
        let rows = [["a", "1"], ["longer", ""]].map(|row| row.map(str::to_owned));
        assert_eq!(table(["NAME", "N"], rows), "NAME    N\na       1\nlonger\n");
        let columns =
            vec![("NAME", vec!["a".to_owned(), "longer".to_owned()]), ("N", vec!["1".to_owned(); 2])];
        assert_eq!(of_columns(columns), "NAME    N\na       1\nlonger  1\n");
    }
}
