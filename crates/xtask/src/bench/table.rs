//! Figures as a Markdown table, for the terminal and for `bench/results/`.

pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(header: &[&str]) -> Self {
        Self { rows: vec![header.iter().map(|&cell| cell.to_owned()).collect()] }
    }

    pub fn row(&mut self, cells: Vec<String>) {
        assert_eq!(cells.len(), self.rows[0].len(), "every row has a cell for each column");
        self.rows.push(cells);
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let n_columns = self.rows[0].len();
        let width =
            |column: usize| self.rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..n_columns).map(width).collect();
        for (index, row) in self.rows.iter().enumerate() {
            // The first column holds names, the others figures.
            write!(f, "| {:<width$} ", row[0], width = widths[0])?;
            for column in 1..n_columns {
                write!(f, "| {:>width$} ", row[column], width = widths[column])?;
            }
            writeln!(f, "|")?;
            if index == 0 {
                write!(f, "|{:-<width$}", "", width = widths[0] + 2)?;
                for width in &widths[1..] {
                    write!(f, "|{:-<width$}:", "", width = width + 1)?;
                }
                writeln!(f, "|")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn columns_line_up() {
        let mut table = super::Table::new(&["name", "n"]);
        table.row(vec!["x".to_owned(), "12".to_owned()]);
        assert_eq!(table.to_string(), "| name |  n |\n|------|---:|\n| x    | 12 |\n");
    }
}
