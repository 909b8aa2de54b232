//! `--check`: what the alignment is like, and what a run on it will take. Nothing is computed and no
//! file is written.

use super::machine::count_rows;
use super::session::{Files, Session, describe_data};
use crate::alphabet::Code;
use crate::error::Result;
use crate::likelihood::layout::{Dims, block_lens, num_slots};
use crate::output::{pairs, print_report};
use crate::partition::Partition;

/// Describes data, memory and threads on standard output.
///
/// # Errors
/// None so far.
pub fn check(session: Session) -> Result<Files> {
    let loaded = &session.setup.loaded;
    let mut text = describe_data(loaded);
    for note in &loaded.remarks.notes {
        text.push_str(&format!("note: {note}\n"));
    }
    for (partition, question) in loaded.partitions.iter().zip(&loaded.questions) {
        if let Some(question) = question {
            let (name, criterion) = (&partition.name, session.setup.plan.data.auto_criterion);
            text.push_str(&format!(
                "partition '{name}': a run will choose its model by {} among {}\n",
                criterion.unwrap_or_default().name(),
                question.describe()
            ));
        }
    }
    let num_taxa = loaded.taxa.len();
    let present: Vec<usize> = loaded.presence.iter().map(Vec::len).collect();
    let all = vec![num_taxa; present.len()];
    let [ours, unrestricted] = [&present, &all].map(|tips| Cost::of(&loaded.partitions, tips));
    let machine = session.setup.machine;
    let rows = [
        ("sites that cannot tell taxa apart", loaded.report.invariant_sites.to_string()),
        ("sites without data", loaded.report.gap_columns.len().to_string()),
        ("memory for likelihoods", format_bytes(ours.clv_bytes)),
        ("  if all taxa were in all partitions", format_bytes(unrestricted.clv_bytes)),
        ("memory for sequences", format_bytes(ours.tip_bytes)),
        ("work of one traversal, in vector rows", ours.operations.to_string()),
        ("  if all taxa were in all partitions", unrestricted.operations.to_string()),
        ("pattern rows that threads can share", count_rows(&loaded.partitions).to_string()),
        ("threads", format!("{}, kernels {}", machine.threads, machine.kernels())),
    ];
    text.push_str(&pairs("A run will take", &rows));
    text.push_str(
        "With several starting trees or replicates at a time, each thread takes the memory once.\n",
    );
    print_report(&text);
    Ok(Files::new())
}

/// What one likelihood takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Cost {
    /// Bytes of likelihood vectors and their scalers.
    clv_bytes: u64,
    /// Bytes of tip codes.
    tip_bytes: u64,
    /// Rows (one pattern, one rate category, four states) computed in a full traversal; one of more
    /// states counts as the products in it.
    operations: u64,
}

impl Cost {
    /// Of these partitions with so many taxa in each.
    fn of(partitions: &[Partition], num_tips: &[usize]) -> Self {
        let mut cost = Cost::default();
        for (partition, &tips) in partitions.iter().zip(num_tips) {
            let patterns = &partition.patterns;
            let dims = Dims::new(
                patterns.data_type.num_states(),
                partition.model.rate_cats().rates.len(),
                patterns.code_masks.len(),
                tips,
            );
            let rows: usize = block_lens(patterns.num_patterns()).iter().sum();
            let clvs = num_slots(tips) * rows;
            cost.clv_bytes += (clvs * (dims.row() * 8 + dims.scalers() * 4)) as u64;
            cost.tip_bytes += (tips * rows * size_of::<Code>()) as u64;
            let computed = tips.saturating_sub(2) * patterns.num_patterns();
            let states = patterns.data_type.num_states().max(4);
            cost.operations += (computed * dims.row() / 4 * states / 4) as u64;
        }
        cost
    }
}

fn format_bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut value, mut unit) = (bytes as f64, 0);
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let decimals = usize::from(unit > 0);
    format!("{value:.decimals$} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::super::machine::make_evaluator;
    use super::*;
    use crate::alignment::Patterns;
    use crate::likelihood::BrlenLinkage;
    use crate::likelihood::cpu::select_kernels;
    use crate::model::Model;
    use crate::rng::{Purpose, stream};
    use crate::tree::random_tree;

    #[test]
    fn the_memory_that_is_promised_is_what_an_engine_takes() {
        // Six taxa, one of them without data; states 0 to 2 or so of every type.
        let cases = ["GTR+G8", "LG+G4", "LG4X", "GY", "GY+CODE{2}+G2", "BIN", "MULTI40_MK+FE+G3"];
        let mut of_one_site = Vec::new();
        for text in cases {
            let model = Model::parse(text).unwrap();
            let data_type = model.data_type;
            let patterns = Patterns::compress(data_type, 6, 10, |taxon, out| {
                for (site, code) in out.iter_mut().enumerate() {
                    let state = (taxon * site + site) % data_type.num_states().min(5);
                    let missing = taxon == 4 || (taxon, site) == (2, 3);
                    *code = match missing {
                        true => data_type.undetermined(),
                        false => data_type.code_of_state(state),
                    };
                }
            });
            let sites = (0..10).collect();
            let partition = Partition { name: "g".into(), model, sites, patterns };
            let (models, partitions) = ([partition.model.clone()], [partition]);
            let tree = random_tree(6, 0.1, &mut stream(1, Purpose::Test, 0));
            let kernels = select_kernels(None).unwrap();
            let evaluator =
                make_evaluator(&partitions, &models, tree, BrlenLinkage::Linked, kernels, 1);
            let cost = Cost::of(&partitions, &[5]);
            assert_eq!(cost.clv_bytes as usize, evaluator.engine().clv_bytes(), "{text}");
            assert!(Cost::of(&partitions, &[6]).clv_bytes > cost.clv_bytes, "{text}");
            of_one_site.push(cost);
        }
        let [dna, protein, mixture, codon, ..] = of_one_site[..] else { panic!() };
        assert_eq!(mixture.clv_bytes, protein.clv_bytes);
        assert!(protein.operations > 10 * dna.operations && codon.operations > dna.operations);
    }

    #[test]
    fn bytes_are_written_for_people() {
        assert_eq!(format_bytes(0), "0 B");
        assert_eq!(format_bytes(1536), "1.5 KiB");
        assert_eq!(format_bytes(9 << 30), "9.0 GiB");
    }
}
