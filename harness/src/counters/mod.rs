//! What is counted in a guest besides what its workloads say: why it got slower. Each source has a
//! word of its own, with which the names of its metrics begin, so that no two are ever compared.

pub mod difference;
pub mod instructions;
pub mod profile;
pub mod stored;
