//! Exchange rates that several partitions have in common: one matrix is estimated from the data of all (GTR20 under a profile
//! mixture has 189 rates, more than most genes can tell).

use super::exchange::{Exchange, RateClasses};
use super::modes::ParamMode;
use super::parameters::Model;
use std::collections::BTreeMap;

impl Model {
    /// True if its exchange rates are those of other partitions, too, and estimated with them. They are not among the
    /// [`Model::free_parameters`].
    pub fn has_linked_rates(&self) -> bool {
        matches!(&self.exchange, Exchange::Classes(classes) if classes.mode == ParamMode::Linked)
    }

    /// A model with nothing but its linked exchange rates, which are its free parameters. `None` if it has no linked ones.
    pub(crate) fn linked_rates(&self) -> Option<Model> {
        let Exchange::Classes(classes) = &self.exchange else { return None };
        let mut classes = classes.clone();
        let is_linked =
            std::mem::replace(&mut classes.mode, ParamMode::Optimized) == ParamMode::Linked;
        is_linked.then(|| Model::new(self.name.clone(), self.data_type, Exchange::Classes(classes)))
    }

    /// Takes the exchange rates of a model of the same matrix, if its own are linked.
    pub(crate) fn take_linked_rates(&mut self, from: &Model) {
        if let (Exchange::Classes(own), Exchange::Classes(found)) =
            (&mut self.exchange, &from.exchange)
            && own.mode == ParamMode::Linked
        {
            own.rates.clone_from(&found.rates);
        }
    }

    /// Links the exchange rates of models of the same matrix that estimate them. Returns how many matrices are now shared.
    pub fn link_exchange_rates(models: &mut [&mut Model]) -> usize {
        let mut groups: BTreeMap<String, Vec<&mut RateClasses>> = BTreeMap::new();
        for model in models {
            if let Exchange::Classes(classes) = &mut model.exchange
                && classes.mode == ParamMode::Optimized
            {
                groups.entry(model.name.clone()).or_default().push(classes);
            }
        }
        groups.retain(|_, group| group.len() > 1);
        for classes in groups.values_mut().flatten() {
            classes.mode = ParamMode::Linked;
        }
        groups.len()
    }

    /// Number of the exchange rates that partitions with these models estimate together, each counted once.
    pub fn num_linked_rates(models: &[Model]) -> usize {
        let shared = |group: Vec<usize>| models[group[0]].linked_rates();
        let groups = Model::groups_of_linked_rates(models).into_iter();
        groups.filter_map(shared).map(|shared| shared.num_free_parameters()).sum()
    }

    /// The partitions that have the same linked exchange rates, for each matrix.
    pub(crate) fn groups_of_linked_rates(models: &[Model]) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (partition, _) in
            models.iter().enumerate().filter(|(_, model)| model.has_linked_rates())
        {
            let same = |group: &&mut Vec<usize>| models[group[0]].name == models[partition].name;
            match groups.iter_mut().find(same) {
                Some(group) => group.push(partition),
                None => groups.push(vec![partition]),
            }
        }
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_of_the_same_matrix_share_its_rates() {
        let texts = ["GTR+G4", "GTR+R2", "HKY", "PROTGTR+C10", "GTR{1/2/3/4/5/1}", "PROTGTR", "LG"];
        let mut models = texts.map(|text| Model::parse(text).unwrap());
        let num_before = models[0].free_parameters().len();
        assert_eq!(Model::link_exchange_rates(&mut models.each_mut()), 2);
        assert_eq!(Model::groups_of_linked_rates(&models), [vec![0, 1], vec![3, 5]]);
        assert_eq!(models[0].free_parameters().len(), num_before - 5);
        assert_eq!(Model::num_linked_rates(&models), 5 + 189);
        let mut shared = models[3].linked_rates().unwrap();
        assert_eq!(shared.free_parameters().len(), 189);
        let values: Vec<f64> = (0..189).map(|rate| 0.1 + f64::from(rate)).collect();
        shared.set_free_parameters(&values);
        models.iter_mut().for_each(|model| model.take_linked_rates(&shared));
        assert_eq!(models[5].exchange_rates()[..189], values[..]);
        assert_eq!(models[4].linked_rates(), None);
        // What is printed is read as given rates.
        let again = Model::parse(&models[5].to_string()).unwrap();
        assert_eq!(again.exchange_rates(), models[5].exchange_rates());
        assert!(!again.has_open_parameters());
        assert_eq!(models[5].label(), "PROTGTR+FC");
    }
}
