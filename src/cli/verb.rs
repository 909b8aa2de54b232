//! The one command among all its spellings, and the list of what is wrong with the options.

use super::args::Args;

/// What is wrong, collected so that it is reported at once.
#[derive(Default)]
pub(super) struct Faults(pub(super) Vec<String>);

impl Faults {
    pub(super) fn add(&mut self, message: impl Into<String>) {
        self.0.push(message.into());
    }

    /// The value, or its fault noted and the stand-in.
    pub(super) fn or<T>(&mut self, result: std::result::Result<T, String>, stand_in: T) -> T {
        result.unwrap_or_else(|message| {
            self.add(message);
            stand_in
        })
    }
}

/// The command, before its files are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Search,
    Evaluate,
    Bootstrap,
    BsMsa,
    All,
    Start,
    Support,
    RfDist,
    Dist,
    Concordance,
    Terrace,
    BsConverge,
    Consense,
    Root,
    Sample,
}

impl Verb {
    /// True for commands that begin with trees or evaluate some: others take files of trees of their own.
    pub(super) fn takes_trees(self) -> bool {
        use Verb::{BsConverge, Concordance, Consense, Dist, RfDist, Root, Support, Terrace};
        !matches!(
            self,
            Support | RfDist | Dist | BsConverge | Concordance | Terrace | Consense | Root
        )
    }

    /// True for commands that read an alignment; site concordance does, gene concordance does not.
    pub(super) fn is_on_sequences(self, args: &Args) -> bool {
        match self {
            Verb::Support | Verb::RfDist | Verb::BsConverge | Verb::Consense | Verb::Root => false,
            Verb::Concordance => args.scf.is_some(),
            Verb::Dist => args.dist.as_ref().is_none_or(Option::is_none),
            _ => true,
        }
    }

    /// True for commands that make replicates; those of trees of distances only if their number is given.
    pub(super) fn makes_replicates(self, args: &Args) -> bool {
        match self {
            Verb::Bootstrap | Verb::BsMsa | Verb::All => true,
            Verb::Dist => args.bs_trees.is_some() || args.runs.is_some(),
            _ => false,
        }
    }
}

/// The one command among all its spellings.
pub(super) fn find_verb(args: &Args, faults: &mut Faults) -> Verb {
    let mut asked: Vec<(String, Verb)> = Vec::new();
    for (given, name, verb) in [
        (args.search, "--search", Verb::Search),
        (args.evaluate, "--evaluate", Verb::Evaluate),
        (args.all, "--all", Verb::All),
        (args.bootstrap, "--bootstrap", Verb::Bootstrap),
        (args.bsmsa, "--bsmsa", Verb::BsMsa),
        (args.support, "--support", Verb::Support),
        (args.rfdist.is_some(), "--rfdist", Verb::RfDist),
        (args.dist.is_some(), "--dist", Verb::Dist),
        (args.gcf.is_some(), "--gcf", Verb::Concordance),
        (args.scf.is_some(), "--scf", Verb::Concordance),
        (args.terrace.is_some(), "--terrace", Verb::Terrace),
        (args.consense.is_some(), "--consense", Verb::Consense),
        (args.raxml_consense.is_some(), "-J", Verb::Consense),
        (args.raxml_certainty.is_some(), "-L", Verb::Consense),
        (args.bsconverge.is_some(), "--bsconverge", Verb::BsConverge),
        (args.raxml_bsconverge.is_some(), "-I", Verb::BsConverge),
        (args.start, "--start (-y)", Verb::Start),
        (args.mcmc, "--mcmc", Verb::Sample),
    ] {
        if given {
            asked.push((name.to_string(), verb));
        }
    }
    if let Some(letter) = args.algorithm.as_deref() {
        let verb = match letter {
            // -b (-x) together with -f d means replicates, as in RAxML.
            "d" if args.replicate_seed().is_some() => Some(Verb::Bootstrap),
            "d" => Some(Verb::Search),
            "e" => Some(Verb::Evaluate),
            "a" => Some(Verb::All),
            "b" | "i" => Some(Verb::Support),
            "j" => Some(Verb::BsMsa),
            // The search is only described.
            "c" => Some(Verb::Search),
            "r" | "R" => Some(Verb::RfDist),
            "x" => Some(Verb::Dist),
            "h" | "H" | "w" | "W" | "A" => Some(Verb::Evaluate),
            "I" => Some(Verb::Root),
            _ => None,
        };
        match verb {
            Some(verb) => asked.push((format!("-f {letter}"), verb)),
            None => faults.add(format!(
                "-f {letter} is unknown: expected d (search), e (evaluate), a (all), b (support), c (check), \
                 i (internode certainty), j (bootstrap alignments), r, R (distances between trees), x (distances between sequences), h (SH test), w (expected \
                 likelihood weights), A (ancestral states) or I (rooting of trees)"
            )),
        }
    }
    let gives_root = args.outgroup.is_some() || args.root.is_some();
    let gives_trees = args.tree.is_some() || args.many_trees.is_some();
    let verb = match asked.first() {
        Some(first) => first.1,
        None if args.replicate_seed().is_some() => Verb::Bootstrap,
        // RAxML-NG's --sitelh is a command on given trees.
        None if args.sitelh && args.tree.is_some() => Verb::Evaluate,
        // So are --ancestral and --mutmap.
        None if (args.ancestral || args.mutmap) && args.tree.is_some() => Verb::Evaluate,
        None if !args.tests.is_empty() => Verb::Evaluate,
        None if args.msa.is_none() && gives_root && gives_trees => Verb::Root,
        None => Verb::Search,
    };
    if asked.iter().any(|other| other.1 != verb) {
        let names: Vec<&str> = asked.iter().map(|one| one.0.as_str()).collect();
        faults.add(format!(
            "these options name different analyses: {}; give only one of them",
            names.join(", ")
        ));
    }
    verb
}
