//! [`Identity`]: what a checkpoint is of.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

/// The name of the entry that says what is computed.
pub(super) const TASK: &str = "task";

/// Everything that determines the results of a run, in words: names of inputs and options with their values.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    /// The command as typed, which need not be the same.
    pub command: String,
    /// Names and values, which must be the same.
    pub entries: Vec<(String, String)>,
}

impl Identity {
    /// Adds an entry.
    pub fn add(&mut self, name: &str, value: impl ToString) {
        self.entries.push((name.to_string(), value.to_string()));
    }

    /// A hash of all entries.
    pub fn hash(&self) -> u64 {
        xxh3_64(&postcard::to_stdvec(&self.entries).unwrap_or_default())
    }

    /// Where the other differs, as `name: 'this' in the checkpoint, 'that' now`; only what is computed, if that differs.
    pub fn differences(&self, now: &Identity) -> Vec<String> {
        const NONE: &str = "none";
        let value = |of: &Identity, name: &str| {
            let entry = of.entries.iter().find(|entry| entry.0 == name);
            entry.map_or(NONE.to_string(), |entry| entry.1.clone())
        };
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in self.entries.iter().chain(&now.entries) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        // Of another analysis, all is different.
        if value(self, TASK) != value(now, TASK) {
            names.retain(|name| *name == TASK);
        }
        let both = names.into_iter().map(|name| (name, value(self, name), value(now, name)));
        both.filter(|(_, then, now)| then != now)
            .map(|(name, then, now)| format!("{name}: {then} in the checkpoint, {now} now"))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_difference_is_named_with_both_values() {
        let (mut then, mut now) = (Identity::default(), Identity::default());
        then.add("seed", 1);
        now.add("seed", 1);
        assert!(then.differences(&now).is_empty());
        then.add("model", "GTR");
        now.add("model", "JC");
        now.add("replicates", 5);
        assert_eq!(
            then.differences(&now),
            ["model: GTR in the checkpoint, JC now", "replicates: none in the checkpoint, 5 now"]
        );
    }
}
