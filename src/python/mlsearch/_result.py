"""What a run has found."""

from __future__ import annotations

import html
import json
import os
import re
from importlib import import_module
from pathlib import Path
from typing import Any, Iterator, Mapping

import numpy as np
import numpy.typing as npt

from ._distances import Distances, read_distances
from ._tree import Tree

__all__ = ["Result"]

_NUMBERS = npt.NDArray[np.float64]


class _Files(Mapping[str, bytes]):
    """Contents of files by what follows PREFIX.mlsearch. in their names; read when they are asked for, if they remain."""

    def __init__(self, prefix: str, is_temporary: bool) -> None:
        folder, name = os.path.split(os.path.abspath(prefix))
        start = f"{name}.mlsearch."
        paths = {}
        for file in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            if file.startswith(start):
                paths[file[len(start) :]] = Path(folder, file)
            elif is_temporary:
                paths[file] = Path(folder, file)
        self._paths = paths
        self._contents = {key: path.read_bytes() for key, path in paths.items()} if is_temporary else {}

    def __getitem__(self, key: str) -> bytes:
        if key not in self._contents:
            return self._paths[key].read_bytes()
        return self._contents[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


class Result:
    """What a run has found.

    Attributes
    ----------
    word : str
        What was called: "search".
    report : dict
        All results, as in the JSON file of the run; `mlsearch help --schema` describes it.
    files : mapping from str to bytes
        The output files by their kinds: "bestTree", "bestModel", "log" and others, which the guide of each
        word lists.
    output : str
        What the program writes on standard output.

    Examples
    --------
    >>> import mlsearch
    >>> trees = ["((a,b),c,(d,e));", "((a,b),d,(c,e));"]
    >>> found = mlsearch.consensus(tree=trees)
    >>> print(found.tree)
    (a,b,(c,d,e)100);
    """

    def __init__(self) -> None:
        raise TypeError("results come from functions such as mlsearch.search")

    word: str
    report: dict[str, Any]
    files: Mapping[str, bytes]
    output: str

    @classmethod
    def _read(cls, word: str, prefix: str, output: str, *, is_temporary: bool) -> Result:
        self = cls.__new__(cls)
        self.word, self.output = word, output
        self.files = _Files(prefix, is_temporary)
        self.report = json.loads(self.files["json"]) if "json" in self.files else {}
        return self

    def text_of(self, kind: str) -> str:
        """The text of an output file, such as "bestTree"."""
        return self.files[kind].decode("utf-8")

    def _at(self, *path: str) -> Any:
        value: Any = self.report
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        return value

    @property
    def tree(self) -> Tree:
        """The tree of the result: that with support, the best one, the consensus, or the first of several.

        Raises
        ------
        AttributeError
            If the result has no tree.
        """
        for path in _TREES:
            text = self._at(*path)
            if isinstance(text, list):
                text = text[0] if text else None
            if isinstance(text, dict):
                text = text.get("newick")
            if text:
                return Tree(text)
        for kind in _FILES_OF_TREES:
            if kind in self.files and self.files[kind].strip():
                return self._trees_in(kind)[0]
        raise AttributeError(f"'{self.word}' has found no tree")

    def _trees_in(self, kind: str) -> list[Tree]:
        return Tree.read(self.text_of(kind))

    @property
    def trees(self) -> list[Tree]:
        """All trees of the first kind of file that has several: those of genes, replicates, evaluated trees, rooted ones."""
        kinds = [kind for kind in _FILES_OF_TREES if kind in self.files]
        return self._trees_in(kinds[0]) if kinds else []

    @property
    def replicates(self) -> list[Tree]:
        """The trees of bootstrap replicates; none if there were no replicates."""
        return self._trees_in("bootstraps") if "bootstraps" in self.files else []

    @property
    def log_likelihood(self) -> float:
        """Log-likelihood of the best tree (natural logarithm); NaN if none was computed."""
        value = self._at("log_likelihood")
        return float("nan") if value is None else float(value)

    @property
    def log_likelihoods(self) -> _NUMBERS:
        """Log-likelihood of each tree that was found or evaluated, or of the tree of each gene: shape (trees,)."""
        genes = self._at("genes", "each") or []
        trees = self._at("trees") or [gene for gene in genes if gene["line"] is not None]
        return np.array([tree["log_likelihood"] for tree in trees], dtype=np.float64)

    @property
    def site_log_likelihoods(self) -> _NUMBERS:
        """Log-likelihood of each site, in log units, of a run with `sitelh=True`: shape (trees, sites).

        Examples
        --------
        >>> import mlsearch
        >>> sequences = {"a": "ACGTACGTAC", "b": "ACGTACGTTC", "c": "ACTTACGATC"}
        >>> found = mlsearch.evaluate(sequences, "JC", "(a,b,c);", sitelh=True)
        >>> found.site_log_likelihoods.shape
        (1, 10)
        """
        rows = self.text_of("siteLH").splitlines()[1:]
        return np.array([row.split()[1:] for row in rows], dtype=np.float64)

    @property
    def models(self) -> dict[str, str]:
        """The model of each partition or gene, with its parameters.

        Of a selection (:func:`mlsearch.select`) the chosen models, which have none; of partitions that were merged, those of
        the subsets.
        """
        for path, name, model in _MODELS:
            found = [each for each in self._at(*path) or [] if each.get(model) is not None]
            if found:
                return {each[name]: each[model] for each in found}
        return {}

    @property
    def warnings(self) -> list[str]:
        """What should be known before the result is relied on; also raised as Python warnings."""
        return list(self._at("warnings") or [])

    @property
    def distances(self) -> _NUMBERS:
        """Distances between sequences or trees: a symmetric matrix, shape (n, n).

        Of sequences in substitutions per site, in the order of :attr:`taxa`; pairs without a distance have -1 (with
        `dist_format="npy"` infinity or NaN). Of trees, by the first metric, in the order of the trees. A comparison with
        other trees (`tree`) has these in its rows: shape (references, n).

        Examples
        --------
        >>> import mlsearch
        >>> found = mlsearch.distance({"a": "ACGTACGTAC", "b": "ACGTACGTTC", "c": "ACTTACGATC"}, model="JC")
        >>> found.taxa
        ['a', 'b', 'c']
        >>> found.distances.round(2)
        array([[0.  , 0.11, 0.38],
               [0.11, 0.  , 0.23],
               [0.38, 0.23, 0.  ]])
        """
        if "rfDistances" in self.files:
            return self._distances_of_trees()
        return self._distances_of_sequences().values

    def _distances_of_sequences(self) -> Distances:
        files = self._files_of_distances()
        if "" not in files:
            where = ": those of each partition are in `partition_distances`" if files else ""
            raise AttributeError(f"'{self.word}' has found no matrix of distances{where}")
        return read_distances(files[""], self.files[files[""]], self._at("distances", "order") or [])

    def _files_of_distances(self) -> dict[str, str]:
        """The kinds of files of distances by the numbers of their partitions, "" for all of them together."""
        found = (re.fullmatch(r"(?:partition(\d+)\.)?distances(?:\.gz|\.npy)?", kind) for kind in self.files)
        return {each[1] or "": each[0] for each in found if each}

    @property
    def partition_distances(self) -> dict[str, Distances]:
        """The distances of each partition, by its name, of a run with `unlinked=True`: `taxa` and `values`.

        Examples
        --------
        >>> import mlsearch
        >>> sequences = {"a": "ACGTACGTAC", "b": "ACGTACGTTC", "c": "ACTTACGATC"}
        >>> genes = "JC, one = 1-5\\nJC, two = 6-10"
        >>> found = mlsearch.distance(sequences, partitions=genes, unlinked=True)
        >>> found.partition_distances["two"].values.round(2)
        array([[0.  , 0.23, 0.57],
               [0.23, 0.  , 0.23],
               [0.57, 0.23, 0.  ]])
        """
        files = self._files_of_distances()
        partitions = self._at("distances", "partitions") or []
        found = {}
        for each in partitions:
            kind = files[str(each["number"])]
            found[each["name"]] = read_distances(kind, self.files[kind], each.get("order", []))
        return found

    def _distances_of_trees(self) -> _NUMBERS:
        rows = [line.split("\t") for line in self.text_of("rfDistances").splitlines() if line.strip()]
        # With other distances than the first one, a line names the columns.
        rows = [row for row in rows if row[0].isdigit()]
        references = self._at("rf_distances", "references")
        num_trees = self._at("rf_distances", "trees") - (references or 0)
        matrix = np.zeros((num_trees if references is None else references, num_trees))
        for row in rows:
            i, j = int(row[0]), int(row[1])
            matrix[i, j] = float(row[2])
            if references is None:
                matrix[j, i] = matrix[i, j]
        return matrix

    @property
    def taxa(self) -> list[str]:
        """Taxa in the order of the rows of :attr:`distances`, or those of the tree."""
        if not self._files_of_distances():
            return self.tree.taxa
        return self._distances_of_sequences().taxa

    def to_skbio_distances(self) -> Any:
        """The distances as `skbio.DistanceMatrix`."""
        return import_module("skbio").DistanceMatrix(self.distances, self.taxa)

    def page(self) -> str:
        """All results as one page for a browser, as HTML.

        Raises
        ------
        AttributeError
            If there are no results but files or a text: of `draw` and `check`.
        """
        from ._call import call

        if "html" in self.files:
            return self.text_of("html")
        if not self.report:
            raise AttributeError(f"'{self.word}' has no page: what it has found are its `files` and its `output`")
        text = json.dumps(self.report)
        made = call("report", [("--result", "result", "source", text + "\n")], None, False, None)
        return made.text_of("html")

    def _repr_html_(self) -> str:
        rows = [("log-likelihood", f"{self.log_likelihood:.4f}")] if self._at("log_likelihood") else []
        rows += [("model of " + name, model) for name, model in list(self.models.items())[:3]]
        rows += [("warning", warning) for warning in self.warnings]
        cells = "".join(
            f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>" for name, value in rows
        )
        try:
            drawing = self.tree.draw(width=160)
        except AttributeError:
            drawing = f"<pre>{html.escape(self.output)}</pre>"
        return f"<div><b>mlsearch {html.escape(self.word)}</b><table>{cells}</table>{drawing}</div>"

    def __repr__(self) -> str:
        lnl = f", log_likelihood={self.log_likelihood:.4f}" if self._at("log_likelihood") else ""
        return f"<mlsearch.Result of {self.word}{lnl}, files: {', '.join(self.files)}>"


#: Where the tree of a result is in the report, the most important first.
_TREES = [
    ("support", "tree"),
    ("best_tree",),
    ("sampling", "consensus_tree"),
    ("consensus_tree",),
    ("ancestral", "tree"),
    ("rooted_trees",),
    ("distances", "trees"),
]

#: Where models are in the report, and what their names and they are called there.
_MODELS = [
    (("partitions",), "name", "model"),
    (("genes", "each"), "gene", "model"),
    (("partition_merging", "subsets"), "subset", "model"),
    (("model_selection",), "partition", "chosen"),
]

#: Files of trees, those of several trees first.
_FILES_OF_TREES = [
    "geneTrees",
    "bootstraps",
    "rootedTree",
    "terrace",
    "distanceTrees",
    "mlTrees",
    "startTree",
    "consensusTree",
    "support",
    "bestTree",
    "trueTree",
]
