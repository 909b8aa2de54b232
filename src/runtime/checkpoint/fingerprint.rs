//! What determines the results of a run, for its checkpoint: inputs as they were read, and options. Threads,
//! instruction sets, messages and names of files do not.

use super::Identity;
use super::identity::TASK;
use crate::dataset::Loaded;
use crate::likelihood::select::gives_default_bits;
use crate::plan::{
    AnalysisOptions, AncestralOptions, BootstrapOptions, DataOptions, OutputOptions, Plan,
    RunOptions, SiteFrequencies, SupportOptions, TestOptions, TreeSource,
};
use std::fmt::Debug;
use xxhash_rust::xxh3::Xxh3;

/// The identity of a run on these data.
pub(crate) fn identify(plan: &Plan, loaded: &Loaded) -> Identity {
    let mut identity = begin(plan);
    add_data(&mut identity, plan, loaded);
    add_options(&mut identity, plan);
    identity
}

/// The identity of a run on many data, which are given by their names and the hashes of each.
pub(crate) fn identify_many<'a>(
    plan: &Plan,
    data: impl Iterator<Item = (&'a str, &'a str)>,
) -> Identity {
    let (mut identity, mut hash, mut number) = (begin(plan), Hash::new(), 0);
    for one in data {
        hash.add(&one);
        number += 1;
    }
    identity.add("data", format!("{number}, hash {}", hash.text()));
    add_options(&mut identity, plan);
    identity
}

/// A hash of all data and models that were read.
pub(crate) fn hash_of_data(plan: &Plan, loaded: &Loaded) -> String {
    let (mut identity, mut hash) = (Identity::default(), Hash::new());
    add_data(&mut identity, plan, loaded);
    hash.add(&identity.entries);
    hash.text()
}

fn begin(plan: &Plan) -> Identity {
    let mut identity = Identity { command: plan.resuming_command.clone(), ..Identity::default() };
    identity.add("version", env!("CARGO_PKG_VERSION"));
    identity.add(TASK, &plan.facts.task);
    identity
}

fn add_data(identity: &mut Identity, plan: &Plan, loaded: &Loaded) {
    let mut hash = Hash::new();
    (0..loaded.taxa.len()).for_each(|taxon| hash.add(loaded.taxa.name(taxon)));
    for partition in &loaded.partitions {
        let patterns = &partition.patterns;
        hash.add(&(&patterns.data_type, &patterns.tip_taxa, &patterns.code_masks));
        for codes in &patterns.codes {
            hash.bytes(bytemuck::cast_slice(codes));
        }
        hash.bytes(bytemuck::cast_slice(&patterns.weights));
        hash.bytes(bytemuck::cast_slice(&patterns.site_to_pattern));
        if let Some(freqs) = &patterns.freqs {
            hash.add(freqs);
        }
    }
    let (taxa, sites) = (loaded.taxa.len(), loaded.num_sites);
    identity.add("alignment", format!("{taxa} taxa, {sites} sites, hash {}", hash.text()));

    let mut hash = Hash::new();
    for partition in &loaded.partitions {
        hash.add(&partition.name);
        hash.bytes(bytemuck::cast_slice(&partition.sites));
    }
    hash.add(&loaded.presence);
    identity.add("partitions", format!("{}, hash {}", loaded.partitions.len(), hash.text()));

    let mut hash = Hash::new();
    let partitions = loaded.partitions.iter().zip(&loaded.candidates).zip(&loaded.brlen_scalers);
    for ((partition, candidates), scaler) in partitions {
        hash.add(&(&partition.model, candidates, scaler));
    }
    let first = loaded.partitions.iter().map(|partition| partition.model.label()).next();
    let first = if loaded.candidates.iter().any(Option::is_some) { None } else { first };
    identity.add("model", format!("{}, hash {}", first.as_deref().unwrap_or("auto"), hash.text()));

    if plan.search.trees.iter().any(|tree| matches!(tree, TreeSource::File(_))) {
        let mut hash = Hash::new();
        loaded.trees.iter().flatten().for_each(|given| hash.add(given));
        let number = loaded.trees.iter().map(Vec::len).sum::<usize>();
        identity.add("trees", format!("{number}, hash {}", hash.text()));
    }
    if let Some(guide) = &loaded.guide_tree {
        let mut hash = Hash::new();
        hash.add(guide);
        identity.add("--pmsf", format!("hash {}", hash.text()));
    }
    if let Some(constraint) = &loaded.constraint {
        let mut hash = Hash::new();
        hash.add(constraint);
        identity.add("--tree-constraint", format!("hash {}", hash.text()));
    }
    if let Some(trees) = &loaded.partition_trees {
        let mut hash = Hash::new();
        hash.add(trees);
        identity.add("--partition-trees", format!("hash {}", hash.text()));
    }
}

/// Every option is named here, so that a new one is not forgotten. Those of the data are in what was read.
fn add_options(identity: &mut Identity, plan: &Plan) {
    let Plan {
        facts,
        is_check: _,
        data,
        search,
        bootstrap,
        support,
        tests,
        ancestral,
        seed,
        run,
        output,
        command_line: _,
        resuming_command: _,
        processor_command: _,
        notes: _,
    } = plan;
    let DataOptions {
        msa: _,
        partitions: _,
        site_weights: _,
        model: _,
        data_type: _,
        protein_matrix: _,
        model_definitions: _,
        recode: _,
        multistate_equal: _,
        site_frequencies,
        auto_criterion,
        auto_mixtures,
        link_exchange_rates,
        gamma_median: _,
        brlen: _,
        restricted,
    } = data;
    identity.add("criterion of models", auto_criterion.unwrap_or_default().name());
    identity.add("--mixtures", auto_mixtures);
    identity.add("--link-exchange-rates", link_exchange_rates);
    if let SiteFrequencies::Guide { rounds, .. } = site_frequencies {
        identity.add("--pmsf-rounds", rounds);
    }
    identity.add("branch lengths", text(&plan.linkage()).to_lowercase());
    identity.add("restricted trees", restricted);

    let AnalysisOptions {
        trees,
        partition_trees: _,
        opt_model,
        opt_branches,
        whole_mixture,
        lh_epsilon,
        effort,
        spr_radius,
        spr_cutoff,
        keep_identical,
        constraint: _,
    } = search;
    identity.add("--tree", trees.iter().map(describe_source).collect::<Vec<_>>().join(","));
    identity.add("--opt-model", opt_model);
    identity.add("--opt-branches", opt_branches);
    identity.add("--whole-mixture", whole_mixture);
    identity.add("--lh-epsilon", or_default(lh_epsilon));
    identity.add("effort of the search", text(effort).to_lowercase());
    identity.add("--spr-radius", or_default(spr_radius));
    identity.add("--spr-cutoff", spr_cutoff.as_ref().map_or("default".into(), or_default));

    identity.add("--keep-identical", keep_identical);

    let BootstrapOptions { replicates: _, bootstop, sampling, seed: bootstrap_seed, with_brlens } =
        bootstrap;
    identity.add("--sampling", sampling.unit.name());
    identity.add("--jackknife", or_default(&sampling.jackknife));
    identity.add("bootstopping", bootstop.map_or("none".to_string(), |rule| text(&rule)));
    identity.add("seed", seed);
    identity.add("seed of the replicates", bootstrap_seed);
    identity.add("--bs-brlens", with_brlens);
    let SupportOptions { kinds, alrt_replicates } = support;
    let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
    identity.add("support", names.join(","));
    identity.add("--alrt", alrt_replicates);
    let TestOptions { kinds, replicates } = tests;
    let names: Vec<&str> = kinds.iter().map(|test| test.name()).collect();
    identity.add("--tests", names.join(","));
    identity.add("--rell", replicates);
    let AncestralOptions { states, changes } = ancestral;
    identity.add("--ancestral", states);
    identity.add("--mutmap", changes);
    let RunOptions {
        threads: _,
        memory: _,
        engine,
        gpus: _,
        score_precision,
        instruction_set: _,
        stop: _,
        ranks: _,
        ranks_per_job: _,
    } = run;
    // Engines that give the same bits can go on with each other's runs.
    identity.add("engine", or_default(&engine.filter(|name| !gives_default_bits(name))));
    identity.add("--gpu-precision", text(score_precision).to_lowercase());
    facts.identity.iter().for_each(|(name, value)| identity.add(name, value));
    let OutputOptions {
        prefix: _,
        redo: _,
        sitelh,
        site_rates,
        root: _,
        quiet: _,
        tree_format: _,
        page: _,
        names: _,
    } = output;
    identity.add("--sitelh", sitelh);
    identity.add("--site-rates", site_rates);
}

fn text(value: &impl Debug) -> String {
    format!("{value:?}")
}

fn or_default<T: ToString>(value: &Option<T>) -> String {
    value.as_ref().map_or("default".to_string(), ToString::to_string)
}

fn describe_source(source: &TreeSource) -> String {
    match source {
        TreeSource::Auto => "auto".to_string(),
        TreeSource::Parsimony(number) => format!("pars{{{number}}}"),
        TreeSource::Random(number) => format!("rand{{{number}}}"),
        TreeSource::Distances(kind) => kind.name().to_string(),
        TreeSource::File(path) => path.display().to_string(),
    }
}

/// A hash of data as they were read.
struct Hash(Xxh3);

impl Hash {
    fn new() -> Self {
        Hash(Xxh3::new())
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    /// A value with all its digits.
    fn add(&mut self, value: &(impl Debug + ?Sized)) {
        self.bytes(format!("{value:?}").as_bytes());
    }

    fn text(&self) -> String {
        format!("{:032x}", self.0.digest128())
    }
}
