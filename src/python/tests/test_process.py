"""What a run does to the process around it: interruptions, threads, memory, forks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")

#: Sends itself SIGINT at a moment (code that waits for it), and says how long the run went on and what it has left. Begins again if the run has ended.
INTERRUPTED = """
import os, signal, sys, threading, time
import mlsearch

def tasks():
    return len(os.listdir("/proc/self/task"))

# Whoever runs the tests in the background may have had it ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
handler = signal.getsignal(signal.SIGINT)
before = tasks()
sent = []
def interrupt():
    {wait}
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)
timer = threading.Thread(target=interrupt)
timer.start()
try:
    while True:
        {call}
except KeyboardInterrupt:
    late = time.perf_counter() - sent[0]
    timer.join()
# A likelihood has threads as long as it lives, and the exception keeps it. A thread that has ended is listed a little longer.
while tasks() > before and time.perf_counter() < sent[0] + 2.0:
    time.sleep(0.01)
print(f"{{late:.3f}} {{tasks() - before}} {{handler is signal.getsignal(signal.SIGINT)}}")
"""


def run(code: str, **variables: str) -> str:
    """What a new interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        env={**os.environ, **variables},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


CALLS = {
    "search": "mlsearch.search({path!r}, 'GTR+G', thorough=True, threads={threads})",
    "evaluate": "mlsearch.evaluate({path!r}, 'GTR+R8', 'pars{{20}}', threads={threads})",
    "sample": "mlsearch.sample({path!r}, 'GTR+FO+G', threads={threads})",
    "bootstrap": "mlsearch.bootstrap({path!r}, 'GTR+G', threads={threads})",
    "select": "mlsearch.select({path!r}, threads={threads})",
    "genes": "mlsearch.genes({path!r}, 'GTR+G', partitions='GTR+G, a=1-1500\\nGTR+G, b=1501-3000', thorough=True, threads={threads})",
    "Likelihood.optimize": "mlsearch.Likelihood({path!r}, 'GTR+R8', 'pars{{1}}', threads={threads}).optimize(epsilon=1e-9)",
}


@LINUX
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("word", CALLS)
def test_an_interruption_ends_a_run_within_a_second_and_leaves_no_thread(
    word: str, threads: int, large: Path
) -> None:
    call = CALLS[word].format(path=str(large), threads=threads)
    if word == "Likelihood.optimize":
        call = call.replace("'pars{1}'", "mlsearch.start(" + repr(str(large)) + ", 'pars{1}', model='JC').tree")
    printed = run(INTERRUPTED.format(call=call, wait="time.sleep(2.5)"))
    late, left, is_same_handler = printed.split()
    assert float(late) < 1.0 and left == "0" and is_same_handler == "True", printed


@LINUX
def test_an_interrupted_run_with_a_prefix_is_resumed_to_the_same_files(large: Path, tmp_path: Path) -> None:
    call = f"mlsearch.search({str(large)!r}, 'GTR+G', prefix={str(tmp_path / 'run')!r})"
    checkpoint = tmp_path / "run.mlsearch.checkpoint"
    wait = f"while not os.path.exists({str(checkpoint)!r}): time.sleep(0.01)"
    late, left, _ = run(INTERRUPTED.format(call=call, wait=wait)).split()
    assert float(late) < 1.0 and left == "0"
    assert checkpoint.exists()
    assert not (tmp_path / "run.mlsearch.bestTree").exists()
    resumed = run(f"import mlsearch; r = {call}; print('resuming' in r.text_of('log'), r.tree)")
    whole = run(f"import mlsearch; print(True, mlsearch.search({str(large)!r}, 'GTR+G').tree)")
    assert resumed == whole


@LINUX
def test_no_thread_and_no_handler_is_left_and_no_thread_is_pinned(hominoids: Path) -> None:
    code = f"""
        import os, signal, time
        import mlsearch

        def left():
            # The threads of a pool may end a little later than it.
            end = time.perf_counter() + 1.0
            while len(os.listdir("/proc/self/task")) > 1 and time.perf_counter() < end:
                time.sleep(0.005)
            return len(os.listdir("/proc/self/task")) - 1

        cores = os.sched_getaffinity(0)
        handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGXFSZ)]
        path, threads = {str(hominoids)!r}, max(2, os.cpu_count())
        parts = "DNA, a=1-3000\\nDNA, b=3001-9993"
        trees = mlsearch.bootstrap(path, "JC", bs_trees=60, threads=threads).trees
        other = "((human,chimpanzee),(gorilla,bonobo),(gibbon,(orangutan,sumatran)));"
        for run in [
            lambda: mlsearch.search(path, "GTR+G", all=True, bs_trees=10, threads=threads),
            lambda: mlsearch.support(trees[0], trees, bs_metric="fbp,tbe,ic1,ica", threads=threads),
            lambda: mlsearch.converge(trees, threads=threads),
            lambda: mlsearch.concordance(trees[0], trees[:5], scf=100, alignment=path, threads=threads),
            lambda: mlsearch.consensus(trees, threads=threads),
            lambda: mlsearch.compare(trees, rfdist_metric="rf,quartet", threads=threads),
            lambda: mlsearch.distance(path, "nj", bs_trees=10, threads=threads),
            lambda: mlsearch.genes(path, "JC", partitions=parts, threads=threads),
            lambda: mlsearch.select(path, partitions=parts, merge="greedy", threads=threads),
            lambda: mlsearch.sample(path, "JC", ngen=500, samplefreq=50, threads=threads),
            lambda: mlsearch.ancestral(path, "JC+G", trees[0], site_rates=True, threads=threads),
            lambda: mlsearch.test(path, "JC", [trees[0], other], threads=threads),
            lambda: mlsearch.draw(trees[0], format="svg,pdf,png"),
        ]:
            run()
            assert left() == 0, run
        assert os.sched_getaffinity(0) == cores
        assert handlers == [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGXFSZ)]
        print("as before")
        """
    assert run(code, OPENBLAS_NUM_THREADS="1", PYTHONWARNINGS="ignore") == "as before\n"


@LINUX
def test_a_thousand_searches_take_no_more_memory_than_a_hundred() -> None:
    code = """
        import mlsearch

        def used():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * 4096 / 1e6

        sequences = {name: text for name, text in zip("abcdef", [
            "ACGTACGTACCTGA", "ACGTACGTTCCTGA", "ACTTACGATCCAGA", "ACTTAGGATCCAGT", "GCTTAGGATCAAGT", "GCTTAGCATCAAGA"])}
        sizes = []
        for number in range(1, 1001):
            mlsearch.search(sequences, "GTR+G", fast=True, threads=1)
            if number in (100, 1000):
                sizes.append(used())
        print(*sizes)
        """
    hundred, thousand = map(float, run(code).split())
    assert thousand < hundred + 3.0, f"MB after 100 searches: {hundred}, after 1000: {thousand}"


@LINUX
def test_it_is_refused_after_a_fork(hominoids: Path) -> None:
    code = f"""
        import os
        import mlsearch
        mlsearch.search({str(hominoids)!r}, "JC", fast=True)
        child = os.fork()
        if child == 0:
            try:
                mlsearch.search({str(hominoids)!r}, "JC", fast=True)
                os._exit(1)
            except mlsearch.MlsearchError as error:
                os._exit(42 if "fork" in str(error) else 2)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """
    assert run(code) == "42\n"


def test_other_threads_go_on_and_runs_go_side_by_side(primates: Path) -> None:
    code = f"""
        import threading, time
        import mlsearch
        path = {str(primates)!r}
        beats = 0
        running = True
        def beat():
            global beats
            while running:
                beats += 1
                time.sleep(0.001)
        threading.Thread(target=beat).start()
        found = []
        def search(seed):
            found.append((seed, mlsearch.search(path, "GTR+G", seed=seed, thorough=True, threads=1).log_likelihood))
        threads = [threading.Thread(target=search, args=(seed,)) for seed in (1, 2)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        during = beats
        alone = [(seed, mlsearch.search(path, "GTR+G", seed=seed, thorough=True, threads=1).log_likelihood) for seed in (1, 2)]
        running = False
        assert sorted(found) == alone, (found, alone)
        assert during > 10, during
        print("side by side")
        """
    assert run(code) == "side by side\n"


@pytest.mark.skipif("MLSEARCH_PROGRAM" not in os.environ, reason="MLSEARCH_PROGRAM does not name the program")
def test_results_have_the_bytes_of_the_command_line(primates: Path, tmp_path: Path) -> None:
    program = os.environ["MLSEARCH_PROGRAM"]
    command = [program, "search", "-s", str(primates), "-m", "GTR+G", "--all", "--bs-trees", "10", "--prefix", "a"]
    subprocess.run([*command, "--quiet"], check=True, cwd=tmp_path, stdout=subprocess.DEVNULL)
    import mlsearch

    result = mlsearch.search(primates, "GTR+G", all=True, bs_trees=10)
    for kind in ["bestTree", "bestModel", "mlTrees", "bootstraps", "support"]:
        assert result.files[kind] == (tmp_path / f"a.mlsearch.{kind}").read_bytes(), kind


#: An engine that panics, which only `.ci/run` compiles; afterwards the same process computes. Says how the first run ended, and both results after it.
PANICS = """
import mlsearch

data = {"a": "ACGTACGT", "b": "ACGTACGA", "c": "ACGAACGA", "d": "ACCAACGA"}
before = mlsearch.evaluate(data, "JC", tree="pars{1}").log_likelihood
try:
    mlsearch.evaluate(data, "JC", tree="pars{1}", backend="failing")
except mlsearch.MlsearchError as error:
    print(error.state, str(error).replace("\\n", " "), sep=": ")
print(mlsearch.evaluate(data, "JC", tree="pars{1}").log_likelihood == before)
"""


def test_a_panic_is_an_exception_and_the_process_goes_on() -> None:
    said, goes_on = run(PANICS, MLSEARCH_TEST_PANIC="1").splitlines()
    if said.startswith("refused"):
        pytest.skip("the package has no engine that panics")
    assert said.startswith("failed: this is an error of mlsearch; please report it: the failing engine panics"), said
    assert goes_on == "True"
