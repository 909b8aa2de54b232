//! From Newick syntax to a [`Drawing`], with the labels of inner nodes at the branches above them.

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
        let mut joining = Joining { branches: Vec::new(), at: vec![Vec::new(); next as usize] };
        for (node, &parent) in newick.nodes().zip(&numbers) {
            for below in node.children() {
                let ends = [parent, numbers[below.number() as usize]];
                let label = below.name().filter(|_| !below.is_tip()).map(String::from);
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
        DrawingRead { drawing: Drawing { num_tips: taxa.len(), branches }, conflicts }
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
            ("((A:1,B:1)x:1,(C:1,D:1)x:2);", "(A:1,B:1,(C:1,D:1)x:3);"),
            ("((A:1,B:1):1,(C:1,D:1)x:2);", "(A:1,B:1,(C:1,D:1)x:3);"),
            ("(A:1,(B:1,(C:1,D:1)y:1)x:2);", "(A:3,B:1,(C:1,D:1)y:1);"),
            ("(((A:1,B:1,((C:1,D:1)y:1):0.5)));", "(A:1,B:1,(C:1,D:1)y:1.5);"),
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
        let text = "((A,B)x,(C,(D,(E,F)z)y)x);";
        assert_eq!(again(text, &[4]), ("(((((A,B)x,C)y,D)z,F),E);".to_string(), 0));
        assert_eq!(again(text, &[3, 4, 5]), ("(((A,B)x,C)y,(D,(E,F)z)y);".to_string(), 0));
        assert_eq!(again(text, &[0, 1]), ("((A,B)x,(C,(D,(E,F)z)y)x);".to_string(), 0));
    }
}
