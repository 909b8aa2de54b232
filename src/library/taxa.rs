//! Taxon names and their numbers, shared by alignments and trees so that neither imports the other.
//!
//! Names are never touched: any UTF-8 passes through verbatim. Quoting belongs to the Newick writer.

use std::collections::HashMap;

/// The ordered list of taxon names of one run. Number `i` is also tip node `i` of every global tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Taxa {
    names: Vec<String>,
    // Only ever looked up, never iterated: its order must not reach a result.
    by_name: HashMap<String, usize>,
}

impl Taxa {
    /// Builds the list; on a duplicate returns the two positions that share a name.
    pub fn new(names: Vec<String>) -> std::result::Result<Self, (usize, usize)> {
        let mut by_name = HashMap::with_capacity(names.len());
        for (i, name) in names.iter().enumerate() {
            if let Some(first) = by_name.insert(name.clone(), i) {
                return Err((first, i));
            }
        }
        Ok(Taxa { names, by_name })
    }

    /// The same taxa in the order of their names (as UTF-8 bytes).
    pub fn sorted(self) -> Self {
        let mut names = self.names;
        names.sort_unstable();
        Taxa::new(names).expect("the names differ")
    }

    /// Number of taxa.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// True if there is no taxon.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Name of taxon `i`.
    pub fn name(&self, i: usize) -> &str {
        &self.names[i]
    }

    /// All names in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Number of the taxon with this name.
    pub fn index(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }
}
