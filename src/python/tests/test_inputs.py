"""Alignments, trees and numbers in all the forms that they may have."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import numpy as np
import pytest

import mlsearch

SEQUENCES = {"a": "ACGTACGTAC", "b": "ACGTACGTTC", "c": "ACTTACGATC", "d": "ACTTAGGATC"}
FASTA = "".join(f">{name}\n{sequence}\n" for name, sequence in SEQUENCES.items())
TREES = ["((a,b),c,(d,e));", "((a,b),d,(c,e));", "((a,b),e,(c,d));"]


def test_an_alignment_may_be_an_open_file_or_bytes(tmp_path: Path) -> None:
    expected = mlsearch.search(SEQUENCES, "JC").files["bestTree"]
    path, compressed = tmp_path / "a.fasta", tmp_path / "a.fasta.gz"
    path.write_text(FASTA)
    compressed.write_bytes(gzip.compress(FASTA.encode()))
    for alignment in [io.StringIO(FASTA), io.BytesIO(FASTA.encode()), FASTA.encode()]:
        assert mlsearch.search(alignment, "JC").files["bestTree"] == expected
    with open(path) as text, open(path, "rb") as data, gzip.open(compressed) as unpacked, open(compressed, "rb") as packed:
        for file in [text, data, unpacked, packed]:
            assert mlsearch.search(file, "JC").files["bestTree"] == expected
    with pytest.raises(mlsearch.MlsearchError) as caught:
        mlsearch.search(io.StringIO("2 4\na ACGT\na ACGA\n"), "JC")
    assert caught.value.faults[0].file == "alignment" and caught.value.faults[0].line == 3


def test_what_is_no_alignment_is_refused_with_what_is_expected() -> None:
    for value in [3, object(), ["ACGT", "ACGA"], [("a", "ACGT", "x")]]:
        with pytest.raises(mlsearch.MlsearchError, match="^alignment: .* expected a path, the text of a file, an open file"):
            mlsearch.search(value, "JC")
    with pytest.raises(mlsearch.MlsearchError) as caught:
        mlsearch.search({"a": list("ACGT"), "b": None, "c": "ACGT"}, "JC")
    assert [(fault.name, fault.message[:24]) for fault in caught.value.faults] == [
        ("a", "a value of type 'list' i"),
        ("b", "a value of type 'NoneTyp"),
    ]
    with pytest.raises(mlsearch.MlsearchError, match="`alignment`"):
        mlsearch.search(None, "JC")
    with pytest.raises(mlsearch.MlsearchError, match="^tree: .* expected a path, a text, a tree"):
        mlsearch.evaluate(SEQUENCES, "JC", 3)


def test_lists_of_trees_may_have_paths_texts_and_trees(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.nwk" for number in range(3)]
    paths[0].write_text(TREES[0])
    nexus = f"#NEXUS\nbegin trees;\ntranslate 1 a, 2 b, 3 c, 4 d, 5 e;\ntree one = ((1,2),4,(3,5));\nend;\n"
    paths[1].write_text(nexus)
    paths[2].write_bytes(gzip.compress(TREES[2].encode()))
    expected = mlsearch.compare(TREES).distances
    mixed = [paths[0], mlsearch.Tree(TREES[1]), str(paths[2])]
    in_nexus = [TREES[0], nexus, io.StringIO(TREES[2])]
    for trees in [paths, [str(path) for path in paths], mixed, in_nexus]:
        assert np.array_equal(mlsearch.compare(trees).distances, expected)
        assert mlsearch.support(TREES[0], trees).tree.supports()
    assert mlsearch.consensus(paths[:1]).tree.same_topology(mlsearch.Tree(TREES[0]))


def test_faults_of_files_in_lists_name_the_files(tmp_path: Path) -> None:
    good, faulty, missing = tmp_path / "a.nwk", tmp_path / "b.nwk", tmp_path / "c.nwk"
    good.write_text(TREES[0])
    faulty.write_text("\n((a,b,c;\n")
    with pytest.raises(mlsearch.MlsearchError) as caught:
        mlsearch.consensus([good, faulty, missing])
    assert {fault.file for fault in caught.value.faults} == {str(faulty), str(missing)}
    assert caught.value.faults[0].line == 2


def test_a_list_may_have_words_for_trees() -> None:
    assert len(mlsearch.start(SEQUENCES, ["pars{2}", "rand{1}"], model="JC").trees) == 3
    assert len(mlsearch.distance(SEQUENCES, ["nj", "bionj"], model="JC").trees) == 2


def test_shards_of_genes_are_put_together(tmp_path: Path) -> None:
    simulated, genes = tmp_path / "genes.phy", tmp_path / "genes.part"
    simulated.write_text(mlsearch.simulate("rand{6}", "JC", 600).text_of("phy"))
    genes.write_text("JC, one = 1-300\nJC, two = 301-600\n")
    shards = []
    for number in [1, 2]:
        mlsearch.genes(simulated, "JC", partitions=genes, shard=f"{number}/2", prefix=tmp_path / f"s{number}")
        shards.append(tmp_path / f"s{number}.mlsearch.shard")
    expected = mlsearch.genes(simulated, "JC", partitions=genes).files["geneTrees"]
    for given in [shards, [str(shard) for shard in shards]]:
        assert mlsearch.genes(None, merge=given).files["geneTrees"] == expected


def test_numbers_may_be_those_of_numpy() -> None:
    expected = mlsearch.bootstrap(SEQUENCES, "JC", bs_trees=3, seed=3).trees
    found = mlsearch.bootstrap(SEQUENCES, "JC", bs_trees=np.int32(3), seed=np.int64(3))  # type: ignore[arg-type]
    assert found.trees == expected
    fast = mlsearch.search(SEQUENCES, "JC", fast=np.bool_(True), alrt=np.int64(100))  # type: ignore[arg-type]
    assert len(fast.tree.supports()) == 1


def test_messages_name_arguments_and_what_they_may_be() -> None:
    with pytest.raises(mlsearch.MlsearchError, match="`fast` is '1': expected True or False"):
        mlsearch.search(SEQUENCES, "JC", fast=1)  # type: ignore[arg-type]
