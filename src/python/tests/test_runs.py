"""Every word of the program as a function: results are those of the command line, and nothing else happens."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path

import numpy as np
import pytest

import mlsearch


def test_a_search_prints_nothing_and_leaves_no_file(
    primates: Path, capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    result = mlsearch.search(primates, "GTR+G", threads=2)
    assert capfd.readouterr() == ("", "")
    assert list(tmp_path.iterdir()) == []
    assert result.log_likelihood == pytest.approx(-5719.355905, abs=1e-3)
    assert len(result.tree.taxa) == 12 and len(result.tree.splits()) == 9
    assert list(result.models) == ["all"] and result.models["all"].startswith("GTR{")
    assert "Final log-likelihood: -5719.35" in result.output
    assert result.report["seed"] == 12345


def test_with_a_prefix_results_are_files_and_a_second_run_is_refused(primates: Path, tmp_path: Path) -> None:
    prefix = tmp_path / "run"
    result = mlsearch.search(primates, "JC", fast=True, prefix=prefix)
    assert (tmp_path / "run.mlsearch.bestTree").read_text().strip() == result.tree.newick
    assert json.loads((tmp_path / "run.mlsearch.json").read_text()) == result.report
    with pytest.raises(mlsearch.MlsearchError, match="run.mlsearch.bestTree"):
        mlsearch.search(primates, "JC", fast=True, prefix=prefix)
    again = mlsearch.search(primates, "JC", fast=True, prefix=prefix, redo=True)
    assert again.files["bestTree"] == result.files["bestTree"]


def test_a_search_with_replicates_and_support(hominoids: Path) -> None:
    result = mlsearch.search(hominoids, "GTR+G", all=True, bs_trees=10, alrt=100)
    supports = result.tree.supports()
    assert len(supports) == 4 and all(len(values) == 2 for values in supports.values())
    assert len(result.replicates) == 10


def test_words_that_read_alignments(hominoids: Path, replicates: list[mlsearch.Tree]) -> None:
    trees = mlsearch.start(hominoids, "pars{3}", model="JC").trees
    assert len(trees) == 3
    evaluated = mlsearch.evaluate(hominoids, "JC", trees, sitelh=True)
    assert evaluated.log_likelihoods.shape == (3,)
    assert evaluated.site_log_likelihoods.shape == (3, 9993)
    sums = evaluated.site_log_likelihoods.sum(axis=1)
    assert np.allclose(sums, evaluated.log_likelihoods, atol=1e-3)
    different = ["((human,chimpanzee),(gorilla,bonobo),(gibbon,(orangutan,sumatran)));", trees[0]]
    tested = mlsearch.test(hominoids, "JC", different)
    assert [sorted(tree["tests"])[0] for tree in tested.report["topology_tests"]["trees"]] == ["au", "au"]
    ancestral = mlsearch.ancestral(hominoids, "JC", trees[0])
    assert len(ancestral.tree.taxa) == 7 and "ancestralStates" in ancestral.files
    assert mlsearch.select(hominoids).report["model_selection"][0]["chosen"]
    assert mlsearch.resample(hominoids, bs_trees=2).files
    described = mlsearch.check(hominoids, "JC")
    assert "memory" in described.output and not described.report


def test_words_that_read_trees(hominoids: Path, replicates: list[mlsearch.Tree]) -> None:
    best = replicates[0]
    assert mlsearch.support(best, replicates).tree.supports()
    assert mlsearch.consensus(tree=replicates).tree.taxa
    compared = mlsearch.compare(replicates)
    assert compared.distances.shape == (10, 10) and (compared.distances == compared.distances.T).all()
    three = ["((a,b),c,(d,e));", "((a,b),d,(c,e));", "((a,c),d,(b,e));"]
    with_reference = mlsearch.compare(three, tree=three[0], rfdist_metric="rf,quartet")
    assert with_reference.distances.tolist() == [[0, 2, 4]]
    assert mlsearch.compare(three).distances.tolist() == [[0, 2, 4], [2, 0, 4], [4, 4, 0]]
    rooted = mlsearch.root(best, outgroup=["gibbon"])
    assert rooted.tree.newick.endswith(";") and len(rooted.tree.taxa) == 7
    with_lengths = mlsearch.evaluate(hominoids, "JC", best).tree
    assert mlsearch.root(with_lengths, root="midpoint").trees[0].taxa
    concordance = mlsearch.concordance(best, replicates)
    assert concordance.report["concordance"]
    assert mlsearch.converge(6 * replicates).output
    drawn = mlsearch.draw(best, format="svg,pdf")
    assert drawn.files["tree.pdf"].startswith(b"%PDF") and drawn.text_of("tree.svg").startswith("<svg")
    partitions = "JC, one = 1-5000\nJC, two = 5001-9993"
    terrace = mlsearch.terrace(best, hominoids, partitions)
    assert "terrace" in terrace.report


def test_distances_are_an_array(hominoids: Path) -> None:
    found = mlsearch.distance(hominoids, "nj")
    assert found.distances.shape == (7, 7) and found.distances.dtype == np.float64
    assert found.taxa[0] == "human" and len(found.tree.taxa) == 7


def test_simulation_and_genes() -> None:
    simulated = mlsearch.simulate("rand{8}", "JC", 600, seed=3)
    partitions = "JC, one = 1-300\nJC, two = 301-600"
    genes = mlsearch.genes(simulated.text_of("phy"), "JC", partitions=partitions)
    assert len(genes.trees) == 2 and genes.report["genes"]


@pytest.mark.filterwarnings("ignore::mlsearch.MlsearchWarning")
def test_a_short_sample(hominoids: Path) -> None:
    found = mlsearch.sample(hominoids, "JC", ngen=1000, samplefreq=100, nruns=2, nchains=1)
    assert len(found.tree.taxa) == 7 and "run1.p" in found.files


def test_progress_is_told_and_what_it_raises_ends_the_run(large: Path) -> None:
    seen: list[mlsearch.Moment] = []

    def look(moment: mlsearch.Moment) -> None:
        seen.append(moment)
        if moment.log_likelihood is not None:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        mlsearch.search(large, "GTR+G", progress=look)
    assert seen[-1].log_likelihood is not None and seen[-1].line


def test_a_bar_is_shown_on_standard_error(large: Path, capfd: pytest.CaptureFixture[str]) -> None:
    mlsearch.search(large, "GTR+G", fast=True, progress=True)
    out, err = capfd.readouterr()
    assert out == "" and "%|" in err


def test_a_result_is_shown_in_a_notebook(primates: Path) -> None:
    result = mlsearch.search(primates, "GTR+G", fast=True)
    shown = result._repr_html_()
    assert "<svg" in shown and "log-likelihood" in shown and "Homo_sapiens" in shown
    assert "<!DOCTYPE html>" in result.page() and "Homo_sapiens" in result.page()


def test_warnings_are_warnings() -> None:
    same = {name: "ACGTACGTAC" for name in "abcd"}
    with pytest.warns(mlsearch.MlsearchWarning):
        mlsearch.search(same, "JC")


def test_all_faults_are_told_at_once_with_their_places(tmp_path: Path) -> None:
    path = tmp_path / "faulty.phy"
    path.write_text("3 4\na ACGT\nb AC!T\na A?GT\n")
    with pytest.raises(mlsearch.MlsearchError) as caught:
        mlsearch.search(path, "JC")
    error = caught.value
    assert error.state == "refused" and error.count == len(error.faults) >= 1
    assert error.faults[0].file == str(path) and error.faults[0].line == 4
    assert error.faults[0].name == "a"
    again = pickle.loads(pickle.dumps(error))
    assert again.faults == error.faults and str(again) == str(error)
    with pytest.raises(mlsearch.MlsearchError, match="no model"):
        mlsearch.search(path)
    with pytest.raises(mlsearch.MlsearchError, match="FOO"):
        mlsearch.search(path, "FOO")
    with pytest.raises(mlsearch.MlsearchError, match="^no/such.phy: "):
        mlsearch.search("no/such.phy", "JC")


def test_faults_of_data_that_are_no_file_name_the_argument() -> None:
    with pytest.raises(mlsearch.MlsearchError) as caught:
        mlsearch.search({"a b": "ACGT", "": "ACGT", "c": "ACGT"}, "JC")
    assert [fault.name for fault in caught.value.faults] == ["a b", ""]
    with pytest.raises(mlsearch.MlsearchError) as caught:
        mlsearch.evaluate({"a": "ACGT", "b": "ACGA", "c": "ACGG"}, "JC", "(a,b,d);")
    assert {fault.file for fault in caught.value.faults} == {"tree"}
    assert os.sep not in str(caught.value)


def test_words_and_arguments_that_do_not_exist_are_refused(primates: Path) -> None:
    with pytest.raises(TypeError, match="modell"):
        mlsearch.search(primates, modell="JC")  # type: ignore[call-arg]
    with pytest.raises(mlsearch.MlsearchError, match="`brlen` sometimes: expected linked, scaled or unlinked"):
        mlsearch.search(primates, "JC", brlen="sometimes")


def test_a_sequence_that_would_begin_another_taxon_is_refused() -> None:
    rows = {"a": "ACGT", "b": "ACGA\n>x\nACGT", "c": "ACCA", "d": "ACTA"}
    with pytest.raises(mlsearch.MlsearchError) as refused:
        mlsearch.search(rows, "JC")
    assert refused.value.state == "refused"
    assert [fault.name for fault in refused.value.faults] == ["b"]
