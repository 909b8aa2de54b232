//! Command lines of PhyML, whose letters mean other things in RAxML (`-i` is the alignment, `-s` the kind of search).

/// Names of models that are others here.
const MODELS: [(&str, &str); 3] = [("HKY85", "HKY"), ("JC69", "JC"), ("F84", "TN93")];

/// If these words are PhyML's: the command that does the same here.
pub(super) fn instead_of_phyml(words: &[String]) -> Option<String> {
    let value = |option: &str| {
        let pair = words.windows(2).find(|pair| pair[0] == option);
        pair.map(|pair| pair[1].as_str())
    };
    let file = value("-i").or(value("--input")).filter(|file| file.parse::<f64>().is_err())?;
    let is_kind = |kind: &str| ["nt", "aa"].contains(&kind);
    let is_search = |kind: &str| ["NNI", "SPR", "BEST"].contains(&kind);
    let says_so = value("-d").is_some_and(is_kind) || value("-s").is_some_and(is_search);
    let begins_with_option = words.first().is_some_and(|word| word.starts_with('-'));
    if !begins_with_option || !(says_so || value("--input").is_some() || words.len() == 2) {
        return None;
    }
    let model = model_of(&value);
    let tree = value("-u").map_or_else(String::new, |tree| format!(" -t {tree}"));
    let (word, options) = match (value("-o").unwrap_or("tlr"), value("-b").unwrap_or("0")) {
        ("n", _) => ("evaluate", " --opt-model off --opt-branches off".to_string()),
        ("l", _) => ("evaluate", " --opt-model off".to_string()),
        ("r", _) => ("evaluate", " --opt-branches off".to_string()),
        (parts, _) if !parts.contains('t') => ("evaluate", String::new()),
        (_, "0") => ("search", String::new()),
        (_, "-5") => ("search", " --abayes".to_string()),
        (_, test) if test.starts_with('-') => ("search", " --alrt".to_string()),
        (_, number) => ("all", format!(" --bs-trees {number}")),
    };
    Some(format!("mlsearch {word} -s {file} -m {model}{tree}{options}"))
}

/// The model with its frequencies and rates, in our notation.
fn model_of<'a>(value: &impl Fn(&str) -> Option<&'a str>) -> String {
    let is_protein = value("-d") == Some("aa");
    let name = value("-m").unwrap_or(if is_protein { "LG" } else { "HKY85" }).to_ascii_uppercase();
    let known = MODELS.iter().find(|(theirs, _)| *theirs == name);
    let mut model = known.map_or(name.as_str(), |(_, ours)| ours).to_string();
    match (is_protein, value("-f")) {
        (true, Some("e")) => model.push_str("+F"),
        (false, Some("m" | "o")) => model.push_str("+FO"),
        _ => {}
    }
    let fixed = |parameter: Option<&str>| match parameter {
        Some(number) if number.parse::<f64>().is_ok() => format!("{{{number}}}"),
        _ => String::new(),
    };
    if let Some(share) = value("-v") {
        model += &format!("+I{}", fixed(Some(share)));
    }
    match value("-c").unwrap_or("4") {
        "1" => {}
        number => model += &format!("+G{number}{}", fixed(value("-a"))),
    }
    model
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_of_phyml_is_answered_with_one_of_ours() {
        for (typed, expected) in [
            ("-i a.phy", Some("mlsearch search -s a.phy -m HKY+G4")),
            (
                "-i a.phy -d nt -m GTR -f m -v e -a e -c 4 -s SPR -b 100",
                Some("mlsearch all -s a.phy -m GTR+FO+I+G4 --bs-trees 100"),
            ),
            ("-i p.phy -d aa -m LG -c 1 -b -4", Some("mlsearch search -s p.phy -m LG --alrt")),
            (
                "--input p.phy -d aa -m wag -f e -a 0.5 -u t.nwk -o lr",
                Some("mlsearch evaluate -s p.phy -m WAG+F+G4{0.5} -t t.nwk"),
            ),
            // RAxML's radius.
            ("-i 10 -s a.phy -m GTRGAMMA", None),
            ("search -s a.phy -m JC", None),
        ] {
            let words: Vec<String> = typed.split(' ').map(String::from).collect();
            assert_eq!(instead_of_phyml(&words).as_deref(), expected, "{typed}");
        }
    }
}
