//! The section of citations: what this run used, as text and as BibTeX. The publications are in `works.bib`, and what each of them
//! is cited for is in `works.rs`.

use super::record::Field;
use super::section::Section;
use super::works::{WORKS, Work};
use maud::html;
use serde_json::Value;

/// All publications, in BibTeX.
const BIBTEX: &str = include_str!("works.bib");

/// The section.
pub(super) fn section(result: &Value) -> Option<Section> {
    let works: Vec<&Work> = WORKS.iter().filter(|work| (work.is_used)(result)).collect();
    if works.is_empty() {
        return None;
    }
    let bibtex: Vec<&str> = works.iter().map(|work| entry(work.key)).collect();
    let body = html! {
        p {
            "This run used mlsearch " (result.text("version").unwrap_or_default())
            ", which has no publication yet (cite it as software, with its version), and these methods:"
        }
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
    let start = format!("{{{key},");
    let has_key = |entry: &&str| entry.trim_start_matches(|c: char| c != '{').starts_with(&start);
    BIBTEX.split("\n\n").map(str::trim).find(has_key).unwrap_or_default()
}

/// A field of an entry, without braces.
fn field(entry: &str, name: &str) -> String {
    let start = format!("  {name} = {{");
    let line = entry.lines().find_map(|line| line.strip_prefix(&start)).unwrap_or_default();
    let line = line.trim_end_matches(',');
    let accents = [
        ("{\\'e}", "é"),
        ("{\\'a}", "á"),
        ("{\\\"a}", "ä"),
        ("{\\\"o}", "ö"),
        ("{\\\"u}", "ü"),
        ("--", "–"),
    ];
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
    format!("{authors} {}. {}. {}.", of("year"), of("title"), place_of(entry))
}

/// Where it was published: in a journal, in a book with chapters or talks, or by itself.
fn place_of(entry: &str) -> String {
    let of = |name: &str| field(entry, name);
    match entry.split('{').next().unwrap_or_default() {
        "@article" => format!("{} {}:{}", of("journal"), of("volume"), of("pages")),
        "@incollection" => {
            format!("In {}, {}, {}", of("booktitle"), of("publisher"), of("pages"))
        }
        "@inproceedings" => format!("In {}, {}", of("booktitle"), of("pages")),
        "@book" => of("publisher"),
        _ => of("howpublished"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{MATRIX_MIXTURES, PROTEIN_MATRICES, PROTEIN_MIXTURES};

    fn used(json: &str) -> Vec<&'static str> {
        let result: Value = serde_json::from_str(json).unwrap();
        WORKS.iter().filter(|work| (work.is_used)(&result)).map(|work| work.key).collect()
    }

    /// What the run of a model, or of a command, used.
    fn used_by(field: &str, text: &str) -> Vec<&'static str> {
        used(&format!(r#"{{"log_likelihood": -1.0, "{field}": "{text}"}}"#))
    }

    /// Checks that each of the first publications is among those that were used, and none of the second.
    fn check(used: &[&str], wanted: &[&str], unwanted: &[&str]) {
        for key in wanted {
            assert!(used.contains(key), "{key} is not in {used:?}");
        }
        for key in unwanted {
            assert!(!used.contains(key), "{key} is in {used:?}");
        }
    }

    #[test]
    fn only_what_was_used_is_cited() {
        let evaluation =
            used(r#"{"log_likelihood": -1.0, "model": "LG+FC+I{0.1}+R2{1/2}{0.5/0.5}"}"#);
        let expected = [
            "Felsenstein1981",
            "Stamatakis2008",
            "Kobert2017",
            "Yang1995a",
            "Soubrier2012",
            "Le2008",
        ];
        assert_eq!(evaluation, expected);
        let search = used(
            r#"{"log_likelihood": -1, "agreement": {}, "model": ["GTR{1/2}+G4m{0.5}", "GTR+GC"], "support": {"label": ["tbe"]}}"#,
        );
        for key in ["Stamatakis2014", "Tavare1986", "Yang1994", "Lemoine2018"] {
            assert!(search.contains(&key), "{search:?}");
        }
        assert!(used("{}").is_empty());
    }

    const TREES: [&str; 4] = ["Saitou1987", "Gascuel1997", "Desper2002", "Sokal1958"];

    #[test]
    fn trees_of_distances_are_those_of_the_results() {
        let named = used(
            r#"{"command": "mlsearch -s a.phy -m JC -n nj --prefix bionj",
                "trees": [{"source": "pars 1"}], "timings": {"search": 1, "starting trees": 1}}"#,
        );
        check(&named, &["Fitch1971"], &TREES);
        let file = used(
            r#"{"command": "mlsearch -s a.phy -t nj", "trees": [{"source": "nj, tree 1"}], "timings": {"search": 1, "starting trees": 1}}"#,
        );
        check(&file, &[], &TREES);
        let started = used(
            r#"{"trees": [{"source": "nj"}, {"source": "pars 1"}, {"source": "upgma"}],
                "alignment": {"overview": {"composition": [{"data_type": "DNA"}]}}}"#,
        );
        let wanted = ["Saitou1987", "Studier1988", "Sokal1958", "Felsenstein1996", "Fitch1971"];
        check(&started, &wanted, &["Gascuel1997", "Desper2002"]);
        let distances = used(
            r#"{"distances": {"method": "LogDet", "trees": [{"method": "bme"}], "partitions": [{"trees": [{"method": "nj"}]}]}}"#,
        );
        let wanted = ["Lockhart1994", "Pauplin2000", "Desper2002", "Gascuel1997", "Saitou1987"];
        check(&distances, &wanted, &["Sokal1958", "Felsenstein1996"]);
    }

    #[test]
    fn trees_of_distances_are_those_of_the_command_if_no_result_tells_them() {
        let started = |options: &str| {
            used(&format!(
                r#"{{"command": "mlsearch start -s 'a b.phy' {options}", "timings": {{"starting trees": 1}}}}"#
            ))
        };
        check(&started("-n nj"), &["Fitch1971"], &TREES);
        check(&started("-t 'nj,pars{1}' -n upgma"), &["Saitou1987", "Fitch1971"], &TREES[1..]);
        for four in ["-t nj,bionj,upgma,bme", "--tree=nj,upgma,bme", "-tnj,upgma,bme"] {
            check(&started(four), &TREES, &["Fitch1971"]);
        }
        check(&started("--tree 'rand{2}' -n 'x -t nj'"), &[], &TREES);
        check(&started("-n 'it'\\\\''s' '--tree=pars{2},nj'"), &["Fitch1971", "Saitou1987"], &[]);
        let support = used(r#"{"command": "mlsearch support --tree nj --bs-trees boots"}"#);
        check(&support, &[], &TREES);
    }

    #[test]
    fn a_root_at_the_midpoint_is_the_value_of_its_option() {
        for options in ["--root midpoint", "--root=Midpoint", "-root midpoint"] {
            let found = used_by("command", &format!("mlsearch root --tree a.nwk {options}"));
            check(&found, &["Farris1972"], &[]);
        }
        let named = used(r#"{"command": "mlsearch root -o A -n midpoint", "rooted_trees": [""]}"#);
        check(&named, &["Czech2017"], &["Farris1972"]);
    }

    #[test]
    fn codon_models_cite_their_own_authors() {
        let gy = used_by("model", "GY{2/0.3}+F3X4{0.1/0.2}+CODE{2}");
        check(&gy, &["Goldman1994", "Nielsen1998"], &["Muse1994"]);
        for model in ["MG{0.3}+F3X4{0.1/0.2}+CODE{1}", "MGK{2/0.3}+F1X4{0.1/0.2}+CODE{1}"] {
            check(&used_by("model", model), &["Muse1994", "Nielsen1998"], &["Goldman1994"]);
        }
    }

    #[test]
    fn every_published_matrix_is_cited() {
        let bare = used_by("model", "PROTGTR{1/2}+FC");
        let names = PROTEIN_MATRICES.iter().map(|one| (one.name, one.citation));
        let names = names.chain(PROTEIN_MIXTURES.iter().map(|one| (one.name, one.citation)));
        for (name, citation) in names.chain(MATRIX_MIXTURES.iter().map(|o| (o.name, o.citation))) {
            let found = used_by("model", &format!("{name}+FC"));
            let new: Vec<&&str> = found.iter().filter(|key| !bare.contains(key)).collect();
            let has_year =
                |key: &&&str| citation.contains(key.trim_start_matches(char::is_alphabetic));
            assert!(new.iter().any(has_year), "{name}: {new:?}, {citation}");
        }
        let yeast = used_by("model", "Q.YEAST+FC+R3{1/2/3}{0.2/0.3/0.5}");
        check(&yeast, &["Minh2021", "Soubrier2012"], &["Le2008"]);
        check(&used_by("model", "JTT-DCMUT+G4m{1}"), &["Kosiol2005", "Jones1992"], &["Le2008"]);
    }

    #[test]
    fn matrices_in_mixtures_are_cited() {
        let mixture = used_by("model", "MIX{LG:0.5/WAG:1.5}+WO{0.5/0.5}+G4m{1}");
        let wanted = ["Le2008", "Whelan2001", "Yang1994", "Dempster1977", "Varadhan2008"];
        check(&mixture, &wanted, &["Le2012", "Jones1992"]);
        check(&used_by("model", "MIX{VT/FLU}+WU{1/2}"), &["Muller2000"], &["Dempster1977"]);
        let profiles = used_by("model", "POISSON+C20+G4m{1}");
        check(&profiles, &["Bishop1987", "LeGascuelLartillot2008"], &["Dempster1977"]);
        let guided = used(r#"{"site_frequencies": {"guides": [{"models": ["WAG+C10+WO{1}"]}]}}"#);
        check(&guided, &["Whelan2001", "Wang2018", "Dempster1977"], &["Le2008"]);
    }

    #[test]
    fn corrections_of_ascertainment_cite_their_own_authors() {
        for model in ["GTR{1/2}+FC+ASC_FELS{50}", "HKY{1/2}+FC+ASC_STAM{1/2/3/4}"] {
            check(&used_by("model", model), &["Leache2015"], &["Lewis2001"]);
        }
        let lewis = used_by("model", "MULTI3_MK+FE+ASC_LEWIS");
        check(&lewis, &["Lewis2001"], &["Leache2015"]);
    }

    #[test]
    fn models_of_nucleotides_cite_their_own_authors() {
        for (model, key) in [
            ("JC+FE", "Jukes1969"),
            ("K80{1/2}+FE+G4m{1}", "Kimura1980"),
            ("K81{1/2/3}+FE", "Kimura1981"),
            ("HKY{1/2}+FC", "Hasegawa1985"),
            ("TN93{1/2/3}+FC", "Tamura1993"),
            ("SYM{1/2/3/4/5/6}+FE", "Zharkikh1994"),
            ("GTR{1/2/3/4/5/6}+FC", "Tavare1986"),
        ] {
            check(&used_by("model", model), &[key], &["Le2008"]);
            let distances =
                format!(r#"{{"distances": {{"method": "maximum likelihood, {model}"}}}}"#);
            check(&used(&distances), &[key], &["Felsenstein1981", "Felsenstein1996"]);
        }
        check(&used_by("model", "JC2+FE"), &[], &["Jukes1969"]);
        let sample = r#"{"sampling": {}, "command": "mlsearch sample -s a.phy -m 'K2P+G{1}'"}"#;
        check(&used(sample), &["Kimura1980", "Yang1994"], &["Hasegawa1985"]);
    }

    #[test]
    fn replicates_cite_what_was_drawn_and_searched() {
        let genes = used(
            r#"{"bootstrap": {"sampling": "genesite", "jackknife": 0.5}, "timings": {"bootstrap": 1}}"#,
        );
        check(&genes, &["Gadagkar2005", "Farris1996", "Stamatakis2014"], &["Pattengale2010"]);
        let of_distances = used(
            r#"{"bootstrap": {"sampling": "site"}, "distances": {"method": "p"}, "timings": {"bootstrap": 1}}"#,
        );
        check(&of_distances, &["Felsenstein1985"], &["Gadagkar2005", "Stamatakis2014"]);
        let written = used(r#"{"bootstrap": {"sampling": "site"}, "timings": {"reading": 1}}"#);
        check(&written, &["Felsenstein1985"], &["Farris1996", "Stamatakis2014"]);
    }

    #[test]
    fn genes_cite_how_their_trees_are_judged() {
        let gene = r#"{"data_type": "DNA", "tree_length": 1.0, "rf": 2, "model": "GTR{1/2}+FC"}"#;
        let genes = |count: usize, options: &str| {
            used(&format!(
                r#"{{"command": "mlsearch genes -s loci {options}", "genes": {{"each": [{}]}}}}"#,
                vec![gene; count].join(",")
            ))
        };
        check(&genes(10, "--collapse 10"), &["Zhang2018", "Tukey1977", "Robinson1981"], &[]);
        check(&genes(9, "--collapse-length 0.1"), &["Tavare1986"], &["Zhang2018", "Tukey1977"]);
    }

    #[test]
    fn samples_cite_their_proposals_and_marginal_likelihoods() {
        let sample = used(
            r#"{"sampling": {"brlen_prior": "gammadir{1/0.1/1/1}", "marginal_likelihood": {"ln": -1}, "agreement": {"tree_ess": null},
                "acceptance": [[{"proposal": "LOCAL", "proposed": 0}, {"proposal": "parsimony-guided SPR", "proposed": 3}]]}}"#,
        );
        let unwanted = ["Larget1999", "Aberer2016", "Lanfear2016"];
        check(&sample, &["Rannala2012", "Xie2011", "Zhang2020", "Fitch1971"], &unwanted);
    }

    #[test]
    fn distances_between_trees_and_merging_cite_what_was_asked_for() {
        let quartets = used(r#"{"rf_distances": {"metrics": [{"metric": "quartet"}]}}"#);
        let unwanted = ["Robinson1981", "Kuhner1994"];
        check(&quartets, &["Estabrook1985", "Christiansen2006"], &unwanted);
        let lengths =
            used(r#"{"rf_distances": {"metrics": [{"metric": "wrf"}, {"metric": "kf"}]}}"#);
        check(&lengths, &["Robinson1979", "Kuhner1994"], &["Estabrook1985", "Robinson1981"]);
        let relaxed = used(r#"{"partition_merging": {"method": "relaxed clustering, 10 %"}}"#);
        check(&relaxed, &["Lanfear2012", "Lanfear2014"], &["Lanfear2017"]);
        let certainty = used(r#"{"support": {"label": ["ic1"]}}"#);
        check(&certainty, &["Salichos2013", "Salichos2014"], &["Felsenstein1985"]);
        let terrace = used(r#"{"terrace": {"comprehensive_taxon": null}}"#);
        check(&terrace, &["Chernomor2023"], &["Constantinescu1995"]);
        check(&used_by("command", "mlsearch --recode KGB6"), &["Kosiol2004", "Susko2007"], &[]);
    }

    #[test]
    fn every_publication_has_an_entry_of_its_own() {
        let mut keys: Vec<&str> = WORKS.iter().map(|work| work.key).collect();
        keys.sort_unstable();
        keys.dedup();
        let num_entries = BIBTEX.lines().filter(|line| line.starts_with('@')).count();
        assert_eq!((keys.len(), num_entries), (WORKS.len(), WORKS.len()));
        for work in WORKS {
            let (entry, text) = (entry(work.key), text_of(entry(work.key)));
            assert_eq!(entry.matches('{').count(), entry.matches('}').count(), "{entry}");
            assert!(!text.contains(['{', '\\']) && !text.contains(". ."), "{text}");
            let place: &[&str] = match entry.split('{').next() {
                Some("@article") => &["journal", "volume", "pages"],
                Some("@incollection") => &["booktitle", "publisher", "pages"],
                Some("@inproceedings") => &["booktitle", "pages"],
                Some("@book") => &["publisher"],
                _ => &["howpublished"],
            };
            for name in ["author", "title", "year"].iter().chain(place) {
                assert!(!field(entry, name).is_empty(), "{}: {name}", work.key);
            }
        }
        let first = text_of(entry("Stamatakis2014"));
        assert!(first.starts_with("Stamatakis, A. 2014. RAxML version 8"), "{first}");
        let chapter = text_of(entry("Jukes1969"));
        assert!(chapter.ends_with("vol. 3, Academic Press, 21–132."), "{chapter}");
    }
}
