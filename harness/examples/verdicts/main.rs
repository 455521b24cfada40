//! Simulates trials whose truth is known, and counts false alarms and finds of a candidate
//! for ktrial's verdicts and of what people use today. `bench/verdicts` runs it.

mod host;
mod judges;
mod peers;
mod sequential;
mod table;

use host::NOISES;

fn main() {
    let options = table::Options::read();
    if options.calibrate {
        judges::calibrate(options.seed, options.null);
        return;
    }
    if options.sequential {
        let faults = sequential::run(options.seed, options.null, options.cells);
        std::process::exit(i32::from(faults > 0));
    }
    let rows: Vec<table::Row> = [3, 5, 10, 20]
        .into_iter()
        .flat_map(|rounds| [0.0, 0.5, 1.0, 2.0].map(|between| (rounds, between)))
        .flat_map(|(rounds, between)| {
            NOISES.map(|noise| table::Row {
                noise,
                rounds,
                between,
            })
        })
        .filter(|row| options.wants(row))
        .collect();
    std::process::exit(table::run(&rows, &options));
}
