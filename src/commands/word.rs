//! [`Word`]: an analysis as a user calls it.

use super::Analysis;
use crate::output::{OutputKind, SectionSchema};
use crate::plan::{Reading, Replaces};
use clap::{ArgMatches, Command};

/// Under which heading a word stands in the help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    /// Trees, models and distances from an alignment.
    FromAlignments,
    /// How sure is it?
    Certainty,
    /// Trees that are there.
    GivenTrees,
    /// Everything else.
    Tools,
}

impl Group {
    /// All of them, in order.
    pub(crate) const ALL: [Group; 4] =
        [Group::FromAlignments, Group::Certainty, Group::GivenTrees, Group::Tools];

    /// Its heading.
    pub(crate) fn heading(self) -> &'static str {
        match self {
            Group::FromAlignments => "alignment",
            Group::Certainty => "certainty",
            Group::GivenTrees => "trees",
            Group::Tools => "tools",
        }
    }
}

/// A guide.
#[derive(Debug, Clone, Copy)]
pub struct Guide {
    /// Its file, from the root of the repository.
    pub path: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// The guide in the folder of an analysis.
macro_rules! guide {
    ($room:literal) => {
        $crate::commands::Guide {
            path: concat!("src/commands/", $room, "/guide.md"),
            text: include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/src/commands/",
                $room,
                "/guide.md"
            )),
        }
    };
}
pub(crate) use guide;

/// An analysis as a user calls it: its name, what it is, its options, and how they are read.
#[derive(Debug, Clone, Copy)]
pub struct Word {
    /// The word.
    pub name: &'static str,
    /// Other spellings.
    pub aliases: &'static [&'static str],
    /// Its heading in the help.
    pub(crate) group: Group,
    /// What it is, in one line.
    pub about: &'static str,
    /// What must follow the word.
    pub usage: &'static str,
    /// All about it.
    pub guide: Guide,
    /// The option that means the same without a word, by its identifier; empty if there is none.
    pub flat: &'static str,
    /// The option, by its identifier, to which a value right after the word belongs.
    pub value: Option<&'static str>,
    /// What another word does if this option, by its identifier, is there; otherwise these words are added.
    pub preset: Option<(&'static str, &'static [&'static str])>,
    /// Every kind of file that it may write, besides those of every run.
    pub(crate) outputs: &'static [OutputKind],
    /// Every section of the JSON file that only few analyses write.
    pub(crate) sections: &'static [SectionSchema],
    /// What `--redo` removes.
    pub(crate) replaces: Replaces,
    /// It shares no options with other words.
    pub has_own_options: bool,
    /// Adds its options.
    pub args: fn(Command) -> Command,
    /// Reads them.
    pub(crate) read: fn(&ArgMatches, &mut Reading) -> clap::error::Result<Analysis>,
}

impl Word {
    /// What most words have in common.
    pub(crate) const BLANK: Word = Word {
        name: "",
        aliases: &[],
        group: Group::Tools,
        about: "",
        usage: "",
        guide: Guide { path: "", text: "" },
        flat: "",
        value: None,
        preset: None,
        outputs: &[],
        sections: &[],
        replaces: Replaces::Own,
        has_own_options: false,
        args: |command| command,
        read: |_, _| Err(clap::Error::new(clap::error::ErrorKind::InvalidSubcommand)),
    };

    /// True if it is called so.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }

    /// Its options, as the option parser knows them.
    pub fn command(&self) -> Command {
        let command = Command::new(self.name)
            .bin_name(format!("mlsearch {}", self.name))
            .about(self.about)
            .override_usage(format!("mlsearch {} {} [OPTIONS]", self.name, self.usage))
            .infer_long_args(true)
            .max_term_width(110);
        // The description of a group of options is none of the word.
        (self.args)(command).about(self.about).long_about(self.about)
    }
}
