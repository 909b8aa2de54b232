//! Which analysis a command line asks for, by a word or by options, and the words with which its options are read.

use super::flat::{OfWord, of_word, option_of, word_of_option, words_with};
use super::typed::{Typed, WordKind};
use crate::commands::{Word, find_word};
use crate::model_selection::MergeMethod;
use crate::plan::{DataArgs, Reading, not_used};
use clap::{Args, Command};
use std::sync::LazyLock;

/// Options that other analyses take without any effect: RAxML's users give them always.
const WITHOUT_EFFECT: [&str; 5] = ["lh_epsilon", "opt_model", "tree", "random_start", "brlen"];

/// An analysis, and its options.
pub(super) struct Chosen {
    /// The analysis.
    pub of: &'static OfWord,
    /// The words of its options.
    pub words: Vec<String>,
}

/// One option that names an analysis, or the word.
struct Asked {
    /// As it was typed.
    spelled: String,
    /// Different analyses have different names: a search with replicates is not one without.
    name: &'static str,
    word: &'static Word,
}

/// Finds the analysis; what contradicts it is noted.
pub(super) fn choose(typed: &[Typed], reading: &mut Reading) -> Chosen {
    let mut rewriter = Rewriter { typed, reading, asked: Vec::new(), added: Vec::new() };
    let kept: Vec<&Typed> = typed.iter().filter(|one| rewriter.keeps(one)).collect();
    let word = rewriter.word();
    let added = rewriter.added;
    let of = of_word(word);
    let mut words = added;
    let mut unused = Vec::new();
    for one in kept {
        match &one.kind {
            WordKind::Own(id) if !of.has(id) => misplaced(one, id, of, &mut unused, reading),
            _ => words.extend_from_slice(&one.words),
        }
    }
    if !unused.is_empty() {
        reading.notes.push(not_used(&unused));
    }
    Chosen { of, words }
}

/// What becomes of an option that the analysis does not have.
fn misplaced<'a>(
    one: &'a Typed,
    id: &str,
    of: &OfWord,
    unused: &mut Vec<&'a str>,
    reading: &mut Reading,
) {
    let reads_trees_only = !of.has("msa") && !of.word.has_own_options;
    if reads_trees_only && OF_DATA.iter().any(|of_data| of_data == id) {
        unused.push(one.option());
        return;
    }
    let (option, name) = (one.option(), of.word.name);
    if WITHOUT_EFFECT.contains(&id) && !of.word.has_own_options {
        reading.notes.push(format!("'{option}' has no effect on {name}"));
        return;
    }
    let others = words_with(id);
    let message = match others.as_slice() {
        [] => format!("'{option}' is no option of {name}"),
        [only] => format!("'{option}' is no option of {name}; {only} has it"),
        [most @ .., last] => {
            format!("'{option}' is no option of {name}; {} and {last} have it", most.join(", "))
        }
    };
    reading.refusals.add(message);
}

/// Identifiers of the options on data and model.
static OF_DATA: LazyLock<Vec<String>> = LazyLock::new(|| {
    let command = DataArgs::augment_args(Command::new(""));
    command.get_arguments().map(|arg| arg.get_id().to_string()).collect()
});

/// Turns options that name an analysis into its word and its own options.
struct Rewriter<'a> {
    typed: &'a [Typed],
    reading: &'a mut Reading,
    asked: Vec<Asked>,
    /// Words of options that stand for others.
    added: Vec<String>,
}

impl Rewriter<'_> {
    /// False for what names the analysis, which is noted.
    fn keeps(&mut self, one: &Typed) -> bool {
        match &one.kind {
            WordKind::Analysis(name, _) => {
                if let Some(word) = find_word(name) {
                    self.ask_for_word(word);
                }
                false
            }
            WordKind::Own(id) if id == "algorithm" => {
                let letter = one.value.as_deref().unwrap_or_default();
                self.ask_by_letter(one, letter);
                false
            }
            WordKind::Own(id) => self.keeps_option(one, id),
            _ => true,
        }
    }

    fn has(&self, id: &str) -> bool {
        self.typed.iter().any(|one| matches!(&one.kind, WordKind::Own(own) if own == id))
    }

    fn add(&mut self, words: &[&str]) {
        self.added.extend(words.iter().map(|word| word.to_string()));
    }

    /// Adds an option with its value, unless it was typed.
    fn add_unless_typed(&mut self, id: &str, words: &[&str]) {
        if !self.has(id) {
            self.add(words);
        }
    }

    fn ask(&mut self, spelled: impl Into<String>, name: &'static str, word: &'static str) {
        if let Some(word) = find_word(word) {
            self.asked.push(Asked { spelled: spelled.into(), name, word });
        }
    }

    fn ask_for_word(&mut self, word: &'static Word) {
        if let Some((id, words)) = word.preset {
            self.add_unless_typed(id, words);
        }
        match word.name {
            // What is checked may follow; it is a search if nothing does.
            "check" => {}
            // Without a tree, those of a search are meant.
            "ancestral" if !self.has("tree") && !self.has("many_trees") => {
                self.ask("ancestral", "search", "search");
            }
            "test" | "ancestral" => self.ask(word.name, "evaluate", "evaluate"),
            name => self.ask(name, name, name),
        }
    }

    fn keeps_option(&mut self, one: &Typed, id: &str) -> bool {
        let Some(word) = word_of_option(id) else { return true };
        // Right after a word that has it, it is an option like others.
        let has = |word: &'static Word| of_word(word).has(id);
        if let Some(WordKind::Analysis(name, _)) = self.typed.first().map(|first| &first.kind)
            && find_word(name).is_some_and(has)
        {
            return true;
        }
        let is_own = has(word);
        let name = if id == "all" { "all" } else { word.name };
        self.ask(self.spelled(one, id), name, word.name);
        if let (Some(value), Some(of_value), false) = (&one.value, word.value, is_own) {
            if id == "rfdist" && self.has("many_trees") {
                self.reading
                    .refusals
                    .add("--rfdist FILE and -z both name the file of trees: give only one of them");
            } else {
                self.add(&[&option_of(word, of_value), value]);
            }
        }
        if id == "raxml_certainty" {
            self.add_unless_typed("bs_metric", &["--bs-metric", "ic1,ica"]);
        }
        is_own
    }

    fn spelled(&self, one: &Typed, id: &str) -> String {
        match id {
            "start" => "--start (-y)".to_string(),
            _ => one.option().to_string(),
        }
    }

    /// RAxML's `-f`.
    fn ask_by_letter(&mut self, one: &Typed, letter: &str) {
        let makes_replicates = self.has("bootstrap_seed") || self.has("rapid_seed");
        let (name, word) = match letter {
            // -b (-x) together with -f d means replicates, as in RAxML.
            "d" if makes_replicates => ("bootstrap", "bootstrap"),
            "d" => ("search", "search"),
            "c" => {
                self.add_unless_typed("check", &["--check"]);
                return;
            }
            "e" => ("evaluate", "evaluate"),
            "a" => {
                self.add_unless_typed("all", &["--all"]);
                ("all", "search")
            }
            "b" => ("support", "support"),
            "i" => {
                self.add_unless_typed("bs_metric", &["--bs-metric", "ic1,ica"]);
                ("support", "support")
            }
            "j" => ("resample", "resample"),
            "r" | "R" => {
                if letter == "R" && !(self.has("tree") && self.has("many_trees")) {
                    self.reading.refusals.add(
                        "-f R compares the trees of -z with that of -t: give both, -t FILE and -z FILE",
                    );
                }
                ("compare", "compare")
            }
            "x" => ("distance", "distance"),
            "h" | "H" => {
                self.add(&["--tests", "sh"]);
                ("evaluate", "evaluate")
            }
            "w" | "W" => {
                self.add(&["--tests", "elw"]);
                ("evaluate", "evaluate")
            }
            "A" => {
                self.add_unless_typed("ancestral", &["--ancestral"]);
                ("evaluate", "evaluate")
            }
            "I" => ("root", "root"),
            _ => {
                self.reading.refusals.add(format!(
                    "-f {letter} is unknown: expected d (search), e (evaluate), a (all), b (support), c (check), \
                     i (internode certainty), j (bootstrap alignments), r, R (distances between trees), x (distances between sequences), h (SH test), w (expected \
                     likelihood weights), A (ancestral states) or I (rooting of trees)"
                ));
                return;
            }
        };
        if let "h" | "w" = letter {
            self.reading.notes.push(format!(
                "-f {letter}: the model is estimated on each tree, as by RAxML's -f {}; --opt-model off with a bestModel \
                 file keeps one",
                letter.to_uppercase()
            ));
        }
        let spelled = if one.value.is_some() { format!("-f {letter}") } else { "-f".into() };
        self.ask(spelled, name, word);
    }

    /// True for `--merge` with a method, which is no file of genes.
    fn says_how_to_merge(&self) -> bool {
        let is_method = |value: &str| value == "off" || MergeMethod::read(value).is_ok();
        self.typed.iter().any(|one| one.is("merge") && one.value.as_deref().is_some_and(is_method))
    }

    /// The analysis that was asked for, or else that which the other options are about.
    fn word(&mut self) -> &'static Word {
        let has = |ids: &[&str]| ids.iter().any(|id| self.has(id));
        let gives_trees = has(&["tree", "many_trees"]);
        let standard = match () {
            () if has(&["bootstrap_seed", "rapid_seed"]) => "bootstrap",
            // RAxML-NG's --sitelh is a command on given trees, and so are --ancestral and --mutmap.
            () if has(&["sitelh", "ancestral", "mutmap"]) && has(&["tree"]) => "evaluate",
            () if has(&["tests"]) => "evaluate",
            () if self.says_how_to_merge() => "select",
            () if !has(&["msa"]) && has(&["outgroup", "root"]) && gives_trees => "root",
            () => "search",
        };
        if let Some(first) = self.asked.first()
            && self.asked.iter().any(|other| other.name != first.name)
        {
            let names: Vec<&str> = self.asked.iter().map(|one| one.spelled.as_str()).collect();
            self.reading.refusals.add(format!(
                "these options name different analyses: {}; give only one of them",
                names.join(", ")
            ));
        }
        let first = self.asked.first().map(|first| first.word);
        first.or(find_word(standard)).unwrap_or(&crate::commands::WORDS[0])
    }
}
