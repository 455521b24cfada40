//! Short names for things that are told apart by what went into them.

use sha2::{Digest, Sha256};

/// Sixteen hex digits of the SHA-256 over parts that cannot run into each other.
pub fn hash16<P: AsRef<[u8]>>(parts: impl IntoIterator<Item = P>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        let part = part.as_ref();
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hex::encode(&hash.finalize()[..8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_into_each_other() {
        assert_ne!(hash16(["ab", "c"]), hash16(["a", "bc"]));
        assert_eq!(hash16(["ab", "c"]).len(), 16);
    }
}
