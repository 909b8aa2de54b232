//! From the words of a command line to an analysis, or to everything that is wrong with them.

use super::choose::{Chosen, choose};
use super::fasttree::instead_of_fasttree;
use super::flat::flat;
use super::parser_words::refusal;
use super::phyml::instead_of_phyml;
use super::typed::{Typed, WordKind, lex};
use super::verdict::{Verdict, judge};
use crate::cli::help;
use crate::commands::{Analysis, find_word};
use crate::error::{Error, shorten};
use crate::output::Names;
use crate::plan::{NO_MODEL, Reading, Said};
use crate::steps::options::NO_ROOT;

/// Options that choose GPUs.
const OF_GPUS: [&str; 3] = ["backend", "gpu", "gpu_precision"];

/// Most words of a command line: each takes the option parser half a kilobyte.
const MAX_WORDS: usize = 10_000;

/// Why no analysis came back.
#[derive(Debug)]
pub enum Stop {
    /// The option parser's own message: the version, or a refusal for which there are no other words.
    Clap(clap::Error),
    /// Our refusal.
    Refused(Error),
    /// Help or a guide that is to be printed.
    Text(String),
    /// There is no command; this tells what there is.
    NoCommand(String),
}

impl Stop {
    fn of_parser(error: clap::Error) -> Self {
        refusal(&error).map_or(Stop::Clap(error), Stop::Refused)
    }
}

/// Reads a command line, `words[0]` being the program.
///
/// # Errors
/// Options that are known but not supported (all of them named in one message, with the corrected command
/// where there is one), every contradiction, missing option and unusable value, everything the option parser refuses, and help
/// and version, which also end the run.
pub fn parse(words: &[String]) -> Result<Analysis, Stop> {
    let rest = words.get(1..).unwrap_or_default();
    if rest.is_empty() {
        return Err(Stop::NoCommand(help::words()));
    }
    if rest.len() > MAX_WORDS {
        return Err(Stop::Refused(Error::Usage(format!(
            "the command line has {} words, but no command needs more than {MAX_WORDS}: is there a pattern of file \
             names (*) without quotation marks?",
            rest.len()
        ))));
    }
    if let Some(text) = help::wanted(rest).map_err(Stop::Refused)? {
        return Err(Stop::Text(text));
    }
    let mut typed = lex(rest);
    let of_fasttree = instead_of_fasttree(rest).map(|command| ("FastTree", command));
    let of_phyml = || instead_of_phyml(rest).map(|command| ("PhyML", command));
    if let Some((program, command)) = of_fasttree.or_else(of_phyml) {
        return Err(Stop::Refused(Error::Usage(format!(
            "this looks like a command line of {program}, which is not read here\nTry: {command}"
        ))));
    }
    let named;
    let mut rest = rest;
    if let Some(names) = Names::of_program(&words[0])
        && !typed.iter().any(|one| one.is("names"))
        && !has_own_options(&typed)
    {
        named = [rest, &["--names".to_string(), names.to_string()]].concat();
        rest = &named;
        typed = lex(rest);
    }
    if let Some(text) = help_on(&typed) {
        return Err(Stop::Text(text));
    }
    let verdicts: Vec<Verdict> = match has_own_options(&typed) {
        true => vec![Verdict::Stays; typed.len()],
        false => typed.iter().map(|one| judge(one, &typed)).collect(),
    };
    refuse(&typed, &verdicts)?;
    let mut reading = Reading { said: said(rest, &typed), ..Reading::default() };
    let mut understood = Vec::new();
    for (one, verdict) in typed.into_iter().zip(verdicts) {
        match verdict {
            Verdict::Taken(words, note) => {
                understood.extend(lex(&words));
                reading.notes.push(note);
            }
            _ => understood.push(one),
        }
    }
    read(&understood, reading)
}

/// Lets the option parser bind the options of the analysis, and reads them.
fn read(typed: &[Typed], mut reading: Reading) -> Result<Analysis, Stop> {
    let Chosen { of, words } = choose(typed, &mut reading);
    // An option that no analysis has is compared with those of all.
    let is_unknown = |one: &&Typed| {
        one.kind == WordKind::Unknown && one.words[0].starts_with("--") && one.words[0].len() > 2
    };
    let unknown = typed.iter().find(is_unknown).filter(|_| !of.word.has_own_options);
    let version = typed.iter().find(|one| one.is("version"));
    if let Some(one) = version.or(unknown) {
        let words = ["mlsearch".to_string(), one.words[0].clone()];
        if let Err(error) = flat().try_get_matches_from(words) {
            return Err(Stop::of_parser(error));
        }
    }
    let words = std::iter::once(of.word.name.to_string()).chain(words);
    let matches = of.word.command().try_get_matches_from(words).map_err(Stop::of_parser)?;
    let analysis = (of.word.read)(&matches, &mut reading).map_err(Stop::of_parser)?;
    let mut refusals = reading.refusals.0;
    if refusals.is_empty() {
        return Ok(analysis);
    }
    shorten(&mut refusals);
    let line = &reading.said.line;
    // The plainest command of all: users who name no model may want one selected, as in IQ-TREE.
    if refusals == [NO_MODEL] {
        // None can be selected for codons.
        let data_type = typed.iter().find(|one| one.is("data_type"));
        let data_type = data_type.and_then(|one| one.value.as_deref()).unwrap_or_default();
        let is_codon = data_type.to_ascii_uppercase().starts_with("CODON");
        refusals.push(format!("Try: {line} -m {}", if is_codon { "GY+F3X4" } else { "auto" }));
    }
    if refusals == [NO_ROOT] {
        refusals.push(format!("Try: {line} --root midpoint"));
    }
    Err(Stop::Refused(Error::Usage(refusals.join("\n"))))
}

/// True for tools, which have no options of other programs.
fn has_own_options(typed: &[Typed]) -> bool {
    match typed.first().map(|first| &first.kind) {
        Some(WordKind::Analysis(name, _)) => {
            find_word(name).is_some_and(|word| word.has_own_options)
        }
        _ => false,
    }
}

/// The help that an option asks for.
fn help_on(typed: &[Typed]) -> Option<String> {
    let asked = typed.iter().find(|one| one.is("help"))?;
    let is_long = asked.typed[0].starts_with("--");
    let word = match typed.first().map(|first| &first.kind) {
        Some(WordKind::Analysis(name, _)) => find_word(name),
        _ => None,
    };
    Some(help::page(word, is_long))
}

/// The command as it was typed.
fn said(rest: &[String], typed: &[Typed]) -> Said {
    let without = |ids: &[&str]| {
        let kept = typed.iter().filter(|one| !ids.iter().any(|id| one.is(id)));
        line(kept.flat_map(|one| &one.typed))
    };
    // Scores in single precision are those of GPUs.
    let is_single = |one: &Typed| one.is("gpu_precision") && one.value.as_deref() == Some("single");
    let resuming = without(&["redo"]);
    let on_processor = match typed.iter().any(is_single) {
        true => resuming.clone(),
        false => without(&[&["redo"], &OF_GPUS[..]].concat()),
    };
    Said { line: line(rest), resuming, on_processor }
}

/// Refuses what was judged so, with the corrected command if every refused option has something in its
/// place and the result is a command.
fn refuse(typed: &[Typed], verdicts: &[Verdict]) -> Result<(), Stop> {
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
    match parse(&words) {
        Ok(_) => Some(Vec::new()),
        Err(Stop::Refused(error)) => Some(error.to_string().lines().map(String::from).collect()),
        Err(_) => None,
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
    use super::*;
    use crate::plan::Threads;
    use std::path::PathBuf;

    fn typed(line: &str) -> Result<Analysis, Stop> {
        let words: Vec<String> = line.split_whitespace().map(String::from).collect();
        parse(&words)
    }

    #[test]
    fn letters_long_names_single_dashes_and_prefixes_are_the_same_option() {
        for line in [
            "mlsearch -s a.phy -m GTR+G -T 2 -# 10 -b 3",
            "mlsearch --msa a.phy --model GTR+G --threads 2 -#10 -b3",
            "mlsearch -msa=a.phy -model GTR+G -threads 2 -N 10 -b 3",
            "mlsearch --ms a.phy --mod GTR+G --thr 2 -# 10 -b 3",
        ] {
            let plan = typed(line).unwrap_or_else(|stop| panic!("{line}: {stop:?}")).plan;
            assert_eq!(plan.data.msa, Some(PathBuf::from("a.phy")), "{line}");
            assert_eq!(plan.data.model.as_deref(), Some("GTR+G"));
            assert_eq!(plan.run.threads, Threads::Fixed(2));
            assert_eq!((plan.bootstrap.replicates, plan.bootstrap.seed), (10, 3));
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
    fn unknown_options_and_missing_values_are_refused() {
        for line in ["mlsearch --no-such", "mlsearch -s", "mlsearch -p x", "mlsearch -s a -s b"] {
            assert!(matches!(typed(line), Err(Stop::Refused(e)) if e.exit_code() == 2), "{line}");
        }
        assert!(
            matches!(typed("mlsearch --help"), Err(Stop::Text(text)) if text.contains("--msa"))
        );
        let Err(Stop::Text(help)) = typed("mlsearch sample --help") else { panic!("no help") };
        assert!(help.contains("--ngen") && help.contains("--msa"), "{help}");
        assert!(!help.contains("--bs-trees") && !help.contains("gpu-selftest"), "{help}");
    }

    #[test]
    fn the_recorded_command_can_be_typed_again() {
        let words = ["mlsearch", "-s", "my file.phy", "-m", "JC", "--tree", "pars{5}"];
        let analysis = parse(&words.map(String::from)).unwrap();
        assert_eq!(analysis.command_line(), "mlsearch -s 'my file.phy' -m JC --tree 'pars{5}'");
        // Words stay words.
        let line = "mlsearch compare a.nwk --prefix b --redo";
        let analysis = typed(line).unwrap();
        assert_eq!(analysis.command_line(), line);
        assert_eq!(analysis.plan.resuming_command, "mlsearch compare a.nwk --prefix b");
    }

    #[test]
    fn the_command_that_resumes_is_the_same_without_redo_in_any_spelling() {
        for redo in ["--redo", "--red", "-redo"] {
            let words = ["mlsearch", redo, "-s", "to --redo it's.phy", "-model=GTR{1 2}", "-nx"];
            let plan = parse(&words.map(String::from)).unwrap().plan;
            assert!(plan.output.redo && plan.command_line.starts_with("mlsearch -"), "{redo}");
            let expected = r"mlsearch -s 'to --redo it'\''s.phy' '-model=GTR{1 2}' -nx";
            assert_eq!(plan.resuming_command, expected, "{redo}");
        }
        let words = ["mlsearch", "-s", "a", "--", "--redo"].map(String::from);
        assert!(parse(&words).is_err());
        for (gpus, expected) in [
            ("--backend cuda", "mlsearch -s a -m JC"),
            ("--gpu=0,1 -backend=cuda", "mlsearch -s a -m JC"),
            ("--gpu 1 --gpu-p double", "mlsearch -s a -m JC"),
            (
                "--gpu 1 --gpu-precision single",
                "mlsearch --gpu 1 --gpu-precision single -s a -m JC",
            ),
        ] {
            let line = format!("mlsearch {gpus} -s a -m JC --redo");
            let words: Vec<String> = line.split_whitespace().map(String::from).collect();
            assert_eq!(parse(&words).unwrap().plan.processor_command, expected, "{line}");
        }
    }
}
