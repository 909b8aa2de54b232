"""The function `draw`, generated from the options of the program."""

from __future__ import annotations

from .._call import Alignment, PathLike, Progress, Source, Value, call
from .._result import Result

__all__ = ["draw"]


def draw(
    tree: Source,
    *,
    shape: Value | None = None,
    width: Value | None = None,
    format: Value | None = None,
    dpi: int | str | None = None,
    italic: bool = False,
    ladderise: bool = False,
    least_support: Value | None = None,
    clade_colours: Source | None = None,
    tree_format: Value | None = None,
    report: Value | None = None,
    names: Value | None = None,
    outgroup: Value | None = None,
    root: Value | None = None,
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
    """A tree as SVG, PDF or PNG, for a publication.

    The same as `mlsearch draw`; the guide is what `mlsearch help draw --guide` prints.

    Parameters
    ----------
    tree : Source
        The tree
    shape : Value
        phylogram, cladogram or circular [default: phylogram]
    width : Value
        Width in millimetres: 85 (a column) or 180 (a page) [default: 85]
    format : Value
        svg, pdf or png, or several, separated by commas [default: svg]
    dpi : int | str
        Pixels to the inch, of PNG [default: 300]
    italic : bool
        Names of taxa in italics
    ladderise : bool
        Small clades above large ones
    least_support : Value
        Leave out support below this [default: none]
    clade_colours : Source
        Colours of clades: a TSV file of taxa and colours. In each line taxa separated by commas, a
        colour (#0072B2 or a name) and, if wanted, a name for the legend, separated by tabulators.
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
    outgroup : Value
        Root the trees beside these taxa: A,B. Drawing only; the likelihood does not change.
    root : Value
        Root the trees at their midpoint. In the middle of the longest path between two taxa.
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
        "draw",
        [
            ("--tree", "tree", "source", tree),
            ("--shape", "shape", "value", shape),
            ("--width", "width", "value", width),
            ("--format", "format", "value", format),
            ("--dpi", "dpi", "value", dpi),
            ("--italic", "italic", "flag", italic),
            ("--ladderise", "ladderise", "flag", ladderise),
            ("--least-support", "least_support", "value", least_support),
            ("--clade-colours", "clade_colours", "source", clade_colours),
            ("--tree-format", "tree_format", "value", tree_format),
            ("--report", "report", "value", report),
            ("--names", "names", "value", names),
            ("--outgroup", "outgroup", "value", outgroup),
            ("--root", "root", "value", root),
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
