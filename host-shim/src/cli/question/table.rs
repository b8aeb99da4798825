//! Rows for people: columns that line up, cut to what the terminal has room for.

use std::io::{self, IsTerminal};

use unicode_segmentation::UnicodeSegmentation;

use crate::terminal::text::columns;

/// Between two columns.
const GAP: usize = 2;
/// What a column that is cut keeps at least.
const LEAST: usize = 8;

/// How wide the terminal is that results go to; nothing where they go elsewhere, and nothing is cut.
pub(super) fn terminal_width() -> Option<usize> {
    if !io::stdout().is_terminal() {
        return None;
    }
    let (width, _) = crossterm::terminal::size().ok()?;
    (width > 0).then_some(usize::from(width))
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub(super) title: &'static str,
    /// Whether it may be cut. The last of those that may gives way first.
    pub(super) may_be_cut: bool,
}

/// The text of a table. Cells hold no control characters.
pub(super) fn table(header: &[Column], rows: &[Vec<String>], width: Option<usize>) -> String {
    let mut widths: Vec<usize> = header
        .iter()
        .enumerate()
        .map(|(index, column)| {
            let cells = rows.iter().filter_map(|row| row.get(index));
            cells.map(|cell| columns(cell)).max().unwrap_or(0).max(column.title.len())
        })
        .collect();
    if let Some(width) = width {
        let gaps = GAP * header.len().saturating_sub(1);
        let mut excess = (widths.iter().sum::<usize>() + gaps).saturating_sub(width);
        for (index, column) in header.iter().enumerate().rev() {
            if column.may_be_cut {
                let cut = excess.min(widths[index].saturating_sub(LEAST.max(column.title.len())));
                widths[index] -= cut;
                excess -= cut;
            }
        }
    }
    let titles: Vec<String> = header.iter().map(|column| column.title.to_owned()).collect();
    let mut text = String::new();
    for row in std::iter::once(&titles).chain(rows) {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let cell = fit(cell, *width);
            line.push_str(&cell);
            line.push_str(&" ".repeat(width - columns(&cell) + GAP));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text
}

/// Text that takes at most so many columns; what was cut is marked.
pub(super) fn fit(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut fitted = String::new();
    let mut used = 1;
    for cluster in text.graphemes(true) {
        used += columns(cluster);
        if used > width {
            break;
        }
        fitted.push_str(cluster);
    }
    if width > 0 {
        fitted.push('…');
    }
    fitted
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: [Column; 3] = [
        Column { title: "ID", may_be_cut: false },
        Column { title: "QUESTION", may_be_cut: true },
        Column { title: "STATUS", may_be_cut: false },
    ];

    fn rows(question: &str) -> Vec<Vec<String>> {
        vec![vec!["ask_1".into(), question.into(), "pending".into()]]
    }

    #[test]
    fn without_a_terminal_nothing_is_cut() {
        let text = table(&HEADER, &rows(&"long ".repeat(50)), None);
        assert!(
            text.lines().nth(1).is_some_and(|line| line.ends_with("pending") && line.len() > 250),
            "{text}"
        );
    }

    #[test]
    fn a_table_is_no_wider_than_the_terminal() {
        for question in
            ["Where should this build be deployed?", "部署到生产环境还是测试环境？", "👩‍🚀👩‍🚀👩‍🚀👩‍🚀👩‍🚀👩‍🚀👩‍🚀👩‍🚀👩‍🚀"]
        {
            for width in 25..60 {
                let text = table(&HEADER, &rows(question), Some(width));
                for line in text.lines() {
                    assert!(columns(line) <= width, "{width}: {line}");
                    assert!(line.ends_with("STATUS") || line.ends_with("pending"), "{line}");
                }
            }
        }
        assert_eq!(
            table(&HEADER, &rows("Where should this go?"), Some(28)),
            "ID     QUESTION      STATUS\nask_1  Where shoul…  pending"
        );
    }

    #[test]
    fn text_is_cut_between_graphemes() {
        assert_eq!(fit("部署到", 5), "部署…");
        assert_eq!(fit("部署到", 4), "部…");
        assert_eq!(fit("abc", 3), "abc");
        assert_eq!(fit("abc", 0), "");
        assert_eq!(fit("e\u{301}e\u{301}e\u{301}", 2), "e\u{301}…");
    }
}
