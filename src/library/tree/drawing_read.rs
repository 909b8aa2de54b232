//! From Newick syntax to a [`Drawing`]: labels of inner nodes that are numbers (support) are those of the branches above them, and others are names of
//! the nodes.

use super::drawing::{Branch, Drawing};
use super::newick_syntax::NewickTree;
use crate::taxa::Taxa;

/// A drawing from text, and pairs of different labels that the text gives to one branch, which has the first of them.
#[derive(Debug, Clone)]
pub struct DrawingRead {
    /// The drawing.
    pub drawing: Drawing,
    /// The labels of the two halves of a branch, if they differ.
    pub conflicts: Vec<[String; 2]>,
}

impl Drawing {
    /// The unrooted tree of a text, of at least three tips. `taxa` are the names of all its tips. The branches at a
    /// root, or any other node, of degree two become one, their lengths added.
    ///
    /// # Panics
    /// If a tip is none of the taxa.
    pub fn of_newick(newick: &NewickTree, taxa: &Taxa) -> DrawingRead {
        let mut next = taxa.len() as u32;
        let mut numbers = Vec::with_capacity(newick.num_nodes());
        for node in newick.nodes() {
            let tip = || taxa.index(node.name().unwrap_or_default());
            numbers.push(match node.is_tip() {
                true => tip().expect("the tip is a taxon") as u32,
                false => {
                    next += 1;
                    next - 1
                }
            });
        }
        let mut node_names = vec![None; next as usize];
        for (node, &number) in newick.nodes().zip(&numbers) {
            let name = node.name().filter(|_| !node.is_tip()).and_then(|label| divide(label)[0]);
            node_names[number as usize] = name.map(String::from);
        }
        let mut joining = Joining { branches: Vec::new(), at: vec![Vec::new(); next as usize] };
        for (node, &parent) in newick.nodes().zip(&numbers) {
            for below in node.children() {
                let ends = [parent, numbers[below.number() as usize]];
                let label = below.name().filter(|_| !below.is_tip());
                let label = label.and_then(|label| divide(label)[1]).map(String::from);
                joining.add(Branch { ends, length: below.length(), label, is_left_out: false });
            }
        }
        let conflicts = joining.suppress(taxa.len() as u32);
        let mut branches: Vec<Branch> = joining.branches.into_iter().flatten().collect();
        for branch in &mut branches {
            if branch.ends.iter().any(|&end| (end as usize) < taxa.len()) {
                branch.label = None;
            }
        }
        let drawing = Drawing { num_tips: taxa.len(), branches, node_names };
        DrawingRead { drawing, conflicts }
    }
}

/// The name of a node, and the label of the branch above it, in one text: `Node7`, `95`, `95/0.99` or `Node7/95`.
fn divide(text: &str) -> [Option<&str>; 2] {
    let is_number =
        |part: &str| part.parse().is_ok_and(f64::is_finite) || ["", "NA"].contains(&part);
    let of_numbers = |&place: &usize| text[place..].split('/').all(is_number);
    let behind_slashes = text.match_indices('/').map(|(place, _)| place + 1);
    match std::iter::once(0).chain(behind_slashes).find(of_numbers) {
        Some(0) => [None, Some(text)],
        Some(place) if place < text.len() => [Some(&text[..place - 1]), Some(&text[place..])],
        _ => [Some(text), None],
    }
}

/// Branches in which nodes of degree two are joined.
struct Joining {
    branches: Vec<Option<Branch>>,
    /// `[node]`: its branches.
    at: Vec<Vec<usize>>,
}

impl Joining {
    fn add(&mut self, branch: Branch) {
        let number = self.branches.len();
        branch.ends.iter().for_each(|&end| self.at[end as usize].push(number));
        self.branches.push(Some(branch));
    }

    /// Removes inner nodes with fewer than three branches; returns different labels of branches that became one.
    fn suppress(&mut self, num_tips: u32) -> Vec<[String; 2]> {
        let mut conflicts = Vec::new();
        let mut nodes: Vec<u32> = (num_tips..self.at.len() as u32).collect();
        while let Some(node) = nodes.pop() {
            let found = self.at[node as usize].clone();
            if found.is_empty() || found.len() > 2 {
                continue;
            }
            let taken: Vec<Branch> =
                found.iter().filter_map(|&b| self.branches[b].take()).collect();
            let mut ends = Vec::new();
            for (number, branch) in found.iter().zip(&taken) {
                let end = if branch.ends[0] == node { branch.ends[1] } else { branch.ends[0] };
                self.at[end as usize].retain(|other| other != number);
                ends.push(end);
            }
            self.at[node as usize].clear();
            if let ([a, b], &[x, y]) = (taken.as_slice(), ends.as_slice()) {
                if let (Some(first), Some(second)) = (&a.label, &b.label)
                    && first != second
                {
                    conflicts.push([first.clone(), second.clone()]);
                }
                let length = a.length.zip(b.length).map(|(a, b)| a + b);
                let label = a.label.clone().or_else(|| b.label.clone());
                self.add(Branch { ends: [x, y], length, label, is_left_out: false });
            } else {
                nodes.extend(ends.into_iter().filter(|&end| end >= num_tips));
            }
        }
        conflicts
    }
}

#[cfg(test)]
mod tests {
    use super::super::read_newick;
    use super::*;

    /// Reads a text of tips A, B, C ... and writes it rooted beside an outgroup; or unrooted.
    fn again(text: &str, outgroup: &[usize]) -> (String, usize) {
        let newick = &read_newick(text, "t").unwrap()[0];
        let num_tips = newick.nodes().filter(|node| node.is_tip()).count();
        let names: Vec<String> = ('A'..).take(num_tips).map(String::from).collect();
        let taxa = Taxa::new(names).unwrap();
        let DrawingRead { drawing, conflicts } = Drawing::of_newick(newick, &taxa);
        let root = (!outgroup.is_empty()).then(|| drawing.outgroup_root(outgroup).place);
        (drawing.draw(|tip| taxa.name(tip), root, None).newick, conflicts.len())
    }

    #[test]
    fn nodes_of_degree_two_are_joined() {
        for (text, expected) in [
            ("((A:1,B:1)7:1,(C:1,D:1)7:2);", "(A:1,B:1,(C:1,D:1)7:3);"),
            ("((A:1,B:1):1,(C:1,D:1)7:2);", "(A:1,B:1,(C:1,D:1)7:3);"),
            ("(A:1,(B:1,(C:1,D:1)8/9:1)7:2);", "(A:3,B:1,(C:1,D:1)8/9:1);"),
            ("(((A:1,B:1,((C:1,D:1)8:1):0.5)));", "(A:1,B:1,(C:1,D:1)8:1.5);"),
            ("(A,B,(C,D,E)'a b');", "(A,B,(C,D,E)'a b');"),
            ("((((A:0.25))),B:0.1,C:1e-9);", "(A,B:0.1,C:0.000000001);"),
        ] {
            assert_eq!(again(text, &[]), (expected.to_string(), 0), "{text}");
        }
        assert_eq!(again("((A,B)90,(C,D)80);", &[]), ("(A,B,(C,D)90);".to_string(), 1));
    }

    /// The example of Czech et al. 2017, where programs that leave labels at nodes are wrong.
    #[test]
    fn labels_follow_their_branches_to_another_root() {
        let text = "((A,B)70,(C,(D,(E,F)90/NA)80)70);";
        assert_eq!(again(text, &[4]), ("(((((A,B)70,C)80,D)90/NA,F),E);".to_string(), 0));
        assert_eq!(again(text, &[3, 4, 5]), ("(((A,B)70,C)80,(D,(E,F)90/NA)80);".to_string(), 0));
        assert_eq!(again(text, &[0, 1]), ("((A,B)70,(C,(D,(E,F)90/NA)80)70);".to_string(), 0));
    }

    #[test]
    fn names_of_nodes_stay_at_these() {
        let text = "((A,B)x,C,(D,(E,F)z)y)w;";
        assert_eq!(again(text, &[]).0, "(A,B,(C,(D,(E,F)z)y)w)x;");
        assert_eq!(again(text, &[4]).0, "(((((A,B)x,C)w,D)y,F)z,E);");
        assert_eq!(again(text, &[0, 1]).0, "((A,B)x,(C,(D,(E,F)z)y)w);");
        let text = "(((((A,B)x/70,C),D)y/90,F),E);";
        assert_eq!(again("((A,B)x,(C,(D,(E,F)90)y)70)w;", &[4]).0, text);
        assert_eq!(again(text, &[0, 1]).0, "((A,B)x/70,(C,(D,(E,F)90)y)70);");
    }

    #[test]
    fn names_and_numbers_are_told_apart() {
        for (text, name, label) in [
            ("95", None, Some("95")),
            ("95/NA/0.9", None, Some("95/NA/0.9")),
            ("Node7", Some("Node7"), None),
            ("Node7/95/0.9", Some("Node7"), Some("95/0.9")),
            ("a/b/1e-3", Some("a/b"), Some("1e-3")),
            ("a/", Some("a/"), None),
            ("1/a", Some("1/a"), None),
            ("1 a", Some("1 a"), None),
        ] {
            assert_eq!(divide(text), [name, label], "{text}");
        }
    }
}
