//! Everything that a user sees or keeps: files, the JSON report, the log, progress, tables.
//!
//! Only this room and `cli` print. What is shown is computed elsewhere.

mod files;
mod growing;
mod kinds;
mod matrix;
mod progress;
mod report;
mod sampling_report;
mod selftest_report;
mod status;
mod svg;
mod tables;

pub use kinds::OutputKind;
pub use matrix::MatrixFormat;

pub(crate) use files::{OutputFiles, Part, Request};
pub(crate) use growing::Growing;
pub(crate) use kinds::ANALYSIS_KINDS;
pub(crate) use matrix::{MatrixReport, MatrixTreeReport, PartitionMatrixReport};
pub(crate) use progress::{Progress, Terminal};
pub(crate) use report::{
    AgreementReport, AlignmentReport, AncestralNodeReport, BootstopTestReport, BootstoppingReport,
    BootstrapReport, BranchChangesReport, BranchSupportReport, CandidateReport, ConcordanceReport,
    DistanceReport, GeneCounts, MetricReport, PartitionReport, Report, SelectionReport, SiteMeans,
    SupportReport, TerraceReport, TestedTree, TopologyTestsReport, TreeReport, UndeterminedEdge,
    VerdictReport,
};
pub(crate) use sampling_report::{
    AcceptanceReport, CredibleReport, DiagnosisReport, MarginalReport, ParameterReport,
    SamplingReport, SplitReport,
};
pub(crate) use selftest_report::{Agreement, Roofline, SelftestReport, SingleScores, TimeRow};
pub(crate) use svg::{Panel, Series, draw};
pub(crate) use tables::{pairs, table};
