"""The function `start`, generated from the options of the program."""

from __future__ import annotations

from .._call import Alignment, PathLike, Progress, Source, Value, call
from .._result import Result

__all__ = ["start"]


def start(
    alignment: Alignment,
    tree: Source | None = None,
    *,
    model: Value | None = None,
    auto_criterion: Value | None = None,
    mixtures: bool = False,
    partitions: Source | None = None,
    site_weights: Source | None = None,
    brlen: Value | None = None,
    unlinked: bool = False,
    link_exchange_rates: bool = False,
    gamma_median: bool = False,
    restricted: Value | None = None,
    data_type: Value | None = None,
    protein_matrix: Source | None = None,
    recode: Value | None = None,
    definitions: Source | None = None,
    multistate: Value | None = None,
    asc_corr: Value | None = None,
    random_start: bool = False,
    runs: int | str | None = None,
    tree_constraint: Source | None = None,
    keep_identical: bool = False,
    opt_model: Value | None = None,
    lh_epsilon: Value | None = None,
    whole_mixture: bool = False,
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
    """Starting trees alone: parsimony, random, by distances.

    The same as `mlsearch start`; the guide is what `mlsearch help start --guide` prints.

    Parameters
    ----------
    alignment : Alignment
        Alignment in PHYLIP, FASTA, NEXUS, Clustal or Stockholm format. Gzipped or not; - reads
        standard input.
    tree : Source
        Starting trees: FILE, pars{5}, rand{5}, nj ... [default: pars{1}]. Parsimony, random, or of
        the distances between the sequences (nj, bionj, bme, upgma), or several of these separated
        by commas; auto are those of a default search.
    model : Value
        GTR+G, HKY+I, LG+F+G, BIN, MK ...; or auto. Also GY+F3X4, GTRGAMMA, PROTGAMMALG and others;
        auto selects one for each partition; a file is read as with -q.
    auto_criterion : Value
        Criterion for model selection with auto [default: bic]
    mixtures : bool
        Model selection compares profile mixtures of amino acids (C10 to C60), too [default: off]
    partitions : Source
        Partition file: RAxML, RAxML-NG, NEXUS charsets. [default: one partition]
    site_weights : Source
        File of the weights of the columns: whole numbers separated by white space, one for each
        column; a column of weight 2 counts as two, one of weight 0 is left out [default: all 1]
    brlen : Value
        Branch lengths of partitions [default: linked]. The same in all partitions, the same up to
        one factor per partition, or separate for each.
    unlinked : bool
        The same as --brlen unlinked
    link_exchange_rates : bool
        Partitions that estimate the exchange rates of the same matrix (GTR20, GTR ...) have the
        same ones [default: each has its own]
    gamma_median : bool
        Use the medians of the +G rate categories instead of their means [default: means]
    restricted : Value
        For comparison: off keeps all taxa in every partition; slower, with the same likelihood
        [default: on]
    data_type : Value
        Data type of partitions that name none: DNA, AA, BIN, MULTI, CODON, CODON2 (NCBI genetic
        code 2) ...; with -m auto, models of this type are compared, but not of codons [default:
        that of the model; with auto that of the characters]; also -st
    protein_matrix : Source
        Amino-acid matrix in the format of PAML or RAxML, used instead of the matrix of the model;
        also PROTGTR{FILE}
    recode : Value
        Recode amino acids as states of multi-state data: dayhoff6, sr4, sr6, kgb6, or groups such
        as AGPST/C/DENQ/FWY/HKR/ILMV
    definitions : Source
        File that defines profiles and models under names, as IQ-TREE reads them: LG+NAME,
        LG+FMIX{NAME,NAME}
    multistate : Value
        Exchange rates of RAxML's multi-state models (MULTI): MK, all equal; GTR, one for each pair
        of states [default: GTR]
    asc_corr : Value
        Ascertainment bias correction of RAxML's ASC_ models: only lewis; the others are written in
        the model, as +ASC_FELS{sites} or +ASC_STAM{sites/sites/...} [default: lewis]
    random_start : bool
        Start from random trees [default: parsimony]
    runs : int | str
        Number of trees; also -N [default: 1]
    tree_constraint : Source
        Constraint tree; also -r [default: none]. Searches, starting trees, replicates and samples
        are restricted to trees that have all its inner branches; with multifurcations, and without
        some of the taxa, which may then be anywhere.
    keep_identical : bool
        Search with all sequences, or make trees of distances with them; otherwise identical ones
        take part once and are put back beside each other [default: off]
    opt_model : Value
        Estimate the model parameters [default: on]
    lh_epsilon : Value
        Optimisation stops when a round improves the log-likelihood by less than this
        (log-likelihood units) [default: 0.1 in the last rounds of a search, 0.001 for the final
        branch lengths and parameters]
    whole_mixture : bool
        Use all classes of a profile mixture (LG+C20) from the beginning [default: begin with one
        class that has their mean frequencies]
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
        "start",
        [
            ("--msa", "alignment", "alignment", alignment),
            ("--tree", "tree", "source", tree),
            ("--model", "model", "value", model),
            ("--auto-criterion", "auto_criterion", "value", auto_criterion),
            ("--mixtures", "mixtures", "flag", mixtures),
            ("--partitions", "partitions", "source", partitions),
            ("--site-weights", "site_weights", "source", site_weights),
            ("--brlen", "brlen", "value", brlen),
            ("-M", "unlinked", "flag", unlinked),
            ("--link-exchange-rates", "link_exchange_rates", "flag", link_exchange_rates),
            ("--gamma-median", "gamma_median", "flag", gamma_median),
            ("--restricted", "restricted", "value", restricted),
            ("--data-type", "data_type", "value", data_type),
            ("--protein-matrix", "protein_matrix", "source", protein_matrix),
            ("--recode", "recode", "value", recode),
            ("--definitions", "definitions", "source", definitions),
            ("--multistate", "multistate", "value", multistate),
            ("--asc-corr", "asc_corr", "value", asc_corr),
            ("-d", "random_start", "flag", random_start),
            ("-#", "runs", "value", runs),
            ("--tree-constraint", "tree_constraint", "source", tree_constraint),
            ("--keep-identical", "keep_identical", "flag", keep_identical),
            ("--opt-model", "opt_model", "value", opt_model),
            ("--lh-epsilon", "lh_epsilon", "value", lh_epsilon),
            ("--whole-mixture", "whole_mixture", "flag", whole_mixture),
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
