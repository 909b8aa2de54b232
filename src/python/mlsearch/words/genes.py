"""The function `genes`, generated from the options of the program."""

from __future__ import annotations

from .._call import Alignment, PathLike, Progress, Source, Value, call
from .._result import Result

__all__ = ["genes"]


def genes(
    alignment: Alignment,
    model: Value | None = None,
    *,
    partitions: Source | None = None,
    auto_criterion: Value | None = None,
    mixtures: bool = False,
    recode: Value | None = None,
    definitions: Source | None = None,
    gamma_median: bool = False,
    data_type: Value | None = None,
    collapse: Value | None = None,
    collapse_length: Value | None = None,
    gcf_tree: Source | None = None,
    scf: bool | int | None = None,
    shard: Value | None = None,
    merge: Source | None = None,
    bs_trees: Value | None = None,
    runs: int | str | None = None,
    bootstrap_seed: int | str | None = None,
    rapid_seed: int | str | None = None,
    sampling: Value | None = None,
    jackknife: Value | None = None,
    bs_cutoff: Value | None = None,
    bs_perms: int | str | None = None,
    bs_brlens: bool = False,
    bs_metric: Value | None = None,
    alrt: bool | int | None = None,
    abayes: bool = False,
    fast: bool = False,
    thorough: bool = False,
    spr_radius: int | str | None = None,
    spr_cutoff: Value | None = None,
    opt_model: Value | None = None,
    lh_epsilon: Value | None = None,
    whole_mixture: bool = False,
    keep_identical: bool = False,
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
    """The tree of each of many genes, in one run.

    The same as `mlsearch genes`; the guide is what `mlsearch help genes --guide` prints.

    Parameters
    ----------
    alignment : Alignment
        Folder of alignments, or list of their paths. One alignment of each gene, in any format of
        -s, gzipped or not; or a text with one path a line; or, with -q, an alignment whose
        partitions are the genes.
    model : Value
        GTR+G ...; auto; DNA=GTR+G,AA=LG+G. The model of all genes; auto selects one for each gene;
        or one for each type of data: DNA, AA, CODON, BIN, MULTI.
    partitions : Source
        Partition file: each partition is a gene
    auto_criterion : Value
        Criterion for model selection with auto [default: bic]
    mixtures : bool
        Model selection compares profile mixtures of amino acids (C10 to C60), too [default: off]
    recode : Value
        Recode amino acids as states of multi-state data: dayhoff6, sr4, sr6, kgb6, or groups such
        as AGPST/C/DENQ/FWY/HKR/ILMV
    definitions : Source
        File that defines profiles and models under names, as IQ-TREE reads them
    gamma_median : bool
        Use the medians of the +G rate categories instead of their means [default: means]
    data_type : Value
        Data type of genes that name none: DNA, AA, BIN, MULTI, CODON, CODON2 (NCBI genetic code 2)
        ... [default: that of the model; with auto that of the characters]; also -st
    collapse : Value
        Leave out branches with less support (%). Inner branches of the gene trees with less support
        than this, in percent, become polytomies: support of replicates, or else SH-aLRT, or else
        aBayes.
    collapse_length : Value
        Leave out branches of at most this length. Inner branches of the gene trees that are not
        longer than this (substitutions per site) become polytomies.
    gcf_tree : Source
        A tree that gene trees are compared with. Gene concordance factors of its branches, and the
        Robinson-Foulds distance of every gene tree to it.
    scf : bool | int
        Site concordance factors of --gcf-tree. How many sites of all genes support the branches of
        the tree, on average over this number of quartets of taxa per branch [default: 100].
    shard : Value
        Only every N-th gene, from the K-th. For jobs on several computers: each writes a file of
        its genes, and --merge puts these together.
    merge : Source
        Put the shards of a run together. Into the files of a run that was not divided.
    bs_trees : Value
        Number of replicates, or autoMRE [default: 100]. With a rule, replicates are made until
        there are enough (bootstopping): autoMRE, autoMR or autoFC, tested after every 50
        replicates, with the largest number in braces: autoMRE{500} [default: 1000].
    runs : int | str
        Number of replicates as in --bs-trees; also -N. In a search without --all, -b and -x it is
        the number of starting trees.
    bootstrap_seed : int | str
        Seed of the resampling [default: that of -p]. With -# N or --bs-trees N; without a word,
        replicates alone are made, as in RAxML.
    rapid_seed : int | str
        The same as -b: rapid replicates are not available; standard ones are made instead
    sampling : Value
        Draw site, gene or genesite [default: site]. Sites within partitions; partitions with all
        their sites; or partitions, then sites within those drawn.
    jackknife : Value
        Jackknife: replicates lack this share of the sites of each partition (of the partitions with
        --sampling gene, of both with genesite) instead of a bootstrap [default: off]
    bs_cutoff : Value
        Greatest weighted Robinson-Foulds distance of halves of the replicates that agree, of
        autoMRE and autoMR [default: 0.03]
    bs_perms : int | str
        Number of random halvings of the replicates in each test of bootstopping, at least 100
        [default: 1000]
    bs_brlens : bool
        Write the replicate trees with optimised branch lengths (substitutions per site) [default:
        off]
    bs_metric : Value
        Support by replicates: fbp, tbe, ic1, ica. fbp: Felsenstein's, the percentage of the
        replicates that have the branch; tbe: transfer bootstrap expectation, from 0 to 1; ic1 and
        ica: internode certainty, from -1 to 1; or several: fbp,tbe [default: fbp].
    alrt : bool | int
        SH-aLRT support of the best tree. With this number of resampled alignments [default: 1000].
    abayes : bool
        aBayes support of the best tree [default: off]
    fast : bool
        A third of the time, and less thorough. One starting tree and no perturbations; up to 68
        log-likelihood units lower in our measurements.
    thorough : bool
        Three to four times the time. More starting trees and perturbations.
    spr_radius : int | str
        Maximum distance over which a pruned subtree is regrafted (branches) [default: 60 to 80,
        depending on the phase of the search]
    spr_cutoff : Value
        Try a regraft position only if its approximate log-likelihood is at most this far below the
        current one (log-likelihood units); off: no limit [default: 40]
    opt_model : Value
        Estimate the model parameters [default: on]
    lh_epsilon : Value
        Optimisation stops when a round improves the log-likelihood by less than this
        (log-likelihood units) [default: 0.1 in the last rounds of a search, 0.001 for the final
        branch lengths and parameters]
    whole_mixture : bool
        Use all classes of a profile mixture (LG+C20) from the beginning [default: begin with one
        class that has their mean frequencies]
    keep_identical : bool
        Search with all sequences, or make trees of distances with them; otherwise identical ones
        take part once and are put back beside each other [default: off]
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
        "genes",
        [
            ("--msa", "alignment", "alignment", alignment),
            ("--model", "model", "value", model),
            ("--partitions", "partitions", "source", partitions),
            ("--auto-criterion", "auto_criterion", "value", auto_criterion),
            ("--mixtures", "mixtures", "flag", mixtures),
            ("--recode", "recode", "value", recode),
            ("--definitions", "definitions", "source", definitions),
            ("--gamma-median", "gamma_median", "flag", gamma_median),
            ("--data-type", "data_type", "value", data_type),
            ("--collapse", "collapse", "value", collapse),
            ("--collapse-length", "collapse_length", "value", collapse_length),
            ("--gcf-tree", "gcf_tree", "source", gcf_tree),
            ("--scf", "scf", "flag", scf),
            ("--shard", "shard", "value", shard),
            ("--merge", "merge", "source", merge),
            ("--bs-trees", "bs_trees", "value", bs_trees),
            ("-#", "runs", "value", runs),
            ("-b", "bootstrap_seed", "value", bootstrap_seed),
            ("-x", "rapid_seed", "value", rapid_seed),
            ("--sampling", "sampling", "value", sampling),
            ("--jackknife", "jackknife", "value", jackknife),
            ("--bs-cutoff", "bs_cutoff", "value", bs_cutoff),
            ("--bs-perms", "bs_perms", "value", bs_perms),
            ("--bs-brlens", "bs_brlens", "flag", bs_brlens),
            ("--bs-metric", "bs_metric", "value", bs_metric),
            ("--alrt", "alrt", "flag", alrt),
            ("--abayes", "abayes", "flag", abayes),
            ("--fast", "fast", "flag", fast),
            ("--thorough", "thorough", "flag", thorough),
            ("--spr-radius", "spr_radius", "value", spr_radius),
            ("--spr-cutoff", "spr_cutoff", "value", spr_cutoff),
            ("--opt-model", "opt_model", "value", opt_model),
            ("--lh-epsilon", "lh_epsilon", "value", lh_epsilon),
            ("--whole-mixture", "whole_mixture", "flag", whole_mixture),
            ("--keep-identical", "keep_identical", "flag", keep_identical),
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
