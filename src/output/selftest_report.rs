//! What a self-test of cards found, for the JSON file and as tables.

use super::tables::table;

/// What a self-test of cards found.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub(crate) struct SelftestReport {
    /// The cards: name and compute capability.
    pub cards: Vec<String>,
    /// Threads of the processor beside which they were measured.
    pub threads: usize,
    /// By set of genes: how many numbers were compared, and how many have other bits.
    pub agreement: Vec<Agreement>,
    /// By alignment and work: times.
    pub times: Vec<TimeRow>,
}

/// Numbers that both engines have computed.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub(crate) struct Agreement {
    /// The genes.
    pub genes: String,
    /// How many numbers were compared.
    pub numbers: usize,
    /// How many of them have other bits.
    pub differing: usize,
}

/// Times of one work on one alignment.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub(crate) struct TimeRow {
    /// The alignment.
    pub data: String,
    /// The work.
    pub work: String,
    /// Seconds on the processor.
    pub cpu_seconds: f64,
    /// Seconds on the cards.
    pub card_seconds: f64,
}

impl SelftestReport {
    /// Number of comparisons with other bits.
    pub(crate) fn num_differing(&self) -> usize {
        self.agreement.iter().map(|row| row.differing).sum()
    }

    /// The tables that a person reads.
    pub(crate) fn tables(&self) -> String {
        let agreement = self
            .agreement
            .iter()
            .map(|row| vec![row.genes.clone(), row.numbers.to_string(), row.differing.to_string()]);
        let times = self.times.iter().map(|row| {
            let milliseconds = |seconds: f64| format!("{:.3}", 1e3 * seconds);
            let ratio = format!("{:.2}", row.cpu_seconds / row.card_seconds);
            let [own, card] = [row.cpu_seconds, row.card_seconds].map(milliseconds);
            vec![row.data.clone(), row.work.clone(), own, card, ratio]
        });
        let own = format!("processor, {} threads [ms]", self.threads);
        let agreement = table(&["genes", "numbers", "other bits"], &agreement.collect::<Vec<_>>());
        let header = ["data", "work", &own, "card [ms]", "ratio"];
        let times = table(&header, &times.collect::<Vec<_>>());
        format!("Cards: {}\n\n{agreement}\n{times}", self.cards.join("; "))
    }
}
