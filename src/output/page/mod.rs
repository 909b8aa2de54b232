//! The page of a run: all that its JSON file says, to be looked at, in one file that needs no other and no network.
//!
//! Every section takes what it shows from the JSON and is left out if that has nothing for it, so that the page of an older
//! result can be made, too. Tables and plots are made here; `tree.js`, `draw.js` and `view.js` show trees, and `page.js` does the
//! little that is left.

mod ancestral;
mod cite;
mod concordance;
mod convergence;
mod data;
mod distances;
mod genes;
mod given_trees;
mod html;
mod models;
mod numbers;
mod record;
mod run;
mod sample;
mod section;
mod support;
mod topology;
mod trees;
mod works;

pub(crate) use html::page_of;
