//! Multi-state characters (morphology, encoded structures): up to 64 states, one symbol each.
//!
//! The symbols of the first 32 states are those of RAxML (0-9 and A-V); the others, up to 64, are those of
//! RAxML-NG: W-Z, then the printable ASCII characters except `-`, `?`, `.` (undetermined) and the backquote.
//! Letters may be in lower case. There are no ambiguity symbols: N and X are states like others.

use super::Code;

/// Maximum number of states: the number of symbols, and of bits of a state set.
pub(super) const MAX_STATES: u8 = 64;

/// Symbol of each state.
pub(super) const STATE_NAMES: [&str; MAX_STATES as usize] = [
    "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "A", "B", "C", "D", "E", "F", "G", "H", "I",
    "J", "K", "L", "M", "N", "O", "P", "Q", "R", "S", "T", "U", "V", "W", "X", "Y", "Z", "!", "\"",
    "#", "$", "%", "&", "'", "(", ")", "*", "+", ",", "/", ":", ";", "<", "=", ">", "@", "[", "\\",
    "]", "^", "_", "{", "|", "}", "~",
];

/// Meaning of a symbol of multi-state data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Symbol {
    /// A state, which may exceed the partition's number of states.
    State(u8),
    /// Undetermined: any state.
    Undetermined,
}

/// Meaning of a character, `None` if it is not a symbol.
#[inline]
pub(super) fn symbol(byte: u8) -> Option<Symbol> {
    let index = match byte {
        b'-' | b'?' | b'.' => return Some(Symbol::Undetermined),
        b'0'..=b'9' => byte - b'0',
        b'A'..=b'Z' => byte - b'A' + 10,
        b'a'..=b'z' => byte - b'a' + 10,
        _ => {
            let signs = STATE_NAMES.iter().skip(36);
            36 + signs.into_iter().position(|name| name.as_bytes() == [byte])? as u8
        }
    };
    Some(Symbol::State(index))
}

/// Code of a character among `num_states` states, `None` if it is none of them.
#[inline]
pub(super) fn encode(byte: u8, num_states: u8) -> Option<Code> {
    match symbol(byte)? {
        Symbol::Undetermined => Some(Code::from(num_states)),
        Symbol::State(state) => (state < num_states).then_some(Code::from(state)),
    }
}

/// The known characters, for messages.
pub(super) fn known(num_states: u8) -> String {
    let n = usize::from(num_states);
    let mut known = format!("the first {num_states} of 0-9 A-Z");
    if n > 36 {
        known.push(' ');
        known.push_str(&STATE_NAMES[36..n].concat());
    }
    known + ", and -?. for undetermined"
}

/// Number of states that is needed for the characters: that of the highest state and all below it, at least 2.
///
/// Used for models without a number of states (`MULTI` of RAxML).
pub fn num_multistate_states(characters: impl IntoIterator<Item = u8>) -> usize {
    let states = characters.into_iter().filter_map(|byte| match symbol(byte) {
        Some(Symbol::State(state)) => Some(usize::from(state) + 1),
        _ => None,
    });
    states.max().unwrap_or(0).max(2)
}
