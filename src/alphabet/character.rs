//! Characters that can stand in a sequence of some data type, whichever it is.
//!
//! What a character means belongs to the alphabets; this is the test a reader makes before the type is known.

/// True if the character can stand in a sequence of any type: letters, digits (binary and multi-state data),
/// `-`, `?`, `.` (undetermined), `*` (stop), and the other signs of ASCII, which stand for states beyond the
/// 36th in multi-state data; but for the backquote, which stands for nothing.
pub(crate) fn is_sequence_character(byte: u8) -> bool {
    byte.is_ascii_graphic() && byte != b'`'
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alphabet::DataType;

    #[test]
    fn every_character_of_every_type_and_no_other() {
        let types = [
            DataType::Dna,
            DataType::Protein,
            DataType::codon(1).unwrap(),
            DataType::Binary,
            DataType::multistate(64).unwrap(),
        ];
        for byte in 0..=255u8 {
            let known = types.iter().any(|data_type| data_type.knows(byte));
            assert_eq!(is_sequence_character(byte), known, "{}", byte.escape_ascii());
        }
    }
}
