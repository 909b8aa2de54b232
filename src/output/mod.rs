//! Everything that a user sees or keeps: files, the JSON report, the log, progress, tables.
//!
//! Only this room and `cli` print. What is shown is computed elsewhere.

mod files;
mod progress;
mod report;
mod status;
mod tables;

pub use files::{ANALYSIS_KINDS, Kind, OutputFiles};
pub use progress::{Progress, RUN_MARKER, Sink};
pub use report::{
    AlignmentReport, BootstrapReport, CandidateReport, PartitionReport, Report, RfReport,
    RunReport, SelectionReport, Timings, TreeReport, UndeterminedEdge,
};
pub use tables::{pairs, table};
