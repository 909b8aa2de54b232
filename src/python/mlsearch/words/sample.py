"""The function `sample`, generated from the options of the program."""

from __future__ import annotations

from .._call import Alignment, PathLike, Progress, Source, Value, call
from .._result import Result

__all__ = ["sample"]


def sample(
    alignment: Alignment,
    model: Value | None = None,
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
    ngen: int | str | None = None,
    samplefreq: int | str | None = None,
    diagnfreq: int | str | None = None,
    nruns: int | str | None = None,
    nchains: int | str | None = None,
    temp: Value | None = None,
    burninfrac: Value | None = None,
    stop: Value | None = None,
    prior_only: bool = False,
    ss: bool | int | None = None,
    brlenspr: Value | None = None,
    prset: Value | None = None,
    tree: Source | None = None,
    random_start: bool = False,
    tree_constraint: Source | None = None,
    opt_model: Value | None = None,
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
    """Trees and parameters from the posterior (MCMC).

    The same as `mlsearch sample`; the guide is what `mlsearch help sample --guide` prints.

    Parameters
    ----------
    alignment : Alignment
        Alignment in PHYLIP, FASTA, NEXUS, Clustal or Stockholm format. Gzipped or not; - reads
        standard input.
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
    ngen : int | str
        Generations of each run [default: 1000000]. Proposals in each of its chains.
    samplefreq : int | str
        Generations between samples [default: 500]
    diagnfreq : int | str
        Generations between two comparisons of the runs [default: a twentieth of --ngen]
    nruns : int | str
        Number of independent runs [default: 2]. They are computed at the same time if there are
        threads.
    nchains : int | str
        Coupled chains in each run [default: 4]. All but the first are heated.
    temp : Value
        Heating: the posterior of chain i is raised to the power 1/(1+iX), from chain 0 on [default:
        adapted until 40 % of the swaps are accepted]
    burninfrac : Value
        Share of the samples of each run, from the first on, that is left aside [default: 0.25]
    stop : Value
        End early: asdsf=0.01, ess=625, or both. The runs end when the frequencies of splits and the
        effective sample sizes are as good: asdsf=0.01,ess=625 [default: off].
    prior_only : bool
        Sample from the priors, without the data [default: off]
    ss : bool | int
        Marginal likelihood by stepping stones. By this number of steps, in as many generations
        again as the sample has [default: 50].
    brlenspr : Value
        Prior of branch lengths: gammadir, exp, uni. gammadir{SHAPE/RATE/ALPHA/RATIO} (gamma
        distribution of the tree length, Dirichlet distribution of the shares of the branches in
        it), exp{RATE} or uni{FROM/TO} [default: gammadir{1/0.1/1/1}].
    prset : Value
        Other priors, by MrBayes' names. Separated by commas:
        shapepr=uni{0/50},statefreqpr=dir{10/10/10/10} [default: those of MrBayes].
    tree : Source
        Starting trees: FILE, pars{5}, rand{5}, nj .... Parsimony, random, or of the distances
        between the sequences (nj, bionj, bme, upgma), or several of these separated by commas, with
        one search from each tree; auto, alone, is one search that takes what is best from 3
        parsimony trees, or 6 where the data are small (--fast: 1, --thorough: up to 50) [default:
        auto].
    random_start : bool
        Start from random trees [default: parsimony]
    tree_constraint : Source
        Constraint tree; also -r [default: none]. Searches, starting trees, replicates and samples
        are restricted to trees that have all its inner branches; with multifurcations, and without
        some of the taxa, which may then be anywhere.
    opt_model : Value
        Sample the parameters of the model [default: on]
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
        "sample",
        [
            ("--msa", "alignment", "alignment", alignment),
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
            ("--ngen", "ngen", "value", ngen),
            ("--samplefreq", "samplefreq", "value", samplefreq),
            ("--diagnfreq", "diagnfreq", "value", diagnfreq),
            ("--nruns", "nruns", "value", nruns),
            ("--nchains", "nchains", "value", nchains),
            ("--temp", "temp", "value", temp),
            ("--burninfrac", "burninfrac", "value", burninfrac),
            ("--stop", "stop", "value", stop),
            ("--prior-only", "prior_only", "flag", prior_only),
            ("--ss", "ss", "flag", ss),
            ("--brlenspr", "brlenspr", "value", brlenspr),
            ("--prset", "prset", "value", prset),
            ("--tree", "tree", "source", tree),
            ("-d", "random_start", "flag", random_start),
            ("--tree-constraint", "tree_constraint", "source", tree_constraint),
            ("--opt-model", "opt_model", "value", opt_model),
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
