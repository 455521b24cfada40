//! No bytes make the reader panic, and what it says of them can be shown.
#![no_main]

use ktrial_patches::read::read;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match read("f", bytes) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(reading) => {
            assert!(!reading.patches.is_empty());
            for patch in &reading.patches {
                assert!(!patch.files.is_empty());
                patch.mends.iter().for_each(|mend| drop(mend.to_string()));
                // Turned round twice, a patch says the same.
                if let Ok(back) = patch.reversed()
                    && let Ok(again) = back.reversed()
                {
                    for (one, two) in patch.files.iter().zip(&again.files) {
                        assert_eq!(one.hunks, two.hunks);
                    }
                }
            }
        }
    }
});
