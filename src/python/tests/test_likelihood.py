"""The likelihood as methods use it."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import mlsearch

SEQUENCES = {"a": "ACGTACGTAC", "b": "ACGTACGTTC", "c": "ACTTACGATC", "d": "ACTTAGGATC", "e": "GCTTAGGATC"}
TREE = "((a:0.1,b:0.2):0.1,c:0.1,(d:0.05,e:0.3):0.15);"


def test_two_sequences_under_jukes_and_cantor_have_the_likelihood_of_the_formula() -> None:
    # Three taxa, two of them without a difference between them.
    sequences = {"a": "ACGT", "b": "ACGA", "c": "NNNN"}
    likelihood = mlsearch.Likelihood(sequences, "JC", "(a:0.1,b:0.2,c:0.3);")
    same = 0.25 + 0.75 * math.exp(-4 / 3 * 0.3)
    different = 0.25 - 0.25 * math.exp(-4 / 3 * 0.3)
    expected = np.log([0.25 * same] * 3 + [0.25 * different])
    assert np.allclose(likelihood.site_log_likelihoods(), expected, atol=1e-9)
    assert likelihood.log_likelihood() == pytest.approx(expected.sum(), abs=1e-9)


@pytest.mark.parametrize("threads", [1, 2])
def test_derivatives_are_those_of_differences(threads: int) -> None:
    likelihood = mlsearch.Likelihood(SEQUENCES, "HKY{2}+FU{0.3/0.2/0.2/0.3}+G4{0.5}", TREE, threads=threads)
    gradient, second = likelihood.gradient(), likelihood.second_derivatives()
    assert gradient.shape == second.shape == (7,)
    before = likelihood.lengths
    for branch, length in enumerate(before):
        values = []
        for step in (-1e-4, 0.0, 1e-4):
            likelihood.set_length(branch, length + step)
            values.append(likelihood.log_likelihood())
        likelihood.set_length(branch, length)
        assert gradient[branch] == pytest.approx((values[2] - values[0]) / 2e-4, rel=1e-3, abs=1e-3)
        assert second[branch] == pytest.approx((values[2] - 2 * values[1] + values[0]) / 1e-8, rel=1e-2, abs=1e-1)
    assert np.array_equal(likelihood.lengths, before)
    assert likelihood.gradient([3, 1]).tolist() == [gradient[3], gradient[1]]


def test_the_optimum_is_that_of_an_evaluation(hominoids: Path) -> None:
    tree = mlsearch.start(hominoids, "pars{1}", model="JC").tree
    likelihood = mlsearch.Likelihood(hominoids, "GTR+G", tree)
    before = likelihood.log_likelihood()
    lnl = likelihood.optimize()
    assert lnl > before and likelihood.log_likelihood() == lnl
    assert lnl == pytest.approx(mlsearch.evaluate(hominoids, "GTR+G", tree).log_likelihood, abs=1e-2)
    assert abs(likelihood.gradient()[likelihood.lengths > 1e-3]).max() < 5
    # Its tree and model lead to the same value.
    model = likelihood.models["all"]
    again = mlsearch.Likelihood(hominoids, model, likelihood.tree)
    assert again.log_likelihood() == pytest.approx(lnl, abs=1e-4)


def test_neighbours_are_all_other_positions_and_the_tree_remains() -> None:
    likelihood = mlsearch.Likelihood(SEQUENCES, "JC", TREE)
    lnl, newick = likelihood.log_likelihood(), likelihood.tree.newick
    branches = likelihood.branches
    number = next(i for i, branch in enumerate(branches) if branch.taxa == {"a"})
    neighbours = likelihood.spr_neighbours(number)
    # The rest of five taxa has five branches; one of them is where the subtree is.
    assert len(neighbours) == 4
    assert likelihood.tree.newick == newick and likelihood.log_likelihood() == lnl
    topologies = {frozenset(split.taxa for split in neighbour.tree.splits()) for neighbour in neighbours}
    assert len(topologies) == 4
    for neighbour in neighbours:
        own = mlsearch.Likelihood(SEQUENCES, "JC", neighbour.tree)
        assert own.log_likelihood() == pytest.approx(neighbour.log_likelihood, abs=1e-6)
    inner = next(i for i, branch in enumerate(branches) if branch.taxa == {"d", "e"} or len(branch.taxa) == 3)
    assert likelihood.spr_neighbours(inner)


def test_partitions_share_the_branches() -> None:
    partitions = "JC, one = 1-5\nHKY{2}+FE, two = 6-10"
    likelihood = mlsearch.Likelihood(SEQUENCES, None, TREE, partitions=partitions, brlen="scaled")
    assert list(likelihood.models) == ["one", "two"] and likelihood.taxa == list("abcde")
    assert likelihood.site_log_likelihoods().sum() == pytest.approx(likelihood.log_likelihood())
    assert likelihood.gradient().shape == (7,)


def test_what_cannot_be_computed_is_refused() -> None:
    with pytest.raises(mlsearch.MlsearchError, match="model"):
        mlsearch.Likelihood(SEQUENCES, "auto", TREE)
    with pytest.raises(mlsearch.MlsearchError, match="'f'"):
        mlsearch.Likelihood(SEQUENCES, "JC", TREE.replace("e", "f"))
    with pytest.raises(mlsearch.MlsearchError, match="share"):
        mlsearch.Likelihood(SEQUENCES, "JC", TREE, partitions="JC, x = 1-10", brlen="unlinked")
    likelihood = mlsearch.Likelihood(SEQUENCES, "JC", TREE)
    with pytest.raises(mlsearch.MlsearchError, match="branch 7"):
        likelihood.gradient([7])
    with pytest.raises(mlsearch.MlsearchError, match="length -1"):
        likelihood.set_length(0, -1.0)
    for epsilon in [-1.0, math.nan]:
        with pytest.raises(mlsearch.MlsearchError, match="'epsilon': .*expected 0 or more"):
            likelihood.optimize(epsilon=epsilon)


def test_one_tree_and_a_known_kind_of_lengths_are_expected(tmp_path: Path) -> None:
    path = tmp_path / "two.nwk"
    path.write_text(f"{TREE}\n{TREE}\n")
    for trees, file in [([TREE, TREE], "tree"), (path, str(path))]:
        with pytest.raises(mlsearch.MlsearchError, match="2 trees: expected one") as caught:
            mlsearch.Likelihood(SEQUENCES, "JC", trees)
        assert caught.value.faults[0].file == file
    path.write_text(TREE)
    assert mlsearch.Likelihood(SEQUENCES, "JC", [path]).log_likelihood() < 0
    with pytest.raises(mlsearch.MlsearchError, match="nonsense"):
        mlsearch.Likelihood(SEQUENCES, "JC", TREE, brlen="nonsense")
