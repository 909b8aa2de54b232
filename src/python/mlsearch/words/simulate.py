"""The function `simulate`, generated from the options of the program."""

from __future__ import annotations

from .._call import Alignment, PathLike, Progress, Source, Value, call
from .._result import Result

__all__ = ["simulate"]


def simulate(
    tree: Source,
    model: Value | None = None,
    sites: int | str | None = None,
    *,
    partitions: Source | None = None,
    missing: Value | None = None,
    mean_brlen: Value | None = None,
    seed: int | str | None = None,
    prefix: PathLike | None = None,
    redo: bool = False,
    progress: Progress = None,
) -> Result:
    """Sequences along a tree, with missing genes.

    The same as `mlsearch simulate`; the guide is what `mlsearch help simulate --guide` prints.

    Parameters
    ----------
    tree : Source
        The tree: FILE, or rand{N} of N taxa. A file has one tree with branch lengths.
    model : Value
        Model with its values: GTR{1/2/1/1/2/1}+G4{0.5}. With +FU{.3/.2/.2/.3} for frequencies.
    sites : int | str
        Number of columns (three for a codon). If there is no partition file.
    partitions : Source
        Partition file: names, models, columns
    missing : Value
        Share of (taxon x partition) cells without data. From 0 to below 1.
    mean_brlen : Value
        Mean branch length of a random tree [default: 0.05]. In substitutions per site.
    seed : int | str
        Seed [default: 12345]. The same seed gives the same sequences.
    prefix : path
        Results are also files, PREFIX.mlsearch.*; an interrupted run is resumed by the same call.
    redo : bool
        Replace the results of an earlier run with this prefix.
    progress : bool or callable
        True for a bar, or a function that is called with each `Moment` of the run.

    Returns
    -------
    Result
    """
    return call(
        "simulate",
        [
            ("--tree", "tree", "source", tree),
            ("--model", "model", "value", model),
            ("--sites", "sites", "value", sites),
            ("--partitions", "partitions", "source", partitions),
            ("--missing", "missing", "value", missing),
            ("--mean-brlen", "mean_brlen", "value", mean_brlen),
            ("--seed", "seed", "value", seed),
        ],
        prefix,
        redo,
        progress,
    )
