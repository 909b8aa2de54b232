//! Command lines of FastTree, whose options other programs would read as quite different ones (`-gtr` as `-g tr`).

/// Its options, and the model that each names, if it names one.
const OPTIONS: [(&str, Option<&str>); 8] = [
    ("-gtr", Some("GTR+G")),
    ("-lg", Some("LG+G")),
    ("-wag", Some("WAG+G")),
    ("-nt", None),
    ("-gamma", None),
    ("-fastest", None),
    ("-nosupport", None),
    ("-nopr", None),
];

/// If these words are FastTree's (where no option names an alignment): the command that does the same here.
pub(super) fn instead_of_fasttree(words: &[String]) -> Option<String> {
    let has = |name: &str| words.iter().any(|word| word == name);
    let mut found = OPTIONS.iter().filter(|(name, _)| has(name)).peekable();
    found.peek()?;
    // FastTree's model of nucleotides is that of Jukes and Cantor, that of amino acids JTT.
    let usual = if has("-nt") { "JC+G" } else { "JTT+G" };
    let model = found.find_map(|(_, model)| *model).unwrap_or(usual);
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
        ] {
            let words: Vec<String> = typed.split(' ').map(String::from).collect();
            assert_eq!(instead_of_fasttree(&words).as_deref(), expected, "{typed}");
        }
    }
}
