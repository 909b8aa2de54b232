//! Ancestral states: against their definition, against other programs, and as a user gets them.

use crate::util::{Scratch, assert_same_bytes, repository};
use mlsearch::alignment::Patterns;
use mlsearch::likelihood::engine::{PartitionData, PartitionModel};
use mlsearch::likelihood::naive::naive_pattern_log_likelihoods;
use mlsearch::likelihood::{BrlenLinkage, EngineOptions, Evaluator, NodeStates, select};
use mlsearch::model::Model;
use mlsearch::rng::{Purpose, stream};
use mlsearch::simulate::{SimModel, simulate_states, yule_tree};
use mlsearch::tree::{EdgeId, NodeId, Tree};
use rand::RngExt;

/// The tree with one more taxon, the last, on a branch of length 0 at an inner node.
fn with_witness(tree: &Tree, node: NodeId) -> Tree {
    let tips = tree.num_tips() as u32;
    // The numbers of inner nodes grow by one, and two nodes come at the end: none of them is a tip.
    let number = |node: NodeId| if tree.is_tip(node) { node.0 } else { node.0 + 1 };
    let attach = tree.num_nodes() as u32 + 1;
    let (_, split) = tree.links(node).next().unwrap();
    let mut edges: Vec<(u32, u32, f64)> = Vec::new();
    for edge in tree.edges() {
        let [a, b] = tree.ends(edge);
        if edge == split {
            let far = tree.other_end(edge, node);
            edges.push((number(node), attach, 0.0));
            edges.push((attach, number(far), tree.brlen(edge)));
        } else {
            edges.push((number(a), number(b), tree.brlen(edge)));
        }
    }
    edges.push((tips, attach, 0.0));
    Tree::from_edges(tips as usize + 1, &edges)
}

/// The probabilities of the states at a node by their definition: the likelihoods of the data of all taxa and of a taxon
/// at the node that has one state after the other, divided by their sum. `codes[taxon]` are the data.
fn by_definition(
    tree: &Tree,
    node: NodeId,
    (data, taxa): (&PartitionData, &[usize]),
    model: &Model,
    scaler: f64,
) -> Vec<f64> {
    let tree = with_witness(tree, node);
    let states = model.num_states();
    let num_patterns = data.num_patterns();
    let mut tip_codes = vec![vec![data.undetermined; num_patterns]; tree.num_tips()];
    taxa.iter().zip(&data.tip_codes).for_each(|(&taxon, codes)| tip_codes[taxon].clone_from(codes));
    let of_state: Vec<Vec<f64>> = (0..states)
        .map(|state| {
            let code = model.data_type.code_of_state(state);
            *tip_codes.last_mut().unwrap() = vec![code; num_patterns];
            let data =
                PartitionData { tip_codes: tip_codes.clone(), ascertainment: None, ..data.clone() };
            naive_pattern_log_likelihoods(&tree, &data, &PartitionModel::new(model), scaler)
        })
        .collect();
    let mut all = Vec::new();
    for pattern in 0..num_patterns {
        let likelihoods: Vec<f64> = of_state.iter().map(|lnls| libm::exp(lnls[pattern])).collect();
        let sum: f64 = likelihoods.iter().sum();
        all.extend(likelihoods.iter().map(|likelihood| likelihood / sum));
    }
    all
}

const MODELS: &[(&str, usize, usize)] = &[
    ("GTR{1.2/3.1/0.7/0.9/4.2/1}+FU{0.3/0.2/0.15/0.35}+G4{0.5}", 8, 40),
    ("HKY{2.5}+FU{0.1/0.4/0.3/0.2}+I{0.2}+G3{0.8}", 5, 40),
    ("JC+R3{0.4/0.8/2}{0.3/0.4/0.3}", 3, 20),
    ("JC", 2, 9),
    ("JC", 1, 4),
    ("LG4X", 6, 8),
    ("LG+G4{0.7}+I{0.1}", 4, 8),
    ("BIN+FU{0.3/0.7}+ASC_LEWIS", 6, 20),
    ("MULTI5_MK+FE", 7, 12),
    ("GY{2/0.3}+FE", 5, 3),
    ("WAG+C10+R2{0.5/1.5}{0.5/0.5}+I{0.1}", 5, 8),
];

#[test]
fn probabilities_are_those_of_a_taxon_at_the_node() {
    let mut rng = stream(5, Purpose::Test, 0);
    let tree = yule_tree(8, 0.2, &mut rng);
    let mut partitions = Vec::new();
    for &(text, num_taxa, num_sites) in MODELS {
        let model = Model::parse(text).unwrap();
        let (matrices, cats) = (model.eigen_models(), model.rate_cats());
        let sim_model = SimModel { matrices: &matrices, cats: &cats };
        let states = simulate_states(&tree, &sim_model, num_sites, &mut rng);
        let mut taxa: Vec<usize> = (0..8).collect();
        while taxa.len() > num_taxa {
            taxa.remove(rng.random_range(0..taxa.len()));
        }
        let data_type = model.data_type;
        let patterns = Patterns::compress(data_type, 8, num_sites, |taxon, row| {
            for (site, code) in row.iter_mut().enumerate() {
                let has_data = taxa.contains(&taxon) && (taxon + site) % 7 != 0;
                *code = match has_data {
                    true => data_type.code_of_state(states[taxon][site].into()),
                    false => data_type.undetermined(),
                };
            }
        });
        partitions.push((PartitionData::new(&patterns, &model), patterns.tip_taxa.clone(), model));
    }
    let data: Vec<PartitionData> = partitions.iter().map(|partition| partition.0.clone()).collect();
    for linkage in [BrlenLinkage::Linked, BrlenLinkage::Scaled] {
        let engine = select::make_engine(&data, &EngineOptions::default()).unwrap();
        let of_partition = |(data, taxa, model): &(PartitionData, Vec<usize>, Model)| {
            (data.clone(), taxa.clone(), model.clone())
        };
        let owned: Vec<_> = partitions.iter().map(of_partition).collect();
        let given = owned.iter().map(|(data, taxa, model)| (data, &taxa[..], model.clone()));
        let mut evaluator = Evaluator::new(tree.clone(), given.collect(), linkage, engine);
        let scaler = |partition: usize| match linkage {
            BrlenLinkage::Scaled => 0.6 + 0.2 * partition as f64,
            _ => 1.0,
        };
        (0..partitions.len())
            .for_each(|partition| evaluator.set_brlen_scaler(partition, scaler(partition)));
        let (mut compared, mut without) = (0, 0);
        for node in tree.nodes().filter(|&node| !tree.is_tip(node)) {
            let found = NodeStates::new(&mut evaluator).at(node).unwrap();
            for (partition, found) in found.iter().enumerate() {
                let (data, taxa, model) = &partitions[partition];
                let Some(found) = found else {
                    // No taxa on two sides of the node.
                    let sides =
                        tree.links(node).filter(|(next, edge)| has_taxa(&tree, *next, *edge, taxa));
                    assert!(taxa.len() < 2 || sides.count() < 2, "partition {partition}, {node:?}");
                    without += 1;
                    continue;
                };
                let want = by_definition(&tree, node, (data, taxa), model, scaler(partition));
                assert_eq!(found.len(), want.len());
                for (found, want) in found.iter().zip(want) {
                    assert!(
                        (found - want).abs() < 1e-10,
                        "partition {partition}, {node:?}: {found}, {want}"
                    );
                    compared += 1;
                }
            }
        }
        assert!(compared > 2000 && without > 5, "{compared} {without}");
    }
}

/// True if one of the taxa is behind an edge, at its end `node`.
fn has_taxa(tree: &Tree, node: NodeId, edge: EdgeId, taxa: &[usize]) -> bool {
    tree.preorder(node, edge).iter().any(|(node, _)| taxa.contains(&node.index()))
}

/// The inner nodes of a written tree, each with its name and the taxa behind it. They are numbered in the order of
/// their opening brackets.
fn clades(newick: &str) -> Vec<(String, Vec<String>)> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    let mut open = Vec::new();
    let end = |text: &str| text.find([',', '(', ')', ':', ';']).unwrap_or(text.len());
    for (at, c) in newick.char_indices() {
        let word = &newick[at + 1..][..end(&newick[at + 1..])];
        match c {
            '(' => {
                open.push(found.len());
                found.push(Default::default());
            }
            ')' => found[open.pop().unwrap()].0 = word.to_string(),
            _ => {}
        }
        if matches!(c, '(' | ',') && !word.is_empty() {
            open.iter().for_each(|&node| found[node].1.push(word.to_string()));
        }
    }
    found
}

fn read(scratch: &Scratch, file: &str) -> String {
    std::fs::read_to_string(scratch.path().join(file)).unwrap_or_else(|e| panic!("{file}: {e}"))
}

#[test]
fn probabilities_are_those_of_other_programs() {
    let golden = std::fs::read_to_string(repository("tests/golden/ancestral.tsv")).unwrap();
    let rows: Vec<Vec<&str>> = golden
        .lines()
        .filter(|line| !line.starts_with('#'))
        .skip(1)
        .map(|line| line.split('\t').collect())
        .collect();
    assert!(rows.len() > 25);
    let mut compared = 0;
    for same in rows.chunk_by(|a, b| a[..2] == b[..2]) {
        let (data, model) = (same[0][0], same[0][1]);
        let scratch = Scratch::new();
        let length = if data == "ovomucoids" { ":0.05" } else { ":0.1" };
        let text =
            std::fs::read_to_string(repository(&format!("tests/golden/{data}.tree"))).unwrap();
        scratch.write("t", &with_lengths(&text, length));
        let msa = repository(&format!("datasets/{data}.phy"));
        scratch.succeed(&format!(
            "--ancestral -s {} -m {model} -t t --opt-branches off --opt-model off -n x",
            msa.display()
        ));
        let nodes = clades(&read(&scratch, "x.mlsearch.ancestralTree"));
        let text = std::fs::read_to_string(&msa).unwrap();
        let first = text.lines().nth(1).unwrap().split_whitespace().next().unwrap().to_string();
        for (number, (name, _)) in nodes.iter().enumerate() {
            assert_eq!(*name, format!("Node{}", number + 1));
        }
        let table = read(&scratch, "x.mlsearch.ancestralProbs");
        let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split('\t').collect()).collect();
        for row in same {
            let wanted = |node: &&(String, Vec<String>)| behind(node, &nodes, &first) == row[2];
            let name = &nodes.iter().find(wanted).unwrap_or_else(|| panic!("{row:?}")).0;
            let line = lines.iter().find(|line| line[0] == name && line[2] == row[3]).unwrap();
            assert_eq!(line[3], row[4], "{row:?}");
            let number = |text: &&str| text.parse::<f64>().unwrap();
            let found: Vec<f64> = line[4..].iter().map(number).collect();
            let want: Vec<&str> = row[5].split('/').collect();
            let step = if want[0].len() == "0.12345".len() { 1e-5 } else { 1e-3 };
            let found = match want.len() {
                1 => vec![found.iter().copied().fold(0.0, f64::max)],
                _ => found,
            };
            assert_eq!(found.len(), want.len());
            for (found, want) in found.iter().zip(&want) {
                // Both are rounded, the other program's perhaps from single precision.
                let close = (found - number(want)).abs() <= 1.1 * step;
                assert!(close, "{row:?}: {found}, not {want}");
                compared += 1;
            }
        }
    }
    assert!(compared > 200);
}

/// The taxa behind a node, seen from one taxon, in alphabetical order; `*` if these are all others.
fn behind(node: &(String, Vec<String>), nodes: &[(String, Vec<String>)], first: &String) -> String {
    let (_, below) = node;
    let all = &nodes[0].1;
    let side: Vec<&String> = match below.contains(first) {
        false => below.iter().collect(),
        true => {
            let nearer = nodes.iter().filter(|other| other.1.contains(first));
            let nearer = nearer.filter(|other| other.1.len() < below.len());
            match nearer.max_by_key(|other| other.1.len()) {
                Some((_, nearer)) => all.iter().filter(|taxon| !nearer.contains(taxon)).collect(),
                None => return "*".into(),
            }
        }
    };
    let mut side: Vec<&str> = side.into_iter().map(String::as_str).collect();
    side.sort_unstable();
    side.join(",")
}

/// A tree with all lengths replaced.
fn with_lengths(newick: &str, length: &str) -> String {
    let mut text = String::new();
    let mut in_length = false;
    for c in newick.trim().chars() {
        in_length = (in_length || c == ':') && !matches!(c, ',' | ')' | ';');
        if matches!(c, ',' | ')') {
            text.push_str(length);
        }
        if !in_length {
            text.push(c);
        }
    }
    text
}

#[test]
fn states_are_written_for_every_node_and_column() {
    let scratch = Scratch::new();
    // Of the first partition, only a and b have data.
    scratch.write("a.phy", "5 7\na ACG---M\nb ACGMKVM\nc ---MKVM\nd ---MKIM\ne ---MRVM\n");
    scratch.write("q", "JC, one = 1-3\nLG, two = 4-7\n");
    scratch.write("t", "(a:0.1,b:0.1,(c:0.1,(d:0.1,e:0.1):0.1):0.1);\n");
    let fixed = "--opt-branches off --opt-model off";
    let ran = scratch.succeed(&format!("--ancestral --mutmap -s a.phy -q q -t t {fixed} -n x"));
    assert!(ran.stdout.contains("Ancestral states of 3 inner nodes"), "{}", ran.stdout);
    assert!(ran.stdout.contains("Changes along the branches: 2;"), "{}", ran.stdout);
    let tree = read(&scratch, "x.mlsearch.ancestralTree");
    assert_eq!(tree, "(a:0.1,b:0.1,(c:0.1,(d:0.1,e:0.1)Node3:0.1)Node2:0.1)Node1;\n");
    let states = read(&scratch, "x.mlsearch.ancestralStates");
    assert_eq!(states, "3 7\nNode1  ACGMKVM\nNode2  ---MKVM\nNode3  ---MKVM\n");
    let probs = read(&scratch, "x.mlsearch.ancestralProbs");
    let lines: Vec<Vec<&str>> = probs.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(lines[0][..5], ["Node", "Part", "Site", "State", "p_1"]);
    assert_eq!((lines[0].len(), lines.len()), (24, 1 + 3 + 3 * 4));
    assert_eq!(lines[1][..4], ["Node1", "one", "1", "A"]);
    assert_eq!(lines[4][..4], ["Node1", "two", "4", "M"]);
    for line in &lines[1..] {
        let sum: f64 = line[4..].iter().map(|p| p.parse::<f64>().unwrap()).sum();
        assert!((sum - 1.0).abs() < 2e-5, "{line:?}");
    }
    let list = read(&scratch, "x.mlsearch.mutationMapList");
    assert!(list.contains("\nNode3\td\t0.1\t1\tV6I\n"), "{list}");
    assert!(list.contains("\nNode3\te\t0.1\t1\tK5R\n"), "{list}");
    let map = read(&scratch, "x.mlsearch.mutationMapTree");
    assert!(map.contains("d:0.1[1]") && map.contains(")Node2:0.1[0]"), "{map}");
    let report: serde_json::Value =
        serde_json::from_str(&read(&scratch, "x.mlsearch.json")).unwrap();
    assert_eq!(report["ancestral"]["nodes"][2]["name"], "Node3");
    assert_eq!(report["ancestral"]["branches"].as_array().unwrap().len(), 7);
}

#[test]
fn ties_and_ambiguous_characters() {
    let scratch = Scratch::new();
    scratch.write("a.phy", "3 4\na TAGY\nb GAGA\nc CARA\n");
    scratch.write("t", "(a:0.1,b:0.1,c:0.1);");
    let fixed = "--opt-branches off --opt-model off";
    scratch.succeed(&format!("-f A --mutmap -s a.phy -m JC -t t {fixed} -n x"));
    // C, G and T are equally likely; R may be the G of the others, Y cannot be A.
    assert_eq!(read(&scratch, "x.mlsearch.ancestralStates"), "1 4\nNode1  CAGA\n");
    let list = read(&scratch, "x.mlsearch.mutationMapList");
    assert!(list.contains("Node1\ta\t0.1\t2\tC1T,A4{C/T}\n"), "{list}");
    assert!(list.contains("Node1\tc\t0.1\t0\t\n"), "{list}");
    let ran = scratch.run("-s a.phy -m JC --bootstrap --ancestral -n y");
    ran.assert_refused(&["'--ancestral' is no option of bootstrap; search and evaluate have it"]);
}

#[test]
fn searches_reconstruct_all_taxa_and_give_the_same_bytes_on_every_machine() {
    let text = std::fs::read_to_string(repository("datasets/primates.phy")).unwrap();
    let first = text.lines().nth(1).unwrap();
    let twin = first.replacen(first.split_whitespace().next().unwrap(), "Twin", 1);
    let text = format!("{}{twin}\n", text.replacen("12 898", "13 898", 1));
    for mode in ["", " -M"] {
        let scratch = Scratch::new();
        scratch.write("a.phy", &text);
        let part = repository("partitions/primates.part");
        let command = format!(
            "--search --fast -s a.phy -q {}{mode} -m JC+G --ancestral --mutmap --quiet",
            part.display()
        );
        let kinds = ["ancestralTree", "ancestralStates", "ancestralProbs", "mutationMapList"];
        assert_same_bytes(&scratch, &command, &kinds);
        let states = read(&scratch, "one.mlsearch.ancestralStates");
        assert_eq!(states.lines().count(), 1 + 11);
        assert!(states.lines().skip(1).all(|line| !line.contains('-')));
    }
}

#[test]
fn memory_does_not_change_the_states() {
    let scratch = Scratch::new();
    let command = format!(
        "--ancestral -s {} -q {} -t {} --opt-branches off --quiet",
        repository("datasets/gappy.phy").display(),
        repository("partitions/gappy_true.part").display(),
        repository("datasets/gappy.tree").display()
    );
    scratch.succeed(&format!("{command} --opt-model off -n all"));
    let least = scratch.least_memory(&format!("{command} --opt-model off -n few"));
    scratch.succeed(&format!("{command} --opt-model off --mem {least}M -n few"));
    assert!(read(&scratch, "few.mlsearch.log").contains("computed again"));
    for kind in ["ancestralStates", "ancestralProbs"] {
        let of = |name: &str| read(&scratch, &format!("{name}.mlsearch.{kind}"));
        assert!(of("all") == of("few"), "{kind}");
        assert!(of("all").contains('-') || kind == "ancestralProbs");
    }
}
