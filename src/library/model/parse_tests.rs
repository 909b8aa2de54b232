//! Tests of the model-string parser: what is understood, and what is refused with which words.

use super::*;
use crate::model::Exchange;

fn parse(text: &str) -> Model {
    Model::parse(text).unwrap_or_else(|wrong| panic!("{wrong}"))
}

#[test]
fn spellings_of_one_model() {
    for same in [
        "GTR+G",
        "gtr+g4",
        "GTR+F+G4",
        "GTR+FC+G4m",
        " GTR + G ",
        "GTRGAMMA",
        "GTR+G+F",
        "GtrGamma",
    ] {
        assert_eq!(parse(same), parse("GTR+FC+G4"), "{same}");
    }
    assert_eq!(parse("GTRGAMMAI"), parse("GTR+I+G"));
    assert_eq!(parse("GTRGAMMAX"), parse("GTR+FO+G"));
    assert_eq!(parse("GTRGAMMAIX"), parse("GTR+G+IO+FO"));
    assert_eq!(parse("JC69"), parse("jc+FQ"));
    assert_eq!(parse("HKY85{3}+F{.1/.2/.3/.4}"), parse("HKY[3]+FU[0.1,0.2,0.3,0.4]"));
    assert_eq!(parse("010020"), parse("DNA121131+F"));
}

#[test]
fn raxml_cat_runs_as_gamma_and_says_so() {
    let model = parse("GTRCATI");
    assert!(model.notes[0].contains("GTRCATI runs as GTR+F+I+G4"), "{:?}", model.notes);
    assert_eq!(Model { notes: vec![], ..model }, parse("GTRGAMMAI"));
    assert_eq!(parse("GTRCATX").freqs_mode, FreqsMode::Optimized);
    assert!(parse("GTRGAMMA").notes.is_empty());
    assert!(parse("TIM2").notes[0].contains("TIM2uf"));
    assert!(parse("TIM2+FE").notes.is_empty() && parse("TIM2uf").notes.is_empty());
}

#[test]
fn frequencies() {
    assert_eq!(parse("JC").freqs_mode, FreqsMode::Equal);
    assert_eq!(parse("JC+F").freqs_mode, FreqsMode::Empirical);
    assert_eq!(parse("K81uf").freqs_mode, FreqsMode::Empirical);
    assert_eq!(parse("GTR+FE").freqs_mode, FreqsMode::Equal);
    for given in ["GTR+FU{1/2/3/4}", "GTR+FO{0.1/0.2/0.3/0.4}", "JC+FC{10/20/30/40}"] {
        let model = parse(given);
        assert_eq!(model.freqs_mode, FreqsMode::Fixed);
        for (freq, expected) in model.freqs.iter().zip([0.1, 0.2, 0.3, 0.4]) {
            assert!((freq - expected).abs() < 1e-15);
        }
    }
}

/// Exchange rates in classes, and whether they are free.
fn rates(text: &str) -> (Vec<f64>, ParamMode) {
    match parse(text).exchange {
        Exchange::Classes(classes) => (classes.rates, classes.mode),
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn rates_in_braces() {
    let kappa = [1.0, 5.0, 1.0, 1.0, 5.0, 1.0];
    for same in ["K80{5}", "HKY{5}", "HKY{1/5}", "HKY{2/10}", "HKY{1/5/1/1/5/1}", "010010{2/1e+1}"]
    {
        assert_eq!(rates(same), (kappa.to_vec(), ParamMode::Fixed), "{same}");
    }
    assert_eq!(rates("TN93{3/7}").0, [1.0, 3.0, 1.0, 1.0, 7.0, 1.0]);
    assert_eq!(rates("TPM2{2/3/4}").0, [0.5, 0.75, 0.5, 1.0, 0.75, 1.0]);
    assert_eq!(rates("GTR{1/2/3/4/5}").0, [1.0, 2.0, 3.0, 4.0, 5.0, 1.0]);
    assert_eq!(rates("GTR{2/4/6/8/10/2}").0, [1.0, 2.0, 3.0, 4.0, 5.0, 1.0]);
    assert_eq!(rates("GTR").1, ParamMode::Optimized);
}

#[test]
fn rates_over_sites() {
    let gamma = |text: &str| match parse(text).heterogeneity {
        Heterogeneity::Gamma(gamma) => gamma,
        other => panic!("{text}: {other:?}"),
    };
    let expected =
        Gamma { num_cats: 8, mode: GammaMode::Median, alpha: 0.5, alpha_mode: ParamMode::Fixed };
    assert_eq!(gamma("JC+G8a{0.5}"), expected);
    assert_eq!((gamma("JC+Ga").num_cats, gamma("JC+Ga").mode), (4, GammaMode::Median));
    assert_eq!(gamma("JC+G4m").mode, GammaMode::Mean);
    assert_eq!(gamma("JC+G").alpha_mode, ParamMode::Optimized);
    let invariant = Some(Invariant { pinv: 0.25, pinv_mode: ParamMode::Fixed });
    assert!(
        ["JC+I{0.25}", "JC+IU{0.25}", "JC+IO{.25}"].iter().all(|t| parse(t).invariant == invariant)
    );
    assert_eq!(parse("JC+I").invariant.unwrap().pinv_mode, ParamMode::Optimized);
}

#[test]
fn types_of_partition_lines() {
    for word in ["DNA", " dnax ", "BIN", "MULTI", "CODON2", "codonx", "PROT", "AA"] {
        assert!(Model::is_type(word), "{word}");
    }
    assert!(!Model::is_type("DNA010020") && !Model::is_type("GTR") && !Model::is_type("CODON7"));
    let base = parse("GTRGAMMA");
    let of = |text: &str| Model::for_type(text, &base, None).map(Result::unwrap);
    assert_eq!(of("dna"), Some(base.clone()));
    assert_eq!(of("DNAX"), Some(parse("GTR+FO+G")));
    assert_eq!(of("HKY"), None);
    assert_eq!(of("LGX"), Some(parse("LG+FO+G")));
}

#[test]
fn proteins_codons_and_other_states() {
    for (text, same) in [
        ("PROTGAMMAILGF", "LG+F+I+G"),
        ("PROTCATWAGX", "WAG+FO+G"),
        ("PROTGAMMAJTTDCMUT", "JTT-DCMut+G4m"),
        ("PROTGAMMAGTR", "GTR20+F+G"),
        ("PROTGAMMALG4X", "LG4X"),
        ("PROTGAMMALG4M", "LG4M+G4"),
        ("LG4M+G{0.5}", "LG4M+G4m{0.5}"),
        ("GTR2+FE", "JC2"),
        ("M0", "GY94+F3x4"),
        ("GY+F61+CODE[2]", "GY+F+CODE{2}"),
        ("MULTI4_MK", "multi4_mk+FE"),
        ("LG+R", "LG+R4"),
        ("LG+ASC", "LG+ASC_LEWIS"),
    ] {
        let [a, b] = [parse(text), parse(same)].map(|model| Model { notes: vec![], ..model });
        assert_eq!(a, b, "{text}");
    }
    assert!(parse("PROTCATLG").notes[0].contains("PROTCATLG runs as LG+G4"));
    assert!(Model::leaves_states_open("MK+G") && Model::leaves_states_open("MULTIGAMMA"));
    assert!(!Model::leaves_states_open("MULTI4_MK") && !Model::leaves_states_open("GTR"));
    assert_eq!(Model::parse_with_states("MK", Some(7)).unwrap().name, "MULTI7_MK");
    let codon = parse("GY{2/0.1}+F3X4{1/2/3/4/1/1/1/1/4/3/2/1}+CODE{2}");
    assert_eq!((codon.num_states(), codon.position_freqs[0][1]), (60, 0.2));
    assert!(codon.free_parameters().is_empty());
}

#[test]
fn refusals_say_what_is_wrong_and_what_is_known() {
    for (text, words) in [
        ("", "no matrix is named"),
        ("+G", "no matrix is named"),
        ("FOO", "unknown matrix 'FOO'; the models are, for DNA: JC F81"),
        ("JC69GAMMA", "unknown matrix"),
        ("GTRGAMMAZ", "unknown matrix"),
        ("DNA", "data type"),
        ("DNA01002", "unknown matrix"),
        ("PROTGAMMAFOO", "unknown matrix"),
        ("GTRGAMMALG", "unknown matrix"),
        ("ORDERED", "not supported"),
        ("MK", "number of states is missing: MULTI4_MK"),
        ("MULTI65_MK", "2 to 64"),
        ("MULTI1_GTR", "2 to 64"),
        ("LG{1/2}", "published rates"),
        ("LG4X+G8", "LG4X has a matrix for each of 4 rate categories"),
        ("GY+CODE{7}", "NCBI's genetic codes: 1 2 3"),
        ("GTR+CODE{2}", "for codon models"),
        ("GTR+F3X4", "for codon models"),
        ("GY{1}", "GY{kappa/omega}"),
        ("MG+F", "needs nucleotide frequencies"),
        ("GY+F3X4{1/2/3}", "but there are 12 nucleotides"),
        ("GTR+R3{1/2}{1/1/1}", "two lists of 3"),
        ("GTR+R3{1/2/0}{1/1/1}", "0 in '+R3{...}' is outside its limits"),
        ("LG+R3{0.4/0.8/2}{4294967296.3/0.4/0.3}", "in '+R3{...}' is outside its limits"),
        ("GTR+R2{1/1e300}{1/1}", "outside its limits"),
        ("LG+FU{1/2}", "2 frequencies in '+FU{...}', but there are 20 states: A/R/N"),
        ("GTR+R4+G4", "keep only one"),
        ("GTR+ASC_FELS", "number of invariable sites"),
        ("GTR+ASC_STAM{1/2}", "each of the 4 states"),
        ("GTR+I+ASC", "cannot be combined with +I"),
        ("GTR+IC", "not supported"),
        ("auto+G", "for model selection"),
        ("GTR+BO", "--brlen"),
        ("GTR+C20", "'+C20' is for amino acids, and GTR is no model of them"),
        ("LG+C15", "no profiles 'C15': use one of C10 C20 C30 C40 C50 C60"),
        ("LG+CX", "unknown part '+CX'"),
        ("LG+C20{1/2}", "+WU{...}"),
        ("LG+C20+C10", "C20 is a mixture already, and takes no '+C10'"),
        ("C20+C10", "C20 is a mixture already"),
        ("LG4X+C20", "LG4X is a mixture already"),
        ("LG4X+WO", "have the weights of its rates"),
        ("LG+WO", "for the weights of classes, which LG has not"),
        ("LG+C10+WU", "needs the weights of the 10 classes"),
        ("LG+C10+F+WU{1/1/1/1/1/1/1/1/1/1}", "10 weights in '+WU{...}', but there are 11 classes"),
        ("LG+C10+WU{1/1/1/1/1/1/1/1/1/-1}", "must be 0 or more"),
        ("LG+C10+WU{0/0/0/0/0/0/0/0/0/0}", "not all 0"),
        ("LG+C10+WU{1}{1}", "one list of values"),
        ("LG+C10+WX", "unknown part '+WX'"),
        ("LG+C60+G64", "3840 rate categories together"),
        ("LG+C10+F+ASC", "cannot be estimated under +ASC"),
        ("GTR+", "nothing after a '+'"),
        ("GTR+Q", "unknown part '+Q'; the parts are +F"),
        ("GTR+FX", "unknown part '+FX'"),
        ("GTR+G4x", "unknown part"),
        ("GTR+G1", "2 to 64"),
        ("GTR+G99999999999999999999", "2 to 64"),
        ("GTR+G+G4", "keep only one"),
        ("GTRGAMMA+G8", "keep only one"),
        ("GTR+F+FO", "keep only one"),
        ("GTR+FU", "+FU{A/C/G/T}"),
        ("GTR+IU", "+IU{0.2}"),
        ("GTR+FE{1/1/1/1}", "takes no values"),
        ("GTR+FU{1/2/3}", "3 frequencies"),
        ("GTR+FU{1/2/-3/4}", "not above 0"),
        ("GTR+FU{1/2/0/4}", "frequency 0 is not above 0: give a rare state a small frequency"),
        ("GTR+FU{1/2/x/4}", "'X' in 'FU{1/2/X/4}' is not a number"),
        ("GTR+FU{1/2/nan/4}", "not a number"),
        ("GTR+FU{}", "not a number"),
        ("GTR{1/2}", "GTR takes 6 (AC/AG/AT/CG/CT/GT), 6"),
        ("JC{1/2}", "JC takes 6"),
        ("HKY{1/2/3/4/5/6}", "symmetry of HKY, 010010"),
        ("HKY{0}", "not above 0"),
        ("HKY{1e20}", "too far"),
        ("GTR+G{0.01}", "alpha 0.01 in '+G' is outside its limits, 0.02 to 1000"),
        ("GTR+G{1/2}", "2 values"),
        ("GTR+I{1}", "0 to 0.99"),
        ("GTR+G{0.5", "never closed"),
        ("GTR+G0.5}", "without a '{'"),
        ("GTR+G{{0.5}}", "within braces"),
        ("GTR{1/2/3/4/5/6}G", "continues after"),
        ("GTR+Gé", "unknown part"),
        ("é", "unknown matrix"),
    ] {
        let wrong = Model::parse(text).expect_err(text);
        assert!(wrong.contains(words), "'{text}' refused with: {wrong}");
        assert!(wrong.starts_with(&format!("model '{text}': ")), "{wrong}");
    }
}
