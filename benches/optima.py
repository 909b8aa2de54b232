#!/usr/bin/env python3
"""Checks that optimisers end in the same optimum: a search, and evaluations of its tree.

For each alignment, linkage of branch lengths and effort, this runs a search and evaluates its best tree three times:

    own       from the tree with its lengths; models are estimated anew
    topology  from the topology alone
    fixed     under the models that the search wrote (fixed), from its lengths

and writes a TSV file with the log-likelihood of the search and the differences of the others to it. Needs Python 3.9,
and mlsearch on the PATH (or --mlsearch).

    python3 benches/optima.py --out optima.tsv datasets/gappy.phy:partitions/gappy.part datasets/anolis.phy
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

LENGTH = re.compile(r":[0-9.eE+-]+")


def run(mlsearch, arguments, prefix):
    """Runs mlsearch on one thread; returns its JSON."""
    command = [mlsearch, *arguments, "--prefix", str(prefix), "--redo", "-T", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}\n{done.stderr.strip()}")
    return json.loads(Path(f"{prefix}.mlsearch.json").read_text())


def check(options, alignment, partitions, linkage, effort, seed, folder):
    """The log-likelihood of a search, and those of the evaluations of its tree."""
    base = ["-s", alignment, "--brlen", linkage]
    data = [*base, "-m", options.model] + (["-q", partitions] if partitions else [])
    prefix = folder / "search"
    flags = [] if effort == "default" else [f"--{effort}"]
    found = run(options.mlsearch, [*data, *flags, "--seed", str(seed)], prefix)
    tree = f"{prefix}.mlsearch.bestTree"
    topology = folder / "topology.nwk"
    topology.write_text(LENGTH.sub("", Path(tree).read_text()))
    models = [*base, "-q" if partitions else "-m", f"{prefix}.mlsearch.bestModel"]
    lengths = ["-t", tree]
    if linkage == "unlinked" and partitions:
        lengths += ["--partition-trees", f"{prefix}.mlsearch.bestPartitionTrees"]
    runs = {
        "own": [*data, "-t", tree],
        "topology": [*data, "-t", str(topology)],
        "fixed": [*models, *lengths],
    }
    values = {"search": found["log_likelihood"]}
    for name, arguments in runs.items():
        try:
            result = run(options.mlsearch, ["--evaluate", *arguments], folder / name)
            values[name] = result["log_likelihood"] - values["search"]
        except RuntimeError as fault:
            print(fault, file=sys.stderr)
            values[name] = float("nan")
    return values


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="+", help="ALIGNMENT or ALIGNMENT:PARTITIONS")
    parser.add_argument("--mlsearch", default="mlsearch", help="the program")
    parser.add_argument("--model", default="GTR+G", help="model (default: GTR+G)")
    parser.add_argument("--linkages", default="linked,scaled,unlinked")
    parser.add_argument("--efforts", default="default,fast")
    parser.add_argument("--seeds", type=int, default=1, help="number of seeds of each search")
    parser.add_argument("--out", type=Path, help="TSV file (default: standard output)")
    options = parser.parse_args()
    out = options.out.open("w") if options.out else sys.stdout
    print("data", "model", "lengths", "effort", "seed", "search", "own", "topology", "fixed", sep="\t", file=out)
    for given in options.data:
        alignment, _, partitions = given.partition(":")
        linkages = options.linkages.split(",") if partitions else ["linked"]
        for linkage in linkages:
            for effort in options.efforts.split(","):
                for seed in range(1, options.seeds + 1):
                    with tempfile.TemporaryDirectory() as folder:
                        values = check(options, alignment, partitions, linkage, effort, seed, Path(folder))
                    name = Path(alignment).name.split(".")[0]
                    row = [name, options.model, linkage, effort, str(seed), f"{values['search']:.3f}"]
                    row += [f"{values[key]:+.3f}" for key in ("own", "topology", "fixed")]
                    print("\t".join(row), file=out, flush=True)


if __name__ == "__main__":
    main()
