"""The programs that `compare.py` runs: one class for each, with how it is called and where it leaves its tree.

A run happens in a folder of its own in which `alignment.phy` and, with partitions, `partitions.*` (see `compare_data.py`) lie.
"""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from compare_data import Dataset

# A program that is asked for its version and waits for input instead gets no longer than this (seconds).
VERSION_PATIENCE = 10


@dataclass(frozen=True)
class Job:
    """What a run computes.

    linkage -- branch lengths of partitions: linked, scaled or unlinked
    """

    dataset: Dataset
    linkage: str
    threads: int
    seed: int

    @property
    def partitioned(self):
        return bool(self.dataset.partitions)

    @property
    def models(self):
        """Every model that should turn up in the output of a program that knows partitions."""
        return sorted({part.model for part in self.dataset.partitions or [self.dataset.whole]})


class Program:
    """A program that searches for trees. What subclasses say:

    names -- executables; the first on the PATH is taken
    version_flag -- makes it print its version
    tree -- the file with its final tree, in the run's folder
    """

    name = ""
    names = ()
    version_flag = "--version"
    tree = ""

    def __init__(self, threads):
        self.threads = threads
        self.executable = next(filter(None, map(self.find, self.names)), None)

    def find(self, name):
        return shutil.which(name)

    def command(self, job):
        """The words of the command line."""
        raise NotImplementedError

    def unable(self, _job):
        """Why it cannot do this job; empty if it can."""
        return ""

    def note(self, _job):
        """What differs from what the others are given; empty if nothing does."""
        return ""

    def evidence(self, _job):
        """(file, regular expression) pairs: what its output says if it used the model that was meant."""
        return []

    def confirms_model(self, job, folder):
        def says(file, pattern):
            path = folder / file
            return path.is_file() and re.search(pattern, path.read_text(errors="replace"))

        return all(says(file, pattern) for file, pattern in self.evidence(job))

    def version(self, environment):
        try:
            ran = subprocess.run(
                [self.executable, self.version_flag],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=environment,
                timeout=VERSION_PATIENCE,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return "?"
        found = re.search(rb"\d+(\.\d+)+", ran.stdout)
        return found.group().decode() if found else "?"


class Mlsearch(Program):
    """This program; `extra` are further options."""

    version_flag = "--version"
    tree = "run.mlsearch.bestTree"

    def __init__(self, threads, executable, name="mlsearch", extra=()):
        super().__init__(threads)
        self.executable = executable
        self.name = name
        self.extra = list(extra)

    def base(self, job):
        words = [self.executable, "-s", "alignment.phy", "--threads", str(job.threads), "--quiet"]
        if job.partitioned:
            return words + ["-q", "partitions.models", "--brlen", job.linkage]
        return words + ["-m", job.dataset.whole.model]

    def command(self, job):
        return self.base(job) + ["--seed", str(job.seed), "--prefix", "run"] + self.extra

    def evaluate(self, job, tree, prefix):
        """The command that scores a tree: lengths and model optimised, nothing else changed."""
        return self.base(job) + ["--evaluate", "-t", tree, "--prefix", prefix]

    def note(self, _job):
        return " ".join(self.extra)

    def evidence(self, job):
        def pattern(model):
            matrix, *frequencies, _ = model.split("+")
            return rf"(?m)^{matrix}[^,]*" + (r"\+FC\{" if frequencies else "") + r"[^,]*\+G4m\{"

        return [("run.mlsearch.bestModel", pattern(model)) for model in job.models]


class Raxml(Program):
    """RAxML 8: the serial program for one thread, else the one with threads, which wants two at least."""

    name = "raxml"
    version_flag = "-v"
    tree = "RAxML_bestTree.run"
    SERIAL = ("raxmlHPC-AVX2", "raxmlHPC-AVX", "raxmlHPC-SSE3", "raxmlHPC")
    THREADED = tuple(f"raxmlHPC-PTHREADS{simd}" for simd in ("-AVX2", "-AVX", "-SSE3", ""))

    @property
    def names(self):
        return self.SERIAL + self.THREADED if self.threads == 1 else self.THREADED

    def find(self, name):
        """Passes over scripts: Debian's raxmlHPC is one, which starts the program with threads."""
        path = shutil.which(name)
        if path is None:
            return None
        with open(path, "rb") as stream:
            return None if stream.read(2) == b"#!" else path

    @property
    def is_threaded(self):
        return Path(self.executable).name in self.THREADED

    def command(self, job):
        model = "GTRGAMMA" if job.dataset.is_dna else "PROTGAMMALG"
        words = [self.executable, "-s", "alignment.phy", "-n", "run", "-m", model, "-p", str(job.seed)]
        if self.is_threaded:
            words += ["-T", str(max(2, job.threads))]
        if job.partitioned:
            words += ["-q", "partitions.raxml"] + (["-M"] if job.linkage == "unlinked" else [])
        return words

    def unable(self, job):
        return "no scaled branch lengths" if job.partitioned and job.linkage == "scaled" else ""

    def note(self, job):
        return "2 threads: no serial binary" if self.is_threaded and job.threads == 1 else ""

    def evidence(self, job):
        matrices = {part.matrix for part in job.dataset.partitions or [job.dataset.whole]}
        patterns = [rf"Substitution Matrix: {matrix}\b" for matrix in sorted(matrices)]
        patterns += ["GAMMA model of rate heterogeneity, ML estimate of alpha"]
        return [("RAxML_info.run", pattern) for pattern in patterns]


class IqTree(Program):
    """IQ-TREE's full search."""

    tree = "run.treefile"
    fast = ()
    LINKAGE = {"linked": "-q", "scaled": "-p", "unlinked": "-Q"}

    def command(self, job):
        words = [self.executable, "-s", "alignment.phy", "--prefix", "run", "--quiet"]
        words += ["--seed", str(job.seed), "-T", str(job.threads), *self.fast]
        if job.partitioned:
            return words + [self.LINKAGE[job.linkage], "partitions.nex"]
        return words + ["-m", job.dataset.whole.model]

    def evidence(self, job):
        if job.partitioned:
            return [("run.iqtree", rf"\s{re.escape(model)}\s") for model in job.models]
        model = re.escape(job.dataset.whole.model)
        return [("run.iqtree", rf"Model of substitution: {model}\s"), ("run.iqtree", "Gamma with 4 categories")]


class IqTree2(IqTree):
    name = "iqtree2"
    names = ("iqtree2",)


class IqTree3(IqTree):
    name = "iqtree3"
    names = ("iqtree3",)


class IqTree2Fast(IqTree2):
    name = "iqtree2-fast"
    fast = ("--fast",)


class IqTree3Fast(IqTree3):
    name = "iqtree3-fast"
    fast = ("--fast",)


class RaxmlNg(Program):
    """RAxML-NG from one parsimony tree, as every other program here makes one search."""

    name = "raxml-ng"
    names = ("raxml-ng",)
    tree = "run.raxml.bestTree"

    def command(self, job):
        model = "partitions.models" if job.partitioned else job.dataset.whole.model
        words = [self.executable, "--search", "--msa", "alignment.phy", "--model", model, "--prefix", "run"]
        words += ["--tree", "pars{1}", "--seed", str(job.seed), "--threads", str(job.threads)]
        if job.threads > 1:
            # It refuses numbers of threads that it finds too high for the data.
            words += ["--force", "perf_threads"]
        return words + (["--brlen", job.linkage] if job.partitioned else [])

    def evidence(self, job):
        def spelled(model):
            return re.escape(model).replace(r"\+F\+", r"\+FC?\+") + "m?"

        return [("run.raxml.log", rf"Model:\s*{spelled(model)}\b") for model in job.models]


class PhyMl(Program):
    """PhyML's SPR search from a BIONJ tree."""

    name = "phyml"
    names = ("phyml",)
    tree = "alignment.phy_phyml_tree.txt"

    def command(self, job):
        model = ["-d", "nt", "-m", "GTR", "-f", "e"] if job.dataset.is_dna else ["-d", "aa", "-m", "LG", "-f", "m"]
        words = [self.executable, "-i", "alignment.phy", *model, "-c", "4", "-a", "e", "-s", "SPR", "-o", "tlr"]
        # No support values, no questions.
        return words + ["-b", "0", "--r_seed", str(job.seed), "--no_memory_check", "--quiet"]

    def note(self, job):
        notes = ["one model"] * job.partitioned + ["1 thread"] * (job.threads > 1)
        return ", ".join(notes)

    def evidence(self, job):
        stats = "alignment.phy_phyml_stats.txt"
        return [(stats, rf"substitution:\s+{job.dataset.whole.matrix}\s"), (stats, r"Number of classes:\s+4\s")]


class FastTree(Program):
    """FastTree 2, whose rates over sites are one of 20 for each site (CAT)."""

    name = "fasttree"
    version_flag = "-help"
    tree = "run.tree"
    SERIAL = ("FastTreeDbl", "FastTree", "fasttree")
    THREADED = ("FastTreeMP", "fasttreeMP")

    @property
    def names(self):
        return self.SERIAL + self.THREADED if self.threads == 1 else self.THREADED + self.SERIAL

    def words(self, job):
        model = ["-nt", "-gtr"] if job.dataset.is_dna else ["-lg"]
        return [self.executable, *model, "-nosupport", "-seed", str(job.seed)]

    def command(self, job):
        return self.words(job) + ["-out", self.tree, "alignment.phy"]

    def note(self, job):
        serial = job.threads > 1 and Path(self.executable).name in self.SERIAL
        return ", ".join(["CAT"] + ["one model"] * job.partitioned + ["1 thread"] * serial)

    def evidence(self, job):
        model = "Generalized Time-Reversible" if job.dataset.is_dna else "Le-Gascuel 2008"
        return [("stderr.txt", f"{model}, CAT approximation with 20 rate categories")]


class VeryFastTree(FastTree):
    """FastTree 2 computed otherwise."""

    name = "veryfasttree"
    names = ("VeryFastTree", "veryfasttree")

    def command(self, job):
        return self.words(job) + ["-double-precision", "-threads", str(job.threads), "-out", self.tree, "alignment.phy"]


# In the order of the tables.
PEERS = (Raxml, IqTree2Fast, IqTree2, IqTree3Fast, IqTree3, RaxmlNg, PhyMl, FastTree, VeryFastTree)
