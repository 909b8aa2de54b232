//! The section of citations: what this run used, as text and as BibTeX. The publications are in `works.bib`; here is what each of
//! them is cited for.

use super::record::Field;
use super::section::Section;
use maud::html;
use serde_json::Value;

/// All publications, in BibTeX.
const BIBTEX: &str = include_str!("works.bib");

/// A publication in the order of citations.
struct Work {
    /// Its key in BibTeX.
    key: &'static str,
    /// What it is cited for.
    purpose: &'static str,
    /// True if the run used it.
    is_used: fn(&Value) -> bool,
}

const fn work(key: &'static str, purpose: &'static str, is_used: fn(&Value) -> bool) -> Work {
    Work { key, purpose, is_used }
}

/// All models of a run as one text.
fn has_model(result: &Value, is_wanted: impl Fn(&str) -> bool) -> bool {
    let one = result.text("model").into_iter();
    let selected = result.list("model_selection").iter().filter_map(|one| one.text("chosen"));
    let of_genes = result.list("genes.each").iter().filter_map(|one| one.text("model"));
    one.chain(result.texts("model")).chain(selected).chain(of_genes).any(is_wanted)
}

fn searches(result: &Value) -> bool {
    result.at("agreement").is_some()
        || result.at("timings.search").is_some()
        || result.at("bootstrap.sampling").is_some()
        || result.at("genes").is_some()
}

fn has_test(result: &Value, name: &str) -> bool {
    let tests = result.list("topology_tests.trees").iter();
    tests.filter_map(|tree| tree.at("tests")).any(|tests| tests.get(name).is_some())
}

fn has_support(result: &Value, name: &str) -> bool {
    result.texts("support.label").contains(&name)
}

fn has_word(result: &Value, words: &[&str]) -> bool {
    result.text("command").unwrap_or_default().split_whitespace().any(|word| words.contains(&word))
}

fn has_likelihood(result: &Value) -> bool {
    result.number("log_likelihood").is_some() || result.at("sampling").is_some() || searches(result)
}

/// The name of the matrix of a model: what stands before its first parameter.
fn matrix(model: &str) -> &str {
    model.split(['+', '{']).next().unwrap_or(model)
}

const CODON_MODELS: [&str; 2] = ["GY", "MG"];

const WORKS: &[Work] = &[
    work("Felsenstein1981", "likelihood of a tree", has_likelihood),
    work("Stamatakis2008", "likelihoods of alignments with missing data", has_likelihood),
    work("Kobert2017", "site repeats", has_likelihood),
    work("Stamatakis2005", "the search by subtree rearrangement", searches),
    work("Stamatakis2014", "the search by subtree rearrangement", searches),
    work("Fitch1971", "parsimony of starting trees", searches),
    work("Tavare1986", "the model GTR", |result| has_model(result, |model| matrix(model) == "GTR")),
    work("Hasegawa1985", "the model HKY", |result| {
        has_model(result, |model| matrix(model) == "HKY")
    }),
    work("Yang1994", "gamma-distributed rates over sites", |result| {
        has_model(result, |model| {
            model
                .split('+')
                .skip(1)
                .any(|part| part.strip_prefix('G').is_some_and(|rest| !rest.starts_with('C')))
        })
    }),
    work("Soubrier2012", "free rates over sites", |result| {
        has_model(result, |model| model.split('+').skip(1).any(|part| part.starts_with('R')))
    }),
    work("Le2008", "the matrix LG", |result| has_model(result, |model| matrix(model) == "LG")),
    work("Whelan2001", "the matrix WAG", |result| {
        has_model(result, |model| matrix(model) == "WAG")
    }),
    work("Jones1992", "the matrix JTT", |result| {
        has_model(result, |model| matrix(model).starts_with("JTT"))
    }),
    work("Le2012", "LG4M and LG4X", |result| {
        has_model(result, |model| matrix(model).starts_with("LG4"))
    }),
    work("LeGascuelLartillot2008", "profile mixtures", |result| {
        let has_profiles = |model: &str| {
            let parts = model.split(['+', '{']).skip(1);
            parts.filter_map(|part| part.strip_prefix('C')).any(|n| n.parse::<u8>().is_ok())
        };
        result.at("site_frequencies.guides").is_some() || has_model(result, has_profiles)
    }),
    work("Wang2018", "frequencies of sites (PMSF)", |result| {
        result.at("site_frequencies").is_some()
    }),
    work("LeLartillotGascuel2008", "mixtures of matrices", |result| {
        has_model(result, |model| ["EX2", "EX3", "EHO", "UL2", "UL3"].contains(&matrix(model)))
    }),
    work("Mayrose2004", "rates of sites", |result| result.at("site_rates").is_some()),
    work("Goldman1994", "codon models", |result| {
        has_model(result, |model| CODON_MODELS.contains(&matrix(model)) || model.contains("+CODE"))
    }),
    work("Lewis2001", "discrete characters", |result| {
        has_model(result, |model| model.starts_with("MULTI") || model.contains("ASC_LEWIS"))
    }),
    work("Schwarz1978", "model selection by BIC", |result| {
        result.list("model_selection").iter().any(|one| one.text("criterion") == Some("BIC"))
    }),
    work("Akaike1974", "model selection by AIC", |result| {
        result.list("model_selection").iter().any(|one| one.text("criterion") == Some("AIC"))
    }),
    work("Hurvich1989", "model selection by AICc", |result| {
        result.list("model_selection").iter().any(|one| one.text("criterion") == Some("AICc"))
    }),
    work("Lanfear2012", "merging of partitions", |result| result.at("partition_merging").is_some()),
    work("Felsenstein1985", "bootstrap", |result| {
        result.at("bootstrap").is_some() || has_support(result, "fbp")
    }),
    work("Pattengale2010", "number of replicates", |result| {
        result.at("bootstrap.bootstopping").is_some()
    }),
    work("Lemoine2018", "transfer bootstrap", |result| has_support(result, "tbe")),
    work("Guindon2010", "SH-aLRT", |result| has_support(result, "sh_alrt")),
    work("Anisimova2011", "aBayes", |result| has_support(result, "abayes")),
    work("Salichos2014", "internode certainty", |result| {
        has_support(result, "ic1") || has_support(result, "ica")
    }),
    work("Minh2020", "concordance factors", |result| {
        has_support(result, "gcf")
            || has_support(result, "scf")
            || result.at("concordance").is_some()
    }),
    work("Kishino1990", "resampling of site log-likelihoods (RELL)", |result| {
        result.at("topology_tests").is_some()
    }),
    work("Kishino1989", "the KH test", |result| has_test(result, "kh") || has_test(result, "wkh")),
    work("Shimodaira1999", "the SH test", |result| {
        has_test(result, "sh") || has_test(result, "wsh")
    }),
    work("Shimodaira2002", "the AU test", |result| has_test(result, "au")),
    work("Strimmer2002", "expected likelihood weights", |result| has_test(result, "elw")),
    work("Yang1995", "ancestral states", |result| result.at("ancestral").is_some()),
    work("Altekar2004", "Metropolis-coupled Markov chains", |result| {
        result.at("sampling").is_some()
    }),
    work("Ronquist2012", "priors", |result| result.at("sampling").is_some()),
    work("Lakner2008", "proposals of trees", |result| result.at("sampling").is_some()),
    work("Sanderson2011", "terraces", |result| result.at("terrace").is_some()),
    work("Robinson1981", "distances between trees", |result| result.at("rf_distances").is_some()),
    work("Margush1981", "the consensus tree", |result| result.at("consensus_tree").is_some()),
    work("Felsenstein1996", "distances under F84", |result| {
        result.text("distances.method").is_some_and(|method| method.contains("F84"))
    }),
    work("Saitou1987", "neighbor joining", |result| has_word(result, &["nj"])),
    work("Gascuel1997", "BIONJ", |result| has_word(result, &["bionj"])),
    work("Desper2002", "balanced minimum evolution", |result| has_word(result, &["bme"])),
    work("Farris1972", "the root at the midpoint", |result| {
        has_word(result, &["midpoint", "--root=midpoint"])
    }),
];

/// The section.
pub(super) fn section(result: &Value) -> Option<Section> {
    let works: Vec<&Work> = WORKS.iter().filter(|work| (work.is_used)(result)).collect();
    if works.is_empty() {
        return None;
    }
    let bibtex: Vec<&str> = works.iter().map(|work| entry(work.key)).collect();
    let body = html! {
        p { "This run used mlsearch " (result.text("version").unwrap_or_default()) " and these methods:" }
        ul { @for work in &works { li { (text_of(entry(work.key))) " " span.soft { "(" (work.purpose) ")" } } } }
        details {
            summary { "BibTeX" }
            p { button.plain.copy type="button" data-from="bibtex" { "Copy" } }
            pre id="bibtex" tabindex="0" { (bibtex.join("\n\n")) }
        }
    };
    Some(Section { id: "cite", title: "How to cite", body })
}

/// The entry of a publication.
fn entry(key: &str) -> &'static str {
    let start = format!("@article{{{key},");
    BIBTEX.split("\n\n").map(str::trim).find(|entry| entry.starts_with(&start)).unwrap_or_default()
}

/// A field of an entry, without braces.
fn field(entry: &str, name: &str) -> String {
    let start = format!("  {name} = {{");
    let line = entry.lines().find_map(|line| line.strip_prefix(&start)).unwrap_or_default();
    let line = line.trim_end_matches(',');
    let accents = [("{\\'e}", "é"), ("{\\'a}", "á"), ("{\\\"o}", "ö"), ("--", "–")];
    let plain = accents.iter().fold(line.to_string(), |text, (from, to)| text.replace(from, to));
    plain.replace(['{', '}'], "")
}

/// An entry as a line of text.
fn text_of(entry: &str) -> String {
    let of = |name: &str| field(entry, name);
    let names = of("author");
    let names: Vec<&str> = names.split(" and ").collect();
    let authors = match names.as_slice() {
        [first, ..] if names.len() > 3 => format!("{first} et al."),
        [most @ .., last] if !most.is_empty() => format!("{} & {last}", most.join(", ")),
        _ => names.concat(),
    };
    format!(
        "{authors} {}. {}. {} {}:{}.",
        of("year"),
        of("title"),
        of("journal"),
        of("volume"),
        of("pages")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(json: &str) -> Vec<&'static str> {
        let result: Value = serde_json::from_str(json).unwrap();
        WORKS.iter().filter(|work| (work.is_used)(&result)).map(|work| work.key).collect()
    }

    #[test]
    fn only_what_was_used_is_cited() {
        let evaluation =
            used(r#"{"log_likelihood": -1.0, "model": "LG+FC+I{0.1}+R2{1/2}{0.5/0.5}"}"#);
        let expected =
            ["Felsenstein1981", "Stamatakis2008", "Kobert2017", "Soubrier2012", "Le2008"];
        assert_eq!(evaluation, expected);
        let search = used(
            r#"{"log_likelihood": -1, "agreement": {}, "model": ["GTR{1/2}+G4m{0.5}", "GTR+GC"], "support": {"label": ["tbe"]}}"#,
        );
        for key in ["Stamatakis2014", "Tavare1986", "Yang1994", "Lemoine2018"] {
            assert!(search.contains(&key), "{search:?}");
        }
        assert!(used("{}").is_empty());
    }

    #[test]
    fn every_publication_has_an_entry_of_its_own() {
        let mut keys: Vec<&str> = WORKS.iter().map(|work| work.key).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!((keys.len(), BIBTEX.matches("@article{").count()), (WORKS.len(), WORKS.len()));
        for work in WORKS {
            let (entry, text) = (entry(work.key), text_of(entry(work.key)));
            assert_eq!(entry.matches('{').count(), entry.matches('}').count(), "{entry}");
            assert!(!text.contains(['{', '\\']) && !text.contains(". ."), "{text}");
            for name in ["author", "title", "journal", "year", "volume", "pages"] {
                assert!(!field(entry, name).is_empty(), "{}: {name}", work.key);
            }
        }
        let first = text_of(entry("Stamatakis2014"));
        assert!(first.starts_with("Stamatakis, A. 2014. RAxML version 8"), "{first}");
    }
}
