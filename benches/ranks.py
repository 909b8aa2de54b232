#!/usr/bin/env python3
"""How long a search would take on many processes: measured on one process and on two, predicted for more.

    ranks.py --program target/release/mlsearch [--taxa 100] [--columns 4000 16000] [--predict 1000000]

The program must be built with MPI (`--features mpi`), and two cores must be free. An alignment of each number of columns is simulated and
searched (`--fast`, GTR+G4) by one process and by two, which gives

    serial(columns)      seconds in which rank 0 works alone (reading, bookkeeping of the search)
    shared(columns)      seconds of one core for what ranks do together
    messages             their numbers and bytes (the log tells them), which do not depend on the columns

The two times are taken to grow with the columns along a line. On N cores, in ranks of 32 threads, the search then takes

    serial + shared / (0.9 N) + broadcasts * tell + exchanges * gather

where 0.9 is what threads inside a likelihood reach, tell = log2(ranks) * (latency + bytes / bandwidth), and gather = log2(ranks) * latency +
ranks * bytes / bandwidth. Latency and bandwidth of the interconnects, small messages between two machines:

    100 Gb/s InfiniBand   1.1 us, 12 GB/s    (NVIDIA ConnectX-6 datasheet: below 0.6 us for the adapters; MPI adds about as much)
    25 Gb/s Ethernet      15 us, 3 GB/s      (TCP through the kernel)

Of these figures only those for two processes of one machine were measured; the rest is arithmetic.
"""

import argparse
import math
import os
import re
import subprocess
import sys
import time
from pathlib import Path

NETWORKS = {"InfiniBand": (1.1e-6, 12e9), "Ethernet": (15e-6, 3e9)}
THREADS = 32
MODEL = "GTR{1/2/1/1/3/1}+FU{0.3/0.2/0.2/0.3}+G4{0.5}"
TRAFFIC = re.compile(r"messages between ranks: (\d+) .*?, (\d+) bytes; (\d+) .*?, (\d+) bytes .*?; ([\d.]+) s together")


def run(words: list[str]) -> float:
    """Seconds that a command takes."""
    started = time.perf_counter()
    more = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_hwloc_base_binding_policy": "none"}
    done = subprocess.run(words, capture_output=True, text=True, env=os.environ | more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: {done.stderr}")
    return time.perf_counter() - started


def measure(program: str, folder: Path, taxa: int, columns: int) -> dict[str, float]:
    """One process and two, on simulated data."""
    data = folder / f"{taxa}x{columns}"
    run([program, "simulate", "-t", f"rand{{{taxa}}}", "-m", MODEL, "--sites", str(columns), "-p", "1", "--prefix", str(data), "--redo"])
    search = [program, "search", "-s", f"{data}.mlsearch.phy", "-m", "GTR+G", "--fast", "-T", "1", "--redo", "--quiet", "--report", "off"]
    alone = run([*search, "--prefix", f"{data}_1"])
    two = run(["mpiexec", "-n", "2", *search, "--ranks-per-job", "2", "--prefix", f"{data}_2"])
    trees = [Path(f"{data}_{ranks}.mlsearch.bestTree").read_bytes() for ranks in (1, 2)]
    assert trees[0] == trees[1], "the same tree"
    log = Path(f"{data}_2.mlsearch.log").read_text()
    broadcasts, told, gathers, given, together = map(float, TRAFFIC.search(log).groups())
    serial = two - together
    rounds = len(re.findall(r"SPR, round", log))
    print(f"{taxa} taxa, {columns} columns: one process {alone:.2f} s, two {two:.2f} s, of which rank 0 alone {serial:.2f} s; {rounds} rounds of SPR; "
          f"{broadcasts:.0f} broadcasts of {told / broadcasts:.0f} bytes, {gathers:.0f} exchanges of {given / gathers:.0f} bytes")
    return {"serial": serial, "shared": alone - serial, "broadcasts": broadcasts, "told": told / broadcasts,
            "gathers": gathers, "given": given / gathers}


def main() -> None:
    """Measures and predicts."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--program", required=True)
    options.add_argument("--taxa", type=int, default=100)
    options.add_argument("--columns", type=int, nargs=2, default=[4000, 16000])
    options.add_argument("--predict", type=int, default=1_000_000)
    options.add_argument("--folder", type=Path, default=Path("ranks"))
    given = options.parse_args()
    given.folder.mkdir(exist_ok=True)
    few, many = (measure(given.program, given.folder, given.taxa, columns) for columns in given.columns)
    share = (given.predict - given.columns[0]) / (given.columns[1] - given.columns[0])
    serial, shared = (few[part] + share * (many[part] - few[part]) for part in ("serial", "shared"))
    print(f"{given.predict} columns: {serial:.1f} s of rank 0 alone, {shared:.0f} s of one core together")
    print(f"{'cores':>6} {'ranks':>6}" + "".join(f" {name + ' s':>14} {'efficiency':>10}" for name in NETWORKS))
    for cores in (64, 256, 1024, 4096):
        ranks = cores // THREADS
        line = f"{cores:6} {ranks:6}"
        for latency, bandwidth in NETWORKS.values():
            steps = math.log2(ranks)
            tell = steps * (latency + many["told"] / bandwidth)
            gather = steps * latency + ranks * many["given"] / bandwidth
            seconds = serial + shared / (0.9 * cores) + many["broadcasts"] * tell + many["gathers"] * gather
            line += f" {seconds:14.2f} {(serial + shared) / cores / seconds:10.2f}"
        print(line)


if __name__ == "__main__":
    main()
