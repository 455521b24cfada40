//! A stretch of values at one level, and what is asked of one.

/// What an outlier costs, in squares of the noise: values beyond 3.8 sigmas are outliers. Less than
/// a change costs, so that two outliers side by side are no change.
pub const BOUND: f64 = 14.5;
/// The least number of values in the last segment, the newest: more of them are still to come.
pub const SHORTEST_LAST: usize = 3;
/// The least number in all others. A level that was left again sooner can't be told from outliers:
/// where one value in twenty is one, three in a row come in one series of a hundred, and four among
/// five in one of three hundred.
pub const SHORTEST: usize = 6;

/// Values of one level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part {
    /// Index of the first.
    pub start: usize,
    /// Index after the last.
    pub end: usize,
    /// The level of least cost, in sigmas.
    pub level: f64,
    /// What it costs, in squares of sigma; NaN as the race leaves it.
    pub cost: f64,
}
