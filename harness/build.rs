//! The workloads' sources, the known machines and the report's templates are part of the command:
//! build it again when one of them changes.

fn main() {
    println!("cargo:rerun-if-changed=../workloads");
    println!("cargo:rerun-if-changed=../templates");
    println!("cargo:rerun-if-changed=machines");
}
