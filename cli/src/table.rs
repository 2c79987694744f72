use comfy_table::{Table, presets};

/// Columns under a heading, aligned with spaces, such as `ps` prints.
pub(crate) fn table<const N: usize>(
    heading: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> String {
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
    }
}
