"""The likelihood of a tree, for those who develop methods."""

from __future__ import annotations

from typing import NamedTuple, Sequence

import numpy as np
import numpy.typing as npt

from . import _native
from ._errors import Fault, MlsearchError
from ._inputs import Alignment, Inputs, Source, Value
from ._tree import Tree

__all__ = ["Branch", "Likelihood", "Neighbour"]

_NUMBERS = npt.NDArray[np.float64]


class Branch(NamedTuple):
    """A branch of the unrooted tree."""

    #: The taxa on one of its sides.
    taxa: frozenset[str]
    #: In substitutions per site.
    length: float


class Neighbour(NamedTuple):
    """A tree one SPR move away."""

    #: The branch of the tree into which the subtree goes.
    target: int
    #: With the lengths of the three branches at the new place and of the one left behind optimised, one after the other.
    log_likelihood: float
    tree: Tree


class Likelihood:
    """The log-likelihood of a tree as a function of branch lengths and model parameters.

    Every call computes on a thread of its own, without the lock of the interpreter.

    Parameters
    ----------
    alignment : Alignment
        As of :func:`mlsearch.evaluate`.
    model : str, optional
        A model, "GTR+G"; or one with parameters, as in :attr:`Result.models`.
    tree : Source
        One tree; branches without length get 0.1.
    partitions : Source, optional
        A partition file or its text.
    brlen : {"linked", "scaled"}
        Branch lengths of partitions: the same, or up to a factor.
    threads : int
        Threads of a computation.

    Examples
    --------
    >>> import mlsearch
    >>> sequences = {"a": "ACGTACGTAC", "b": "ACGTACGTTC", "c": "ACTTACGATC", "d": "ACTTAGGATC"}
    >>> likelihood = mlsearch.Likelihood(sequences, "JC", "((a:0.1,b:0.1):0.1,c:0.1,d:0.1);")
    >>> round(likelihood.log_likelihood(), 4)
    -32.0343
    >>> round(likelihood.optimize(), 2)
    -29.76
    >>> likelihood.gradient().round(1)
    array([ 0. , -8.8,  0. ,  0. , -8.8])
    """

    def __init__(
        self,
        alignment: Alignment,
        model: str | None = None,
        tree: Source | None = None,
        *,
        partitions: Source | None = None,
        brlen: str = "linked",
        threads: int = 1,
        **options: Value,
    ) -> None:
        with Inputs() as inputs:
            words = inputs.words("--msa", "alignment", "alignment", alignment)
            words += inputs.words("--model", "model", "value", model)
            words += inputs.words_of_one_tree(tree)
            words += inputs.words("--partitions", "partitions", "source", partitions)
            words += inputs.words("--brlen", "brlen", "value", brlen)
            words += inputs.words("--threads", "threads", "value", threads)
            for name, value in options.items():
                words += inputs.words("--" + name.replace("_", "-"), name, "value", value)
            inputs.check()
            # Results are not written, but have to have a name.
            words += ["--prefix", str(inputs.folder / "likelihood")]
            try:
                self._native = _native.Likelihood(words)
            except MlsearchError as error:
                raise inputs.renamed(error) from None

    def log_likelihood(self) -> float:
        """The log-likelihood of the tree (natural logarithm)."""
        return self._native.log_likelihood()

    def site_log_likelihoods(self) -> _NUMBERS:
        """The log-likelihood of each column of the alignment: shape (columns,).

        A codon is a site: its value stands at its first column, with NaN at the others. Columns of no partition have NaN.
        """
        return np.frombuffer(self._native.site_log_likelihoods(), dtype=np.float64).copy()

    def optimize(
        self, *, model: bool = True, branches: bool = True, epsilon: float = 1e-3
    ) -> float:
        """Optimises branch lengths and model parameters, from their present values.

        Parameters
        ----------
        model, branches : bool
            What is optimised.
        epsilon : float
            Rounds end after one that gains less, in log units.

        Returns
        -------
        float
            The log-likelihood.
        """
        if not epsilon >= 0:
            # Or NaN, which is nothing of it.
            raise MlsearchError("refused", [Fault(f"{epsilon}: expected 0 or more", name="epsilon")])
        return self._native.optimize(model, branches, epsilon)

    def gradient(self, branches: Sequence[int] | None = None) -> _NUMBERS:
        """First derivatives of the log-likelihood with respect to branch lengths: shape (branches,).

        In log units per substitution per site.
        """
        return self._derivatives(branches)[0]

    def second_derivatives(self, branches: Sequence[int] | None = None) -> _NUMBERS:
        """Second derivatives of the log-likelihood, each with respect to one branch length: shape (branches,)."""
        return self._derivatives(branches)[1]

    def _derivatives(self, branches: Sequence[int] | None) -> list[_NUMBERS]:
        wanted = range(len(self.branches)) if branches is None else [int(branch) for branch in branches]
        both = self._native.derivatives(list(wanted))
        return [np.frombuffer(values, dtype=np.float64).copy() for values in both]

    def spr_neighbours(self, branch: int) -> list[Neighbour]:
        """All trees that are reached by pruning a subtree at this branch, on either side, and regrafting it elsewhere.

        The tree itself does not change.
        """
        found = self._native.spr_neighbours(branch)
        return [Neighbour(target, lnl, Tree(newick)) for target, lnl, newick in found]

    @property
    def branches(self) -> list[Branch]:
        """The branches of the tree; their places are the numbers that methods take."""
        return [Branch(frozenset(taxa), length) for taxa, length in self._native.branches()]

    @property
    def lengths(self) -> _NUMBERS:
        """The branch lengths, in substitutions per site: shape (branches,). Set them one by one by :meth:`set_length`."""
        return np.array([length for _, length in self._native.branches()], dtype=np.float64)

    def set_length(self, branch: int, length: float) -> None:
        """Sets the length of a branch, in substitutions per site; it is rounded to a multiple of 2**-34."""
        self._native.set_length(branch, length)

    @property
    def tree(self) -> Tree:
        """The tree with its present lengths."""
        return Tree(self._native.newick())

    @property
    def models(self) -> dict[str, str]:
        """The model of each partition, with its present parameters."""
        return dict(self._native.models())

    @property
    def taxa(self) -> list[str]:
        """The taxa, by name."""
        return self._native.taxa()
