"""The function `root`, generated from the options of the program."""

from __future__ import annotations

from .._call import Alignment, PathLike, Progress, Source, Value, call
from .._result import Result

__all__ = ["root"]


def root(
    tree: Source,
    outgroup: Value | None = None,
    *,
    trees: Source | None = None,
    root: Value | None = None,
    tree_format: Value | None = None,
    report: Value | None = None,
    names: Value | None = None,
    seed: int | str | None = None,
    threads: int | str | None = None,
    mem: Value | None = None,
    simd: Value | None = None,
    backend: Value | None = None,
    gpu: Value | None = None,
    gpu_precision: Value | None = None,
    ranks_per_job: int | str | None = None,
    prefix: PathLike | None = None,
    redo: bool = False,
    progress: Progress = None,
) -> Result:
    """Roots of trees, by an outgroup or at the midpoint.

    The same as `mlsearch root`; the guide is what `mlsearch help root --guide` prints.

    Parameters
    ----------
    tree : Source
        The trees
    outgroup : Value
        Root the trees beside these taxa: A,B. Drawing only; the likelihood does not change.
    trees : Source
        The same as --tree, in RAxML's form
    root : Value
        Root the trees at their midpoint. In the middle of the longest path between two taxa.
    tree_format : Value
        Write trees also as NEXUS (for FigTree) or PhyloXML. In files with .nex or .xml at the end
        of their names, beside those in Newick format.
    report : Value
        on or off: the page PREFIX.mlsearch.html [default: on]. All results in one file, to be
        looked at in a browser.
    names : Value
        Write results also with the names of RAxML or RAxML-NG. RAxML_bestTree.NAME, or
        PATH.raxml.bestTree, beside NAME.mlsearch.bestTree [default: mlsearch; of a link called
        raxmlHPC or raxml-ng the names of that program].
    seed : int | str
        Seed of all random numbers [default: 12345]. The same seed gives the same result.
    threads : int | str
        Number of threads, auto or auto{N}. As many as are useful, at most N; the result is the same
        with any number [default: auto].
    mem : Value
        Most memory to use, as 500M or 8G. Fewer computations at the same time, then CLVs that are
        computed again when they are needed; the result is the same [default: what is free].
    simd : Value
        Instruction set: auto, scalar, avx2 or avx512; the result is the same with any of them
        [default: auto]
    backend : Value
        What computes likelihoods: cpu, cuda (NVIDIA GPUs), or auto, which is cpu; the result is the
        same with any [default: auto]
    gpu : Value
        Compute on these NVIDIA GPUs, by their numbers, as 0 or 0,1 [default: 0 with --backend cuda]
    gpu_precision : Value
        Precision of the scores of regraft positions on NVIDIA GPUs: double, or single, which may
        lead to another tree; all that a search decides by is in double [default: double]
    ranks_per_job : int | str
        Under mpirun: processes that compute one likelihood together, auto or a number. By default,
        as many as make it faster; the result is the same with any number [default: auto].
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
        "root",
        [
            ("--tree", "tree", "source", tree),
            ("--outgroup", "outgroup", "value", outgroup),
            ("--trees", "trees", "source", trees),
            ("--root", "root", "value", root),
            ("--tree-format", "tree_format", "value", tree_format),
            ("--report", "report", "value", report),
            ("--names", "names", "value", names),
            ("--seed", "seed", "value", seed),
            ("--threads", "threads", "value", threads),
            ("--mem", "mem", "value", mem),
            ("--simd", "simd", "value", simd),
            ("--backend", "backend", "value", backend),
            ("--gpu", "gpu", "value", gpu),
            ("--gpu-precision", "gpu_precision", "value", gpu_precision),
            ("--ranks-per-job", "ranks_per_job", "value", ranks_per_job),
        ],
        prefix,
        redo,
        progress,
    )
