//! [`Sequences`]: what a matrix of distances is of, all partitions or one, and what it takes.

use super::arrangement::{Arrangement, Sizes};
use super::order::RowOrder;
use super::plan::MatrixPlan;
use crate::dataset::Identical;
use crate::distance::{DistanceMethod, PairDistances};
use crate::error::{Error, Result};
use crate::parallel::{available_memory, used_memory};
use crate::partition::Partition;
use crate::runtime::{Setup, allowed_threads, format_bytes};
use crate::steps::distance_memory::DistanceStorage;
use crate::steps::distance_trees::{check_disk, check_size, folder_of};
use std::borrow::Cow;

/// The taxa of a matrix and their sequences.
pub(crate) struct Sequences<'a> {
    /// Names of the taxa, sorted.
    pub names: Cow<'a, [String]>,
    /// Which of them have the same sequence, if some have.
    pub identical: Option<Cow<'a, Identical>>,
    /// The rows of the matrix.
    pub rows: RowOrder,
    /// The partitions, of each sequence once.
    partitions: Cow<'a, [Partition]>,
    /// The number of the file and of the partition, where each partition has a matrix.
    pub partition: Option<[usize; 2]>,
    /// Where the sequences are, in warnings: nothing, or a text that begins with a space.
    pub place: String,
}

impl<'a> Sequences<'a> {
    /// Those of all partitions.
    pub(crate) fn whole(setup: &'a Setup) -> Self {
        let identical = setup.identical.as_ref();
        Sequences {
            names: Cow::Borrowed(setup.loaded.taxa.names()),
            identical: identical.map(Cow::Borrowed),
            rows: RowOrder::new(setup.loaded.row_order.clone(), identical),
            partitions: setup.reduced(&setup.loaded.partitions),
            partition: None,
            place: String::new(),
        }
    }

    /// Those of a partition, with the number of its file: of the taxa that have data in it.
    pub(crate) fn of_partition(setup: &'a Setup, number: usize, index: usize) -> Self {
        let loaded = &setup.loaded;
        let partition = &loaded.partitions[index];
        let taxa = &loaded.presence[index];
        let own = Partition {
            name: partition.name.clone(),
            model: partition.model.clone(),
            patterns: partition.patterns.of_taxa(|taxon| taxa.binary_search(&taxon).ok()),
            sites: Vec::new(),
        };
        let is_wanted = !setup.plan.search.keep_identical;
        let identical = Identical::of_tips(&own.patterns).filter(|_| is_wanted);
        let rows = loaded.row_order.iter().filter_map(|taxon| taxa.binary_search(taxon).ok());
        let rows = RowOrder::new(rows.collect(), identical.as_ref());
        let mut partitions = vec![own];
        if let Some(identical) = &identical {
            partitions = identical.reduce(&partitions);
        }
        Sequences {
            names: taxa.iter().map(|&taxon| loaded.taxa.name(taxon).to_string()).collect(),
            identical: identical.map(Cow::Owned),
            rows,
            partitions: Cow::Owned(partitions),
            partition: Some([number, index]),
            place: format!(" in partition '{}'", partition.name),
        }
    }

    /// Those of each matrix that is asked for.
    pub(crate) fn all(options: &MatrixPlan, setup: &'a Setup) -> impl Iterator<Item = Self> {
        let partitions = if options.apart { &setup.loaded.file_order[..] } else { &[] };
        let whole = (!options.apart).then(|| Self::whole(setup));
        let number =
            |(place, &partition): (usize, &usize)| Self::of_partition(setup, place + 1, partition);
        whole.into_iter().chain(partitions.iter().enumerate().map(number))
    }

    /// The names of the taxa in the order of the rows.
    pub(crate) fn row_names(&self) -> Vec<String> {
        self.rows.taxa.iter().map(|&taxon| self.names[taxon].clone()).collect()
    }

    /// Number of different sequences.
    pub(crate) fn count(&self) -> usize {
        self.identical.as_ref().map_or(self.names.len(), |identical| identical.num_kept())
    }

    /// Some of them, as evenly spread over all as can be, with the models of the method.
    pub(crate) fn sample(&self, most: usize) -> (usize, Vec<Partition>) {
        let (count, most) = (self.count(), self.count().min(most));
        let number = |taxon: usize| {
            let at = (taxon * most).div_ceil(count);
            (at < most && at * count / most == taxon).then_some(at)
        };
        let sample = |partition: &Partition| Partition {
            name: partition.name.clone(),
            model: partition.model.clone(),
            patterns: partition.patterns.of_taxa(number),
            sites: Vec::new(),
        };
        (most, self.partitions.iter().map(sample).collect())
    }

    /// What decides about the memory, before the sequences are prepared; `used` are the bytes that the run has.
    pub(crate) fn sizes(&self, setup: &Setup, used: u64) -> Sizes {
        let groups = self.identical.as_ref().map_or(&[][..], |identical| identical.groups());
        Sizes {
            taxa: self.names.len(),
            sequences: self.count(),
            shared: groups.iter().filter(|group| group.len() > 1).count(),
            beside: used
                + PairDistances::bytes_of(
                    self.count(),
                    &self.partitions,
                    allowed_threads(setup.plan),
                ),
        }
    }

    /// How the matrix is computed within the memory that is allowed and free; `used` are the bytes that the run had when it was asked
    /// first: what it has freed since is used again.
    ///
    /// # Errors
    /// [`Error::Usage`] if the user allows too little, or if the trees cannot be made of so many taxa or their temporary
    /// file has no room; [`Error::Failed`] if too little memory is free.
    pub(crate) fn arrange(
        &self,
        options: &MatrixPlan,
        setup: &Setup,
        used: u64,
    ) -> Result<Arrangement> {
        check_size(&options.trees, self.count())?;
        let allowed = setup.plan.run.memory.unwrap_or(u64::MAX);
        let free = match (available_memory(), used_memory()) {
            (Some(free), Some(used)) => free.saturating_add(used),
            _ => u64::MAX,
        };
        let found = Arrangement::within(allowed.min(free), options, self.sizes(setup, used));
        let arrangement = found.map_err(|least| {
            let (least, place) = (format_bytes(least), &self.place);
            match allowed <= free {
                true => Error::Usage(format!(
                    "--mem: {} are not enough for these distances{place}, which need {least} at least; nothing was computed",
                    format_bytes(allowed)
                )),
                false => Error::Failed(format!(
                    "these distances{place} need {least} of memory at least, but only {} are free; nothing was computed",
                    format_bytes(free)
                )),
            }
        })?;
        if let Some(DistanceStorage::File { .. }) = arrangement.storage {
            check_disk(&options.trees, self.count(), &folder_of(setup.plan))?;
        }
        Ok(arrangement)
    }

    /// Prepares the sequences, in the order of their first rows; what is no longer needed for it is given back.
    pub(crate) fn prepare(&mut self, method: &DistanceMethod, setup: &Setup) -> PairDistances {
        let partitions = std::mem::take(&mut self.partitions);
        let sequences = self.rows.sequences.clone();
        PairDistances::in_order(sequences, &partitions, method, setup.plan.run.instruction_set)
    }
}
