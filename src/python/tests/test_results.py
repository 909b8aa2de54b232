"""What results have, for words whose results are not alike."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mlsearch

SEQUENCES = {"a": "ACGTACGTAC", "b": "ACGTACGTTC", "c": "ACTTACGATC", "d": "ACTTAGGATC"}
FORMATS = ["square", "lower", "tsv", "square.gz", "lower.gz", "tsv.gz"]
PARTITIONS = "JC, one = 1-5\nJC, two = 6-10"


@pytest.mark.parametrize("dist_format", [*FORMATS, "npy"])
def test_distances_are_the_same_in_all_formats(dist_format: str) -> None:
    expected = mlsearch.distance(SEQUENCES, model="JC")
    assert expected.taxa == list("abcd") and expected.distances.shape == (4, 4)
    assert expected.distances[0, 3] == pytest.approx(0.571605, abs=1e-6)
    found = mlsearch.distance(SEQUENCES, model="JC", dist_format=dist_format)
    assert found.taxa == expected.taxa and "distances" in "".join(found.files)
    assert np.allclose(found.distances, expected.distances, atol=1e-8)


@pytest.mark.filterwarnings("ignore::mlsearch.MlsearchWarning")
@pytest.mark.parametrize("dist_format", [*FORMATS, "npy"])
def test_distances_of_taxa_with_blanks_in_their_names(dist_format: str) -> None:
    names = ["Homo sapiens", "b 0.5", "c", "a name that is longer"]
    rows = "".join(f"'{name}' {sequence}\n" for name, sequence in zip(names, SEQUENCES.values()))
    text = f"#NEXUS\nbegin data; dimensions ntax=4 nchar=10; format datatype=dna;\nmatrix\n{rows};\nend;\n"
    found = mlsearch.distance(text, model="JC", dist_format=dist_format)
    assert found.taxa == names
    expected = mlsearch.distance(SEQUENCES, model="JC").distances
    assert np.allclose(found.distances, expected, atol=1e-8)


def test_an_array_has_the_names_of_its_rows(hominoids: Path) -> None:
    found = mlsearch.distance(hominoids, model="JC", dist_format="npy")
    assert found.distances.shape == (7, 7)
    assert found.taxa == mlsearch.distance(hominoids, model="JC").taxa


@pytest.mark.parametrize("dist_format", ["square", "tsv", "npy"])
def test_distances_of_partitions_are_apart(dist_format: str) -> None:
    found = mlsearch.distance(SEQUENCES, partitions=PARTITIONS, unlinked=True, dist_format=dist_format)
    assert list(found.partition_distances) == ["one", "two"]
    taxa, values = found.partition_distances["two"]
    assert taxa == list("abcd")
    assert values[0].tolist() == pytest.approx([0, 0.232616, 0.571605, 1.207078], abs=1e-6)
    with pytest.raises(AttributeError, match="partition_distances"):
        found.distances
    with pytest.raises(AttributeError, match="partition_distances"):
        found.taxa
    assert mlsearch.distance(SEQUENCES, model="JC").partition_distances == {}


def test_without_distances_there_is_no_matrix() -> None:
    with pytest.raises(AttributeError, match="'start' has found no matrix"):
        mlsearch.start(SEQUENCES, model="JC").distances


def test_selections_and_genes_have_models() -> None:
    sequences = mlsearch.simulate("rand{6}", "HKY{4}+FU{0.3/0.2/0.2/0.3}", 600).text_of("phy")
    partitions = "DNA, one = 1-300\nDNA, two = 301-600"
    selected = mlsearch.select(sequences, partitions=partitions)
    chosen = [each["chosen"] for each in selected.report["model_selection"]]
    assert selected.models == dict(zip(["one", "two"], chosen))
    merged = mlsearch.select(sequences, partitions=partitions, merge="greedy")
    subsets = merged.report["partition_merging"]["subsets"]
    assert merged.models == {subset["subset"]: subset["model"] for subset in subsets}
    genes = mlsearch.genes(sequences, "HKY", partitions=partitions, bs_trees=2)
    assert list(genes.models) == ["one", "two"] and genes.models["one"].startswith("HKY{")
    assert genes.log_likelihoods.shape == (2,) and len(genes.trees) == 2 and len(genes.replicates) == 4
    assert genes.log_likelihoods.tolist() == [gene["log_likelihood"] for gene in genes.report["genes"]["each"]]


def test_a_consensus_is_a_tree_and_one_tree_is_compared_with_nothing() -> None:
    found = mlsearch.consensus(["((a,b),c,(d,e));", "((a,b),d,(c,e));"])
    assert found.trees == [found.tree]
    assert mlsearch.compare(["((a,b),c,(d,e));"]).distances.tolist() == [[0.0]]


def test_what_has_no_report_has_no_page() -> None:
    for found in [mlsearch.draw("((a:1,b:1):1,c:1,d:1);"), mlsearch.check(SEQUENCES, "JC")]:
        with pytest.raises(AttributeError, match=f"'{found.word}' has no page"):
            found.page()
