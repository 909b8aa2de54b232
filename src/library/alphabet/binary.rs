//! Binary characters, 0 and 1, such as absence and presence.

use super::Code;
use super::table::CodeTable;

/// States in the order of the bits.
pub(super) const STATE_NAMES: [&str; 2] = ["0", "1"];

/// The known characters, for messages.
pub(super) const KNOWN: &str = "0 and 1, and NX-?. for undetermined, in either case";

static CODES: CodeTable = CodeTable::new(&[b"0", b"1", b"NX-?."]);

/// Code of a character, `None` if it is unknown.
#[inline]
pub(super) fn encode(byte: u8) -> Option<Code> {
    CODES.get(byte)
}
