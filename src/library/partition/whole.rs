//! The whole alignment as one partition.

use super::build::build_patterns;
use super::definition::whole_alignment;
use super::freqs::count_freqs;
use super::resolved::Partition;
use crate::alignment::Alignment;
use crate::error::{Error, Result};
use crate::model::Model;

impl Partition {
    /// All columns of an alignment under one model; state frequencies are counted if the model requires it.
    ///
    /// # Errors
    /// A faulty model string, or characters that the model's data type does not have.
    pub fn whole(alignment: &Alignment, model: &str) -> Result<Self> {
        let definition = whole_alignment(alignment.num_sites(), model).swap_remove(0);
        let mut model = Model::parse(model).map_err(Error::Usage)?;
        let patterns =
            build_patterns(alignment, &definition, model.data_type).map_err(Error::Input)?;
        count_freqs(&mut model, &patterns);
        let (name, sites) = (definition.name, definition.sites);
        Ok(Partition { name, model, patterns, sites })
    }
}
