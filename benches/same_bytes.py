#!/usr/bin/env python3
"""Do two builds of mlsearch write the same bytes?

    python3 benches/same_bytes.py OLD_BINARY NEW_BINARY [--threads 1,2]

Runs both on the data sets of this repository, in every mode, and compares all result files. Of the JSON
file the likelihoods, trees, models and partitions are compared; the log's words may differ. For changes
that must not change a result: exit code 1 names every file that differs.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = {
    "primates": "-s datasets/primates.phy -m GTR+G",
    "primates, 3 genes": "-s datasets/primates.phy -q partitions/primates.part -m GTR+I+G --brlen scaled",
    "anolis": "-s datasets/anolis.phy -m HKY+FO+R3",
    "gallwasps": "-s datasets/gallwasps.phy -q partitions/gallwasps.part -m GTRGAMMA",
    "gallwasps, own lengths": "-s datasets/gallwasps.phy -q partitions/gallwasps.part -m GTRGAMMA -M",
    "gappy": "-s datasets/gappy.phy -q partitions/gappy.part -m GTR+G",
    "gappy, scaled": "-s datasets/gappy.phy -q partitions/gappy.part -m GTR+G --brlen scaled",
    "gappy, own lengths": "-s datasets/gappy.phy -q partitions/gappy.part -m GTR+G -M",
    "proteins": "-s datasets/ovomucoids.phy -m LG+G",
    "protein mixture": "-s datasets/ovomucoids.phy -m LG4X",
    "codons": "-s datasets/lysozyme.phy -m GY+F3X4",
    "mitochondrial codons": "-s datasets/hominoids.phy -m MGK+F1X4 --data-type CODON2",
}
MODES = {
    "search": "",
    "fast search": "--fast",
    "evaluation": "--evaluate -t {tree} --sitelh",
    "bootstrap": "--bootstrap --bs-trees 3",
    "all": "--all --fast --bs-trees 3",
}
JSON_FIELDS = ["log_likelihood", "best_tree", "model", "partitions", "alignment", "trees", "bootstrap", "seed"]


def run(binary, words, prefix):
    for earlier in prefix.parent.glob(f"{prefix.name}.mlsearch.*"):
        earlier.unlink()
    command = [binary, *words.split(), "--prefix", str(prefix), "--quiet"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(f"{' '.join(command)}\nended with {ran.returncode}:\n{ran.stderr}")


def results(folder, name):
    found = {}
    for path in sorted(folder.glob(f"{name}.mlsearch.*")):
        kind = path.name.rsplit(".", 1)[1]
        if kind == "json":
            report = json.loads(path.read_text())
            found[kind] = {field: report.get(field) for field in JSON_FIELDS}
        elif kind != "log":
            found[kind] = path.read_bytes()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--threads", default="1", help="numbers of threads of the new binary, with commas")
    arguments = parser.parse_args()
    old, new = (str(Path(binary).resolve()) for binary in (arguments.old, arguments.new))
    differences, compared = [], 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for data, words in DATA.items():
            run(old, f"--start -t pars{{1}} {words}", folder / "start")
            tree = folder / "start.mlsearch.startTree"
            for mode, more in MODES.items():
                command = f"{words} {more.format(tree=tree)}"
                run(old, f"{command} -T 1", folder / "old")
                expected = results(folder, "old")
                for threads in arguments.threads.split(","):
                    run(new, f"{command} -T {threads}", folder / "new")
                    found = results(folder, "new")
                    for kind in sorted(set(expected) | set(found)):
                        compared += 1
                        if expected.get(kind) != found.get(kind):
                            differences.append(f"{data}, {mode}, {threads} threads: {kind}")
            print(f"{data}: done, {len(differences)} differences so far", file=sys.stderr, flush=True)
    print("\n".join(differences + [f"{compared} files compared, {len(differences)} differ"]))
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
