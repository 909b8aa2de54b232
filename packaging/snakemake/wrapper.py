"""An analysis of mlsearch as a rule of Snakemake: its input, output, threads and parameters become a command.

Outputs are named PREFIX.mlsearch.*, and one of them suffices to know the prefix. A job that was killed goes on where it was, because
its checkpoint is no output, so that Snakemake leaves it there.
"""

import os
import shlex

from snakemake.shell import shell

MARK = ".mlsearch."
# Named inputs, and the options of mlsearch to which they are given.
OPTIONS = {"msa": "--msa", "partitions": "--partitions", "tree": "--tree", "constraint": "--tree-constraint"}

prefixes = {path[: path.rindex(MARK)] for path in map(str, snakemake.output) if MARK in path}
if len(prefixes) != 1:
    raise ValueError(f"outputs must be named PREFIX{MARK}*, all with the same PREFIX: {list(snakemake.output)}")
prefix = prefixes.pop()

command = ["mlsearch", snakemake.params.get("word", "search"), "--prefix", prefix, "--threads", str(snakemake.threads)]
for name, option in OPTIONS.items():
    if snakemake.input.get(name):
        command += [option, str(snakemake.input.get(name))]
if snakemake.params.get("model"):
    command += ["--model", snakemake.params.model]
command += shlex.split(snakemake.params.get("extra", ""))
# A finished run whose input has changed since is replaced; one that was interrupted is resumed.
if not os.path.exists(f"{prefix}{MARK}checkpoint"):
    command.append("--redo")

log = snakemake.log_fmt_shell(stdout=True, stderr=True)
shell(f"{shlex.join(command)} {log}")
