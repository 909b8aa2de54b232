//! [`Learnt`]: what a call of the minimisers of parameters leaves to the next one, and when a minimiser ends.

use crate::model::Model;

/// Maximum number of quasi-Newton (BFGS) steps per call; parameters and branch lengths are optimised in turn, so
/// convergence within one call is not necessary.
pub(super) const MAX_ITERATIONS: usize = 25;

/// The optimisation of a partition ends also after a step that gains less than this share of all that was gained by the
/// call: parameters and branch lengths are optimised in turn, and each need not be closer to its optimum than the
/// other one allows.
pub(super) const SHARE_OF_GAIN: f64 = 0.02;

/// Change of a parameter's coordinate after which the curvature is measured anew: that of the logarithm of a small
/// rate is proportional to the rate.
const FAR: f64 = 0.5;

/// What was learnt of the likelihood's curvature in the parameters of each partition.
#[derive(Debug, Clone, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Learnt {
    partitions: Vec<Option<Curvature>>,
    /// Of linked exchange rates, by the first partition that has them.
    linked: Vec<(usize, Curvature)>,
}

/// Curvature of the log-likelihood at the end of a call, with which the next one begins.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) struct Curvature {
    /// An approximate Hessian in canonical coordinates; the factor of lengths is the last one, if it is moved.
    hessian: Vec<f64>,
    /// Number of the parameters.
    num_parameters: usize,
    /// True if a parameter has changed by more than [`FAR`] in this call.
    pub(super) far: bool,
}

impl Learnt {
    /// What is known of a single partition.
    pub(super) fn of_one(curvature: Option<Curvature>) -> Self {
        Learnt { partitions: vec![curvature], linked: Vec::new() }
    }

    /// What was learnt of the first partition.
    pub(super) fn into_first(self) -> Option<Curvature> {
        self.partitions.into_iter().next().flatten()
    }

    pub(super) fn of(&self, partition: usize) -> Option<&Curvature> {
        self.partitions.get(partition)?.as_ref()
    }

    pub(super) fn keep(&mut self, partition: usize, curvature: Curvature) {
        if self.partitions.len() <= partition {
            self.partitions.resize(partition + 1, None);
        }
        self.partitions[partition] = Some(curvature);
    }

    /// What was learnt of the linked exchange rates of a partition and later ones.
    pub(super) fn of_linked(&self, first: usize) -> Option<&Curvature> {
        self.linked.iter().find(|(partition, _)| *partition == first).map(|(_, known)| known)
    }

    pub(super) fn keep_linked(&mut self, first: usize, curvature: Curvature) {
        self.linked.retain(|(partition, _)| *partition != first);
        self.linked.push((first, curvature));
    }

    /// True if it may have been learnt of partitions with these models.
    pub(super) fn fits(&self, models: &[Model]) -> bool {
        let of_model = |(curvature, model): (&Option<Curvature>, &Model)| match curvature {
            Some(curvature) => curvature.fits(model.free_parameters().len()),
            None => true,
        };
        let of_linked = |(first, curvature): &(usize, Curvature)| {
            let shared = models.get(*first).and_then(Model::linked_rates);
            shared.is_some_and(|shared| curvature.fits(shared.free_parameters().len()))
        };
        self.partitions.len() <= models.len()
            && self.partitions.iter().zip(models).all(of_model)
            && self.linked.iter().all(of_linked)
    }

    /// Forgets what was learnt of a partition.
    pub(super) fn forget(&mut self, partition: usize) {
        if let Some(curvature) = self.partitions.get_mut(partition) {
            *curvature = None;
        }
    }
}

impl Curvature {
    /// What is known of so many parameters, and of the factor of lengths after them if the Hessian has one row more.
    pub(super) fn near(hessian: Vec<f64>, num_parameters: usize) -> Self {
        Curvature { hessian, num_parameters, far: false }
    }

    /// The same, after a call that led from one place to another.
    pub(super) fn between(
        hessian: Vec<f64>,
        num_parameters: usize,
        start: &[f64],
        end: &[f64],
    ) -> Self {
        let far = end.iter().zip(start).any(|(a, b)| (a - b).abs() > FAR);
        Curvature { hessian, num_parameters, far }
    }

    /// The Hessian in canonical coordinates.
    pub(super) fn into_hessian(self) -> Vec<f64> {
        self.hessian
    }

    fn fits(&self, num_parameters: usize) -> bool {
        let sizes = [num_parameters, num_parameters + 1].map(|dims| dims * dims);
        self.num_parameters == num_parameters
            && sizes.contains(&self.hessian.len())
            && self.hessian.iter().all(|h| h.is_finite())
    }

    /// The Hessian in the parameters after the first `num_held`, with or without the factor of lengths.
    pub(super) fn hessian(&self, num_held: usize, with_factor: bool) -> Option<Vec<f64>> {
        let dims = if self.hessian.len() == self.num_parameters.pow(2) {
            self.num_parameters
        } else {
            self.num_parameters + 1
        };
        let end = self.num_parameters + usize::from(with_factor);
        let row = |i: usize| self.hessian[i * dims + num_held..i * dims + end].iter().copied();
        (end <= dims).then(|| (num_held..end).flat_map(row).collect())
    }
}
