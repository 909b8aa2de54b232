//! Everything that a user sees or keeps: files, the JSON report, the log, progress, tables.
//!
//! Only this room and `cli` print. What is shown is computed elsewhere.

mod files;
mod progress;
mod report;
mod status;
mod tables;

pub use files::OutputKind;

pub(crate) use files::{ANALYSIS_KINDS, OutputFiles};
pub(crate) use progress::Progress;
pub(crate) use report::{
    AgreementReport, AlignmentReport, BootstrapReport, CandidateReport, PartitionReport, Report,
    RfReport, SelectionReport, TreeReport, UndeterminedEdge,
};
pub(crate) use tables::{pairs, table};
