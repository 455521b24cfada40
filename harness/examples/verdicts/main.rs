//! Simulates trials whose truth is known, and counts false alarms and finds of ktrial's verdicts and
//! of what people use today. `bench/verdicts` runs it, and says what must hold.

mod calibrate;
mod demands;
mod host;
mod judges;
mod options;
mod peers;
mod sequential;
mod summary;
mod table;
mod trials;

use std::process::exit;

fn main() {
    let options = options::Options::read(std::env::args().skip(1)).unwrap_or_else(|why| {
        eprintln!("{why}; see the head of bench/verdicts");
        exit(2);
    });
    if options.calibrate {
        return calibrate::run(options.seed, options.null);
    }
    if options.sequential {
        // A tenth of the cells: each is looked at many times.
        let (null, shifted) = (options.null / 10, options.cells / 6);
        exit(i32::from(sequential::run(options.seed, null, shifted) > 0));
    }
    table::legend(options.seed, options.null, options.cells);
    let mut summary = summary::Summary::default();
    for row in options.rows() {
        let outcome = trials::run(row, options.seed, options.null, options.cells);
        let checks = demands::checks(&outcome, options.seed, options.null);
        table::block(&outcome, &checks);
        summary.add(&outcome, checks);
    }
    exit(i32::from(!summary.print(options.all_rows())));
}
