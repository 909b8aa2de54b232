//! Newick text to a flat syntax tree, with the place of every node and of every fault.
//!
//! This is about syntax only; which labels are taxa and how the tree becomes binary and unrooted is in
//! `newick_tree.rs`. Nothing recurses, so a caterpillar of 100 000 taxa is read like any other tree.
//!
//! Grammar: `tree = subtree ";"`, `subtree = [ "(" subtree { "," subtree } ")" ] [ label ] [ ":" number ]`.
//! Labels are bare or in single or double quotes (a doubled quote stands for one); comments in
//! brackets, nested or not, may stand anywhere between these and are dropped, rooting marks `[&U]`
//! and `[&R]` included; what `[&support=95]` says of an inner node that has no label is its label. Underscores stay underscores. In NEXUS text, the trees of its TREES blocks are read
//! (`newick_nexus.rs`).

use super::newick_chars::Characters;
use super::newick_lexer::{Lexer, Token, TokenKind};
use super::newick_nexus::{NexusTrees, Translated};
use super::newick_syntax::{NewickNode, NewickTree};
use crate::error::{Error, Fault, Faults, Place, Result, abridged};
use std::io::BufRead;

/// Reads all trees of a text; `file` is the name to show in faults.
///
/// # Errors
/// [`Error::Input`] with every syntax fault of every tree, or if there is no tree.
pub fn read_newick(text: &str, file: &str) -> Result<Vec<NewickTree>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = NewickReader::new(text.as_bytes(), file);
    let trees = std::iter::from_fn(|| reader.next_tree()).collect();
    reader.finish()?;
    Ok(trees)
}

/// Reads the trees of a text one after the other.
pub struct NewickReader<'a> {
    parser: Parser<'a>,
    any: bool,
}

impl<'a> NewickReader<'a> {
    /// A reader of trees of at most 2 million taxa; `file` is the name to show in faults.
    pub fn new(reader: impl BufRead + 'a, file: &str) -> Self {
        let lexer = Lexer::new(Characters::new(reader, file));
        let mut parser = Parser {
            lexer,
            faults: Faults::new(),
            num_taxa: None,
            max_nodes: 2 * MAX_TIPS,
            nexus: None,
        };
        parser.detect_nexus();
        NewickReader { parser, any: false }
    }

    /// The same reader, for trees that should have this number of taxa: far larger ones are not read to their end.
    pub fn expecting(mut self, num_taxa: usize) -> Self {
        self.parser.num_taxa = Some(num_taxa);
        self.parser.max_nodes = 16 * num_taxa + 1000;
        self
    }

    /// The next tree, as far as it is understood; `None` at the end, or if reading on is pointless.
    pub fn next_tree(&mut self) -> Option<NewickTree> {
        while let Some(token) = self.parser.first_token() {
            match self.parser.tree(token) {
                Some(tree) => {
                    self.any = true;
                    return Some(tree);
                }
                None => self.parser.skip_tree(),
            }
        }
        None
    }

    /// To be called after the last tree.
    ///
    /// # Errors
    /// Every syntax fault of every tree (after a fault that loses the structure, reading continued after the
    /// next `;`), an input without any tree or that is not text, [`Error::Io`].
    pub fn finish(self) -> Result<()> {
        let Parser { lexer, mut faults, nexus, .. } = self.parser;
        let file = lexer.chars.file.clone();
        match lexer.chars.finish() {
            Ok(()) => {}
            Err(Error::Input(more)) => faults = more,
            Err(other) => return Err(other),
        }
        if !self.any && faults.is_empty() {
            let message = match nexus {
                Some(_) => "no tree found; expected a TREES block with `tree NAME = (A,B,(C,D));`",
                None => "no tree found; expected Newick text such as (A,B,(C,D));",
            };
            faults.push(Fault::new(Place::file(file), message));
        }
        if faults.is_empty() { Ok(()) } else { Err(Error::Input(faults)) }
    }
}

/// Most taxa of a tree, where the alignment does not say how many there are.
const MAX_TIPS: usize = 2_000_000;
/// Faults after which a file is not read on: it is not a file of trees.
const MAX_FAULTS: usize = 1000;
/// What has been read of the current node.
#[derive(Clone, Copy, PartialEq)]
enum ParseState {
    /// A subtree must start here.
    Start,
    /// The children are closed (or it is a tip): a label may follow.
    Children,
    /// The label is there: a length may follow.
    Label,
    /// After ':'.
    Colon,
    /// All is there: ',' or ')' or ';' must follow.
    Done,
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    faults: Faults,
    num_taxa: Option<usize>,
    /// Most nodes of a tree.
    max_nodes: usize,
    /// What is known of a NEXUS text.
    nexus: Option<NexusTrees>,
}

impl Parser<'_> {
    fn fault(&mut self, at: (u32, u32), message: impl Into<String>) {
        let fault = self.lexer.fault(at, message);
        self.faults.push(fault);
        if self.faults.len() >= MAX_FAULTS {
            self.lexer.chars.stop();
        }
    }

    /// Checks the first word: trees may be in a NEXUS file.
    fn detect_nexus(&mut self) {
        while self.lexer.chars.peek().is_some_and(char::is_whitespace) {
            self.lexer.chars.bump();
        }
        if self.lexer.chars.peek() != Some('#') {
            return;
        }
        let at = (self.lexer.chars.line, self.lexer.chars.column);
        self.lexer.chars.bump();
        let word = self.lexer.bare('#', at);
        if word.is_ok_and(|word| word.eq_ignore_ascii_case("#nexus")) {
            self.nexus = Some(NexusTrees::new());
            return;
        }
        let message = "a tree cannot begin with '#'; expected Newick text such as (A,B,(C,D)); or a NEXUS file";
        let fault = self.lexer.give_up(at, message);
        self.faults.push(fault);
    }

    /// The first token of the next tree.
    fn first_token(&mut self) -> Option<Token> {
        let Some(nexus) = &mut self.nexus else {
            return self.next_token();
        };
        loop {
            match nexus.next_tree(&mut self.lexer, self.max_nodes) {
                Ok(token) => return token,
                Err(fault) => {
                    self.faults.push(fault);
                    if self.faults.len() >= MAX_FAULTS {
                        self.lexer.chars.stop();
                    }
                }
            }
        }
    }

    fn refuse_size(&mut self, root: NewickNode) {
        let limit = self.max_nodes;
        let message = match self.num_taxa {
            Some(taxa) => format!(
                "the tree that starts here has more than {limit} nodes, but there are {taxa} taxa; check that it is the right file"
            ),
            None => format!(
                "the tree that starts here has more than {limit} nodes; check that this is a file of trees"
            ),
        };
        let fault = self.lexer.give_up((root.line(), root.column()), message);
        self.faults.push(fault);
    }

    /// The next token; anything else is a fault and is skipped.
    fn next_token(&mut self) -> Option<Token> {
        loop {
            match self.lexer.next() {
                Ok(token) => return token,
                Err(Fault { place, message }) => {
                    let at = (place.line.unwrap_or(1) as u32, place.column.unwrap_or(1) as u32);
                    self.fault(at, message);
                }
            }
        }
    }

    fn skip_tree(&mut self) {
        while let Some(token) = self.next_token() {
            if token.kind == TokenKind::Semicolon {
                return;
            }
        }
    }

    /// A label of a node that is at this stage; returns the next stage.
    fn label(
        &mut self,
        at: (u32, u32),
        text: &str,
        stage: ParseState,
        tree: &mut NewickTree,
        node: u32,
    ) -> ParseState {
        match stage {
            ParseState::Children => {
                let is_tip = tree.node(node).is_tip();
                let translated = match &mut self.nexus {
                    Some(nexus) if is_tip => nexus.translate(text),
                    _ => Translated::Same,
                };
                let is_named = match translated {
                    Translated::Same => tree.set_name(node, text),
                    Translated::Name(name) => tree.set_name(node, name),
                    Translated::Again => {
                        let text = abridged(text);
                        self.fault(at, format!("the taxon '{text}' is in the tree twice"));
                        true
                    }
                };
                if !is_named {
                    self.refuse_size(tree.root());
                }
                ParseState::Label
            }
            ParseState::Colon => {
                match text.parse::<f64>() {
                    Ok(length) if length.is_finite() => tree.set_length(node, length),
                    _ => self.fault(
                        at,
                        format!(
                            "'{}' is not a branch length; expected a number such as 0.1 or 1e-3",
                            abridged(text)
                        ),
                    ),
                }
                ParseState::Done
            }
            ParseState::Label => {
                self.second_name(at, text, tree.node(node));
                ParseState::Label
            }
            ParseState::Start | ParseState::Done => {
                let text = abridged(text);
                let message = format!("'{text}' follows a branch length; expected ',', ')' or ';'");
                self.fault(at, message);
                stage
            }
        }
    }

    fn second_name(&mut self, at: (u32, u32), text: &str, node: NewickNode) {
        let (text, name) = (abridged(text), abridged(node.name().unwrap_or_default()));
        self.fault(
            at,
            format!(
                "'{text}' follows the name '{name}'; expected ',', ')', ':' or ';' (a name with spaces \
                 must be quoted)"
            ),
        );
    }

    /// Reads one tree from its first token to its `;`. `None` if its structure is lost before the
    /// `;`; smaller faults are noted and the tree is returned as far as it is understood.
    fn tree(&mut self, first: Token) -> Option<NewickTree> {
        let mut tree = NewickTree::default();
        // The innermost open node, and the one that was read last.
        let mut open: Option<u32> = None;
        let mut current = 0u32;
        let mut stage = ParseState::Start;
        let mut token = first;
        loop {
            let at = (token.line, token.column);
            if stage == ParseState::Start {
                if tree.num_nodes() >= self.max_nodes {
                    self.refuse_size(tree.root());
                    return None;
                }
                current = tree.open(open, at);
                if token.kind == TokenKind::Open {
                    open = Some(current);
                } else {
                    tree.close(current);
                    stage = ParseState::Children;
                    if !matches!(token.kind, TokenKind::Label(_)) {
                        self.fault(at, "a taxon name or '(' was expected here");
                    }
                    continue;
                }
            } else {
                let node = tree.node(current);
                // Before the length or after it.
                let is_unnamed = stage == ParseState::Children
                    || stage == ParseState::Done && node.name().is_none();
                if is_unnamed
                    && !node.is_tip()
                    && !matches!(token.kind, TokenKind::Label(_))
                    && let Some(label) = self.lexer.annotated_label()
                {
                    let named = ParseState::Children;
                    let after = self.label(at, &label, named, &mut tree, current);
                    stage = if stage == ParseState::Done { stage } else { after };
                }
                match (token.kind, stage) {
                    (TokenKind::Label(text), _) => {
                        // A second word outside all brackets: this is no tree.
                        if stage == ParseState::Label && open.is_none() {
                            self.second_name(at, &text, tree.node(current));
                            return None;
                        }
                        stage = self.label(at, &text, stage, &mut tree, current);
                    }
                    (TokenKind::Colon, ParseState::Children | ParseState::Label) => {
                        stage = ParseState::Colon
                    }
                    (kind, ParseState::Colon) => {
                        self.fault(at, "a branch length was expected after ':'");
                        stage = ParseState::Done;
                        token = Token { kind, line: at.0, column: at.1 };
                        continue;
                    }
                    (TokenKind::Colon, _) => {
                        self.fault(at, "this node already has a branch length")
                    }
                    (TokenKind::Comma, _) if open.is_none() => {
                        self.fault(at, "',' outside all brackets; expected ';' after the tree");
                        return None;
                    }
                    (TokenKind::Comma, _) => stage = ParseState::Start,
                    (TokenKind::Close, _) => match open {
                        Some(node) => {
                            (current, open) = (node, tree.close(node));
                            stage = ParseState::Children;
                        }
                        None => {
                            self.fault(at, "')' without a '(' before it");
                            return None;
                        }
                    },
                    (TokenKind::Open, _) => {
                        self.fault(at, "'(' follows a complete node; expected ',', ')' or ';'");
                        return None;
                    }
                    // The tree is over, even if it is incomplete: reading continues after this ';'.
                    (TokenKind::Semicolon, _) => {
                        if let Some(node) = open {
                            let node = tree.node(node);
                            let (line, column) = (node.line(), node.column());
                            self.fault(at, format!("the tree ends here, but the '(' of line {line}, column {column} is not closed"));
                        }
                        return Some(closed(tree, open));
                    }
                }
            }
            match self.next_token() {
                Some(next) => token = next,
                None if self.lexer.chars.is_stopped() => return None,
                None => {
                    let root = tree.root();
                    self.fault(
                        (root.line(), root.column()),
                        "the tree that starts here is not ended by ';'; the file may be incomplete",
                    );
                    return Some(closed(tree, open));
                }
            }
        }
    }
}

/// The tree with all nodes closed that are open.
fn closed(mut tree: NewickTree, mut open: Option<u32>) -> NewickTree {
    while let Some(node) = open {
        open = tree.close(node);
    }
    tree
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(tree: &NewickTree) -> Vec<&str> {
        let tips = tree.nodes().filter(|node| node.is_tip());
        tips.map(|tip| tip.name().unwrap()).collect()
    }

    fn faults(text: &str) -> Vec<String> {
        match read_newick(text, "t.nwk") {
            Err(Error::Input(faults)) => faults.kept().iter().map(Fault::to_string).collect(),
            other => panic!("expected faults, got {other:?}"),
        }
    }

    #[test]
    fn labels_comments_lengths_and_line_breaks() {
        let text = "\u{feff}[&U] ('it''s'[x[nested]y]:1e-2,\"say \"\"hi\"\" (now)\":.5,\n Ein_Bär[&R]:2E+1,\r\n(O'Neil,🐢\t) 95 :3)root;";
        let trees = read_newick(text, "t").unwrap();
        let tree = &trees[0];
        assert_eq!(names(tree), ["it's", "say \"hi\" (now)", "Ein_Bär", "O'Neil", "🐢"]);
        let lengths: Vec<_> = tree.nodes().map(NewickNode::length).collect();
        assert_eq!(lengths, [None, Some(0.01), Some(0.5), Some(20.0), Some(3.0), None, None]);
        assert_eq!(tree.root().name(), Some("root"));
        let children: Vec<_> = tree.root().children().map(NewickNode::number).collect();
        assert_eq!(children, [1, 2, 3, 4]);
        assert_eq!(tree.node(4).name(), Some("95"));
        assert_eq!((tree.node(4).line(), tree.node(4).column()), (3, 1));
        assert_eq!((tree.node(6).line(), tree.node(6).column()), (3, 9));
    }

    #[test]
    fn what_a_comment_says_of_an_inner_node_without_a_label_is_its_label() {
        let label = |text: &str| {
            let text = format!("[&R] (A[&rate=2],(B,C){text}:1[&rate=1]);");
            let tree = read_newick(&text, "t").unwrap().remove(0);
            assert_eq!(names(&tree), ["A", "B", "C"]);
            assert_eq!((tree.root().name(), tree.node(2).length()), (None, Some(1.0)));
            tree.node(2).name().map(String::from)
        };
        for (text, expected) in [
            ("[&support=95]", Some("95")),
            ("[&support=95,support_2=0.9,support_3=1]", Some("95/0.9/1")),
            ("[&height_95%_HPD={0.1,0.2}, posterior=0.5]", Some("0.5")),
            ("[&prob=1.00000000e+00,prob_stddev=0.0]", Some("1.00000000e+00")),
            ("[&!rotate=true,label=\"a b\"]", Some("a b")),
            ("[a word][&support=95][another]", Some("95")),
            ("88[&support=95]", Some("88")),
            ("[&support=95]88", Some("88")),
            ("[&support=]", None),
            ("[support=95]", None),
            ("[&rate=2]", None),
        ] {
            assert_eq!(label(text).as_deref(), expected, "{text}");
        }
        // Behind the length, as DendroPy writes it.
        for (text, expected) in
            [("", Some("90")), ("[&support=95]", Some("95")), ("88", Some("88"))]
        {
            let text = format!("(A:1[&support=1],(B,C){text}:1[&support=90],D);");
            let tree = read_newick(&text, "t").unwrap().remove(0);
            assert_eq!(names(&tree), ["A", "B", "C", "D"]);
            assert_eq!((tree.node(2).name(), tree.node(2).length()), (expected, Some(1.0)));
        }
    }

    #[test]
    fn several_trees_in_any_lines() {
        let trees = read_newick("(A,B);(C,\n(D,E))\n;\rF; [end]\n", "t").unwrap();
        assert_eq!(
            trees.iter().map(names).collect::<Vec<_>>(),
            [vec!["A", "B"], vec!["C", "D", "E"], vec!["F"]]
        );
        assert_eq!(trees[2].root().line(), 4);
    }

    #[test]
    fn every_fault_of_every_tree_is_found_at_its_place() {
        let found = faults("(A:x,B:,C:nan,,D);\n(A,B)); (C));\n(A B,(C,D);\n(A,B,'C);\n");
        let expected = [
            "t.nwk, line 1, column 4: 'x' is not a branch length",
            "t.nwk, line 1, column 8: a branch length was expected after ':'",
            "t.nwk, line 1, column 11: 'nan' is not",
            "t.nwk, line 1, column 15: a taxon name or '(' was expected",
            "t.nwk, line 2, column 6: ')' without a '('",
            "t.nwk, line 2, column 12: ')' without a '('",
            "t.nwk, line 3, column 4: 'B' follows the name 'A'",
            "t.nwk, line 3, column 11: the tree ends here, but the '(' of line 3, column 1",
            "t.nwk, line 4, column 6: the name that starts here is never closed by '",
            "t.nwk, line 4, column 1: the tree that starts here is not ended by ';'",
        ];
        assert_eq!(found.len(), expected.len(), "{found:#?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.starts_with(expected), "{found}\nshould start with\n{expected}");
        }
        for (text, expected) in [
            (" \n", "t.nwk: no tree found"),
            ("2 99\nA ACGT\n", "t.nwk, line 1, column 3: '99' follows the name '2'"),
            (";", "t.nwk, line 1, column 1: a taxon name"),
            ("#NEX\nbegin trees;", "t.nwk, line 1, column 1: a tree cannot begin with '#'"),
            ("(A,B)", "t.nwk, line 1, column 1: the tree that starts here is not ended by ';'"),
            ("(A,B)(C,D);", "t.nwk, line 1, column 6: '(' follows"),
            ("A,B;", "t.nwk, line 1, column 2: ',' outside"),
            ("(A,[B);", "t.nwk, line 1, column 4: the comment"),
            ("(A],B);", "t.nwk, line 1, column 3: ']' without"),
            ("(A:1:2,B:1 x);", "t.nwk, line 1, column 5: this node already has a branch length"),
        ] {
            let found = faults(text);
            assert!(found[0].starts_with(expected), "{found:?}");
        }
        let sequence = "ä".repeat(1000);
        let found = faults(&format!("(A {sequence},B);"));
        assert!(found[0].len() < 250 && found[0].contains("ä...' follows the name"), "{found:?}");
    }

    #[test]
    fn deep_trees_do_not_exhaust_the_stack() {
        let n = 100_000;
        let text = format!("{}A{};", "(".repeat(n), ",B)".repeat(n));
        let tree = &read_newick(&text, "t").unwrap()[0];
        assert_eq!(tree.num_nodes(), 2 * n + 1);
    }

    fn refusal(text: &str, num_taxa: usize) -> String {
        let mut reader = NewickReader::new(text.as_bytes(), "t");
        reader = reader.expecting(num_taxa);
        while reader.next_tree().is_some() {}
        reader.finish().unwrap_err().to_string()
    }

    #[test]
    fn what_can_be_no_tree_is_not_read_to_its_end() {
        let (open, commas, label) = ("(".repeat(99_999), ",".repeat(99_999), "x".repeat(99_999));
        let far = "t, line 1, column 1: the tree that starts here has more than 1080 nodes, but there are 5 taxa";
        assert!(refusal(&open, 5).starts_with(far), "{}", refusal(&open, 5));
        assert_eq!(refusal(&open, 5).lines().count(), 1);
        let faults = refusal(&format!("({commas}"), 99_999);
        assert!(faults.lines().count() < 60, "{faults}");
        for text in [format!("({label},b);"), format!("('{label},b);")] {
            let said = refusal(&text, 5);
            assert!(
                said.starts_with("t, line 1, column 2: the name that starts here has more than"),
                "{said}"
            );
            assert_eq!(said.lines().count(), 1, "{said}");
        }
    }
}
