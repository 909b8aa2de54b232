//! [`Refusals`]: what is wrong with a command line.

/// What is wrong, collected so that it is said at once.
#[derive(Debug, Default)]
pub(crate) struct Refusals(pub(crate) Vec<String>);

impl Refusals {
    /// Adds a message.
    pub(crate) fn add(&mut self, message: impl Into<String>) {
        self.0.push(message.into());
    }

    /// The value, or its refusal noted and the stand-in.
    pub(crate) fn or<T>(&mut self, result: std::result::Result<T, String>, stand_in: T) -> T {
        result.unwrap_or_else(|message| {
            self.add(message);
            stand_in
        })
    }
}
