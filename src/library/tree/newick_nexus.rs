//! Trees in NEXUS text: where the next tree of a TREES block begins, and for which taxa its labels stand
//! (Maddison, Swofford & Maddison 1997, Systematic Biology 46:590).
//!
//! A label of a tip is what TRANSLATE says, or else, if it is a number and no taxon is called so, the taxon with this
//! number in TAXLABELS. Labels of inner nodes are kept: they are support values. Other blocks are skipped.

use super::newick_lexer::{Lexer, Token, TokenKind};
use crate::error::{Fault, abridged};
use std::collections::HashMap;

type Result<T> = std::result::Result<T, Fault>;

/// Where a command belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    Outside,
    Taxa,
    Trees,
    Other,
}

/// What has been read of a NEXUS text.
pub(super) struct NexusTrees {
    block: Block,
    /// Line and column of the `begin` of the block.
    begun: (u32, u32),
    /// `[label]`: the taxon for which it stands, and the last tree that had it.
    names: HashMap<String, (String, u32)>,
    /// They are those of TRANSLATE, which counts for its block.
    are_translated: bool,
    num_trees: u32,
}

/// What a label of a tip becomes.
pub(super) enum Translated<'a> {
    /// It stands for itself.
    Same,
    /// It stands for this taxon.
    Name(&'a str),
    /// The tree has it for the second time.
    Again,
}

impl NexusTrees {
    /// After the first word of the text.
    pub(super) fn new() -> Self {
        NexusTrees {
            block: Block::Outside,
            begun: (1, 1),
            names: HashMap::new(),
            are_translated: false,
            num_trees: 0,
        }
    }

    /// The first token of the next tree, `None` at the end; `max_names` is the most names that may be translated.
    ///
    /// # Errors
    /// A fault of one command, after which the next can be read.
    pub(super) fn next_tree(
        &mut self,
        lexer: &mut Lexer,
        max_names: usize,
    ) -> Result<Option<Token>> {
        while let Some(token) = lexer.next()? {
            let at = (token.line, token.column);
            let word = match token.kind {
                TokenKind::Semicolon => continue,
                TokenKind::Label(word) => word.to_ascii_lowercase(),
                _ => {
                    lexer.skip_command()?;
                    return Err(lexer.fault(
                        at,
                        "expected a NEXUS command here, such as `tree NAME = (A,B,(C,D));`",
                    ));
                }
            };
            match (self.block, word.as_str()) {
                (_, "begin") => self.begin(lexer, at)?,
                (Block::Outside, _) => {
                    lexer.skip_command()?;
                    let word = abridged(&word);
                    let message =
                        format!("'{word}' is outside all blocks; expected `begin trees;`");
                    return Err(lexer.fault(at, message));
                }
                (_, "end" | "endblock") => {
                    self.block = Block::Outside;
                    lexer.skip_command()?;
                }
                (Block::Taxa, "taxlabels") => self.read_labels(lexer, max_names)?,
                (Block::Trees, "translate") => self.read_translation(lexer, max_names)?,
                (Block::Trees, "tree" | "utree") => {
                    self.num_trees = self.num_trees.saturating_add(1);
                    return pass_name(lexer, at);
                }
                (Block::Taxa | Block::Trees | Block::Other, _) => lexer.skip_command()?,
            }
        }
        if self.block != Block::Outside && !lexer.chars.is_stopped() {
            self.block = Block::Outside;
            let message = "the block that begins here has no `end;`; the file may be incomplete";
            return Err(lexer.fault(self.begun, message));
        }
        Ok(None)
    }

    /// For which taxon a label of a tip stands.
    pub(super) fn translate(&mut self, label: &str) -> Translated<'_> {
        match self.names.get_mut(label) {
            None => Translated::Same,
            // Else a long name could be repeated for every tip.
            Some((_, tree)) if *tree == self.num_trees => Translated::Again,
            Some((name, tree)) => {
                *tree = self.num_trees;
                Translated::Name(name)
            }
        }
    }

    /// A block begins; one without an end is refused.
    fn begin(&mut self, lexer: &mut Lexer, at: (u32, u32)) -> Result<()> {
        let (before, begun) = (self.block, self.begun);
        let name = match lexer.next()? {
            Some(Token { kind: TokenKind::Label(name), .. }) => name.to_ascii_lowercase(),
            _ => String::new(),
        };
        self.begun = at;
        self.block = match name.as_str() {
            "taxa" => Block::Taxa,
            "trees" => {
                if std::mem::take(&mut self.are_translated) {
                    self.names.clear();
                }
                Block::Trees
            }
            _ => Block::Other,
        };
        lexer.skip_command()?;
        match before {
            Block::Outside => Ok(()),
            _ => {
                Err(lexer
                    .fault(begun, "the block that begins here has no `end;` before the next one"))
            }
        }
    }

    /// Names of the taxa, whose numbers may stand for them.
    fn read_labels(&mut self, lexer: &mut Lexer, max_names: usize) -> Result<()> {
        let mut numbers_are_names = false;
        let mut number = 0usize;
        while let Some(token) = lexer.next()? {
            let at = (token.line, token.column);
            match token.kind {
                TokenKind::Semicolon => break,
                TokenKind::Label(name) => {
                    number += 1;
                    numbers_are_names |= name.bytes().all(|byte| byte.is_ascii_digit());
                    self.add(lexer, at, number.to_string(), name, max_names)?;
                }
                _ => {
                    lexer.skip_command()?;
                    let message =
                        "expected a name in TAXLABELS; a name with punctuation must be quoted";
                    return Err(lexer.fault(at, message));
                }
            }
        }
        if numbers_are_names {
            self.names.clear();
        }
        Ok(())
    }

    /// `KEY NAME, KEY NAME;`
    fn read_translation(&mut self, lexer: &mut Lexer, max_names: usize) -> Result<()> {
        self.names.clear();
        self.are_translated = true;
        let mut key: Option<String> = None;
        let mut is_complete = false;
        while let Some(token) = lexer.next()? {
            let at = (token.line, token.column);
            match (token.kind, key.take()) {
                (TokenKind::Semicolon, None) => return Ok(()),
                (TokenKind::Comma, None) if is_complete => is_complete = false,
                (TokenKind::Label(text), None) if !is_complete => key = Some(text),
                (TokenKind::Label(name), Some(key)) => {
                    if self.names.contains_key(&key) {
                        lexer.skip_command()?;
                        let message = format!("'{}' is in TRANSLATE twice", abridged(&key));
                        return Err(lexer.fault(at, message));
                    }
                    self.add(lexer, at, key, name, max_names)?;
                    is_complete = true;
                }
                (kind, _) => {
                    if kind != TokenKind::Semicolon {
                        lexer.skip_command()?;
                    }
                    let message = "expected `KEY NAME, KEY NAME;` in TRANSLATE; a name with spaces or punctuation \
                                   must be quoted";
                    return Err(lexer.fault(at, message));
                }
            }
        }
        Ok(())
    }

    fn add(
        &mut self,
        lexer: &mut Lexer,
        at: (u32, u32),
        key: String,
        name: String,
        max_names: usize,
    ) -> Result<()> {
        if self.names.len() >= max_names {
            let message =
                format!("more than {max_names} taxa are listed; check that it is the right file");
            return Err(lexer.give_up(at, message));
        }
        self.names.insert(key, (name, 0));
        Ok(())
    }
}

/// Passes over `NAME =`; the token after it.
fn pass_name(lexer: &mut Lexer, at: (u32, u32)) -> Result<Option<Token>> {
    loop {
        match lexer.next()? {
            Some(Token { kind: TokenKind::Label(text), .. }) if text.ends_with('=') => {
                return lexer.next();
            }
            Some(Token { kind: TokenKind::Label(_), .. }) => {}
            other => {
                if other.is_some_and(|token| token.kind != TokenKind::Semicolon) {
                    lexer.skip_command()?;
                }
                return Err(lexer.fault(at, "expected `tree NAME = (A,B,(C,D));`"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{NewickTree, read_newick};
    use crate::error::{Error, Fault};

    fn tips(tree: &NewickTree) -> Vec<&str> {
        let tips = tree.nodes().filter(|node| node.is_tip());
        tips.map(|tip| tip.name().unwrap()).collect()
    }

    fn faults(text: &str) -> Vec<String> {
        match read_newick(text, "t") {
            Err(Error::Input(faults)) => faults.kept().iter().map(Fault::to_string).collect(),
            other => panic!("expected faults, got {other:?}"),
        }
    }

    #[test]
    fn what_dendropy_writes() {
        // DendroPy 5.1.3, Tree.as_string("nexus"), and with translate_tree_taxa=True.
        let taxa = "#NEXUS\n\nBEGIN TAXA;\n    DIMENSIONS NTAX=4;\n    TAXLABELS\n        'Homo_sapiens'\n        \
                    Pan_paniscus\n        'it''s-b'\n        d.4\n  ;\nEND;\n\n";
        let plain = "BEGIN TREES;\n    \
                     TREE 1 = (('Homo_sapiens':0.1,Pan_paniscus:0.2)90:0.05,'it''s-b':0.3,d.4:0.1);\nEND;\n";
        let translated = "BEGIN TREES;\n        Translate\n             1 'Homo_sapiens',\n             \
                          2 Pan_paniscus,\n             3 'it''s-b',\n             4 d.4\n             ;\n    \
                          TREE 1 = ((1:0.1,2:0.2)90:0.05,3:0.3,4:0.1);\nEND;\n";
        // Numbers of taxa without TRANSLATE.
        let numbered = translated.replace("Translate", "title").replace("90", "2");
        for trees in [plain, translated, &numbered] {
            let trees = read_newick(&format!("{taxa}{trees}"), "t").unwrap();
            assert_eq!(trees.len(), 1);
            assert_eq!(tips(&trees[0]), ["Homo_sapiens", "Pan_paniscus", "it's-b", "d.4"]);
            let lengths: Vec<f64> = trees[0].nodes().filter_map(|node| node.length()).collect();
            assert_eq!(lengths, [0.05, 0.1, 0.2, 0.3, 0.1]);
        }
    }

    #[test]
    fn trees_of_other_programs() {
        let long = "ACGT".repeat(20_000);
        let text = format!(
            "\u{feff}#nexus [c;] begin data; format symbols=\"01\"; matrix a {long}\n b 'x; O'Neil [)] ;end;\n\
             begin trees; [made by hand] translate 1 a, 2 'b c', three O'Neil,;\n\
             tree STATE_0 [&lnP=-1.5,posterior=2] = [&R] ((1[&rate=1.0]:0.5,2:[&rate=2]1)[&posterior=1.0]3:1,three);\n\
             utree * second=(1,(2,x),three);endblock;\nbegin figtree; set a=\"b\"; end;\n\
             begin trees; tree x = (1,2,3); end;"
        );
        let trees = read_newick(&text, "t").unwrap();
        let names: Vec<_> = trees.iter().map(tips).collect();
        assert_eq!(names[0], ["a", "b c", "O'Neil"]);
        assert_eq!(names[1], ["a", "b c", "x", "O'Neil"]);
        assert_eq!(names[2], ["1", "2", "3"]);
        assert_eq!(trees[0].node(1).name(), Some("3"));
        // Taxa that are called by numbers.
        let text = "#NEXUS begin taxa; taxlabels 2 1 x; end; begin trees; tree a = (1,2,3); end;";
        assert_eq!(tips(&read_newick(text, "t").unwrap()[0]), ["1", "2", "3"]);
    }

    #[test]
    fn every_fault_of_every_command_is_found_at_its_place() {
        for (text, expected) in [
            ("#NEXUS", "t: no tree found; expected a TREES block"),
            ("#NEXUS\nbegin data; matrix a A; end;", "t: no tree found; expected a TREES block"),
            ("#NEXUS\ntree a = (A,B);", "t, line 2, column 1: 'tree' is outside all blocks"),
            ("#NEXUS\nbegin trees;\n(A,B);\nend;", "t, line 3, column 1: expected a NEXUS command"),
            (
                "#NEXUS\nbegin trees;\n tree (A,B);\nend;",
                "t, line 3, column 2: expected `tree NAME =",
            ),
            ("#NEXUS\nbegin trees;\n tree a;\nend;", "t, line 3, column 2: expected `tree NAME ="),
            (
                "#NEXUS\nbegin trees;\n tree a = (A,B);",
                "t, line 2, column 1: the block that begins here has no `end;`;",
            ),
            (
                "#NEXUS\nbegin trees;\n tree a = (A,B);\nbegin x; end;",
                "t, line 2, column 1: the block that begins here has no `end;` before",
            ),
            (
                "#NEXUS\nbegin trees;\n tree a = (A,B\nend;",
                "t, line 4, column 1: 'end' follows the name 'B'",
            ),
            (
                "#NEXUS\nbegin trees;\ntranslate 1 A, 2;\nend;",
                "t, line 3, column 17: expected `KEY NAME, KEY NAME;`",
            ),
            (
                "#NEXUS\nbegin trees;\ntranslate 1 A B, 2 C;\nend;",
                "t, line 3, column 15: expected `KEY NAME, KEY NAME;`",
            ),
            (
                "#NEXUS\nbegin trees;\ntranslate 1 A, 1 B;\nend;",
                "t, line 3, column 18: '1' is in TRANSLATE twice",
            ),
            (
                "#NEXUS\nbegin taxa;\ntaxlabels A (;\nend;",
                "t, line 3, column 13: expected a name in TAXLABELS",
            ),
            (
                "#NEXUS\nbegin trees;\ntranslate 1 A, 2 B;\ntree t = (1,(2,1));\nend;",
                "t, line 4, column 16: the taxon '1' is in the tree twice",
            ),
            (
                "#NEXUS\nbegin data; [matrix",
                "t, line 2, column 13: the comment that starts here is never closed",
            ),
        ] {
            let found = faults(text);
            assert!(found[0].starts_with(expected), "{text}\n{found:#?}");
        }
        let two = faults("#NEXUS\nbegin trees;\ntree a = (A,);\nfoo;tree b = (A:x,B);\nend;");
        assert_eq!(two.len(), 2, "{two:#?}");
        assert!(two[1].starts_with("t, line 4, column 17: 'x' is not a branch length"), "{two:#?}");
    }
}
