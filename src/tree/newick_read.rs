//! Newick text to a flat syntax tree, with the place of every node and of every fault.
//!
//! Only syntax is known here; which labels are taxa and how the tree becomes binary and unrooted is
//! said in `newick_tree.rs`. Nothing recurses, so a caterpillar of 100 000 taxa is read like any other tree.
//!
//! Grammar: `tree = subtree ";"`, `subtree = [ "(" subtree { "," subtree } ")" ] [ label ] [ ":" number ]`.
//! Labels are bare or in single or double quotes (a doubled quote stands for one); comments in
//! brackets, nested or not, may stand anywhere between these and are dropped, rooting marks `[&U]`
//! and `[&R]` included. Underscores stay underscores.

use crate::error::{Error, Fault, Place, Result};
use std::borrow::Cow;

/// One node of a [`NewickTree`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NewickNode {
    /// Label, without its quotes; of a tip the taxon, of an inner node usually a support value.
    pub name: Option<String>,
    /// Length of the branch above the node, as written: any finite number.
    pub length: Option<f64>,
    /// Children by their position in [`NewickTree::nodes`], all larger than the node's own.
    pub children: Vec<u32>,
    /// Line where the node starts, counted from 1.
    pub line: u32,
    /// Column where the node starts, in characters, counted from 1.
    pub column: u32,
}

/// The syntax of one tree: nodes in the order in which they open, the root first.
#[derive(Debug, Clone, PartialEq)]
pub struct NewickTree {
    /// Never empty; `nodes[0]` is the root.
    pub nodes: Vec<NewickNode>,
}

impl NewickTree {
    /// Forgets all branch lengths: for callers who need only the topology and must not stumble over
    /// lengths that are not substitutions per site.
    pub fn drop_lengths(&mut self) {
        for node in &mut self.nodes {
            node.length = None;
        }
    }
}

/// Reads all trees of a text; `file` is the name to show in faults.
///
/// # Errors
/// Every syntax fault of every tree (after a fault that loses the structure, reading goes on behind
/// the next `;`), and a text without any tree.
pub fn read_newick(text: &str, file: &str) -> Result<Vec<NewickTree>> {
    let mut parser = Parser { lexer: Lexer::new(text, file), faults: Vec::new() };
    let mut trees = Vec::new();
    if let Some(word) = text.split_whitespace().next()
        && word.trim_start_matches('\u{feff}').eq_ignore_ascii_case("#nexus")
    {
        let place = Place::file(file).at_line(1).at_column(1);
        return Err(Error::input(
            place,
            "this is a NEXUS file; expected trees in Newick form, such as (A,B,(C,D)); please export them as Newick",
        ));
    }
    while let Some(token) = parser.next_token() {
        match parser.tree(token) {
            Some(tree) => trees.push(tree),
            None => parser.skip_tree(),
        }
    }
    let mut faults = parser.faults;
    if trees.is_empty() && faults.is_empty() {
        faults.push(Fault::new(
            Place::file(file),
            "no tree found; expected Newick text such as (A,B,(C,D));",
        ));
    }
    if faults.is_empty() { Ok(trees) } else { Err(Error::Input(faults)) }
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Open,
    Close,
    Comma,
    Colon,
    Semicolon,
    Label(String),
}

#[derive(Debug, Clone, PartialEq)]
struct Token {
    kind: Kind,
    line: u32,
    column: u32,
}

struct Lexer<'a> {
    chars: std::iter::Peekable<std::str::Chars<'a>>,
    line: u32,
    column: u32,
    file: &'a str,
}

impl<'a> Lexer<'a> {
    fn new(text: &'a str, file: &'a str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Lexer { chars: text.chars().peekable(), line: 1, column: 1, file }
    }

    fn fault(&self, (line, column): (u32, u32), message: impl Into<String>) -> Fault {
        let place = Place::file(self.file).at_line(line as usize).at_column(column as usize);
        Fault::new(place, message)
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.chars.next()?;
        // A lone carriage return ends a line too (old Macintosh files), one before '\n' does not.
        if c == '\n' || (c == '\r' && self.chars.peek() != Some(&'\n')) {
            self.line += 1;
            self.column = 1;
        } else {
            self.column += 1;
        }
        Some(c)
    }

    /// The next token, `None` at the end of the text.
    fn next(&mut self) -> std::result::Result<Option<Token>, Fault> {
        loop {
            let (line, column) = (self.line, self.column);
            let Some(c) = self.bump() else {
                return Ok(None);
            };
            let kind = match c {
                '(' => Kind::Open,
                ')' => Kind::Close,
                ',' => Kind::Comma,
                ':' => Kind::Colon,
                ';' => Kind::Semicolon,
                '[' => {
                    self.skip_comment((line, column))?;
                    continue;
                }
                ']' => {
                    return Err(self.fault(
                        (line, column),
                        "']' without '[' before it; a name with brackets must be quoted",
                    ));
                }
                '\'' | '"' => Kind::Label(self.quoted(c, (line, column))?),
                c if c.is_whitespace() => continue,
                c => Kind::Label(self.bare(c)),
            };
            return Ok(Some(Token { kind, line, column }));
        }
    }

    fn skip_comment(&mut self, start: (u32, u32)) -> std::result::Result<(), Fault> {
        let mut depth = 1;
        while depth > 0 {
            match self.bump() {
                Some('[') => depth += 1,
                Some(']') => depth -= 1,
                Some(_) => {}
                None => {
                    return Err(
                        self.fault(start, "the comment that starts here is never closed by ']'")
                    );
                }
            }
        }
        Ok(())
    }

    fn quoted(&mut self, quote: char, start: (u32, u32)) -> std::result::Result<String, Fault> {
        let mut label = String::new();
        loop {
            match self.bump() {
                Some(c) if c == quote => {
                    if self.chars.peek() != Some(&quote) {
                        return Ok(label);
                    }
                    self.bump();
                    label.push(quote);
                }
                Some(c) => label.push(c),
                None => {
                    return Err(self.fault(
                        start,
                        format!("the name that starts here is never closed by {quote}"),
                    ));
                }
            }
        }
    }

    fn bare(&mut self, first: char) -> String {
        let mut label = String::from(first);
        while let Some(&c) = self.chars.peek() {
            if c.is_whitespace() || "()[],:;".contains(c) {
                break;
            }
            label.push(c);
            self.bump();
        }
        label
    }
}

/// A label as faults quote it: the file may be no tree at all, but sequences.
fn abridged(label: &str) -> Cow<'_, str> {
    const SHOWN: usize = 40;
    match label.char_indices().nth(SHOWN) {
        Some((end, _)) => Cow::Owned(format!("{}...", &label[..end])),
        None => Cow::Borrowed(label),
    }
}

/// What has been read of the current node.
#[derive(Clone, Copy, PartialEq)]
enum Stage {
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
    faults: Vec<Fault>,
}

impl Parser<'_> {
    fn fault(&mut self, at: (u32, u32), message: impl Into<String>) {
        let fault = self.lexer.fault(at, message);
        self.faults.push(fault);
    }

    /// The next token; what is no token is a fault and is passed over.
    fn next_token(&mut self) -> Option<Token> {
        loop {
            match self.lexer.next() {
                Ok(token) => return token,
                Err(fault) => self.faults.push(fault),
            }
        }
    }

    fn skip_tree(&mut self) {
        while let Some(token) = self.next_token() {
            if token.kind == Kind::Semicolon {
                return;
            }
        }
    }

    /// Reads one tree from its first token to its `;`. `None` if its structure is lost before the
    /// `;`; smaller faults are noted and the tree is returned as far as it is understood.
    fn tree(&mut self, first: Token) -> Option<NewickTree> {
        let mut nodes: Vec<NewickNode> = Vec::new();
        let mut open: Vec<u32> = Vec::new();
        let mut current = 0u32;
        let mut stage = Stage::Start;
        let mut token = first;
        loop {
            let at = (token.line, token.column);
            if stage == Stage::Start {
                current = nodes.len() as u32;
                nodes.push(NewickNode { line: at.0, column: at.1, ..NewickNode::default() });
                if let Some(&parent) = open.last() {
                    nodes[parent as usize].children.push(current);
                }
                if token.kind == Kind::Open {
                    open.push(current);
                } else {
                    stage = Stage::Children;
                    if !matches!(token.kind, Kind::Label(_)) {
                        self.fault(at, "a taxon name or '(' was expected here");
                    }
                    continue;
                }
            } else {
                match (token.kind, stage) {
                    (Kind::Label(name), Stage::Children) => {
                        nodes[current as usize].name = Some(name);
                        stage = Stage::Label;
                    }
                    (Kind::Label(text), Stage::Colon) => {
                        match text.parse::<f64>() {
                            Ok(length) if length.is_finite() => nodes[current as usize].length = Some(length),
                            _ => self.fault(at, format!("'{}' is not a branch length; expected a number such as 0.1 or 1e-3", abridged(&text))),
                        }
                        stage = Stage::Done;
                    }
                    (Kind::Label(text), Stage::Label) => {
                        let name = nodes[current as usize].name.clone().unwrap_or_default();
                        self.fault(at, format!("'{}' follows the name '{}'; expected ',', ')', ':' or ';' (a name with blanks must be quoted)", abridged(&text), abridged(&name)));
                        if open.is_empty() {
                            return None;
                        }
                    }
                    (Kind::Label(text), _) => {
                        self.fault(
                            at,
                            format!(
                                "'{}' follows a branch length; expected ',', ')' or ';'",
                                abridged(&text)
                            ),
                        );
                    }
                    (Kind::Colon, Stage::Children | Stage::Label) => stage = Stage::Colon,
                    (kind, Stage::Colon) => {
                        self.fault(at, "a branch length was expected after ':'");
                        stage = Stage::Done;
                        token = Token { kind, line: at.0, column: at.1 };
                        continue;
                    }
                    (Kind::Colon, _) => self.fault(at, "this node has a branch length already"),
                    (Kind::Comma, _) if open.is_empty() => {
                        self.fault(at, "',' outside of all brackets; expected ';' after the tree");
                        return None;
                    }
                    (Kind::Comma, _) => stage = Stage::Start,
                    (Kind::Close, _) => match open.pop() {
                        Some(node) => {
                            current = node;
                            stage = Stage::Children;
                        }
                        None => {
                            self.fault(at, "')' without '(' before it");
                            return None;
                        }
                    },
                    (Kind::Open, _) => {
                        self.fault(at, "'(' follows a complete node; expected ',', ')' or ';'");
                        return None;
                    }
                    (Kind::Semicolon, _) => {
                        let Some(&node) = open.last() else {
                            return Some(NewickTree { nodes });
                        };
                        let NewickNode { line, column, .. } = nodes[node as usize];
                        self.fault(at, format!("the tree ends here, but the '(' of line {line}, column {column} is not closed"));
                        // The tree is over: reading goes on right behind this ';'.
                        return Some(NewickTree { nodes });
                    }
                }
            }
            match self.next_token() {
                Some(next) => token = next,
                None => {
                    let start = (nodes[0].line, nodes[0].column);
                    self.fault(
                        start,
                        "the tree that starts here is not ended by ';'; is the file complete?",
                    );
                    return Some(NewickTree { nodes });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(tree: &NewickTree) -> Vec<&str> {
        let tips = tree.nodes.iter().filter(|n| n.children.is_empty());
        tips.map(|n| n.name.as_deref().unwrap()).collect()
    }

    fn faults(text: &str) -> Vec<String> {
        match read_newick(text, "t.nwk") {
            Err(Error::Input(faults)) => faults.iter().map(Fault::to_string).collect(),
            other => panic!("expected faults, got {other:?}"),
        }
    }

    #[test]
    fn labels_comments_lengths_and_line_breaks() {
        let text = "\u{feff}[&U] ('it''s'[x[nested]y]:1e-2,\"say \"\"hi\"\" (now)\":.5,\n Ein_Bär[&R]:2E+1,\r\n(O'Neil,🐢\t) 95 :3)root;";
        let trees = read_newick(text, "t").unwrap();
        let tree = &trees[0];
        assert_eq!(names(tree), ["it's", "say \"hi\" (now)", "Ein_Bär", "O'Neil", "🐢"]);
        let lengths: Vec<_> = tree.nodes.iter().map(|n| n.length).collect();
        assert_eq!(lengths, [None, Some(0.01), Some(0.5), Some(20.0), Some(3.0), None, None]);
        assert_eq!(tree.nodes[0].name.as_deref(), Some("root"));
        assert_eq!(tree.nodes[0].children, [1, 2, 3, 4]);
        assert_eq!(tree.nodes[4].name.as_deref(), Some("95"));
        assert_eq!((tree.nodes[4].line, tree.nodes[4].column), (3, 1));
        assert_eq!((tree.nodes[6].line, tree.nodes[6].column), (3, 9));
    }

    #[test]
    fn several_trees_in_any_lines() {
        let trees = read_newick("(A,B);(C,\n(D,E))\n;\rF; [end]\n", "t").unwrap();
        assert_eq!(
            trees.iter().map(names).collect::<Vec<_>>(),
            [vec!["A", "B"], vec!["C", "D", "E"], vec!["F"]]
        );
        assert_eq!(trees[2].nodes[0].line, 4);
    }

    #[test]
    fn every_fault_of_every_tree_is_found_at_its_place() {
        let found = faults("(A:x,B:,C:nan,,D);\n(A,B)); (C));\n(A B,(C,D);\n(A,B,'C);\n");
        let expected = [
            "t.nwk, line 1, column 4: 'x' is not a branch length",
            "t.nwk, line 1, column 8: a branch length was expected after ':'",
            "t.nwk, line 1, column 11: 'nan' is not",
            "t.nwk, line 1, column 15: a taxon name or '(' was expected",
            "t.nwk, line 2, column 6: ')' without '('",
            "t.nwk, line 2, column 12: ')' without '('",
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
            ("#NEXUS\nbegin trees;", "t.nwk, line 1, column 1: this is a NEXUS file"),
            ("(A,B)", "t.nwk, line 1, column 1: the tree that starts here is not ended by ';'"),
            ("(A,B)(C,D);", "t.nwk, line 1, column 6: '(' follows"),
            ("A,B;", "t.nwk, line 1, column 2: ',' outside"),
            ("(A,[B);", "t.nwk, line 1, column 4: the comment"),
            ("(A],B);", "t.nwk, line 1, column 3: ']' without"),
            ("(A:1:2,B:1 x);", "t.nwk, line 1, column 5: this node has a branch length already"),
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
        assert_eq!(tree.nodes.len(), 2 * n + 1);
    }
}
