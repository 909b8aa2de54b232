//! Everything that a user sees or keeps: files, the JSON report, the log, progress, tables.
//!
//! Only this room and `cli` print. What is shown is computed elsewhere.

mod clusters;
mod files;
mod growing;
mod history;
mod kinds;
mod matrix;
mod names;
mod overview;
mod page;
mod progress;
mod report;
mod schema;
mod sections;
mod status;
mod svg;
mod tables;
mod tree_drawing;
mod tree_files;
mod watched;

pub use kinds::OutputKind;
pub use matrix::MatrixFormat;
pub use status::Moment;
pub use watched::Watched;

pub(crate) use clusters::{Clusters, cluster_features};
pub(crate) use files::{OutputFiles, Part, Request};
pub(crate) use growing::Growing;
pub(crate) use kinds::{CHECKPOINT, JSON, LAST_TREE, LOG, OF_EVERY_RUN, PAGE};
pub(crate) use matrix::{DistanceMapReport, MatrixReport, MatrixTreeReport, PartitionMatrixReport};
pub(crate) use names::Names;
pub(crate) use overview::{
    CompositionReport, GappyTaxonReport, MapReport, MixtureFitReport, OverviewReport,
    SiteFrequenciesReport, SiteProfileReport, TaxonCompositionReport,
};
pub(crate) use page::page_of;
pub(crate) use progress::{Progress, Terminal};
pub(crate) use report::{
    AgreementReport, AlignmentReport, AncestralNodeReport, BootstopTestReport, BootstoppingReport,
    BootstrapReport, BranchChangesReport, BranchSupportReport, CandidateReport, PartitionReport,
    Report, SelectionReport, SupportReport, TestedTree, TopologyTestsReport, TreeReport,
    UndeterminedEdge, VerdictReport,
};
pub(crate) use schema::schema_of_results;
pub(crate) use sections::{Section, SectionSchema};
pub(crate) use status::{Next, Tally};
pub(crate) use svg::{Panel, Series, draw};
pub(crate) use tables::{pairs, table};
pub(crate) use tree_drawing::{Clade, Shape, TreeDrawing, TreeLook, draw_tree};
pub(crate) use tree_drawing::{MISSING, pdf_of, png_of, unknown_letters};
pub(crate) use tree_files::{TreeFormat, write_trees};
