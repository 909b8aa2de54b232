//! Trees so large that a likelihood is far below the smallest number, for every type of data: the
//! engine's exact scaling against pruning in which every vector carries its logarithm.

use mlsearch::alignment::Patterns;
use mlsearch::conformance::some_of;
use mlsearch::likelihood::make_evaluator;
use mlsearch::likelihood::{BranchOptions, BrlenLinkage, EngineOptions};
use mlsearch::model::Model;
use mlsearch::partition::Partition;
use mlsearch::rng::{Purpose, stream};
use mlsearch::simulate::{SimModel, simulate_states, yule_tree};
use mlsearch::tree::{EdgeId, Tree};

/// Relative difference of two sums of the same logarithms.
const TOLERANCE: f64 = 1e-10;

/// Model, number of taxa, number of sites. With more than 1000 taxa scaler counts are kept per
/// category of rates, with fewer per pattern. Every second has all types of data.
const CASES: [(&str, usize, usize); 10] = [
    ("GTR{1.2/3.1/0.7/0.9/4.2/1}+FU{0.3/0.2/0.15/0.35}+I{0.2}+G4{1.5}", 2100, 8),
    ("LG+G4{1.5}", 2100, 4),
    ("LG4M+G4{1.5}", 900, 4),
    ("LG+C10+G2{1.5}", 900, 3),
    ("BIN+FU{0.3/0.7}+G4{1.5}", 4200, 20),
    ("GY{2.5/0.1}+F1X4{0.3/0.2/0.1/0.4}+CODE{2}", 2100, 3),
    ("GY{2.5/0.1}+FE+G2{1.5}", 900, 2),
    ("LG+R3{0.4/0.8/2}{0.3/0.4/0.3}", 2100, 2),
    ("MULTI5_MK+FE+G4{1.5}", 2100, 6),
    ("MULTI32_MK+FE", 2100, 2),
];

fn simulate(tree: &Tree, model: &Model, num_sites: usize) -> Patterns {
    let (matrices, cats) = (model.eigen_models(), model.rate_cats());
    let sim_model = SimModel { matrices: &matrices, cats: &cats };
    let mut rng = stream(7, Purpose::Test, num_sites as u64);
    let states = simulate_states(tree, &sim_model, num_sites, &mut rng);
    let data_type = model.data_type;
    Patterns::compress(data_type, tree.num_tips(), num_sites, |taxon, row| {
        for (code, &state) in row.iter_mut().zip(&states[taxon]) {
            *code = data_type.code_of_state(usize::from(state));
        }
    })
}

/// Felsenstein's pruning; every vector is divided by its largest entry, whose logarithm is kept.
fn log_likelihood(tree: &Tree, patterns: &Patterns, model: &Model) -> f64 {
    let (matrices, cats) = (model.eigen_models(), model.rate_cats());
    let (num_states, num_patterns) = (model.num_states(), patterns.num_patterns());
    let root = EdgeId(0);
    let order = tree.postorder(root);
    // Per pattern the logarithm of each category's part, and of the part of invariant sites.
    let mut parts = vec![Vec::new(); num_patterns];
    for (cat, (rate, weight)) in cats.rates.iter().zip(&cats.weights).enumerate() {
        let matrix = &matrices[cats.matrices[cat]];
        let pmatrices: Vec<Vec<f64>> = tree
            .edges()
            .map(|edge| matrix.transition_probabilities(rate * tree.brlen(edge)))
            .collect();
        let through = |edge: EdgeId, x: &[f64]| -> Vec<f64> {
            let rows = pmatrices[edge.index()].chunks(num_states);
            rows.map(|row| row.iter().zip(x).map(|(p, x)| p * x).sum()).collect()
        };
        for (pattern, parts) in parts.iter_mut().enumerate() {
            let mut vectors: Vec<(Vec<f64>, f64)> = vec![Default::default(); tree.num_nodes()];
            for &(node, up) in &order {
                let (mut vector, mut log) = (vec![1.0; num_states], 0.0);
                if tree.is_tip(node) {
                    let code = patterns.codes[node.index()][pattern];
                    let mask = patterns.code_masks[usize::from(code)];
                    for (state, x) in vector.iter_mut().enumerate() {
                        *x = f64::from(u8::from(mask >> state & 1 == 1));
                    }
                } else {
                    for (child, edge) in tree.other_links(node, up) {
                        let (below, its_log) = std::mem::take(&mut vectors[child.index()]);
                        log += its_log;
                        let below = through(edge, &below);
                        vector.iter_mut().zip(below).for_each(|(x, y)| *x *= y);
                    }
                    let largest = vector.iter().copied().fold(0.0, f64::max);
                    vector.iter_mut().for_each(|x| *x /= largest);
                    log += libm::log(largest);
                }
                vectors[node.index()] = (vector, log);
            }
            let [a, b] = tree.ends(root).map(|end| &vectors[end.index()]);
            let far = through(root, &b.0);
            let sum: f64 =
                matrix.freqs.iter().zip(&a.0).zip(far).map(|((f, x), y)| f * x * y).sum();
            parts.push(libm::log(weight * sum) + a.1 + b.1);
        }
    }
    let mut lnl = 0.0;
    for (pattern, parts) in parts.iter_mut().enumerate() {
        let masks = patterns.codes.iter().map(|row| patterns.code_masks[usize::from(row[pattern])]);
        let shared = masks.fold(u64::MAX, |all, mask| all & mask);
        let constant: f64 =
            (0..num_states).filter(|i| shared >> i & 1 == 1).map(|i| model.freqs[i]).sum();
        parts.push(libm::log(cats.pinv * constant));
        let largest = parts.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = parts.iter().map(|part| libm::exp(part - largest)).sum();
        lnl += f64::from(patterns.weights[pattern]) * (largest + libm::log(sum));
    }
    lnl
}

#[test]
fn likelihoods_of_thousands_of_taxa_are_exact_for_every_type_of_data() {
    for &(text, num_taxa, num_sites) in some_of(&CASES, 0, 2) {
        let model = Model::parse(text).expect("a model");
        let tree = yule_tree(num_taxa, 0.5, &mut stream(5, Purpose::Test, num_taxa as u64));
        let patterns = simulate(&tree, &model, num_sites);
        let expected = log_likelihood(&tree, &patterns, &model);
        // No number holds the likelihood of a site: the smallest has the logarithm -745.
        assert!(expected / (num_sites as f64) < -800.0, "{text}: {expected}");
        let sites = (0..num_sites as u32).collect();
        let partitions = [Partition {
            name: "g".into(),
            model: model.clone(),
            sites,
            patterns: patterns.clone(),
        }];
        let engine = EngineOptions::default();
        let linkage = BrlenLinkage::Linked;
        let models = [model.clone()];
        let evaluator = make_evaluator(&partitions, &models, tree, linkage, &engine);
        let mut evaluator = evaluator.expect("an evaluator");
        let found = evaluator.log_likelihood().expect("a likelihood");
        assert!((found / expected - 1.0).abs() < TOLERANCE, "{text}: {found}, not {expected}");
        // The same after derivatives have moved the lengths.
        let options = BranchOptions { max_sweeps: 1, lnl_epsilon: 1.0, gain_tolerance: 1e-2 };
        let better = evaluator.optimize_branches(&options).expect("a likelihood");
        let expected = log_likelihood(evaluator.tree(), &patterns, &model);
        assert!(better > found, "{text}: {better} after {found}");
        assert!((better / expected - 1.0).abs() < TOLERANCE, "{text}: {better}, not {expected}");
    }
}
