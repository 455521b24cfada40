//! The catalogue is embedded by a macro that cargo can't look into: without
//! this, a new or changed series would not reach the binary.

fn main() {
    println!("cargo:rerun-if-changed=series");
}
