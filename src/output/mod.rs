//! Everything a user sees or keeps: files, the JSON report, the log, progress, tables.
//!
//! The only room besides `cli` that prints. What is shown is computed elsewhere.

mod files;
mod print;
mod progress;
mod report;
mod tables;

pub use files::{Kind, OutputFiles};
pub use print::print_report;
pub use progress::{Progress, RUN_MARKER};
pub use report::{
    AlignmentReport, BootstrapReport, CandidateReport, PartitionReport, Report, RfReport,
    RunReport, SelectionReport, Timings, TreeReport, UndeterminedEdge,
};
pub use tables::{pairs, table};
