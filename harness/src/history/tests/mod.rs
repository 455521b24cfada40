//! Change points against what others found, and histories from a database.

mod numbers;
mod stored;
