//! Ascertainment bias: alignments from which invariable sites were left out.
//!
//! A site is seen only if it varies, so its likelihood must be divided by the probability that a site
//! varies. With D_k the likelihood of a site where every taxon has state k, w the weights of the n
//! sites that were kept:
//!
//! ```text
//! Lewis (2001, Syst. Biol. 50:913)      lnL = sum w ln L  -  n ln(1 - sum_k D_k)
//! Felsenstein (Leache et al. 2015)      lnL = sum w ln L  +  m ln(sum_k D_k),     m invariable sites
//! Stamatakis (Leache et al. 2015)       lnL = sum w ln L  +  sum_k m_k ln D_k,    m_k of state k
//! ```
//!
//! Leaché et al. (2015, Syst. Biol. 64:1032) compare the three.

use serde::{Deserialize, Serialize};

/// The correction for invariable sites that were left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Ascertainment {
    /// Conditional on sites being variable.
    Lewis,
    /// This number of invariable sites was left out.
    Felsenstein(f64),
    /// These numbers of invariable sites were left out, one for each state.
    Stamatakis(Vec<f64>),
}
