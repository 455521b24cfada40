//! Simulates series whose truth is known, and counts false alarms and finds of ktrial's change
//! points, of an oracle, and of apache-otava. `bench/changepoints` runs it.

mod calibrate;
mod noise;
mod options;
mod oracle;
mod otava;
mod table;

use std::process::ExitCode;

fn main() -> ExitCode {
    let options = match options::Options::read() {
        Ok(options) => options,
        Err(why) => {
            eprintln!("changepoints: {why}");
            return ExitCode::from(2);
        }
    };
    if options.calibrate {
        calibrate::calibrate(1, 2 * options.series);
        return ExitCode::SUCCESS;
    }
    match table::run(&options) {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}
