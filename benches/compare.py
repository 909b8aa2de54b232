#!/usr/bin/env python3
"""Tree searches of mlsearch beside those of other programs, on your alignments and your machine.

    cargo build --release
    python3 benches/compare.py datasets/anolis.phy datasets/gallwasps.phy:partitions/gallwasps.part

Needs Python 3.9 on a Unix, no packages. Every program on the PATH that is known (below) takes part, or those that `--peers`
names. For each seed every program runs once, one after the other and nothing at the same time, in an order that rotates
from seed to seed, so that other work on the machine disturbs all programs alike. Every final tree is then scored by one
evaluator, `mlsearch --evaluate`, with lengths and model optimised, so that the log-likelihoods can be compared to the last
digit; what the programs say of their own trees is not used. Scoring is not part of the times.

What is given: the same alignment (rewritten as relaxed PHYLIP), the same number of threads, and GTR with counted
frequencies for DNA or LG with its own for proteins, always with the means of four gamma categories. Each makes one search
with its own defaults:

    program                 model it computes under             its search
    ----------------------  ----------------------------------  --------------------------------------------------------
    mlsearch, --config ...  GTR+F+G4 / LG+G4                    default: goes on from the best of four parsimony trees
    raxml (RAxML 8)         GTRGAMMA / PROTGAMMALG, the same    one parsimony tree. Needs two threads if there is no
                                                                serial binary; waiting threads use CPU time, too
    iqtree2-fast, iqtree2,  GTR+F+G4 / LG+G4                    -fast: NNI from parsimony and BIONJ trees. Else the full
    iqtree3-fast, iqtree3                                       search, from about 100 trees, with perturbations
    raxml-ng                GTR+F+G4 / LG+G4                    one parsimony tree (its default are 20 trees)
    phyml                   GTR, -f e / LG, -f m; four gamma    SPR from a BIONJ tree. One thread. No partitions: one
                            categories                          model for all columns
    fasttree, veryfasttree  GTR with counted frequencies / LG;  NNI and SPR from a neighbour-joining tree. No seed
                            CAT: one of 20 rates for each site  changes it. No partitions: one model for all columns

A partition file is in RAxML's format (`DNA, gene = 1-99\\3, 200-300` or `LG, ...`, `WAGF, ...`); `--brlen` says how its
partitions share branch lengths. RAxML 8 has no scaled lengths. If a program was run in a different way, the column "note"
says so, also if its output does not confirm that it used the intended model ("model unconfirmed").

What is measured, by the operating system at the end of each run (wait4): CPU seconds, user and system, of all threads and
processes; wall seconds; peak memory of the largest process (if less than what this script itself takes it cannot be seen:
"<20", and NA in the files). "CPU ratio" is CPU seconds over those of `--baseline` for the same seed. All are medians over
the seeds, with the lowest and highest. A program that fails or takes longer than `--limit` is reported, and the comparison
continues without it. Leave a core free for each thread: RAxML 8 and IQ-TREE with two threads were seen to take ten times
their CPU seconds where one of two cores was busy.

Written are PREFIX.tsv (the table), PREFIX.runs.tsv (every run, as it ends) and PREFIX.svg (CPU time against log-likelihood).
"""

import argparse
import os
import re
import shlex
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True

from compare_data import CompareError, read_dataset
from compare_peers import PEERS, Mlsearch
from compare_plot import Point, draw
from compare_run import Bench, run_all, say
from compare_table import RUNS_HEAD, best_lnls, format_run, format_table, format_tsv, summarise


def parse_arguments():
    description, _, epilog = __doc__.partition("\n\n")
    parser = argparse.ArgumentParser(
        description=description, epilog=epilog, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "data",
        nargs="+",
        metavar="ALIGNMENT[:PARTITIONS]",
        help="PHYLIP or FASTA, also .gz and .xz, with its partition file",
    )
    default = Path(__file__).resolve().parent.parent / "target" / "release" / "mlsearch"
    parser.add_argument(
        "--mlsearch", metavar="PATH", default=str(default), help="the mlsearch to measure [target/release/mlsearch]"
    )
    parser.add_argument(
        "--config",
        action="append",
        default=[],
        metavar="NAME=OPTIONS",
        help="mlsearch once more, with further options; repeatable",
    )
    known = ", ".join(peer.name for peer in PEERS)
    parser.add_argument(
        "--peers",
        metavar="NAMES",
        help=f"other programs to run, separated by commas, or none; known are {known} [all on the PATH]",
    )
    parser.add_argument(
        "--seeds", type=positive, default=5, metavar="N", help="number of searches of each program, with seeds 1 to N [5]"
    )
    parser.add_argument("--threads", type=positive, default=1, metavar="N", help="number of threads of each program [1]")
    parser.add_argument(
        "--brlen", choices=["linked", "scaled", "unlinked"], default="linked", help="branch lengths of partitions [linked]"
    )
    parser.add_argument("--limit", type=float, default=3600.0, metavar="S", help="longest time for a run, in wall seconds [3600]")
    parser.add_argument(
        "--baseline", metavar="NAME", help="program that CPU ratios refer to [iqtree2-fast, iqtree3-fast, else mlsearch]"
    )
    parser.add_argument(
        "--out", default="compare", metavar="PREFIX", help="beginning of the names of the files written [compare]"
    )
    parser.add_argument("--redo", action="store_true", help="replace the files of an earlier comparison")
    parser.add_argument("--keep", metavar="DIR", help="keep what the programs wrote, in this new folder")
    return parser.parse_args()


def positive(text):
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def choose_programs(arguments):
    """mlsearch and its further configurations, then the peers."""
    # Absolute, because programs run in folders of their own.
    executable = str(Path(arguments.mlsearch).resolve())
    if not os.access(executable, os.X_OK):
        raise CompareError(f"{arguments.mlsearch} cannot be run: cargo build --release, or say --mlsearch PATH")
    programs = [Mlsearch(arguments.threads, executable)]
    for config in arguments.config:
        name, equals, options = config.partition("=")
        if not equals or not re.fullmatch(r"[\w.+-]+", name):
            raise CompareError(f"--config '{config}': expected NAME=OPTIONS")
        programs.append(Mlsearch(arguments.threads, executable, name, shlex.split(options)))
    wanted = None
    if arguments.peers is not None:
        wanted = [name for name in arguments.peers.split(",") if name not in ("", "none")]
        unknown = set(wanted) - {peer.name for peer in PEERS}
        if unknown:
            raise CompareError(f"--peers: unknown: {', '.join(sorted(unknown))}")
    for kind in PEERS:
        if wanted is not None and kind.name not in wanted:
            continue
        peer = kind(arguments.threads)
        if peer.executable:
            programs.append(peer)
        elif wanted is not None:
            raise CompareError(f"--peers: {kind.name} is not on the PATH")
    names = [program.name for program in programs]
    if len(set(names)) < len(names):
        raise CompareError("--config: two programs have one name")
    return programs


def choose_baseline(arguments, programs):
    names = [program.name for program in programs]
    if arguments.baseline is None:
        return next(name for name in ("iqtree2-fast", "iqtree3-fast", "mlsearch") if name in names)
    if arguments.baseline not in names:
        raise CompareError(f"--baseline {arguments.baseline}: not one of {', '.join(names)}")
    return arguments.baseline


def read_datasets(arguments):
    """All data, each with a label of its own that can be the name of a folder."""
    datasets = []
    for argument in arguments.data:
        stem = re.sub(r"[^\w.+-]", "_", Path(argument.partition(":")[0]).name.partition(".")[0]) or "data"
        label = stem + ("_partitioned" if ":" in argument else "")
        taken = [dataset.label for dataset in datasets]
        number = 2
        while label in taken:
            label = f"{stem}_{number}"
            number += 1
        datasets.append(read_dataset(argument, label))
    return datasets


def main():
    arguments = parse_arguments()
    outputs = {kind: Path(f"{arguments.out}.{kind}") for kind in ("tsv", "runs.tsv", "svg")}
    existing = [str(path) for path in outputs.values() if path.exists()]
    if existing and not arguments.redo:
        raise CompareError(f"exists: {', '.join(existing)}: choose another --out, or --redo")
    programs = choose_programs(arguments)
    baseline = choose_baseline(arguments, programs)
    datasets = read_datasets(arguments)
    with tempfile.TemporaryDirectory(prefix="compare-") as scratch:
        work = Path(scratch)
        if arguments.keep:
            work = Path(arguments.keep).resolve()
            work.mkdir(parents=True)
        bench = Bench(programs[0], work, arguments.threads, arguments.brlen, arguments.limit)
        for program in programs:
            say(f"{program.name} {program.version(bench.environment)}: {program.executable}")
        warn_if_busy(arguments.threads)
        runs = []
        with open(outputs["runs.tsv"], "w", encoding="utf-8") as stream:
            stream.write(RUNS_HEAD)

            def record(run):
                runs.append(run)
                stream.write(format_run(run))
                stream.flush()

            try:
                run_all(bench, programs, datasets, range(1, arguments.seeds + 1), record)
            except KeyboardInterrupt:
                say("stopped: the table holds the runs that had ended")
    report(runs, programs, baseline, outputs, arguments)
    return 0 if any(run.lnl is not None for run in runs) else 1


def warn_if_busy(threads):
    """Says so if other work takes cores that the programs would need."""
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    if load + threads > cores + 0.5:
        say(
            f"warning: load {load:.1f} and {threads} thread(s) on {cores} cores: threads that wait for each other will wait long"
        )


def report(runs, programs, baseline, outputs, arguments):
    summaries = summarise(runs, programs, baseline)
    print(format_table(summaries, baseline))
    problems = {}
    for run in runs:
        if run.problem:
            problems.setdefault((run.dataset, run.program, run.problem), []).append(str(run.seed))
    for (dataset, program, problem), seeds in problems.items():
        print(f"{dataset}: {program}, seed {', '.join(seeds)}: {problem}")
    outputs["tsv"].write_text(format_tsv(summaries, baseline), encoding="utf-8")
    best, good = best_lnls(runs), [run for run in runs if run.lnl is not None]
    points = [Point(run.dataset, run.program, run.measured.cpu, best[run.dataset] - run.lnl) for run in good]
    missing = [(s.dataset, s.program, s.num_runs - s.num_good) for s in summaries if s.num_good < s.num_runs]
    threads = f"{arguments.threads} thread" + "s" * (arguments.threads > 1)
    subtitle = f"{threads}, one point for each of {arguments.seeds} seeds, the large ones medians; all trees scored by mlsearch"
    outputs["svg"].write_text(draw(points, [p.name for p in programs], missing, subtitle), encoding="utf-8")
    say(f"written: {', '.join(map(str, outputs.values()))}" + (f"; runs: {arguments.keep}" if arguments.keep else ""))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (CompareError, OSError) as error:
        say(f"compare.py: {error}")
        sys.exit(2)
