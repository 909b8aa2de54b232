//! Free model parameters of all partitions, optimised simultaneously: each partition has its own minimiser, and
//! each step is one likelihood call for all partitions.

use super::class_weights::optimize_class_weights;
use super::coordinates::Coordinates;
use super::exchange_slopes::{ExchangeSlopes, num_with_slopes};
use super::learnt::{Curvature, Learnt, MAX_ITERATIONS, SHARE_OF_GAIN};
use super::linked_rates::optimize_linked_rates;
use crate::likelihood::{Evaluator, Result};
use crate::model::{FreeParameter, Model};
use crate::numeric::Bfgs;

/// A parameter that an optimiser left at its bound.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ParameterAtBound {
    /// The partition (partition number).
    pub partition: usize,
    /// Name of the parameter, as shown to users.
    pub parameter: String,
    /// Its value.
    pub value: f64,
}

/// A known optimum is recognised where the Hessian there predicts a log-likelihood that is lower by at most so much
/// (log units), and the difference from that of the optimum is the predicted one, with the relative error
/// [`AS_PREDICTED`]. A single parameter is on the same peak at any distance if the difference is about the predicted one:
/// from a large alpha, it is half of that.
const NEAR: f64 = 30.0;
const AS_PREDICTED: f64 = 0.3;
const AS_PREDICTED_OF_ONE: f64 = 0.6;

/// A factor may move lengths out of their bounds, at which they are cut in the end. A partition that has lost more than this by
/// it (log units) is optimised again without the factor.
const CUT: f64 = 1e-5;

/// Bounds of a partition's branch-length scaler. That of a partition of constant sites goes to the lower one, and what it still
/// loses there must be less than an epsilon: otherwise all other scalers and lengths creep up and down against it,
/// because scalers are divided by their mean after each round (2000 partitions of one site: with RAxML-NG's bound of 0.01, 100
/// rounds that gain 0.03 log units each).
const SCALER_BOUNDS: [f64; 2] = [1e-4, 100.0];

/// The free parameters of all partitions that have any.
pub(super) struct Parameters<'a> {
    evaluator: &'a mut Evaluator,
    models: &'a mut [Model],
    partitions: Vec<usize>,
    with_lengths: bool,
    with_scaler: bool,
    rates_only: bool,
    elsewhere: bool,
    known: Option<&'a Known<'a>>,
}

/// Optima that are known.
pub(super) struct Known<'a> {
    /// The models there.
    pub models: &'a [Model],
    /// Log-likelihood of each partition there.
    pub lnls: Vec<f64>,
}

impl<'a> Parameters<'a> {
    /// The parameters of all partitions with at least two taxa. Other partitions contain no information on rates,
    /// and their parameters are not changed.
    pub(super) fn new(evaluator: &'a mut Evaluator, models: &'a mut [Model]) -> Self {
        let partitions = (0..models.len())
            .filter(|&partition| {
                evaluator.num_taxa_of(partition) >= 2 && models[partition].has_open_parameters()
            })
            .collect();
        Parameters {
            evaluator,
            models,
            partitions,
            with_lengths: false,
            with_scaler: false,
            rates_only: false,
            elsewhere: false,
            known: None,
        }
    }

    /// Optimises a factor of all branch lengths together with the parameters, for partitions with free rates over
    /// sites that do not share their lengths with other partitions. The two are strongly correlated: optimised in
    /// turn, they need tens of rounds (LG4X on 140 proteins: 32, each gaining a third of the remaining
    /// difference). Without this, no lengths change.
    pub(super) fn with_lengths(mut self) -> Self {
        self.with_lengths = true;
        self
    }

    /// Optimises the scaler of each partition's branch lengths together with its parameters, also of models that have none.
    pub(super) fn with_scaler(mut self) -> Self {
        let all = 0..self.models.len();
        self.partitions = all.filter(|&number| self.evaluator.num_taxa_of(number) >= 2).collect();
        self.with_scaler = true;
        self
    }

    /// Restricts the optimisation to the rates over sites of the given partitions.
    pub(super) fn of_rates_only(mut self, partitions: &[usize]) -> Self {
        self.partitions.retain(|partition| partitions.contains(partition));
        self.rates_only = true;
        self
    }

    /// Restricts the optimisation to the given partitions, whose parameters are far from where the curvature of the likelihood
    /// was learnt, so that it says nothing here.
    pub(super) fn begun_elsewhere(mut self, partitions: &[usize]) -> Self {
        self.partitions.retain(|partition| partitions.contains(partition));
        self.elsewhere = true;
        self
    }

    /// Ends the optimisation of a partition as soon as it has come close to this optimum.
    pub(super) fn until(mut self, known: &'a Known<'a>) -> Self {
        self.known = Some(known);
        self
    }

    /// Number of a partition's free parameters that are held constant; these are the first ones.
    fn num_held(&self, partition: usize) -> usize {
        let model = &self.models[partition];
        match self.rates_only {
            true => model.free_parameters().len() - model.num_parameters_of_rates(),
            false => 0,
        }
    }

    fn moves_lengths(&self, partition: usize) -> bool {
        let linkage = self.evaluator.linkage();
        let own = linkage.has_own_lengths() || linkage.has_scalers() || self.models.len() == 1;
        let is_correlated = self.models[partition].has_free_rates_over_sites();
        self.with_scaler || self.with_lengths && own && is_correlated
    }

    /// Optimises until the last step of each partition gained less than a share of `lnl_epsilon` (log units), or a
    /// small share of all that it gained in this call. Returns the log-likelihood of the tree, which is not lower
    /// than before.
    ///
    /// # Errors
    /// The engine has failed.
    pub(super) fn optimize(mut self, lnl_epsilon: f64, learnt: &mut Learnt) -> Result<f64> {
        let share = share_of(lnl_epsilon, self.partitions.len());
        // On the way to a known optimum, weights and linked rates have their values there: others may change branch lengths, which the caller
        // does not restore.
        if !self.rates_only && self.known.is_none() {
            let may_change = self.with_lengths || self.with_scaler;
            let partitions = &self.partitions;
            optimize_class_weights(self.evaluator, self.models, partitions, share, may_change)?;
            optimize_linked_rates(self.evaluator, self.models, share, learnt)?;
        }
        let (models, with_scaler) = (&self.models, self.with_scaler);
        self.partitions
            .retain(|&partition| with_scaler || !models[partition].free_parameters().is_empty());
        let before = self.before_moves()?;
        self.climb(share, learnt)?;
        // Where lengths were cut, other parameters may lead to a higher likelihood than before.
        let after = self.evaluator.log_likelihoods_of(&before.partitions)?;
        let is_lower = |i: &usize| before.lnls[*i] - after[*i] > CUT;
        self.partitions =
            (0..before.partitions.len()).filter(is_lower).map(|i| before.partitions[i]).collect();
        if !self.partitions.is_empty() {
            self.with_lengths = false;
            self.climb(share, learnt)?;
            self.partitions = self.undo_losses(&before)?;
            self.climb(share, learnt)?;
        }
        self.evaluator.log_likelihood()
    }

    /// The partitions whose own lengths will be moved, as they are.
    fn before_moves(&mut self) -> Result<BeforeMoves> {
        let mut partitions = self.partitions.clone();
        partitions.retain(|&partition| {
            self.moves_lengths(partition) && !self.evaluator.linkage().has_scalers()
        });
        let models = partitions.iter().map(|&partition| self.models[partition].clone()).collect();
        let lengths = if partitions.is_empty() { Vec::new() } else { self.evaluator.brlen_sets() };
        Ok(BeforeMoves {
            lnls: self.evaluator.log_likelihoods_of(&partitions)?,
            partitions,
            models,
            lengths,
        })
    }

    /// Restores the partitions that have lost more than [`CUT`], and returns them.
    fn undo_losses(&mut self, before: &BeforeMoves) -> Result<Vec<usize>> {
        let after = self.evaluator.log_likelihoods_of(&before.partitions)?;
        let mut lost = Vec::new();
        let mut lengths = None;
        for (i, &partition) in before.partitions.iter().enumerate() {
            if before.lnls[i] - after[i] <= CUT {
                continue;
            }
            let sets = lengths.get_or_insert_with(|| self.evaluator.brlen_sets());
            let set = if sets.len() == 1 { 0 } else { partition };
            sets[set].clone_from(&before.lengths[set]);
            self.models[partition].clone_from(&before.models[i]);
            self.evaluator.set_model(partition, &before.models[i]);
            lost.push(partition);
        }
        if let Some(sets) = lengths {
            self.evaluator.set_brlen_sets(&sets);
        }
        Ok(lost)
    }

    /// Optimises each partition.
    fn climb(&mut self, share: f64, learnt: &mut Learnt) -> Result<()> {
        let mut climbs = Vec::new();
        for partition in self.partitions.clone() {
            climbs.push(self.begin(partition, share, learnt));
        }
        let mut lnls = self.evaluator.log_likelihoods_of(&self.partitions)?;
        let mut asked: Vec<usize> = (0..climbs.len()).collect();
        while !asked.is_empty() {
            for (&i, lnl) in asked.iter().zip(lnls) {
                climbs[i].minimiser.tell(-lnl);
                climbs[i].recognise();
            }
            self.tell_slopes(&mut climbs, &asked)?;
            asked.retain(|&i| climbs[i].minimiser.ask().is_some());
            for &i in &asked {
                self.set_asked(&mut climbs[i]);
            }
            let partitions: Vec<usize> = asked.iter().map(|&i| climbs[i].partition).collect();
            lnls = self.evaluator.log_likelihoods_of(&partitions)?;
        }
        for mut climb in climbs {
            self.end(&mut climb, learnt);
        }
        Ok(())
    }

    /// Tells slopes to those minimisers that want them.
    fn tell_slopes(&mut self, climbs: &mut [Climb], asked: &[usize]) -> Result<()> {
        let wanting = asked.iter().copied().filter(|&i| climbs[i].minimiser.wants_slopes());
        let wanting: Vec<usize> = wanting.collect();
        if wanting.is_empty() {
            return Ok(());
        }
        for &i in &wanting {
            self.set_asked(&mut climbs[i]);
        }
        let partitions: Vec<usize> = wanting.iter().map(|&i| climbs[i].partition).collect();
        for (i, found) in wanting.into_iter().zip(ExchangeSlopes::of(self.evaluator, &partitions)?)
        {
            let (slopes, hessian) = found.in_coordinates(&climbs[i].coordinates);
            climbs[i].minimiser.tell_slopes(slopes, hessian);
        }
        Ok(())
    }

    fn begin(&mut self, partition: usize, share: f64, learnt: &Learnt) -> Climb {
        let model = &self.models[partition];
        let factor = self.moves_lengths(partition).then(|| self.evaluator.brlen_scaler(partition));
        let coordinates = Coordinates::of(model, self.num_held(partition), factor);
        let (x, lo, hi) = coordinates.begin();
        let mut minimiser = Bfgs::new(x.clone(), lo, hi, share, MAX_ITERATIONS);
        // On the way from elsewhere to a known optimum, or to a better one, any step may gain little. So it may between
        // the optima of free rates, which are close to each other.
        if self.known.is_none() && !model.estimates_free_rates() {
            minimiser = minimiser.with_share_of_gain(SHARE_OF_GAIN);
        }
        if self.num_held(partition) == 0 {
            let count = num_with_slopes(self.evaluator, partition, model);
            minimiser = minimiser.with_slopes_of(0..count);
        }
        let curvature = learnt.of(partition);
        let hessian = curvature.and_then(|c| c.hessian(self.num_held(partition), factor.is_some()));
        let hessian = hessian.map(|hessian| coordinates.turn_hessian(&hessian));
        if let (Some(hessian), false) = (&hessian, self.rates_only || self.elsewhere) {
            let far = curvature.is_some_and(|curvature| curvature.far);
            minimiser = minimiser.with_hessian(hessian.clone(), far && self.known.is_none());
        }
        let known = self.known.zip(hessian).map(|(known, hessian)| {
            let (place, value) =
                (coordinates.place_of(&known.models[partition]), -known.lnls[partition]);
            Optimum { place, value, hessian }
        });
        let start = model.clone();
        let mut climb = Climb { partition, coordinates, minimiser, start, last: x, known };
        let first = climb.minimiser.ask().expect("nothing was told yet");
        if first != climb.last {
            climb.last = first.to_vec();
            self.set(&climb);
        }
        climb
    }

    fn end(&mut self, climb: &mut Climb, learnt: &mut Learnt) {
        let partition = climb.partition;
        let best = climb.minimiser.best().0;
        let start = climb.coordinates.begin().0;
        let hessian = climb.minimiser.hessian();
        if hessian.iter().any(|&h| h != 0.0) && !self.rates_only {
            let hessian = climb.coordinates.turn_hessian(hessian);
            let num_parameters = start.len() - usize::from(climb.coordinates.factor().is_some());
            let curvature = Curvature::between(hessian, num_parameters, &start, best);
            learnt.keep(partition, curvature);
        }
        if best == start {
            // The parameters themselves, without the rounding of their logarithms.
            if climb.last != best {
                if let Some(factor) = climb.coordinates.factor() {
                    self.evaluator.set_brlen_scaler(partition, factor);
                }
                self.models[partition].clone_from(&climb.start);
                self.evaluator.set_model(partition, &self.models[partition]);
            }
        } else {
            if climb.last != best {
                climb.last = best.to_vec();
                self.set(climb);
            }
            if climb.coordinates.factor().is_some() && !self.evaluator.linkage().has_scalers() {
                self.evaluator.absorb_brlen_scaler(partition);
            }
        }
    }

    /// Sets what is asked.
    fn set_asked(&mut self, climb: &mut Climb) {
        let asked = climb.minimiser.ask().expect("it goes on");
        if asked != climb.last {
            climb.last = asked.to_vec();
            self.set(climb);
        }
    }

    /// Sets what was asked last.
    fn set(&mut self, climb: &Climb) {
        let (values, factor) = climb.coordinates.values(&climb.last);
        if let Some(factor) = factor {
            self.evaluator.set_brlen_scaler(climb.partition, factor);
        }
        let model = &mut self.models[climb.partition];
        model.set_free_parameters(&values);
        self.evaluator.set_model(climb.partition, model);
    }
}

/// The gain (log units) of a step that ends the optimisation of one of so many partitions.
fn share_of(lnl_epsilon: f64, num_partitions: usize) -> f64 {
    (0.1 * lnl_epsilon / num_partitions.max(1) as f64).max(1e-7)
}

/// Partitions before their lengths are moved, with all sets of lengths.
struct BeforeMoves {
    partitions: Vec<usize>,
    models: Vec<Model>,
    lnls: Vec<f64>,
    lengths: Vec<Vec<f64>>,
}

/// A partition on its way to an optimum.
struct Climb {
    partition: usize,
    coordinates: Coordinates,
    minimiser: Bfgs,
    /// The partition's model at the start.
    start: Model,
    /// The coordinates that the evaluator has.
    last: Vec<f64>,
    known: Option<Optimum>,
}

/// An optimum that is known.
struct Optimum {
    place: Vec<f64>,
    value: f64,
    hessian: Vec<f64>,
}

impl Climb {
    /// Ends the minimisation where the likelihood differs from that of the known optimum as the Hessian there
    /// predicts, and by little.
    fn recognise(&mut self) {
        let Some(Optimum { place, value, hessian }) = &self.known else {
            return;
        };
        let (x, f) = self.minimiser.iterate();
        let dims = x.len();
        let mut predicted = 0.0;
        for i in 0..dims {
            for j in 0..dims {
                predicted += 0.5 * hessian[i * dims + j] * (x[i] - place[i]) * (x[j] - place[j]);
            }
        }
        let (near, most) = match dims {
            1 => (f64::INFINITY, AS_PREDICTED_OF_ONE),
            _ => (NEAR, AS_PREDICTED),
        };
        if predicted < near && ((f - value) / predicted - 1.0).abs() < most {
            self.minimiser.stop();
        }
    }
}

/// Under scaled branch lengths: optimises the scalers of all partitions with at least two taxa until the last step of each
/// gained less than a share of `lnl_epsilon` (log units), then divides them by their mean, weighted by numbers of sites,
/// and multiplies all branch lengths by this mean. Returns the log-likelihood.
///
/// # Errors
/// The engine has failed.
pub(super) fn optimize_brlen_scalers(evaluator: &mut Evaluator, lnl_epsilon: f64) -> Result<f64> {
    let partitions: Vec<usize> = (0..evaluator.num_partitions())
        .filter(|&partition| evaluator.num_taxa_of(partition) >= 2)
        .collect();
    let scalers: Vec<f64> =
        partitions.iter().map(|&partition| evaluator.brlen_scaler(partition)).collect();
    let share = share_of(lnl_epsilon, partitions.len());
    let begin = |scaler: &f64| {
        let start = libm::log(*scaler);
        // The division by the mean may have moved a scaler out of the bounds, which are then extended, so that
        // the likelihood cannot decrease.
        let [lo, hi] = SCALER_BOUNDS.map(libm::log);
        Bfgs::new(vec![start], vec![lo.min(start)], vec![hi.max(start)], share, MAX_ITERATIONS)
    };
    let mut minimisers: Vec<Bfgs> = scalers.iter().map(begin).collect();
    loop {
        let mut asked = Vec::new();
        for (i, minimiser) in minimisers.iter().enumerate() {
            if let Some(x) = minimiser.ask() {
                evaluator.set_brlen_scaler(partitions[i], libm::exp(x[0]));
                asked.push(i);
            }
        }
        if asked.is_empty() {
            break;
        }
        let wanted: Vec<usize> = asked.iter().map(|&i| partitions[i]).collect();
        let lnls = evaluator.log_likelihoods_of(&wanted)?;
        for (&i, lnl) in asked.iter().zip(lnls) {
            minimisers[i].tell(-lnl);
        }
    }
    for ((&partition, minimiser), start) in partitions.iter().zip(&minimisers).zip(scalers) {
        let best = minimiser.best().0[0];
        // The scaler itself, without the rounding of its logarithm.
        let scaler = if best == libm::log(start) { start } else { libm::exp(best) };
        evaluator.set_brlen_scaler(partition, scaler);
    }
    normalise_scalers(evaluator, &partitions)
}

/// Divides scalers by their mean, unless the lengths that are multiplied by it are cut at their bounds and the likelihood
/// decreases thereby. Returns the log-likelihood.
fn normalise_scalers(evaluator: &mut Evaluator, partitions: &[usize]) -> Result<f64> {
    let before = evaluator.log_likelihood()?;
    let scalers: Vec<f64> =
        partitions.iter().map(|&partition| evaluator.brlen_scaler(partition)).collect();
    let lengths = evaluator.brlen_sets();
    let weighted =
        |partition: &usize| evaluator.num_sites_of(*partition) * evaluator.brlen_scaler(*partition);
    let sum: f64 = partitions.iter().map(weighted).sum();
    let sites: f64 = partitions.iter().map(|&partition| evaluator.num_sites_of(partition)).sum();
    if sites > 0.0 && sum > 0.0 {
        let mean = sum / sites;
        for &partition in partitions {
            let scaler = evaluator.brlen_scaler(partition) / mean;
            evaluator.set_brlen_scaler(partition, scaler);
        }
        evaluator.scale_brlens(mean);
    }
    let after = evaluator.log_likelihood()?;
    if before - after <= CUT {
        return Ok(after);
    }
    for (&partition, scaler) in partitions.iter().zip(scalers) {
        evaluator.set_brlen_scaler(partition, scaler);
    }
    evaluator.set_brlen_sets(&lengths);
    evaluator.log_likelihood()
}

/// All optimised parameters with values at their bounds, of which users are warned.
pub fn parameters_at_bounds(evaluator: &Evaluator, models: &[Model]) -> Vec<ParameterAtBound> {
    let mut found = Vec::new();
    let groups = Model::groups_of_linked_rates(models);
    for (partition, model) in models.iter().enumerate() {
        if evaluator.num_taxa_of(partition) < 2 {
            continue;
        }
        // Linked rates are listed once.
        let is_first = groups.iter().any(|group| group[0] == partition);
        let linked = model.linked_rates().filter(|_| is_first);
        let linked = linked.map(|rates| rates.free_parameters()).unwrap_or_default();
        for FreeParameter { name, value, lo, hi, .. } in
            linked.into_iter().chain(model.free_parameters())
        {
            if value <= lo * 1.001 || value >= hi * 0.999 {
                found.push(ParameterAtBound { partition, parameter: name, value });
            }
        }
    }
    found
}
