"""Maximum-likelihood phylogenetic trees.

A function for each word of the program: :func:`search`, :func:`evaluate`, :func:`bootstrap`,
:func:`support` and others, with the program's options as arguments. Each returns a
:class:`Result`. Nothing is printed, and without a ``prefix`` no file is left.

>>> import mlsearch
>>> sequences = {"a": "ACGTACGTAC", "b": "ACGTACGTTC", "c": "ACTTACGATC", "d": "ACTTAGGATC"}
>>> result = mlsearch.search(sequences, "JC")
>>> print(f"{result.log_likelihood:.2f}")
-29.76
>>> sorted(result.tree.taxa)
['a', 'b', 'c', 'd']

:class:`Likelihood` is the likelihood of a tree for those who develop methods.
"""

from ._errors import Fault, MlsearchError, MlsearchWarning
from ._likelihood import Branch, Likelihood, Neighbour
from ._native import __version__
from ._progress import Moment
from ._result import Result
from ._tree import Tree
from .words import *
from .words import __all__ as _words

__all__ = [
    "Branch",
    "Fault",
    "Likelihood",
    "MlsearchError",
    "MlsearchWarning",
    "Moment",
    "Neighbour",
    "Result",
    "Tree",
    "__version__",
]
__all__ += _words
