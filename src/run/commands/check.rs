//! `--check`: what the alignment is like, and what a run on it will take. Nothing is computed and no
//! file is written.

use crate::error::Result;
use crate::output::pairs;
use crate::parallel::available_memory;
use crate::run::plan::{Command, Plan};
use crate::run::work::{
    Cost, Session, describe_data, format_bytes, format_seconds, useful_threads,
};

/// Describes data, memory, time and threads on standard output.
///
/// # Errors
/// None so far.
pub fn check(session: Session) -> Result<()> {
    let Session { setup, record } = session;
    let loaded = &setup.loaded;
    let mut text = describe_data(loaded).short;
    for note in setup.plan.notes.iter().chain(&loaded.remarks.notes) {
        text.push_str(&format!("note: {note}\n"));
    }
    for (partition, question) in loaded.partitions.iter().zip(&loaded.questions) {
        if let Some(question) = question {
            let (name, criterion) = (&partition.name, setup.plan.data.auto_criterion);
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
    let mut rows = vec![
        ("sites that cannot tell taxa apart", loaded.report.invariant_sites.to_string()),
        ("sites without data", loaded.report.gap_columns.len().to_string()),
        ("memory", format!("about {}", format_bytes(ours.shared_bytes() + ours.job_bytes()))),
        ("  for each further search or replicate at a time", format_bytes(ours.job_bytes())),
    ];
    if unrestricted.clv_bytes > ours.clv_bytes {
        let saved = unrestricted.clv_bytes as f64 / ours.clv_bytes.max(1) as f64;
        let saved = format!("1/{saved:.1} of that with all taxa in all partitions");
        rows.push(("  likelihood vectors of gappy partitions", saved));
    }
    if let Some(free) = available_memory() {
        rows.push(("  free on this machine", format_bytes(free)));
    }
    let seconds = |command| {
        let plan = Plan { command, ..setup.plan.clone() };
        ours.seconds(&plan, num_taxa, 1).map_or(String::new(), format_seconds)
    };
    rows.push(("time of a search", seconds(Command::Search)));
    rows.push(("  of the evaluation of a tree", seconds(Command::Evaluate)));
    rows.push(("threads that one search can use", useful_threads(&loaded.partitions).to_string()));
    rows.push(("  that it gets here", setup.machine.threads().to_string()));
    rows.push(("kernels", setup.machine.engine().instruction_set.to_string()));
    text.push_str(&pairs("A run will take", &rows));
    text.push_str(
        "Times are of one core, and guessed: expect half to double of them. Several searches or \
         replicates\nare spread over the threads, one each.\n",
    );
    record.progress.result(&text);
    Ok(())
}
