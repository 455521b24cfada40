//! The self-test for the terminal.

use std::fmt::Write;

use super::{CellTest, Rate, SelfTest};

/// Effects that a machine may be asked to judge.
const SIZES: [f64; 3] = [0.01, 0.02, 0.05];

/// A table of the cells and what they come to.
pub fn render(test: &SelfTest) -> String {
    let width = test.cells.iter().map(|cell| cell.name.len()).max();
    let width = width.unwrap_or(0).max(4);
    let mut text = format!(
        "{} boots, split {} times into {} against {}\n\n  {:<width$}  {:>9} {:>9} {:>9} {:>10}   fit to judge\n",
        test.boots,
        test.splits,
        test.side,
        test.side,
        "cell",
        "differs",
        "alarms",
        "sees",
        "settles"
    );
    for cell in &test.cells {
        let size = |size: Option<f64>| size.map_or_else(|| "-".into(), |s| share(s, 2));
        let _ = writeln!(
            text,
            "  {:<width$}  {:>9} {:>9} {:>9} {:>10}   {}",
            cell.name,
            share(cell.differs, 1),
            share(cell.alarms, 1),
            size(cell.sees),
            size(cell.settles),
            fit(cell),
        );
    }
    let _ = write!(
        text,
        "\nfalse alarms: {} of trials have any, at the trial's margins\n\
         a cell alone differs at 5 % in {}, margin or not\n\
         sees: the smallest effect that 4 of 5 trials of {} rounds would tell from none, in this cell\n\
         alone; to be called improved or regressed it must be beyond the margin as well\n\
         settles: the smallest margin inside which 4 of 5 would be called unchanged\n",
        rate(test.alarms),
        rate(test.differs),
        test.side,
    );
    text
}

fn rate(rate: Rate) -> String {
    let half = match rate.half {
        Some(half) => share(half, 2),
        None => "what is not known: a split takes more than half of the boots".into(),
    };
    format!("{}, ± {half}", share(rate.share, 2))
}

/// `1 %, 2 %, 5 %`: the sizes that would be seen, and settled where there is nothing.
fn fit(cell: &CellTest) -> String {
    let within = |size: f64, limit: Option<f64>| limit.is_some_and(|limit| limit <= size);
    let fit: Vec<String> = SIZES
        .into_iter()
        .filter(|size| within(*size, cell.sees) && within(*size, cell.settles))
        .map(|size| share(size, 0))
        .collect();
    match fit.as_slice() {
        [] if !cell.varies => "all boots are alike: the perturbation does not reach it".into(),
        [] => "no, it takes more rounds".into(),
        fit => fit.join(", "),
    }
}

fn share(share: f64, places: usize) -> String {
    format!("{:.places$} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_fit_for_what_it_sees_and_settles() {
        let cell = |sees, settles| CellTest {
            name: "exec rate".into(),
            varies: true,
            differs: 0.05,
            alarms: 0.0,
            sees,
            settles,
        };
        assert_eq!(fit(&cell(Some(0.002), Some(0.003))), "1 %, 2 %, 5 %");
        assert_eq!(fit(&cell(Some(0.008), Some(0.012))), "2 %, 5 %");
        assert!(fit(&cell(Some(0.06), Some(0.01))).starts_with("no"));
        assert!(fit(&cell(None, None)).starts_with("no"));
        let alike = CellTest {
            varies: false,
            ..cell(None, None)
        };
        assert!(fit(&alike).contains("all boots are alike"));
    }
}
