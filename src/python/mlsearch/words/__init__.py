"""A function for each word of the program, generated from its options."""

from .ancestral import ancestral
from .bootstrap import bootstrap
from .check import check
from .compare import compare
from .concordance import concordance
from .consensus import consensus
from .converge import converge
from .distance import distance
from .draw import draw
from .evaluate import evaluate
from .genes import genes
from .resample import resample
from .root import root
from .sample import sample
from .search import search
from .select import select
from .simulate import simulate
from .start import start
from .support import support
from .terrace import terrace
from .test import test

__all__ = [
    "ancestral",
    "bootstrap",
    "check",
    "compare",
    "concordance",
    "consensus",
    "converge",
    "distance",
    "draw",
    "evaluate",
    "genes",
    "resample",
    "root",
    "sample",
    "search",
    "select",
    "simulate",
    "start",
    "support",
    "terrace",
    "test",
]
