"""Trees, alignments and distances of other packages; what is not installed is skipped."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mlsearch

SEQUENCES = {"Homo_s": "ACGTACGTAC", "b": "ACGTACGTTC", "c": "ACTTACGATC", "d": "ACTTAGGATC"}
NEWICK = "((Homo_s:0.5,b:0.25)90:0.125,c:1,d:0.75);"


@pytest.fixture(scope="module")
def expected() -> bytes:
    return mlsearch.search(SEQUENCES, "JC").files["bestTree"]


def test_alignments_are_paths_texts_dicts_and_pairs(tmp_path: Path, expected: bytes) -> None:
    text = "".join(f">{name}\n{sequence}\n" for name, sequence in SEQUENCES.items())
    path = tmp_path / "a.fasta"
    path.write_text(text)
    bytes_of = {name: sequence.encode() for name, sequence in SEQUENCES.items()}
    for alignment in [path, str(path), text, list(SEQUENCES.items()), iter(SEQUENCES.items()), bytes_of]:
        assert mlsearch.search(alignment, "JC").files["bestTree"] == expected


def test_alignments_of_biopython(expected: bytes) -> None:
    align = pytest.importorskip("Bio.Align")
    seq, record = pytest.importorskip("Bio.Seq"), pytest.importorskip("Bio.SeqRecord")
    rows = [record.SeqRecord(seq.Seq(text), id=name) for name, text in SEQUENCES.items()]
    by_name = {row.id: row for row in rows}
    for alignment in [align.MultipleSeqAlignment(rows), align.Alignment(rows), rows, by_name]:
        assert mlsearch.search(alignment, "JC").files["bestTree"] == expected


def test_an_alignment_of_biopython_has_its_gaps() -> None:
    align = pytest.importorskip("Bio.Align")
    with_gap = {**SEQUENCES, "b": "ACG-ACGTTC"}
    text = "".join(f">{name} described\n{sequence}\n" for name, sequence in with_gap.items())
    alignment = align.read(io.StringIO(text), "fasta")
    found = mlsearch.search(alignment, "JC").files["bestTree"]
    assert found == mlsearch.search(with_gap, "JC").files["bestTree"]
    nameless = align.Alignment(list(SEQUENCES.values()))
    with pytest.raises(mlsearch.MlsearchError, match="expected another name"):
        mlsearch.search(nameless, "JC")


def test_alignments_of_cogent3(expected: bytes) -> None:
    cogent3 = pytest.importorskip("cogent3")
    alignment = cogent3.make_aligned_seqs(SEQUENCES, moltype="dna")
    assert mlsearch.search(alignment, "JC").files["bestTree"] == expected


def test_alignments_of_skbio_and_dendropy(expected: bytes) -> None:
    skbio = pytest.importorskip("skbio")
    rows = [skbio.DNA(text, metadata={"id": name}) for name, text in SEQUENCES.items()]
    assert mlsearch.search(skbio.TabularMSA(rows), "JC").files["bestTree"] == expected
    dendropy = pytest.importorskip("dendropy")
    matrix = dendropy.DnaCharacterMatrix.from_dict(SEQUENCES)
    assert mlsearch.search(matrix, "JC").files["bestTree"] == expected


def there_and_back(tree: Any) -> mlsearch.Tree:
    """The tree of another package as an argument."""
    rooted = mlsearch.support(tree, [NEWICK, NEWICK]).tree
    assert sorted(rooted.taxa) == sorted(SEQUENCES)
    return rooted


def rooted(tree: Any) -> str:
    """The text of the tree of another package with another root."""
    return mlsearch.root(tree, outgroup="d").tree.newick


WITHOUT_LENGTHS = "((Homo_s,b),c,d);"
LABELLED = "((a:0.5,b:0.000001234)95:0.25,(c:1,d:1)80:0.5,e:1);"
LABELS = {frozenset("cde"): (95.0,), frozenset("cd"): (80.0,)}


def test_dendropy_has_the_same_names_in_alignments_and_trees() -> None:
    dendropy = pytest.importorskip("dendropy")
    rows = "".join(f"{name} {sequence}\n" for name, sequence in SEQUENCES.items())
    text = f"#NEXUS\nbegin data; dimensions ntax=4 nchar=10; format datatype=dna;\nmatrix\n{rows};\nend;\n"
    matrix = dendropy.DnaCharacterMatrix.get(data=text, schema="nexus")
    trees = dendropy.TreeList.get(data=2 * NEWICK, schema="newick", taxon_namespace=matrix.taxon_namespace)
    assert "Homo s" in [taxon.label for taxon in matrix.taxon_namespace]
    for tree in [trees, trees[0]]:
        assert "Homo_s" in mlsearch.evaluate(matrix, "JC", tree).tree.taxa


def test_trees_of_dendropy_have_lengths_and_support_as_there() -> None:
    dendropy = pytest.importorskip("dendropy")

    def read(text: str) -> Any:
        return dendropy.Tree.get(data=text, schema="newick")

    assert ":" not in rooted(read(WITHOUT_LENGTHS))
    annotated = LABELLED.replace("95", "[&support=95]").replace("80", "[&prob=80,prob_range={70,90}]")
    for text in [LABELLED, annotated]:
        assert mlsearch.Tree(rooted(read(text))).supports() == LABELS
    both = rooted(read("((a,b)'A x'[&support=95,support_2=0.5],(c,e),d);"))
    assert "A_x/95/0.5" in both


def test_trees_of_biopython_have_lengths_and_support_as_there() -> None:
    phylo = pytest.importorskip("Bio.Phylo")

    def read(text: str) -> Any:
        return phylo.read(io.StringIO(text), "newick")

    assert ":" not in rooted(read(WITHOUT_LENGTHS))
    tree = read(LABELLED)
    assert mlsearch.Tree(rooted(tree)).supports() == LABELS
    assert "0.000001234" in rooted(tree)
    named = read("((a,b),(c,e),d);")
    named.root.clades[0].name, named.root.clades[0].confidence = "A b", 95.5
    assert "'A b/95.5'" in rooted(named)
    xml = io.StringIO()
    phylo.write(tree, xml, "phyloxml")
    assert mlsearch.Tree(rooted(phylo.read(io.StringIO(xml.getvalue()), "phyloxml"))).supports() == LABELS


def test_trees_of_ete3_have_lengths_and_support_as_there() -> None:
    ete3 = pytest.importorskip("ete3", exc_type=ImportError)
    # There, 1 is the length and the support of branches without any.
    assert ":" not in rooted(ete3.Tree(WITHOUT_LENGTHS))
    assert mlsearch.Tree(rooted(ete3.Tree(LABELLED))).supports() == LABELS
    partly = LABELLED.replace("80", "")
    assert list(mlsearch.Tree(rooted(ete3.Tree(partly))).supports().values()) == [(95.0,)]
    probable = LABELLED.replace("95", "0.5").replace("80", "1.0")
    assert sorted(mlsearch.Tree(rooted(ete3.Tree(probable))).supports().values()) == [(0.5,), (1.0,)]
    assert "Anna" in rooted(ete3.Tree("((a,b)Anna,(c,e),d);", format=1))


def test_trees_of_skbio_cogent3_and_ete4_have_lengths_and_support_as_there() -> None:
    skbio = pytest.importorskip("skbio")

    def read(text: str) -> Any:
        return skbio.TreeNode.read(io.StringIO(text))

    assert ":" not in rooted(read(WITHOUT_LENGTHS)) and "Homo_s" in rooted(read(WITHOUT_LENGTHS))
    tree = read(LABELLED)
    assert mlsearch.Tree(rooted(tree)).supports() == LABELS
    tree.assign_supports()
    assert mlsearch.Tree(rooted(tree)).supports() == LABELS
    cogent3 = pytest.importorskip("cogent3")
    assert ":" not in rooted(cogent3.make_tree(WITHOUT_LENGTHS)) and "edge" not in rooted(cogent3.make_tree(LABELLED))
    assert mlsearch.Tree(rooted(cogent3.make_tree(LABELLED))).supports() == LABELS
    ete4 = pytest.importorskip("ete4", exc_type=ImportError)
    assert ":" not in rooted(ete4.Tree(WITHOUT_LENGTHS))
    assert mlsearch.Tree(rooted(ete4.Tree(LABELLED))).supports() == LABELS


def test_trees_of_dendropy() -> None:
    pytest.importorskip("dendropy")
    tree = mlsearch.Tree(NEWICK).to_dendropy()
    assert sorted(leaf.taxon.label for leaf in tree.leaf_node_iter()) == sorted(SEQUENCES)
    assert [node.label for node in tree.internal_nodes()][-1] == "90"
    assert tree.length() == pytest.approx(2.625)
    there_and_back(tree)


def test_trees_of_biopython() -> None:
    pytest.importorskip("Bio.Phylo")
    tree = mlsearch.Tree(NEWICK).to_biopython()
    assert sorted(leaf.name for leaf in tree.get_terminals()) == sorted(SEQUENCES)
    assert [node.confidence for node in tree.get_nonterminals()] == [None, 90]
    there_and_back(tree)


def test_trees_of_ete3() -> None:
    pytest.importorskip("ete3", exc_type=ImportError)
    tree = mlsearch.Tree(NEWICK).to_ete3()
    assert sorted(tree.get_leaf_names()) == sorted(SEQUENCES)
    there_and_back(tree)


def test_trees_of_ete4() -> None:
    pytest.importorskip("ete4", exc_type=ImportError)
    tree = mlsearch.Tree(NEWICK).to_ete4()
    assert sorted(tree.leaf_names()) == sorted(SEQUENCES)
    there_and_back(tree)


def test_trees_of_cogent3() -> None:
    pytest.importorskip("cogent3")
    tree = mlsearch.Tree(NEWICK).to_cogent3()
    assert sorted(tree.get_tip_names()) == sorted(SEQUENCES)
    there_and_back(tree)


def test_trees_and_distances_of_skbio() -> None:
    pytest.importorskip("skbio")
    tree = mlsearch.Tree(NEWICK).to_skbio()
    assert sorted(tip.name for tip in tree.tips()) == sorted(SEQUENCES)
    there_and_back(tree)
    found = mlsearch.distance(SEQUENCES, model="JC")
    matrix = found.to_skbio_distances()
    assert matrix["Homo_s", "b"] == pytest.approx(0.107326, abs=1e-6)
    assert np.array_equal(matrix.data, found.distances)


def test_distances_of_dendropy_biopython_and_cogent3() -> None:
    found = mlsearch.distance(SEQUENCES, "nj", model="JC")
    names, values = found.taxa, found.distances
    construction = pytest.importorskip("Bio.Phylo.TreeConstruction")
    rows = [[float(value) for value in values[i, : i + 1]] for i in range(len(names))]
    neighbour_joining = construction.DistanceTreeConstructor().nj(construction.DistanceMatrix(names, rows))
    assert sorted(leaf.name for leaf in neighbour_joining.get_terminals()) == sorted(SEQUENCES)
    distances = pytest.importorskip("cogent3.evolve.fast_distance")
    matrix = distances.DistanceMatrix.from_array_names(values, names)
    assert matrix["Homo_s", "b"] == pytest.approx(0.107326, abs=1e-6)
    dendropy = pytest.importorskip("dendropy")
    table = "," + ",".join(names) + "\n"
    table += "".join(f"{name},{','.join(map(str, row))}\n" for name, row in zip(names, values))
    read = dendropy.PhylogeneticDistanceMatrix.from_csv(io.StringIO(table))
    taxa = read.taxon_namespace
    assert read.distance(taxa.get_taxon("Homo_s"), taxa.get_taxon("b")) == pytest.approx(values[0, 1])


def test_trees_know_their_branches() -> None:
    tree = mlsearch.Tree("('it''s a':1,(b:2,c:3)a/80:0.5,(d:1,e:1)1/20:0.25);")
    assert tree.taxa == ["it's a", "b", "c", "d", "e"]
    assert {tuple(sorted(split.taxa)): split.length for split in tree.splits()} == {
        ("d", "e", "it's a"): 0.5,
        ("d", "e"): 0.25,
    }
    values = tree.supports()[frozenset({"d", "e"})]
    assert values == (1.0, 20.0)
    rooted = mlsearch.Tree("((a:1,b:1):0.5,(c:1,d:1)70:0.25);")
    assert [(split.length, split.support) for split in rooted.splits()] == [(0.75, (70.0,))]
    for text in ["", "(a,b", "(a,b);(c,d);"]:
        with pytest.raises((ValueError, mlsearch.MlsearchError)):
            mlsearch.Tree(text)
