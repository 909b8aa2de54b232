//! From the words of a command line to [`Args`]; options of other programs are understood, or refused with
//! an answer.

use super::args::{Args, OF_SAMPLES};
use super::guides;
use super::resolve::resolve;
use super::typed::{self, Typed, WordKind};
use super::verdict::{Verdict, judge};
use crate::error::{Error, shorten};
use clap::{Arg, Command, CommandFactory, FromArgMatches};

/// The message for a command line without options.
const NOTHING: &str = "\
no alignment (-s FILE) and no model (-m MODEL) were given. For example:
  mlsearch -s aln.phy -m GTR+G                       the best tree of an alignment
  mlsearch -s aln.phy -m auto --all --bs-trees 100   model selection, the best tree, support
  mlsearch -s aln.phy -m GTR+G --check               a description of the data, the time and memory of a run";

/// Words for analyses that may stand first, and the options that mean the same; where the other options tell the
/// analysis, nothing.
const WORDS: [(&str, &str); 21] = [
    ("search", "--search"),
    ("all", "--all"),
    ("evaluate", "--evaluate"),
    ("bootstrap", "--bootstrap"),
    ("support", "--support"),
    ("distance", "--dist"),
    ("sample", "--mcmc"),
    ("consensus", "--consense"),
    ("consense", "--consense"),
    ("compare", "--rfdist"),
    ("rfdist", "--rfdist"),
    ("terrace", "--terrace"),
    ("start", "--start"),
    ("check", "--check"),
    ("parse", "--check"),
    ("ancestral", "--ancestral"),
    ("bsmsa", "--bsmsa"),
    ("bsconverge", "--bsconverge"),
    ("converge", "--bsconverge"),
    ("concordance", ""),
    ("root", ""),
];

/// Options that choose cards.
const OF_CARDS: [&str; 3] = ["backend", "gpu", "gpu_precision"];

/// Most words of a command line: each takes the option parser half a kilobyte.
const MAX_WORDS: usize = 10_000;

/// Why no [`Args`] came back.
#[derive(Debug)]
pub enum Stop {
    /// The option parser's own message (unknown option, missing value), or help and version.
    Clap(clap::Error),
    /// Our refusal.
    Refused(Error),
    /// A guide that is to be printed.
    Guide(&'static str),
}

/// Parses a command line, `words[0]` being the program.
///
/// # Errors
/// Options that are known but not supported (all of them named in one message, with the corrected command
/// where there is one), everything the option parser refuses, and help and version, which also end the
/// run.
pub fn parse(words: &[String]) -> std::result::Result<Args, Stop> {
    let mut command = Args::command();
    command.build();
    let rest = words.get(1..).unwrap_or_default();
    if rest.is_empty() {
        return Err(Stop::Refused(Error::Usage(NOTHING.to_string())));
    }
    if rest.len() > MAX_WORDS {
        return Err(Stop::Refused(Error::Usage(format!(
            "the command line has {} words, but no command needs more than {MAX_WORDS}: is there a pattern of file \
             names (*) without quotation marks?",
            rest.len()
        ))));
    }
    if let Some(guide) = guides::wanted(rest).map_err(Stop::Refused)? {
        return Err(Stop::Guide(guide));
    }
    let mut rest = rest.to_vec();
    // The help on a word that is an option.
    if let [help, word] = rest.as_slice()
        && help == "help"
        && WORDS.iter().any(|known| known.0 == word)
    {
        rest = vec![word.clone(), "--help".to_string()];
    }
    if rest[0] == "sample" {
        command = describing_samples(command);
    }
    match WORDS.iter().find(|word| word.0 == rest[0]) {
        Some((_, "")) => drop(rest.remove(0)),
        Some((_, option)) => rest[0] = option.to_string(),
        None => {}
    }
    let typed = typed::read(&rest, &command);
    // Another mode has options of its own.
    let is_mode = |word: &Typed| word.kind == WordKind::Stray && is_mode(&word.words[0]);
    let verdicts: Vec<Verdict> = match typed.iter().any(is_mode) {
        true => vec![Verdict::Stays; typed.len()],
        false => typed.iter().map(|one| judge(one, &typed)).collect(),
    };
    refuse(&typed, &verdicts)?;
    let mut notes = Vec::new();
    let mut understood = vec!["mlsearch".to_string()];
    for (one, verdict) in typed.iter().zip(verdicts) {
        match verdict {
            Verdict::Taken(words, note) => {
                understood.extend(words);
                notes.push(note);
            }
            _ => understood.extend_from_slice(&one.words),
        }
    }
    let mut args = parse_words(command, &understood)?;
    args.notes = notes;
    args.command_line = line(&rest);
    let resuming = || typed.iter().filter(|one| !one.is("redo"));
    args.resuming_command = line(resuming().flat_map(Typed::words_as_typed));
    // Scores in single precision are those of cards.
    let needs_cards = args.gpu_precision.as_deref() == Some("single");
    let chooses = |one: &Typed| OF_CARDS.iter().any(|name| one.is(name));
    let on_processor = resuming().filter(|one| needs_cards || !chooses(one));
    args.processor_command = line(on_processor.flat_map(Typed::words_as_typed));
    Ok(args)
}

/// The same options, whose help tells of those of samples alone.
fn describing_samples(command: Command) -> Command {
    let is_told =
        |arg: &Arg| arg.get_help_heading().is_none_or(|heading| OF_SAMPLES.contains(&heading));
    command
        .about("Samples trees, branch lengths and parameters from their posterior distribution")
        .long_about(None::<&str>)
        .after_help("All other options: mlsearch --help\nThe guide: mlsearch help sample --guide")
        .after_long_help(None::<&str>)
        .override_usage("mlsearch sample -s <FILE> -m <MODEL> [OPTIONS]")
        .mut_args(|arg| if is_told(&arg) { arg } else { arg.hide(true) })
        .mut_subcommands(|mode| mode.hide(true))
}

fn parse_words(command: Command, words: &[String]) -> std::result::Result<Args, Stop> {
    let matches = command.try_get_matches_from(words).map_err(Stop::Clap)?;
    Args::from_arg_matches(&matches).map_err(Stop::Clap)
}

fn is_mode(word: &str) -> bool {
    word == "help" || Args::command().find_subcommand(word).is_some()
}

/// Refuses what was judged so, with the corrected command if every refused option has something in its
/// place and the result is a command.
fn refuse(typed: &[Typed], verdicts: &[Verdict]) -> std::result::Result<(), Stop> {
    let mut faults = Vec::new();
    let mut corrected = Some(Vec::new());
    for (one, verdict) in typed.iter().zip(verdicts) {
        let words = match verdict {
            Verdict::Stays => Some(&one.words),
            Verdict::Taken(words, _) | Verdict::Adapted(words) => Some(words),
            Verdict::Refused(fault, instead) => {
                faults.push(fault.clone());
                instead.as_ref()
            }
        };
        corrected = corrected.zip(words).map(|(mut all, words): (Vec<String>, _)| {
            all.extend_from_slice(words);
            all
        });
    }
    if faults.is_empty() {
        return Ok(());
    }
    shorten(&mut faults);
    // A command that would be corrected to itself would be so for ever.
    let as_typed: Vec<String> = typed.iter().flat_map(|one| one.words.clone()).collect();
    if let Some(words) = corrected.filter(|words| *words != as_typed) {
        match faults_of(&words) {
            Some(others) if others.is_empty() => faults.push(format!("Try: {}", line(&words))),
            // Other faults of the command itself (and not only of the corrected one) are reported at once, not
            // at the next attempt.
            Some(others) => {
                let kept =
                    typed.iter().zip(verdicts).filter(|(_, v)| !matches!(v, Verdict::Refused(..)));
                let kept: Vec<String> = kept.flat_map(|(one, _)| one.words.clone()).collect();
                let without = faults_of(&kept).unwrap_or_default();
                faults.extend(others.into_iter().filter(|fault| without.contains(fault)));
            }
            None => {}
        }
    }
    Err(Stop::Refused(Error::Usage(faults.join("\n"))))
}

/// What is wrong with these options; `None` if the option parser cannot even read them.
fn faults_of(words: &[String]) -> Option<Vec<String>> {
    let program = ["mlsearch".to_string()].into_iter();
    let words: Vec<String> = program.chain(words.iter().cloned()).collect();
    match parse(&words).and_then(|args| resolve(&args).map_err(Stop::Refused)) {
        Ok(_) => Some(Vec::new()),
        Err(Stop::Refused(error)) => Some(error.to_string().lines().map(String::from).collect()),
        Err(Stop::Clap(_) | Stop::Guide(_)) => None,
    }
}

/// A command as a shell would need it to be typed.
fn line<'a>(words: impl IntoIterator<Item = &'a String>) -> String {
    let words = words.into_iter().map(|word| quoted(word));
    std::iter::once("mlsearch".to_string()).chain(words).collect::<Vec<_>>().join(" ")
}

/// A word as a shell would need it to be typed.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=+,:@%#".contains(c);
    if !word.is_empty() && word.chars().all(plain) && !word.starts_with('#') {
        word.to_string()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::peers;
    use super::*;
    use std::path::PathBuf;

    fn typed(line: &str) -> std::result::Result<Args, Stop> {
        let words: Vec<String> = line.split_whitespace().map(String::from).collect();
        parse(&words)
    }

    #[test]
    fn the_option_table_is_consistent() {
        Args::command().debug_assert();
        for argument in Args::command().get_arguments() {
            for name in argument.get_short_and_visible_aliases().unwrap_or_default() {
                assert!(
                    peers::takes(&name.to_string()).is_none(),
                    "-{name} is offered and refused"
                );
            }
            for name in argument.get_long_and_visible_aliases().unwrap_or_default() {
                assert!(peers::takes(name).is_none(), "--{name} offered and refused");
            }
        }
    }

    #[test]
    fn letters_long_names_single_dashes_and_prefixes_are_the_same_option() {
        for line in [
            "mlsearch -s a.phy -m GTR+G -T 2 -# 10 -b 3",
            "mlsearch --msa a.phy --model GTR+G --threads 2 -#10 -b3",
            "mlsearch -msa=a.phy -model GTR+G -threads 2 -N 10 -b 3",
            "mlsearch --ms a.phy --mod GTR+G --thr 2 -# 10 -b 3",
        ] {
            let args = typed(line).unwrap_or_else(|stop| panic!("{line}: {stop:?}"));
            assert_eq!(args.msa, Some(PathBuf::from("a.phy")), "{line}");
            assert_eq!(args.model.as_deref(), Some("GTR+G"));
            assert_eq!(args.threads.as_deref(), Some("2"));
            assert_eq!((args.runs.as_deref(), args.bootstrap_seed), (Some("10"), Some(3)));
        }
    }

    #[test]
    fn all_later_options_are_named_in_one_message() {
        let stop = typed("mlsearch -s a.phy -A S16 -E x.txt --bnni -ebg").unwrap_err();
        let Stop::Refused(error) = stop else { panic!("{stop:?}") };
        let message = error.to_string();
        assert_eq!(error.exit_code(), 2);
        for option in ["'-A'", "'-E'", "'--bnni'", "'-ebg'"] {
            assert!(message.contains(option), "{message}");
        }
    }

    #[test]
    fn thousands_of_stray_words_and_long_ones_are_refused_in_a_short_message() {
        let stop = typed(&format!("mlsearch --all{}", " x".repeat(5000))).unwrap_err();
        let Stop::Refused(error) = stop else { panic!("{stop:?}") };
        let message = error.to_string();
        assert_eq!(message.lines().count(), 51, "{message}");
        assert!(message.ends_with("... and 4950 more errors"), "{message}");
        let stop = typed(&format!("mlsearch --all{}", " x".repeat(MAX_WORDS))).unwrap_err();
        let Stop::Refused(error) = stop else { panic!("{stop:?}") };
        assert!(error.to_string().contains("the command line has 10001 words"), "{error}");
        assert_eq!(error.exit_code(), 2);
        let stop = typed(&format!("mlsearch --all {}", "x".repeat(5000))).unwrap_err();
        let Stop::Refused(error) = stop else { panic!("{stop:?}") };
        let message = error.to_string();
        let fault = message.lines().next().unwrap_or_default();
        assert!(fault.len() < 400 && fault.contains("xxx... belongs to no option"), "{fault}");
    }

    #[test]
    fn unknown_options_and_missing_values_are_the_parsers_business() {
        for line in ["mlsearch --no-such", "mlsearch -s", "mlsearch -p x", "mlsearch -s a -s b"] {
            assert!(matches!(typed(line), Err(Stop::Clap(e)) if e.exit_code() == 2), "{line}");
        }
        assert!(matches!(typed("mlsearch --help"), Err(Stop::Clap(e)) if e.exit_code() == 0));
        let Err(Stop::Clap(help)) = typed("mlsearch sample --help") else { panic!("no help") };
        let help = help.to_string();
        assert!(help.contains("--ngen") && help.contains("--msa"), "{help}");
        assert!(!help.contains("--bs-trees") && !help.contains("gpu-selftest"), "{help}");
    }

    #[test]
    fn the_recorded_command_can_be_typed_again() {
        let words = ["mlsearch", "-s", "my file.phy", "--tree", "pars{5}", "-#", "3"];
        let args = parse(&words.map(String::from)).unwrap();
        assert_eq!(args.command_line, "mlsearch -s 'my file.phy' --tree 'pars{5}' -# 3");
    }

    #[test]
    fn the_command_that_resumes_is_the_same_without_redo_in_any_spelling() {
        for redo in ["--redo", "--red", "-redo"] {
            let words = ["mlsearch", redo, "-s", "to --redo it's.phy", "-model=GTR{1 2}", "-nx"];
            let args = parse(&words.map(String::from)).unwrap();
            assert!(args.redo && args.command_line.starts_with("mlsearch -"), "{redo}");
            let expected = r"mlsearch -s 'to --redo it'\''s.phy' '-model=GTR{1 2}' -nx";
            assert_eq!(args.resuming_command, expected, "{redo}");
        }
        let words = ["mlsearch", "-s", "a", "--", "--redo"].map(String::from);
        assert!(parse(&words).is_err());
        for (cards, expected) in [
            ("--backend cuda", "mlsearch -s a"),
            ("--gpu=0,1 -backend=cuda", "mlsearch -s a"),
            ("--gpu 1 --gpu-p double", "mlsearch -s a"),
            ("--gpu 1 --gpu-precision single", "mlsearch --gpu 1 --gpu-precision single -s a"),
        ] {
            let line = format!("mlsearch {cards} -s a --redo");
            let words: Vec<String> = line.split_whitespace().map(String::from).collect();
            assert_eq!(parse(&words).unwrap().processor_command, expected, "{line}");
        }
    }
}
