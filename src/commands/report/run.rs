//! The page of a finished run, made again from its JSON file.

use crate::commands::Command;
use crate::error::{Error, Fault, Place, Result};
use crate::input::read_text;
use crate::output::{PAGE, page_of};
use crate::plan::{Facts, Plan};
use crate::runtime::RunRecord;
use std::path::PathBuf;

/// Largest JSON file, in bytes: results of a hundred thousand taxa are smaller.
const MAX_RESULT: usize = 1 << 30;

/// The page of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PageOfRun {
    /// Its JSON file.
    pub result: PathBuf,
}

impl Command for PageOfRun {
    fn facts(&self, _: &Plan) -> Facts {
        Facts {
            task: "page of a result".into(),
            inputs: vec![self.result.clone()],
            outputs: vec![PAGE],
            leaves_no_record: true,
            ..Facts::default()
        }
    }

    fn run(&self, _: &Plan, record: &mut RunRecord) -> Result<()> {
        let file = self.result.display().to_string();
        let text = read_text(&self.result, MAX_RESULT, "the JSON file of a run")?;
        let page = page_of(&text)
            .map_err(|message| Error::Input(Fault::new(Place::file(file), message).into()))?;
        record.write(PAGE, &page)
    }
}
