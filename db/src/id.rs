//! One type for each kind of row, so that no boot is taken for a trial.

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub i64);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl rusqlite::ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
                self.0.to_sql()
            }
        }

        impl rusqlite::types::FromSql for $name {
            fn column_result(
                value: rusqlite::types::ValueRef<'_>,
            ) -> rusqlite::types::FromSqlResult<Self> {
                i64::column_result(value).map(Self)
            }
        }
    )*};
}

ids! {
    /// A [`Machine`](crate::Machine).
    MachineId
    /// A [`Tree`](crate::Tree).
    TreeId
    /// A [`Series`](crate::Series).
    SeriesId
    /// A [`Kernel`](crate::Kernel).
    KernelId
    /// A [`Trial`](crate::Trial).
    TrialId
    /// A [`Variant`](crate::Variant) of one trial.
    VariantId
    /// A [`Boot`](crate::Boot) of one trial.
    BootId
    /// A [`Cell`](crate::Cell).
    CellId
}
