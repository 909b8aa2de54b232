//! The published tables, one file per matrix (per mixture, four): 190 rates and 20 frequencies in
//! published digits, unscaled, with name and source. [`super::protein`] and [`super::matrix_mixtures`] list them. Mixtures of profiles (`c10` to `c60`)
//! have weights and 20 frequencies for each class; [`super::profiles`] lists these.
//!
//! The order is that of alanine to valine by full name, `ARNDCQEGHILKMFPSTWYV`; rates are the upper
//! triangle, row by row (AR AN AD ... AV RN ... YV), every row from a new line. Only numbers come from
//! other programs' files.

pub(super) mod blosum62;
pub(super) mod c10;
pub(super) mod c20;
pub(super) mod c30;
pub(super) mod c40;
pub(super) mod c50;
pub(super) mod c60;
pub(super) mod cprev;
pub(super) mod dayhoff;
pub(super) mod dcmut;
pub(super) mod den;
pub(super) mod eho;
pub(super) mod ex2;
pub(super) mod ex3;
pub(super) mod flavi;
pub(super) mod flu;
pub(super) mod hivb;
pub(super) mod hivw;
pub(super) mod jtt;
pub(super) mod jtt_dcmut;
pub(super) mod lg;
pub(super) mod lg4m;
pub(super) mod lg4x;
pub(super) mod mtart;
pub(super) mod mtinv;
pub(super) mod mtmam;
pub(super) mod mtmet;
pub(super) mod mtrev;
pub(super) mod mtver;
pub(super) mod mtzoa;
pub(super) mod pmb;
pub(super) mod poisson;
pub(super) mod q_bird;
pub(super) mod q_insect;
pub(super) mod q_lg;
pub(super) mod q_mammal;
pub(super) mod q_pfam;
pub(super) mod q_pfam_gb;
pub(super) mod q_plant;
pub(super) mod q_yeast;
pub(super) mod rtrev;
pub(super) mod stmtrev;
pub(super) mod ul2;
pub(super) mod ul3;
pub(super) mod vt;
pub(super) mod wag;
