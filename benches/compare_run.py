"""Runs a program for `compare.py`, measures what it takes, and scores its tree."""

import json
import os
import resource
import shlex
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass

from compare_data import resolve_multifurcations
from compare_peers import Job

# ru_maxrss is in bytes on macOS, in KiB elsewhere.
BYTES_PER_MAXRSS = 1 if sys.platform == "darwin" else 1024
MEGABYTE = 1e6


@dataclass
class Measured:
    """What a process used: CPU and wall in seconds, peak memory in MB; `problem` is empty if it ended well.

    memory -- None if it was less than this script's own, as a child begins as a copy of its parent
    """

    cpu: float
    wall: float
    memory: float
    problem: str


def run_measured(command, folder, environment, limit, prefix=""):
    """Runs a command in a folder, its output kept there, and stops it with all its children after `limit` seconds."""
    (folder / f"{prefix}command.txt").write_text(shlex.join(command) + "\n")
    late = threading.Event()
    with open(folder / f"{prefix}stdout.txt", "wb") as out, open(folder / f"{prefix}stderr.txt", "wb") as err:
        start = time.monotonic()
        try:
            # A group of its own, so that the child of a wrapping script can be stopped, too.
            process = subprocess.Popen(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        except OSError as error:
            return Measured(0.0, 0.0, None, str(error))

        def stop():
            late.set()
            kill_group(process.pid)

        timer = threading.Timer(limit, stop)
        timer.start()
        try:
            _, status, used = os.wait4(process.pid, 0)
        except BaseException:
            kill_group(process.pid)
            process.wait()
            raise
        finally:
            timer.cancel()
        wall = time.monotonic() - start
        # Popen did not see the end itself and would wait for it.
        process.returncode = os.waitstatus_to_exitcode(status)
    memory = megabytes(used) if megabytes(used) > own_memory() else None
    return Measured(used.ru_utime + used.ru_stime, wall, memory, problem_of(process.returncode, late.is_set(), limit))


def megabytes(used):
    """Peak memory in an account of the operating system."""
    return used.ru_maxrss * BYTES_PER_MAXRSS / MEGABYTE


def own_memory():
    return megabytes(resource.getrusage(resource.RUSAGE_SELF))


def kill_group(pid):
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def problem_of(code, late, limit):
    if late:
        return f"stopped after {limit:g} s"
    if code < 0:
        return f"killed by signal {-code}"
    return f"exit code {code}" if code else ""


def last_words(folder, prefix=""):
    """The last line that a failed program said, for the report."""
    for stream in ("stderr", "stdout"):
        lines = (folder / f"{prefix}{stream}.txt").read_text(errors="replace").split("\n")
        said = [line.strip() for line in lines if line.strip()]
        if said:
            return said[-1][:200]
    return ""


@dataclass
class Run:
    """One search. lnl -- of its tree, by the evaluator; None where there is a problem."""

    dataset: str
    program: str
    seed: int
    measured: Measured
    lnl: float = None
    problem: str = ""
    note: str = ""


class Bench:
    """What all runs have in common."""

    def __init__(self, evaluator, work, threads, linkage, limit):
        self.evaluator = evaluator
        self.work = work
        self.threads = threads
        self.linkage = linkage
        self.limit = limit
        # OpenMP programs without an option for threads; Debian's phyml is a script that takes all cores else.
        self.environment = dict(os.environ, OMP_NUM_THREADS=str(threads), PHYMLCPUS="1", LC_ALL="C")

    def search(self, program, dataset, seed):
        """Runs the program once and scores its tree."""
        job = Job(dataset, self.linkage, self.threads, seed)
        folder = self.work / dataset.label / f"{program.name}.{seed}"
        folder.mkdir(parents=True)
        # Several programs write beside their input.
        for source in folder.parent.glob("*.*"):
            if source.is_file():
                (folder / source.name).symlink_to(source.resolve())
        measured = run_measured(program.command(job), folder, self.environment, self.limit)
        run = Run(dataset.label, program.name, seed, measured, problem=measured.problem, note=program.note(job))
        if run.problem:
            if not run.problem.startswith("stopped"):
                run.problem += f": {last_words(folder)}"
            return run
        if not program.confirms_model(job, folder):
            run.note = ", ".join(filter(None, [run.note, "model unconfirmed"]))
        run.lnl, run.problem = self.score(job, folder, program.tree)
        return run

    def score(self, job, folder, tree):
        """(log-likelihood, problem) of a tree."""
        try:
            newick = (folder / tree).read_text()
        except OSError as error:
            return None, f"no tree: {error}"
        (folder / "scored.tree").write_text(resolve_multifurcations(newick))
        command = self.evaluator.evaluate(job, "scored.tree", "score")
        measured = run_measured(command, folder, self.environment, self.limit, "score.")
        if measured.problem:
            return None, f"its tree was not scored: {measured.problem}: {last_words(folder, 'score.')}"
        report = json.loads((folder / "score.mlsearch.json").read_text())
        return report["log_likelihood"], ""


def run_all(bench, programs, datasets, seeds, record):
    """All runs, in turn; `record` is told of each as it ends."""
    for dataset in datasets:
        folder = bench.work / dataset.label
        folder.mkdir(parents=True)
        dataset.write(folder)
        say(dataset.describe())
        job = Job(dataset, bench.linkage, bench.threads, 0)
        able = []
        for program in programs:
            reason = program.unable(job)
            if reason:
                say(f"  {program.name}: left out: {reason}")
            else:
                able.append(program)
        for turn, seed in enumerate(seeds):
            first = turn % len(able)
            for program in able[first:] + able[:first]:
                run = bench.search(program, dataset, seed)
                said = run.problem or f"{run.measured.cpu:.2f} CPU s, {run.measured.wall:.2f} s, lnL {run.lnl:.3f}"
                say(f"  seed {seed}  {program.name}: {said}")
                record(run)


def say(text):
    print(text, file=sys.stderr, flush=True)
