"""Arguments as words of a command line: what is not in a file is written to a temporary one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any, Iterable, Iterator, Mapping, Tuple, Union

from ._errors import Fault, MlsearchError
from ._tree import Tree, newick_of

__all__ = ["Alignment", "Inputs", "PathLike", "Source", "Value"]

PathLike = Union[str, "os.PathLike[str]"]

#: A path, the text of a file, a dict from names to sequences, pairs of them, or an alignment of Biopython, cogent3,
#: scikit-bio or DendroPy.
Alignment = Union[PathLike, Mapping[str, str], Iterable[Tuple[str, str]], Any]

#: A path, the text of a file, a tree or trees (of this package, DendroPy, Biopython, ETE, cogent3 or scikit-bio), or numbers.
Source = Union[PathLike, Tree, Iterable[Any], Any]

#: A word, a number, True or False for on and off, or several of them.
Value = Union[str, int, float, bool, Iterable[Union[str, int, float]]]


class Inputs:
    """The words of a command, and the folder of what is no file yet. The folder is removed at the end."""

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        #: Names of arguments, by the paths of the files that were written for them.
        self._names: dict[str, str] = {}
        self._without_lines: list[str] = []
        self._faults: list[Fault] = []

    def __enter__(self) -> Inputs:
        return self

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            self._folder.cleanup()

    @property
    def folder(self) -> Path:
        """The temporary folder."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="mlsearch-")
        return Path(self._folder.name)

    def words(self, option: str, name: str, kind: str, value: Any) -> list[str]:
        """The words of an option with its value; none for `None` and `False`, unless that is a value."""
        if value is None or (kind == "flag" and value is False):
            return []
        if kind == "flag" and value is True:
            return [option]
        if kind == "alignment":
            return _words(option, self._alignment(name, value))
        if kind == "source":
            return [word for path in self._sources(name, value) for word in _words(option, path)]
        return _words(option, _text(value))

    def check(self) -> None:
        """Refuses what cannot be written, all of it."""
        if self._faults:
            raise MlsearchError("refused", self._faults)

    def renamed(self, error: MlsearchError) -> MlsearchError:
        """An error that names arguments and not temporary files."""
        if not self._names:
            return error
        return error._renamed(self._names, self._without_lines)

    def _write(self, name: str, text: str, *, has_lines: bool = True) -> str:
        path = self.folder / f"{name}.{len(self._names)}"
        path.write_text(text, encoding="utf-8")
        self._names[str(path)] = name
        if not has_lines:
            self._without_lines.append(str(path))
        return str(path)

    def _alignment(self, name: str, value: Any) -> str:
        if isinstance(value, os.PathLike):
            return str(os.fspath(value))
        if isinstance(value, str):
            return self._write(name, value) if "\n" in value else value
        rows = []
        for taxon, sequence in _rows(value):
            if not taxon or len(taxon.split()) != 1 or taxon.strip() != taxon:
                message = "names of taxa have no white space and are not empty: expected another name"
                self._faults.append(Fault(message, file=name, name=taxon))
            if ">" in sequence:
                # It would begin another taxon.
                self._faults.append(Fault("'>' in a sequence: expected the characters of one taxon", file=name, name=taxon))
            rows.append(f">{taxon}\n{sequence}\n")
        return self._write(name, "".join(rows), has_lines=False)

    def _sources(self, name: str, value: Any) -> list[str]:
        if isinstance(value, os.PathLike):
            return [os.fspath(value)]
        if isinstance(value, str):
            is_text = "\n" in value or value.lstrip().startswith("(") or _defines(value)
            return [self._write(name, value if value.endswith("\n") else value + "\n")] if is_text else [value]
        newick = newick_of(value)
        if newick is not None:
            return [self._write(name, newick + "\n")]
        items = list(value)
        if all(isinstance(item, os.PathLike) for item in items):
            return [os.fspath(item) for item in items]
        lines = []
        for item in items:
            newick = newick_of(item)
            if newick is None and isinstance(item, str):
                newick = item.strip()
            lines.append(str(item) if newick is None else newick)
        return [self._write(name, "\n".join(lines) + "\n")]


def _defines(text: str) -> bool:
    """True for a line of a partition file."""
    return "=" in text and not Path(text).exists()


def _words(option: str, value: str) -> list[str]:
    return [f"{option}={value}"] if option.startswith("--") else [option, value]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, (str, int, float, os.PathLike)):
        return os.fspath(value) if isinstance(value, os.PathLike) else str(value)
    return ",".join(_text(item) for item in value)


def _rows(value: Any) -> Iterator[tuple[str, str]]:
    """Names and sequences of an alignment of any package."""
    if isinstance(value, Mapping):
        items: Iterable[Any] = value.items()
    elif type(value).__module__.split(".")[0] == "cogent3":
        items = value.to_dict().items()
    elif type(value).__module__.split(".")[0] == "dendropy":
        items = ((taxon.label, sequence.symbols_as_string()) for taxon, sequence in value.items())
    else:
        items = value
    for item in items:
        if hasattr(item, "id") and hasattr(item, "seq"):
            yield str(item.id), str(item.seq)
        elif hasattr(item, "metadata") and "id" in item.metadata:
            yield str(item.metadata["id"]), str(item)
        else:
            name, sequence = item
            yield _string(name), _string(sequence)


def _string(value: Any) -> str:
    return value.decode("utf-8") if isinstance(value, (bytes, bytearray)) else str(value)
