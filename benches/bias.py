#!/usr/bin/env python3
"""Are estimates biased? Simulates data sets and evaluates each on its true tree.

The data are drawn from the categories of rates that the model has, not from a continuous gamma distribution, which would
bias estimates by itself. Prints for each parameter the mean of ln(estimate / truth) over all data sets, its standard
error, and their ratio z, which is within -3 and 3 if there is no bias. Needs Python 3.9, and mlsearch on the PATH (or
--mlsearch).

    python3 benches/bias.py --sets 300
"""

import argparse
import json
import math
import re
import statistics
import subprocess
import tempfile
from pathlib import Path

RATES = {"A-C": 1.0, "A-G": 4.0, "A-T": 0.8, "C-G": 1.2, "C-T": 5.0}
FREQS = "0.3/0.2/0.2/0.3"
ALPHA = 0.5


def run(mlsearch, words, prefix):
    command = [mlsearch, *words, "--prefix", str(prefix), "--redo"]
    subprocess.run(command, check=True, capture_output=True)


def estimates(options, seed, folder):
    """The estimates of the rates, and of alpha, from one data set."""
    rates = "/".join(str(rate) for rate in RATES.values()) + "/1"
    truth = f"GTR{{{rates}}}+FU{{{FREQS}}}+G4{{{ALPHA}}}"
    data, found = folder / "data", folder / "found"
    size = ["--tree", f"rand{{{options.taxa}}}", "--sites", str(options.sites), "--missing", "0"]
    run(options.mlsearch, ["simulate", *size, "--model", truth, "--seed", str(seed)], data)
    model = f"GTR+{options.freqs}+G4".replace("FU", f"FU{{{FREQS}}}")
    evaluation = ["-s", f"{data}.mlsearch.phy", "-m", model, "-t", f"{data}.mlsearch.trueTree", "-T", "1"]
    run(options.mlsearch, ["--evaluate", *evaluation], found)
    text = json.loads(Path(f"{found}.mlsearch.json").read_text())["model"]
    values = re.search(r"GTR\{([^}]*)\}.*\+G4m?\{([^}]*)\}", text)
    return [float(value) for value in values[1].split("/")[:5]] + [float(values[2])]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mlsearch", default="mlsearch", help="the program")
    parser.add_argument("--sets", type=int, default=300, help="number of data sets")
    parser.add_argument("--taxa", type=int, default=50)
    parser.add_argument("--sites", type=int, default=20000)
    parser.add_argument("--freqs", default="FU", help="FU (the true ones), FC or FO (default: FU)")
    options = parser.parse_args()
    names, truth = [*RATES, "alpha"], [*RATES.values(), ALPHA]
    errors = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(1, options.sets + 1):
            found = estimates(options, seed, Path(folder))
            errors.append([math.log(value / true) for value, true in zip(found, truth)])
    print("parameter", "mean", "standard error", "z", sep="\t")
    for name, column in zip(names, zip(*errors)):
        mean = statistics.mean(column)
        error = statistics.stdev(column) / math.sqrt(len(column))
        print(name, f"{mean:+.5f}", f"{error:.5f}", f"{mean / error:+.2f}", sep="\t")


if __name__ == "__main__":
    main()
