//! Characters that can stand in a sequence of some data type, whichever it is.
//!
//! What a character means belongs to the alphabets; this is the test a reader makes before the type is known.

/// True if the character can stand in a sequence of any type: letters, digits (binary and multistate data),
/// and `-`, `?`, `.` (undetermined), `*` (stop).
pub fn is_sequence_character(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'?' | b'.' | b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_digits_and_gap_signs_only() {
        assert!(b"AczZ09-?.*".iter().all(|&byte| is_sequence_character(byte)));
        assert!(b" \t!_+>#\x00\x80\xc3".iter().all(|&byte| !is_sequence_character(byte)));
    }
}
