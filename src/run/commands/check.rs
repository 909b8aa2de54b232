//! `--check`: describes the alignment and estimates the memory and time of a run. No likelihood is computed
//! and no file is written.

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
pub(crate) fn check(session: Session) -> Result<()> {
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
                "partition '{name}': a run will select the model by {} among {}\n",
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
        ("constant sites", loaded.report.invariant_sites.to_string()),
        ("sites without data", loaded.report.gap_columns.len().to_string()),
        ("memory", format!("up to about {}", format_bytes(ours.shared_bytes() + ours.job_bytes()))),
        ("  at least, with --mem", format!("about {}", format_bytes(ours.least_bytes()))),
        ("  for each further search or replicate at the same time", format_bytes(ours.job_bytes())),
    ];
    if unrestricted.clv_bytes > ours.clv_bytes {
        let saved = unrestricted.clv_bytes as f64 / ours.clv_bytes.max(1) as f64;
        let saved = format!("1/{saved:.1} of those with all taxa in all partitions");
        rows.push(("  likelihood vectors", saved));
    }
    if let Some(free) = available_memory() {
        rows.push(("  free on this machine", format_bytes(free)));
    }
    let seconds = |command| {
        let plan = Plan { command, ..setup.plan.clone() };
        ours.seconds(&plan, num_taxa, 1).map_or(String::new(), format_seconds)
    };
    rows.push(("time of a search", seconds(Command::Search)));
    rows.push(("time of the evaluation of a tree", seconds(Command::Evaluate)));
    rows.push(("useful threads for one search", useful_threads(&loaded.partitions).to_string()));
    rows.push(("  used on this machine", setup.machine.threads().to_string()));
    rows.push(("kernels", setup.machine.engine().instruction_set.to_string()));
    text.push_str(&pairs("Data and requirements of a run", &rows));
    text.push_str(
        "Times are rough estimates for one core; a run may take from half to twice as long. Several\n\
         searches or replicates run at the same time, one on each thread.\n",
    );
    record.progress.result(&text);
    Ok(())
}
