//! [`Opened`]: the data of an analysis with an evaluator of its tree, for programs that compute with the likelihood themselves.

use super::execute::check_input_files;
use crate::commands::Analysis;
use crate::dataset::load;
use crate::error::{Error, Result};
use crate::likelihood::{BrlenLinkage, Evaluator};
use crate::model::Model;
use crate::panics::caught;
use crate::partition::Partition;
use crate::runtime::Resources;
use crate::taxa::Taxa;

/// The data that an analysis of given trees reads, and the likelihood of the first of these trees.
pub struct Opened {
    /// The likelihood, under the models as they were read.
    pub evaluator: Evaluator,
    /// The partitions, in the order of their names.
    pub partitions: Vec<Partition>,
    /// The numbers of the partitions in the order of the partition file.
    pub file_order: Vec<usize>,
    /// The model of each partition.
    pub models: Vec<Model>,
    /// Names of the tips.
    pub taxa: Taxa,
    /// Number of columns of the alignment.
    pub num_sites: usize,
}

impl Opened {
    /// Reads the data of an `evaluate` with a file of trees.
    ///
    /// # Errors
    /// All faults of the input; what only a run can do, such as the selection of models.
    pub fn of(analysis: &Analysis) -> Result<Self> {
        caught(|| Self::read(analysis))
    }

    fn read(analysis: &Analysis) -> Result<Self> {
        let plan = &analysis.plan;
        check_input_files(plan)?;
        if plan.linkage() == BrlenLinkage::Unlinked {
            return Err(Error::Usage(
                "here, partitions share their branch lengths: expected --brlen linked or scaled, or one likelihood for each \
                 partition"
                    .into(),
            ));
        }
        let mut loaded = load(plan)?;
        if loaded.candidates.iter().any(Option::is_some) {
            return Err(Error::Usage(
                "the likelihood of a tree needs a model: name one, or that which select has found"
                    .into(),
            ));
        }
        let mut given = std::mem::take(&mut loaded.trees).into_iter().flatten();
        let Some(start) = given.next() else {
            return Err(Error::Usage("no tree: expected the text or the file of one".into()));
        };
        let (resources, _) = Resources::new(plan, &loaded.partitions)?;
        let models: Vec<Model> =
            loaded.partitions.iter().map(|partition| partition.model.clone()).collect();
        let partitions = loaded.partitions;
        let tree = start.tree;
        let mut evaluator = resources.evaluator(&partitions, &models, tree, plan.linkage())?;
        let scalers = loaded.brlen_scalers.iter().enumerate();
        for (partition, scaler) in scalers.filter_map(|(number, scaler)| Some((number, (*scaler)?)))
        {
            evaluator.set_brlen_scaler(partition, scaler);
        }
        let (file_order, taxa, num_sites) = (loaded.file_order, loaded.taxa, loaded.num_sites);
        Ok(Opened { evaluator, partitions, file_order, models, taxa, num_sites })
    }
}
