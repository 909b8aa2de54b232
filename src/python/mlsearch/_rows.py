"""Alignments as rows: dicts, pairs, and the alignments of other packages."""

from __future__ import annotations

from typing import Any, Iterable, Iterator, Mapping

__all__ = ["rows_of", "text_of_sequence", "with_underscores"]

#: What an alignment may be, for messages.
_EXPECTED = (
    "expected a path, the text of a file, an open file, a dict from names to sequences, pairs of a name and a sequence, "
    "or an alignment of Biopython, cogent3, scikit-bio or DendroPy"
)

#: Packages whose sequences are their characters as text.
_PACKAGES = ("Bio", "cogent3", "skbio")


def rows_of(value: Any) -> Iterator[tuple[str, Any]]:
    """Names and sequences of an alignment of any package.

    Raises
    ------
    TypeError
        For what is no alignment.
    """
    package = _package(value)
    items: Iterable[Any]
    item: Any
    if isinstance(value, Mapping):
        items = value.items()
    elif package == "cogent3":
        items = value.to_dict().items()
    elif package == "dendropy":
        items = ((with_underscores(taxon.label), sequence) for taxon, sequence in value.items())
    elif package == "Bio" and hasattr(value, "coordinates"):
        # Its sequences have no gaps, its rows have no names.
        items = ((getattr(each, "id", ""), row) for each, row in zip(value.sequences, value))
    elif hasattr(value, "__iter__"):
        items = value
    else:
        raise TypeError(f"a value of type '{type(value).__name__}' is no alignment: {_EXPECTED}")
    for item in items:
        if hasattr(item, "id") and hasattr(item, "seq"):
            yield str(item.id), item
        elif hasattr(item, "metadata") and "id" in item.metadata:
            yield with_underscores(str(item.metadata["id"])), item
        elif isinstance(item, (tuple, list)) and len(item) == 2:
            name, sequence = item
            yield name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name), sequence
        else:
            raise TypeError(f"a row of type '{type(item).__name__}' is no pair of a name and a sequence: {_EXPECTED}")


def text_of_sequence(sequence: Any) -> str | None:
    """The characters of a sequence or of a record of one; `None` for what is none."""
    sequence = getattr(sequence, "seq", sequence)
    if isinstance(sequence, (bytes, bytearray)):
        return sequence.decode("utf-8", "replace")
    if hasattr(sequence, "symbols_as_string"):
        return str(sequence.symbols_as_string())
    return str(sequence) if isinstance(sequence, str) or _package(sequence) in _PACKAGES else None


def _package(value: Any) -> str:
    return type(value).__module__.split(".")[0]


def with_underscores(name: str) -> str:
    """A name of DendroPy or scikit-bio, which read underscores in NEXUS and Newick as blanks: in alignments and in trees alike."""
    return name.replace(" ", "_")
