//! Characters that may occur in sequences of any data type.
//!
//! The meaning of a character is defined by the alphabets; readers use this test before the data type is known.

/// True if the character may occur in a sequence of at least one data type: letters, digits (binary and
/// multi-state data), `-`, `?`, `.` (undetermined), `*` (stop), and the other printable ASCII characters except the
/// backquote, which represent states beyond the 36th in multi-state data.
pub fn is_sequence_character(byte: u8) -> bool {
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
