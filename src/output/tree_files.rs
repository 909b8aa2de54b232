//! Trees in other formats than Newick, beside the Newick files: NEXUS as FigTree reads it, with support as annotations,
//! and PhyloXML (Han & Zmasek 2009, BMC Bioinformatics 10:356).

use crate::error::Result;
use crate::tree::{NewickNode, NewickReader, NewickTree, quote};
use clap::ValueEnum;
use std::io::{self, BufRead, Write};

/// A format of trees.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum TreeFormat {
    /// Newick alone.
    #[default]
    Newick,
    /// NEXUS, too.
    Nexus,
    /// PhyloXML, too.
    #[value(name = "phyloxml")]
    PhyloXml,
}

impl TreeFormat {
    /// What the names of its files have at their end, in addition to those of Newick files.
    pub(crate) fn extension(self) -> &'static str {
        match self {
            TreeFormat::Newick => "",
            TreeFormat::Nexus => ".nex",
            TreeFormat::PhyloXml => ".xml",
        }
    }
}

/// Writes the trees of a Newick text again; `label` is what numbers at inner nodes are: `support`.
///
/// # Errors
/// Newick text that cannot be read; then nothing useful was written. The inner error is that of writing.
pub(crate) fn write_trees(
    newick: impl BufRead,
    file: &str,
    format: TreeFormat,
    label: &str,
    out: &mut dyn Write,
) -> Result<io::Result<()>> {
    let mut reader = NewickReader::new(newick, file);
    let mut written = begin(format, out);
    let mut number = 0usize;
    while let Some(tree) = reader.next_tree() {
        number += 1;
        written = written.and_then(|()| match format {
            TreeFormat::Newick => Ok(()),
            TreeFormat::Nexus => write_nexus(&tree, number, label, out),
            TreeFormat::PhyloXml => write_phyloxml(&tree, label, out),
        });
    }
    // A file may have no trees, of which the reader would complain.
    if number > 0 {
        reader.finish()?;
    }
    Ok(written.and_then(|()| end(format, out)))
}

fn begin(format: TreeFormat, out: &mut dyn Write) -> io::Result<()> {
    match format {
        TreeFormat::Newick => Ok(()),
        TreeFormat::Nexus => writeln!(out, "#NEXUS\nbegin trees;"),
        TreeFormat::PhyloXml => writeln!(
            out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <phyloxml xmlns=\"http://www.phyloxml.org\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
             xsi:schemaLocation=\"http://www.phyloxml.org http://www.phyloxml.org/1.20/phyloxml.xsd\">"
        ),
    }
}

fn end(format: TreeFormat, out: &mut dyn Write) -> io::Result<()> {
    match format {
        TreeFormat::Newick => Ok(()),
        TreeFormat::Nexus => writeln!(out, "end;"),
        TreeFormat::PhyloXml => writeln!(out, "</phyloxml>"),
    }
}

/// A root with two branches is one.
fn is_rooted(tree: &NewickTree) -> bool {
    tree.root().children().count() == 2
}

/// The numbers of a label such as `95` or `95/0.99`, each with its name: `support`, `support_2` and so on. None if
/// it is a name.
fn numbers(node: NewickNode, label: &str) -> Vec<(String, String)> {
    let text = node.name().filter(|_| !node.is_tip()).unwrap_or_default();
    let numbers = text.split('/').map(|part| part.parse::<f64>().is_ok_and(f64::is_finite));
    if !{ numbers }.all(|is_number| is_number) {
        return Vec::new();
    }
    let named = |(i, part): (usize, &str)| match i {
        0 => (label.to_string(), part.to_string()),
        i => (format!("{label}_{}", i + 1), part.to_string()),
    };
    text.split('/').enumerate().map(named).collect()
}

/// A step on the way around a tree.
enum Step<'a> {
    /// At a node, before its children.
    Open(NewickNode<'a>),
    /// Before a child that is not the first.
    Next,
    /// At a node, after its children.
    Close(NewickNode<'a>),
}

/// Walks around a tree without recursion, which deep trees would not bear.
fn walk<'a>(
    tree: &'a NewickTree,
    mut step: impl FnMut(Step<'a>) -> io::Result<()>,
) -> io::Result<()> {
    let children = |node: NewickNode<'a>| node.children().collect::<Vec<_>>().into_iter();
    step(Step::Open(tree.root()))?;
    let mut open = vec![(tree.root(), children(tree.root()), true)];
    while let Some((node, rest, is_first)) = open.last_mut() {
        match rest.next() {
            Some(child) => {
                if !std::mem::take(is_first) {
                    step(Step::Next)?;
                }
                step(Step::Open(child))?;
                open.push((child, children(child), true));
            }
            None => {
                step(Step::Close(*node))?;
                open.pop();
            }
        }
    }
    Ok(())
}

/// `tree NAME = [&U] (A:1,(B:1,C:1)[&support=95]:1);`
fn write_nexus(
    tree: &NewickTree,
    number: usize,
    label: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let root = if is_rooted(tree) { "R" } else { "U" };
    write!(out, "\ttree tree_{number} = [&{root}] ")?;
    walk(tree, |step| match step {
        Step::Open(node) if node.is_tip() => Ok(()),
        Step::Open(_) => write!(out, "("),
        Step::Next => write!(out, ","),
        Step::Close(node) => {
            if !node.is_tip() {
                write!(out, ")")?;
            }
            let numbers = numbers(node, label);
            match (node.name(), numbers.as_slice()) {
                (Some(name), []) => write!(out, "{}", quote_nexus(name))?,
                (_, []) => {}
                (_, numbers) => {
                    let shown = numbers.iter().map(|(name, number)| format!("{name}={number}"));
                    write!(out, "[&{}]", shown.collect::<Vec<_>>().join(","))?;
                }
            }
            node.length().map_or(Ok(()), |length| write!(out, ":{length}"))
        }
    })?;
    writeln!(out, ";")
}

/// A name as NEXUS has it: in quotes also if it has a character with a meaning in NEXUS alone. A hyphen is none for the
/// programs that read trees.
fn quote_nexus(name: &str) -> String {
    match name.contains(['{', '}', '/', '\\', '=', '*', '`', '+', '<', '>']) {
        true => format!("'{}'", name.replace('\'', "''")),
        false => quote(name).into_owned(),
    }
}

/// One `<phylogeny>`.
fn write_phyloxml(tree: &NewickTree, label: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<phylogeny rooted=\"{}\">", is_rooted(tree))?;
    walk(tree, |step| match step {
        Step::Open(node) => {
            write!(out, "<clade>")?;
            let numbers = numbers(node, label);
            if let Some(name) = node.name().filter(|_| numbers.is_empty()) {
                write!(out, "<name>{}</name>", escape_xml(name))?;
            }
            if let Some(length) = node.length() {
                write!(out, "<branch_length>{length}</branch_length>")?;
            }
            for (name, number) in numbers {
                write!(out, "<confidence type=\"{name}\">{number}</confidence>")?;
            }
            if node.is_tip() { Ok(()) } else { writeln!(out) }
        }
        Step::Next => Ok(()),
        Step::Close(_) => writeln!(out, "</clade>"),
    })?;
    writeln!(out, "</phylogeny>")
}

/// A text as XML has it; control characters, which it cannot have, are replaced.
fn escape_xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\t' | '\n' | '\r' => escaped.push(' '),
            character if character.is_control() || matches!(character, '\u{fffe}' | '\u{ffff}') => {
                escaped.push('\u{fffd}');
            }
            character => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::read_newick;

    const TREES: &str =
        "(A_b:0.1,('c d':1,'e''f':0.000000001)95/0.9:2,'<&g>':0.25);\n((A,B)Node1,C);\n";

    fn write(text: &str, format: TreeFormat) -> String {
        let mut out = Vec::new();
        write_trees(text.as_bytes(), "t", format, "support", &mut out).unwrap().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn nexus_has_support_as_annotations_and_is_read_back() {
        let nexus = write(TREES, TreeFormat::Nexus);
        assert_eq!(
            nexus,
            "#NEXUS\nbegin trees;\n\ttree tree_1 = [&U] (A_b:0.1,('c d':1,'e''f':0.000000001)[&support=95,support_2=0.9]:2,\
             '<&g>':0.25);\n\ttree tree_2 = [&R] ((A,B)Node1,C);\nend;\n"
        );
        let describe = |text: &str| -> Vec<_> {
            let trees = read_newick(text, "t").unwrap();
            let nodes = trees.iter().flat_map(NewickTree::nodes);
            nodes.map(|node| (node.name().map(String::from), node.length())).collect()
        };
        assert_eq!(describe(&nexus), describe(TREES));
    }

    #[test]
    fn phyloxml_has_names_lengths_and_confidences() {
        let xml = write(TREES, TreeFormat::PhyloXml);
        let body = "<phylogeny rooted=\"false\">\n<clade>\n\
            <clade><name>A_b</name><branch_length>0.1</branch_length></clade>\n\
            <clade><branch_length>2</branch_length><confidence type=\"support\">95</confidence>\
            <confidence type=\"support_2\">0.9</confidence>\n\
            <clade><name>c d</name><branch_length>1</branch_length></clade>\n\
            <clade><name>e'f</name><branch_length>0.000000001</branch_length></clade>\n</clade>\n\
            <clade><name>&lt;&amp;g&gt;</name><branch_length>0.25</branch_length></clade>\n</clade>\n</phylogeny>\n\
            <phylogeny rooted=\"true\">\n<clade>\n<clade><name>Node1</name>\n\
            <clade><name>A</name></clade>\n<clade><name>B</name></clade>\n</clade>\n<clade><name>C</name></clade>\n\
            </clade>\n</phylogeny>\n</phyloxml>\n";
        assert!(xml.ends_with(body), "{xml}");
        assert_eq!(xml.matches("<clade>").count(), xml.matches("</clade>").count());
        assert_eq!(escape_xml("\u{1}a\tb"), "\u{fffd}a b");
    }

    #[test]
    fn deep_trees_do_not_exhaust_the_stack() {
        let n = 100_000;
        let text = format!("{}A{};", "(".repeat(n), ",B)".repeat(n));
        assert!(write(&text, TreeFormat::PhyloXml).len() > n);
    }
}
