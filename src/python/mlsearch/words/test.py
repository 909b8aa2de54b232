"""The function `test`, generated from the options of the program."""

from __future__ import annotations

from .._call import Alignment, PathLike, Progress, Source, Value, call
from .._result import Result

__all__ = ["test"]


def test(
    alignment: Alignment,
    model: Value | None = None,
    trees: Source | None = None,
    *,
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
    pmsf: Source | None = None,
    pmsf_rounds: int | str | None = None,
    site_frequencies: Source | None = None,
    tree: Source | None = None,
    partition_trees: Source | None = None,
    tests: Value | None = None,
    rell: int | str | None = None,
    alrt: bool | int | None = None,
    abayes: bool = False,
    ancestral: bool = False,
    mutmap: bool = False,
    sitelh: bool = False,
    site_rates: bool = False,
    opt_model: Value | None = None,
    lh_epsilon: Value | None = None,
    whole_mixture: bool = False,
    opt_branches: Value | None = None,
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
    """Which trees the data reject: AU, SH, KH, ELW.

    The same as `mlsearch test`; the guide is what `mlsearch help test --guide` prints.

    Parameters
    ----------
    alignment : Alignment
        Alignment in PHYLIP, FASTA, NEXUS, Clustal or Stockholm format. Gzipped or not; - reads
        standard input.
    model : Value
        GTR+G, HKY+I, LG+F+G, BIN, MK ...; or auto. Also GY+F3X4, GTRGAMMA, PROTGAMMALG and others;
        auto selects one for each partition; a file is read as with -q.
    trees : Source
        File of further trees, as in RAxML's -f h
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
    pmsf : Source
        Frequencies of every site by the profile mixture on this tree (PMSF). The parameters of a
        mixture such as LG+C20+F+G4 are estimated on the tree; then each site gets the posterior
        mean of the profiles as frequencies of its own, in place of the classes.
    pmsf_rounds : int | str
        With 2, a search under --pmsf makes the tree from which the frequencies of sites come
        [default: 1]
    site_frequencies : Source
        File of the frequencies of every site, as IQ-TREE's -fs. One line per column: its number,
        and the frequencies of A R N D C Q E G H I L K M F P S T W Y V.
    tree : Source
        The trees: FILE, or made: pars{5}, rand{5}, nj. Or several of these separated by commas.
    partition_trees : Source
        Trees with the branch lengths of each partition (a bestPartitionTrees file; substitutions
        per site), from which -M starts
    tests : Value
        Tests of topologies: au,sh,kh,elw ... or all. au, sh, kh, wsh, wkh, elw, bp, separated by
        commas.
    rell : int | str
        Number of RELL replicates [default: 10000]. Of each of the ten sizes for au.
    alrt : bool | int
        SH-aLRT support of the best tree. With this number of resampled alignments [default: 1000].
    abayes : bool
        aBayes support of the best tree [default: off]
    ancestral : bool
        States at inner nodes of the best tree. The most likely ones, with their probabilities
        (marginal reconstruction).
    mutmap : bool
        Changes along the branches of the best tree. Of the most likely states.
    sitelh : bool
        Log-likelihood of every site [default: off]. Natural logarithms.
    site_rates : bool
        Rate of every site [default: off]. Posterior means under the rates over sites of the model;
        under profile mixtures also the frequencies of every site.
    opt_model : Value
        Estimate the model parameters [default: on]
    lh_epsilon : Value
        Optimisation stops when a round improves the log-likelihood by less than this
        (log-likelihood units) [default: 0.1 in the last rounds of a search, 0.001 for the final
        branch lengths and parameters]
    whole_mixture : bool
        Use all classes of a profile mixture (LG+C20) from the beginning [default: begin with one
        class that has their mean frequencies]
    opt_branches : Value
        Optimise the branch lengths [default: on]
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
        "test",
        [
            ("--msa", "alignment", "alignment", alignment),
            ("--model", "model", "value", model),
            ("--trees", "trees", "source", trees),
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
            ("--pmsf", "pmsf", "source", pmsf),
            ("--pmsf-rounds", "pmsf_rounds", "value", pmsf_rounds),
            ("--site-frequencies", "site_frequencies", "source", site_frequencies),
            ("--tree", "tree", "source", tree),
            ("--partition-trees", "partition_trees", "source", partition_trees),
            ("--tests", "tests", "value", tests),
            ("--rell", "rell", "value", rell),
            ("--alrt", "alrt", "flag", alrt),
            ("--abayes", "abayes", "flag", abayes),
            ("--ancestral", "ancestral", "flag", ancestral),
            ("--mutmap", "mutmap", "flag", mutmap),
            ("--sitelh", "sitelh", "flag", sitelh),
            ("--site-rates", "site_rates", "flag", site_rates),
            ("--opt-model", "opt_model", "value", opt_model),
            ("--lh-epsilon", "lh_epsilon", "value", lh_epsilon),
            ("--whole-mixture", "whole_mixture", "flag", whole_mixture),
            ("--opt-branches", "opt_branches", "value", opt_branches),
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
