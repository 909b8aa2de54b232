//! Command lines of FastTree, whose options other programs would read as quite different ones (`-gtr` as `-g tr`).

/// Options that name a model.
const MODELS: [(&str, &str); 3] = [("-gtr", "GTR+G"), ("-lg", "LG+G"), ("-wag", "WAG+G")];

/// Others that its users type. (IQ-TREE has `-nt`, too: a command line is FastTree's if it has no other options than these.)
const OTHERS: [&str; 9] =
    ["-nt", "-gamma", "-fastest", "-nosupport", "-nopr", "-quiet", "-seed", "-log", "-out"];

/// If these words are FastTree's: the command that does the same here.
pub(super) fn instead_of_fasttree(words: &[String]) -> Option<String> {
    let mut options = words.iter().map(String::as_str).filter(|word| word.starts_with('-'));
    let model_of = |word: &str| MODELS.iter().find(|(name, _)| *name == word);
    let begins_with_option = words.first().is_some_and(|word| word.starts_with('-'));
    if !begins_with_option
        || !options.all(|word| OTHERS.contains(&word) || model_of(word).is_some())
    {
        return None;
    }
    // FastTree's model of nucleotides is that of Jukes and Cantor, that of amino acids JTT.
    let usual = if words.iter().any(|word| word == "-nt") { "JC+G" } else { "JTT+G" };
    let model = words.iter().find_map(|word| model_of(word)).map_or(usual, |(_, model)| *model);
    let file = words.last().filter(|word| !word.starts_with('-')).map_or("FILE", String::as_str);
    Some(format!("mlsearch search --fast -s {file} -m {model} --alrt"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_of_fasttree_is_answered_with_one_of_ours() {
        for (typed, expected) in [
            ("-nt -gtr -gamma a.fasta", Some("mlsearch search --fast -s a.fasta -m GTR+G --alrt")),
            ("-nt a.phy", Some("mlsearch search --fast -s a.phy -m JC+G --alrt")),
            ("-lg -nosupport", Some("mlsearch search --fast -s FILE -m LG+G --alrt")),
            ("-gamma p.fa", Some("mlsearch search --fast -s p.fa -m JTT+G --alrt")),
            ("search -s a.phy -m JC", None),
            // IQ-TREE's.
            ("-t a.nwk --gcf b.nwk -nt 2", None),
            ("-con -t a.nwk -nt 2", None),
        ] {
            let words: Vec<String> = typed.split(' ').map(String::from).collect();
            assert_eq!(instead_of_fasttree(&words).as_deref(), expected, "{typed}");
        }
    }
}
