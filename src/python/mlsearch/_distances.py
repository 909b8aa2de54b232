"""Distances between sequences, as the files of a run have them."""

from __future__ import annotations

import gzip
import io
import re
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Distances", "read_distances"]

_NUMBERS = npt.NDArray[np.float64]

#: A distance in a file of PHYLIP's format, behind a name and others.
_DISTANCE = r" -?\d+\.\d{8}"


class Distances(NamedTuple):
    """A symmetric matrix of distances."""

    #: The taxa of the rows.
    taxa: list[str]
    #: Shape (taxa, taxa).
    values: _NUMBERS


def read_distances(kind: str, data: bytes, order: list[str]) -> Distances:
    """The matrix of a file of this kind, in any format of `dist_format`; `order` has the taxa of an array, which has no names."""
    if kind.endswith(".npy"):
        return Distances(order, np.load(io.BytesIO(data)))
    if kind.endswith(".gz"):
        data = gzip.decompress(data)
    # Names may have characters at which `splitlines` would divide.
    first, *rows = data.decode("utf-8").rstrip("\n").split("\n")
    return _of_phylip(rows) if first.isdigit() else _of_pairs(rows)


def _of_phylip(rows: list[str]) -> Distances:
    """A square matrix or its lower triangle. Names may have blanks: the distances are at the ends of the rows."""
    size = len(rows)
    is_square = re.search(f"({_DISTANCE}){{{size}}}$", rows[0]) is not None
    values = np.zeros((size, size))
    taxa = []
    for number, row in enumerate(rows):
        name, *distances = row.rsplit(" ", size if is_square else number)
        taxa.append(name.rstrip(" "))
        values[number, : len(distances)] = distances
    return Distances(taxa, values if is_square else values + values.T)


def _of_pairs(rows: list[str]) -> Distances:
    """A line for each pair, each taxon with those before it."""
    pairs = [row.split("\t") for row in rows]
    numbers = {pairs[0][1]: 0}
    for name, _, _ in pairs:
        numbers.setdefault(name, len(numbers))
    values = np.zeros((len(numbers), len(numbers)))
    for first, second, distance in pairs:
        i, j = numbers[first], numbers[second]
        values[i, j] = values[j, i] = float(distance)
    return Distances(list(numbers), values)
