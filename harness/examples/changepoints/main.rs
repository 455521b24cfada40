mod calibrate;
mod noise;
mod oracle;
mod otava;
fn main() { calibrate::calibrate(1, std::env::args().nth(1).unwrap().parse().unwrap()); }
