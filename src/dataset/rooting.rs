//! Where trees are to be rooted when they are written: names become taxa.

use super::remarks::list_names;
use crate::error::{Fault, Place};
use crate::plan::Rooting;
use crate::taxa::Taxa;
use crate::tree::{Drawing, RootPlace};

/// Why a tree has no midpoint.
pub(crate) const NO_MIDDLE: &str =
    "the middle of a tree needs the lengths of all branches, at least 0";

/// Where trees of the run's taxa are rooted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Root {
    /// Beside these taxa, in the order in which they were named.
    Outgroup(Vec<usize>),
    /// In the middle of the longest path.
    Midpoint,
}

/// Looks up the taxa of an outgroup. `source` is where the taxa are: "the alignment".
///
/// # Errors
/// Names that are not there, or an outgroup of all taxa.
pub(crate) fn find_root(
    wanted: Option<&Rooting>,
    taxa: &Taxa,
    source: &str,
) -> Result<Option<Root>, Fault> {
    let names = match wanted {
        None => return Ok(None),
        Some(Rooting::Midpoint) => return Ok(Some(Root::Midpoint)),
        Some(Rooting::Outgroup(names)) => names,
    };
    // A name with commas in it is that of one taxon.
    let whole = [names.join(",")];
    let names = if taxa.index(&whole[0]).is_some() { &whole[..] } else { &names[..] };
    let fault =
        |message: String| Err(Fault::new(Place::default(), format!("-o (--outgroup): {message}")));
    let unknown: Vec<&str> =
        names.iter().map(String::as_str).filter(|name| taxa.index(name).is_none()).collect();
    if !unknown.is_empty() {
        let list = list_names(unknown.into_iter());
        return fault(format!(
            "not a taxon of {source}: {list}; give names as they are written there, separated by commas"
        ));
    }
    let mut outgroup = Vec::new();
    for taxon in names.iter().filter_map(|name| taxa.index(name)) {
        if !outgroup.contains(&taxon) {
            outgroup.push(taxon);
        }
    }
    if outgroup.len() == taxa.len() {
        return fault(format!("it has all taxa of {source}: leave out those of the ingroup"));
    }
    Ok(Some(Root::Outgroup(outgroup)))
}

impl Root {
    /// The place of the root in a tree; none if the middle is asked for of a tree without lengths.
    pub(crate) fn place(&self, drawing: &Drawing) -> Option<RootPlace> {
        match self {
            Root::Outgroup(outgroup) => Some(drawing.outgroup_root(outgroup).place),
            Root::Midpoint => drawing.midpoint_root(),
        }
    }

    /// A warning if the outgroup is no clade of a tree, which is called `name` ("the best tree").
    pub(crate) fn warning(&self, drawing: &Drawing, taxa: &Taxa, name: &str) -> Option<String> {
        let Root::Outgroup(outgroup) = self else { return None };
        let between = drawing.outgroup_root(outgroup).between;
        let names = |some: &[usize]| list_names(some.iter().map(|&taxon| taxa.name(taxon)));
        (!between.is_empty()).then(|| {
            format!(
                "the outgroup ({}) is not a clade of {name}: the smallest one with all of it has these taxa, too: {}; the \
                 root is at {}",
                names(outgroup),
                names(&between),
                names(&outgroup[..1])
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::read_newick;

    #[test]
    fn names_become_taxa_or_one_fault() {
        let taxa = Taxa::new(["A", "B", "C", "D,X"].map(String::from).to_vec()).unwrap();
        let find = |names: &[&str]| {
            let names = names.iter().map(|name| name.to_string()).collect();
            let found = find_root(Some(&Rooting::Outgroup(names)), &taxa, "the alignment");
            found.map_err(|fault| fault.to_string())
        };
        assert_eq!(find(&["C", "A", "C"]), Ok(Some(Root::Outgroup(vec![2, 0]))));
        assert_eq!(find(&["D", "X"]), Ok(Some(Root::Outgroup(vec![3]))));
        let unknown = find(&["X", "A", "b"]).unwrap_err();
        assert!(unknown.contains("not a taxon of the alignment: X, b;"), "{unknown}");
        let all = find(&["D,X", "C", "B", "A"]).unwrap_err();
        assert!(all.contains("all taxa of the alignment"), "{all}");
        assert_eq!(find_root(None, &taxa, ""), Ok(None));
    }

    #[test]
    fn an_outgroup_that_is_no_clade_is_warned_of() {
        let taxa = Taxa::new(["A", "B", "C", "D", "E"].map(String::from).to_vec()).unwrap();
        let newick = &read_newick("(A,B,(C,(D,E)));", "t").unwrap()[0];
        let drawing = Drawing::of_newick(newick, &taxa).drawing;
        let warning = |outgroup: &[usize]| {
            Root::Outgroup(outgroup.to_vec()).warning(&drawing, &taxa, "the best tree")
        };
        assert_eq!(warning(&[1, 0]), None);
        let said = warning(&[4, 2]).unwrap();
        let start = "the outgroup (E, C) is not a clade of the best tree: the smallest one with all of it has these \
                     taxa, too: D; the root is at E";
        assert_eq!(said, start);
        assert_eq!(Root::Midpoint.place(&drawing), None);
    }
}
