//! What each publication of `works.bib` is cited for, and how the results tell that a run used it. Where they do not tell it, the
//! options of the command do.

use super::record::Field;
use crate::model::Model;
use serde_json::Value;
use std::borrow::Cow;

/// A publication.
pub(super) struct Work {
    /// Its key in BibTeX.
    pub(super) key: &'static str,
    /// What it is cited for.
    pub(super) purpose: &'static str,
    /// True if the run used it.
    pub(super) is_used: fn(&Value) -> bool,
}

const fn work(key: &'static str, purpose: &'static str, is_used: fn(&Value) -> bool) -> Work {
    Work { key, purpose, is_used }
}

/// All publications, in the order of citations.
pub(super) const WORKS: &[Work] = &[
    work("Felsenstein1981", "likelihood of a tree", |result| {
        has_likelihood(result) || has_matrix(result, &["F81"])
    }),
    work("Stamatakis2008", "likelihoods of alignments with missing data", has_likelihood),
    work("Kobert2017", "site repeats", has_likelihood),
    work("Stamatakis2005", "the search by subtree rearrangement", searches),
    work("Stamatakis2014", "the search by subtree rearrangement", searches),
    work("Fitch1971", "parsimony of starting trees", has_parsimony),
    work("Jukes1969", "the model JC", |result| has_matrix(result, &["JC"])),
    work("Kimura1980", "the model K80", |result| has_matrix(result, &["K80"])),
    work("Kimura1981", "the model K81", |result| has_matrix(result, &["K81"])),
    work("Hasegawa1985", "the model HKY", |result| has_matrix(result, &["HKY"])),
    work("Tamura1993", "the model TN93", |result| has_matrix(result, &["TN93"])),
    work("Zharkikh1994", "the model SYM", |result| has_matrix(result, &["SYM"])),
    work("Tavare1986", "the model GTR", |result| has_matrix(result, &["GTR"])),
    work("Yang1994", "gamma-distributed rates over sites", |result| {
        let is_gamma = |rest: &str| !rest.starts_with('C');
        has_part(result, |part| part.strip_prefix('G').is_some_and(is_gamma))
    }),
    work("Yang1995a", "free rates over sites, rates of sites", |result| {
        has_free_rates(result) || result.at("site_rates").is_some()
    }),
    work("Soubrier2012", "free rates over sites", has_free_rates),
    work("Dayhoff1978", "amino-acid exchanges of Dayhoff", |result| {
        has_matrix(result, &["DAYHOFF", "DCMUT"]) || recodes(result, &["dayhoff6"])
    }),
    work("Jones1992", "the matrix JTT", |result| has_matrix(result, &["JTT", "JTT-DCMUT"])),
    work("Kosiol2005", "the matrices DCMUT and JTT-DCMUT", |result| {
        has_matrix(result, &["DCMUT", "JTT-DCMUT"])
    }),
    work("Whelan2001", "the matrix WAG", |result| has_matrix(result, &["WAG"])),
    work("Le2008", "the matrix LG", |result| has_matrix(result, &["LG"])),
    work("Muller2000", "the matrix VT", |result| has_matrix(result, &["VT"])),
    work("Henikoff1992", "the matrix BLOSUM62", |result| has_matrix(result, &["BLOSUM62"])),
    work("Veerassamy2003", "the matrix PMB", |result| has_matrix(result, &["PMB"])),
    work("Adachi1996", "the matrix MTREV", |result| has_matrix(result, &["MTREV"])),
    work("Yang1998", "the matrix MTMAM", |result| has_matrix(result, &["MTMAM"])),
    work("Abascal2007", "the matrix MTART", |result| has_matrix(result, &["MTART"])),
    work("RotaStabelli2009", "the matrix MTZOA", |result| has_matrix(result, &["MTZOA"])),
    work("Le2017", "the matrices MTMET, MTVER and MTINV", |result| {
        has_matrix(result, &["MTMET", "MTVER", "MTINV"])
    }),
    work("Adachi2000", "the matrix CPREV", |result| has_matrix(result, &["CPREV"])),
    work("Dimmic2002", "the matrix RTREV", |result| has_matrix(result, &["RTREV"])),
    work("Nickle2007", "the matrices HIVB and HIVW", |result| {
        has_matrix(result, &["HIVB", "HIVW"])
    }),
    work("Dang2010", "the matrix FLU", |result| has_matrix(result, &["FLU"])),
    work("Liu2014", "the matrix STMTREV", |result| has_matrix(result, &["STMTREV"])),
    work("Le2018", "the matrix DEN", |result| has_matrix(result, &["DEN"])),
    work("Le2020", "the matrix FLAVI", |result| has_matrix(result, &["FLAVI"])),
    work("Minh2021", "the matrices of QMaker", |result| {
        has_model(result, |model| matrices(model).any(|name| name.starts_with("Q.")))
    }),
    work("Bishop1987", "equal exchange rates of amino acids", |result| {
        has_matrix(result, &["POISSON"])
    }),
    work("Le2012", "LG4M and LG4X", |result| has_matrix(result, &["LG4M", "LG4X"])),
    work("LeGascuelLartillot2008", "profile mixtures", |result| {
        let is_number = |rest: &str| rest.parse::<u8>().is_ok();
        let is_profiles =
            |part: &str| part.strip_prefix('C').is_some_and(|rest| is_number(matrix(rest)));
        result.at("site_frequencies.guides").is_some() || has_part(result, is_profiles)
    }),
    work("Wang2018", "frequencies of sites (PMSF)", |result| {
        result.at("site_frequencies").is_some()
    }),
    work("LeLartillotGascuel2008", "mixtures of matrices", |result| {
        has_matrix(result, &["EX2", "EX3", "EHO", "UL2", "UL3"])
    }),
    work("Dempster1977", "weights of mixtures by EM", estimates_weights),
    work("Varadhan2008", "weights of mixtures by SQUAREM", estimates_weights),
    work("Mayrose2004", "rates of sites", |result| result.at("site_rates").is_some()),
    work("Susko2007", "recoding of amino acids", |result| !recodings(result).is_empty()),
    work("Kosiol2004", "the groups of amino acids KGB6", |result| recodes(result, &["kgb6"])),
    work("Goldman1994", "codon models", |result| has_matrix(result, &["GY", "GY0K"])),
    work("Muse1994", "codon models", |result| has_matrix(result, &["MG", "MGK"])),
    work("Nielsen1998", "omega of codon models", |result| {
        has_matrix(result, &["GY", "GY0K", "MG", "MGK"])
    }),
    work("Lewis2001", "discrete characters", |result| {
        has_model(result, |model| model.starts_with("MULTI") || model.contains("ASC_LEWIS"))
    }),
    work("Leache2015", "invariable sites that were left out", |result| {
        has_model(result, |model| model.contains("ASC_FELS") || model.contains("ASC_STAM"))
    }),
    work("Schwarz1978", "model selection by BIC", |result| selects_by(result, "BIC")),
    work("Akaike1974", "model selection by AIC", |result| selects_by(result, "AIC")),
    work("Hurvich1989", "model selection by AICc", |result| selects_by(result, "AICc")),
    work("Lanfear2012", "merging of partitions", |result| result.at("partition_merging").is_some()),
    work("Lanfear2014", "relaxed clustering of partitions", |result| {
        merges_by(result, "relaxed clustering")
    }),
    work("Lanfear2017", "fast relaxed clustering of partitions", |result| {
        merges_by(result, "fast relaxed clustering")
    }),
    work("Felsenstein1985", "bootstrap", |result| {
        result.at("bootstrap").is_some() || has_support(result, "fbp")
    }),
    work("Farris1996", "jackknife", |result| result.at("bootstrap.jackknife").is_some()),
    work("Gadagkar2005", "resampling of genes", |result| {
        result.text("bootstrap.sampling").is_some_and(|what| what.starts_with("gene"))
    }),
    work("Pattengale2010", "number of replicates", |result| {
        result.at("bootstrap.bootstopping").is_some()
    }),
    work("Lemoine2018", "transfer bootstrap", |result| has_support(result, "tbe")),
    work("Guindon2010", "SH-aLRT", |result| has_support(result, "sh_alrt")),
    work("Anisimova2011", "aBayes", |result| has_support(result, "abayes")),
    work("Salichos2013", "internode certainty", has_certainty),
    work("Salichos2014", "internode certainty", has_certainty),
    work("Minh2020", "concordance factors", |result| {
        has_support(result, "gcf")
            || has_support(result, "scf")
            || result.at("concordance").is_some()
    }),
    work("Zhang2018", "polytomies for branches with little support", |result| {
        result.at("genes").is_some() && !option(result, "", "collapse").is_empty()
    }),
    work("Tukey1977", "genes that are far out", compares_lengths_of_genes),
    work("Kishino1990", "resampling of site log-likelihoods (RELL)", |result| {
        result.at("topology_tests").is_some()
    }),
    work("Kishino1989", "the KH test", |result| has_test(result, "kh") || has_test(result, "wkh")),
    work("Shimodaira1999", "the SH test", |result| {
        has_test(result, "sh") || has_test(result, "wsh")
    }),
    work("Shimodaira2002", "the AU test and weighted tests", |result| {
        ["au", "wkh", "wsh"].iter().any(|name| has_test(result, name))
    }),
    work("Strimmer2002", "expected likelihood weights", |result| has_test(result, "elw")),
    work("Yang1995", "ancestral states", |result| result.at("ancestral").is_some()),
    work("Altekar2004", "Metropolis-coupled Markov chains", samples),
    work("Ronquist2012", "priors", samples),
    work("Rannala2012", "the prior of branch lengths", |result| {
        result.text("sampling.brlen_prior").is_some_and(|prior| prior.starts_with("gammadir"))
    }),
    work("Lakner2008", "proposals of trees", samples),
    work("Larget1999", "the proposal LOCAL", |result| proposes(result, "LOCAL")),
    work("Holder2005", "the proposal LOCAL", |result| proposes(result, "LOCAL")),
    work("Hohna2012", "guided proposals of trees", |result| proposes(result, "NNI")),
    work("Zhang2020", "proposals of trees by parsimony", |result| {
        proposes(result, "parsimony-guided")
    }),
    work("Aberer2016", "proposals of branch lengths by their density", |result| {
        proposes(result, "branch length by its density")
    }),
    work("Lanfear2016", "effective sample size of topologies", |result| {
        result.number("sampling.agreement.tree_ess").is_some()
    }),
    work("Xie2011", "stepping-stone sampling", |result| {
        result.at("sampling.marginal_likelihood").is_some()
    }),
    work("Sanderson2011", "terraces", |result| result.at("terrace").is_some()),
    work("Constantinescu1995", "counting the trees of a terrace", |result| {
        result.at("terrace.comprehensive_taxon").is_some()
    }),
    work("Chernomor2023", "the trees of a terrace", |result| result.at("terrace").is_some()),
    work("Robinson1981", "distances between trees", |result| {
        // Older results do not name the distances.
        let found = result.at("rf_distances");
        found.is_some_and(|found| found.list("metrics").is_empty() || has_metric(result, "rf"))
            || result.list("genes.each").iter().any(|gene| gene.at("rf").is_some())
    }),
    work("Robinson1979", "distances between trees, weighted by lengths", |result| {
        has_metric(result, "wrf")
    }),
    work("Kuhner1994", "branch scores", |result| has_metric(result, "kf")),
    work("Estabrook1985", "distances by quartets", |result| has_metric(result, "quartet")),
    work("Christiansen2006", "distances by quartets", |result| has_metric(result, "quartet")),
    work("Margush1981", "the consensus tree", |result| {
        result.at("consensus_tree").is_some() || result.at("sampling.consensus_tree").is_some()
    }),
    work("Felsenstein1996", "distances under F84", |result| {
        let compositions = result.list("alignment.overview.composition");
        let is_dna = || compositions.iter().any(|one| one.text("data_type") == Some("DNA"));
        // The distances of starting trees are under F84 wherever the data are nucleotides.
        let starts = starts(result);
        let starts_from_distances = DISTANCE_TREES.iter().any(|kind| starts.contains(kind));
        distance_methods(result).any(|method| method.contains("F84"))
            || starts_from_distances && is_dna()
    }),
    work("Lockhart1994", "LogDet distances", |result| {
        distance_methods(result).any(|method| method.contains("LogDet"))
    }),
    work("Saitou1987", "neighbor joining", |result| has_distance_tree(result, &["nj"])),
    work("Studier1988", "neighbor joining", |result| has_distance_tree(result, &["nj"])),
    // Balanced minimum evolution begins with the tree of BIONJ.
    work("Gascuel1997", "BIONJ", |result| has_distance_tree(result, &["bionj", "bme"])),
    work("Pauplin2000", "balanced minimum evolution", |result| has_distance_tree(result, &["bme"])),
    work("Desper2002", "balanced minimum evolution", |result| has_distance_tree(result, &["bme"])),
    work("Sokal1958", "UPGMA", |result| has_distance_tree(result, &["upgma"])),
    work("Farris1972", "the root at the midpoint", |result| {
        option(result, "", "root").iter().any(|value| value.eq_ignore_ascii_case("midpoint"))
    }),
    work("Czech2017", "labels of trees with another root", |result| {
        let has_root = || {
            !option(result, "-o", "outgroup").is_empty() || !option(result, "", "root").is_empty()
        };
        result.at("rooted_trees").is_some() || result.at("support").is_some() && has_root()
    }),
];

/// The trees of distances, by name.
const DISTANCE_TREES: [&str; 4] = ["nj", "bionj", "bme", "upgma"];

fn searches(result: &Value) -> bool {
    // Replicates of distances and replicates that are only written are not searched.
    let has_replicates =
        || result.at("timings.bootstrap").is_some() && result.at("distances").is_none();
    result.at("agreement").is_some()
        || result.at("timings.search").is_some()
        || result.at("genes").is_some()
        || has_replicates()
}

fn samples(result: &Value) -> bool {
    result.at("sampling").is_some()
}

fn has_likelihood(result: &Value) -> bool {
    result.number("log_likelihood").is_some() || samples(result) || searches(result)
}

fn has_parsimony(result: &Value) -> bool {
    let starts = starts(result);
    // Where the command says nothing, starting trees are of parsimony.
    let is_default = || starts.is_empty() && result.at("timings.starting trees").is_some();
    let is_parsimony = |start: &&str| ["pars", "auto"].contains(start);
    searches(result) || samples(result) || starts.iter().any(is_parsimony) || is_default()
}

fn has_test(result: &Value, name: &str) -> bool {
    let tests = result.list("topology_tests.trees").iter();
    tests.filter_map(|tree| tree.at("tests")).any(|tests| tests.get(name).is_some())
}

fn has_support(result: &Value, name: &str) -> bool {
    result.texts("support.label").contains(&name)
}

fn has_certainty(result: &Value) -> bool {
    has_support(result, "ic1") || has_support(result, "ica")
}

fn has_metric(result: &Value, name: &str) -> bool {
    result.list("rf_distances.metrics").iter().any(|one| one.text("metric") == Some(name))
}

fn selects_by(result: &Value, criterion: &str) -> bool {
    result.list("model_selection").iter().any(|one| one.text("criterion") == Some(criterion))
        || result.text("partition_merging.criterion") == Some(criterion)
}

fn merges_by(result: &Value, method: &str) -> bool {
    result.text("partition_merging.method").is_some_and(|text| text.contains(method))
}

/// True if a chain made such a proposal.
fn proposes(result: &Value, name: &str) -> bool {
    let of_runs = result.list("sampling.acceptance").iter().filter_map(Value::as_array).flatten();
    let mut made = of_runs.filter(|one| one.number("proposed").is_some_and(|n| n > 0.0));
    made.any(|one| one.text("proposal").is_some_and(|text| text.starts_with(name)))
}

/// True if there are so many genes of a type that their lengths are compared.
fn compares_lengths_of_genes(result: &Value) -> bool {
    const FEWEST: usize = 10;
    let genes = result.list("genes.each").iter().filter(|gene| gene.at("tree_length").is_some());
    let types: Vec<&str> = genes.filter_map(|gene| gene.text("data_type")).collect();
    types.iter().any(|name| types.iter().filter(|other| *other == name).count() >= FEWEST)
}

/// What distances between sequences are: `LogDet`, or `maximum likelihood, LG+G4m{0.5}`.
fn distance_methods(result: &Value) -> impl Iterator<Item = &str> {
    let of_partitions = result.list("distances.partitions").iter();
    let of_partitions = of_partitions.filter_map(|partition| partition.text("method"));
    result.text("distances.method").into_iter().chain(of_partitions)
}

/// True if a tree of distances of one of these kinds was made, as a result or to start with.
fn has_distance_tree(result: &Value, kinds: &[&str]) -> bool {
    let partitions = result.list("distances.partitions").iter();
    let of_partitions = partitions.flat_map(|partition| partition.list("trees"));
    let mut trees = result.list("distances.trees").iter().chain(of_partitions);
    trees.any(|tree| tree.text("method").is_some_and(|method| kinds.contains(&method)))
        || starts(result).iter().any(|start| kinds.contains(start))
}

/// Kinds of the starting trees (`pars`, `nj`), or the files that had them: from the trees that came of them, otherwise from the
/// command.
fn starts<'a>(result: &'a Value) -> Vec<&'a str> {
    let trees = result.list("trees");
    if !trees.is_empty() {
        // `pars 1` has a number, `FILE, tree 1` is a file whatever its name.
        let kind = |source: &'a str| match source.split_once(' ') {
            Some((kind, number)) if number.parse::<u32>().is_ok() => kind,
            _ => source,
        };
        return trees.iter().filter_map(|tree| tree.text("source")).map(kind).collect();
    }
    if result.at("timings.starting trees").is_none() {
        // The trees of the command are not for a start, or nothing was done with them.
        return Vec::new();
    }
    let values = option(result, "-t", "tree").into_iter();
    let parts = values.flat_map(|value| value.split(','));
    parts.map(|part| part.split(['{', '[']).next().unwrap_or(part)).collect()
}

/// The values of an option in the command, as typed: its long name may be shortened, and all may be attached.
fn option<'a>(result: &'a Value, short: &str, long: &str) -> Vec<&'a str> {
    const SHORTEST: usize = 3;
    let words = words(result.text("command").unwrap_or_default());
    let value_of = |(place, word): (usize, &&'a str)| -> Option<&'a str> {
        let next = || words.get(place + 1).copied();
        let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-'))?;
        let (name, attached) = match name.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (name, None),
        };
        if name.len() >= SHORTEST && long.starts_with(name) {
            return attached.or_else(next);
        }
        match word.strip_prefix(short).filter(|_| !short.is_empty())? {
            "" => next(),
            value => Some(value.strip_prefix('=').unwrap_or(value)),
        }
    };
    words.iter().enumerate().filter_map(value_of).collect()
}

/// The words of a command, which are in quotes where a shell needs it; quotes inside a word stay.
fn words(command: &str) -> Vec<&str> {
    let (mut is_quoted, mut last) = (false, ' ');
    let ends_word = |c: char| {
        // Outside quotes, \' is a character of the word.
        is_quoted ^= c == '\'' && (is_quoted || last != '\\');
        last = c;
        c == ' ' && !is_quoted
    };
    command.split(ends_word).map(|word| word.trim_matches('\'')).collect()
}

/// The groups of amino acids that are states.
fn recodings(result: &Value) -> Vec<&str> {
    option(result, "", "recode")
}

fn recodes(result: &Value, groups: &[&str]) -> bool {
    let is_one = |value: &&str| groups.iter().any(|name| name.eq_ignore_ascii_case(value));
    recodings(result).iter().any(is_one)
}

/// All models of a run: of its results, otherwise that of the command.
fn models(result: &Value) -> Vec<Cow<'_, str>> {
    let named = |path: &str, name: &'static str| {
        result.list(path).iter().filter_map(move |one| one.text(name))
    };
    let guides = result.list("site_frequencies.guides").iter();
    let of_distances = distance_methods(result)
        .filter_map(|method| method.split_once("maximum likelihood, "))
        .map(|(_, model)| model);
    let of_results: Vec<Cow<'_, str>> = result
        .text("model")
        .into_iter()
        .chain(result.texts("model"))
        .chain(named("model_selection", "chosen"))
        .chain(named("partition_merging.subsets", "model"))
        .chain(named("genes.each", "model"))
        .chain(guides.flat_map(|guide| guide.texts("models")))
        .chain(of_distances)
        .map(Cow::Borrowed)
        .collect();
    if !of_results.is_empty() || !has_likelihood(result) {
        return of_results;
    }
    // Samples and replicates alone have no model with estimates.
    let typed = option(result, "-m", "model").into_iter();
    typed.filter_map(|text| Model::parse(text).ok()).map(|model| model.label().into()).collect()
}

fn has_model(result: &Value, is_wanted: impl Fn(&str) -> bool) -> bool {
    models(result).iter().any(|model| is_wanted(model))
}

/// True if a model has such a part after its matrix: `G4m{0.5}`.
fn has_part(result: &Value, is_wanted: impl Fn(&str) -> bool) -> bool {
    has_model(result, |model| model.split('+').skip(1).any(&is_wanted))
}

fn has_matrix(result: &Value, names: &[&str]) -> bool {
    has_model(result, |model| matrices(model).any(|name| names.contains(&name)))
}

fn has_free_rates(result: &Value) -> bool {
    has_part(result, |part| part.starts_with('R'))
}

fn estimates_weights(result: &Value) -> bool {
    has_part(result, |part| matrix(part) == "WO")
}

/// The matrices of a model: one, or those of `MIX{LG:0.5/WAG}`.
fn matrices(model: &str) -> impl Iterator<Item = &str> {
    let mixed = model.strip_prefix("MIX{").and_then(|rest| rest.split('}').next());
    let names = mixed.unwrap_or_else(|| matrix(model)).split('/');
    names.map(|name| name.split(':').next().unwrap_or(name))
}

/// What stands before the first parameter.
fn matrix(model: &str) -> &str {
    model.split(['+', '{']).next().unwrap_or(model)
}
