//! Runs inside another program: nothing is printed, the program sees how far they have come, and ends them.

use crate::util::{Scratch, repository};
use mlsearch::cli;
use mlsearch::error::Error;
use mlsearch::run::{Analysis, Watched, execute_watched};
use mlsearch::stop::Stopper;

fn analysis(words: &str, scratch: &Scratch) -> Analysis {
    let data = repository("datasets/primates.phy");
    let line =
        format!("mlsearch {words} -s {} --prefix {}/run", data.display(), scratch.path().display());
    let words: Vec<String> = line.split_whitespace().map(String::from).collect();
    cli::parse(&words).unwrap_or_else(|stop| panic!("{line}: {stop:?}"))
}

#[test]
fn a_watched_run_gives_its_results_to_the_program_and_the_files_of_the_command() {
    let (scratch, command) = (Scratch::new(), Scratch::new());
    let watched = Watched::default();
    assert_eq!(watched.moment(), Default::default());
    let stopper = Stopper::new();
    let search = analysis("search -m GTR+G --fast", &scratch);
    execute_watched(search, stopper.handle(), &watched).unwrap();
    assert!(watched.results().starts_with("Final log-likelihood: -57"), "{}", watched.results());
    assert_eq!(watched.messages(), "");
    assert!(watched.moment().best_lnl.is_some_and(|lnl| lnl < -5700.0));
    let data = repository("datasets/primates.phy");
    command.succeed(&format!("search -m GTR+G --fast -s {} --prefix run", data.display()));
    let tree =
        |scratch: &Scratch| std::fs::read(scratch.path().join("run.mlsearch.bestTree")).unwrap();
    assert_eq!(tree(&scratch), tree(&command));
}

#[test]
fn a_run_that_the_program_ends_is_an_interrupted_one_and_can_be_resumed() {
    let scratch = Scratch::new();
    let stopper = Stopper::new();
    stopper.ask();
    let words = "evaluate -m GTR+G --tree rand{2}";
    let ended = execute_watched(analysis(words, &scratch), stopper.handle(), &Watched::default());
    assert!(matches!(ended, Err(Error::Interrupted { signal: 0, resume: Some(_) })), "{ended:?}");
    assert!(scratch.path().join("run.mlsearch.checkpoint").exists());
    stopper.insist();
    let ended = execute_watched(analysis(words, &scratch), stopper.handle(), &Watched::default());
    assert!(matches!(ended, Err(Error::Interrupted { .. })), "{ended:?}");
    // Another one is not affected.
    let other = Stopper::new();
    execute_watched(analysis(words, &scratch), other.handle(), &Watched::default()).unwrap();
    assert!(!scratch.path().join("run.mlsearch.checkpoint").exists());
}
