"""Arguments as words of a command line: what is not in a file is written to a temporary one."""

from __future__ import annotations

import gzip
import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterable, Iterator, Mapping, Tuple, Union

import numpy as np

from ._errors import Fault, MlsearchError
from ._other_trees import newick_of_other, trees_in_file, trees_in_text
from ._rows import rows_of, text_of_sequence
from ._tree import Tree

__all__ = ["Alignment", "Inputs", "PathLike", "Source", "Value"]

PathLike = Union[str, "os.PathLike[str]"]

#: A path, the text of a file or an open file, a dict from names to sequences, pairs of them, or an alignment of Biopython,
#: cogent3, scikit-bio or DendroPy.
Alignment = Union[PathLike, Mapping[str, str], Iterable[Tuple[str, str]], Any]

#: A path, the text of a file or an open file, a tree (of this package, DendroPy, Biopython, ETE, cogent3 or scikit-bio), a list
#: of these, or numbers.
Source = Union[PathLike, Tree, Iterable[Any], Any]

#: A word, a number, True or False for on and off, or several of them.
Value = Union[str, int, float, bool, Iterable[Union[str, int, float]]]

#: Options whose files have trees.
_OF_TREES = frozenset("--tree --trees --bs-trees --gcf --gcf-tree --partition-trees --pmsf --tree-constraint".split())

#: The option that takes several files.
_OF_FILES = "--merge"


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
        if kind == "flag" and isinstance(value, (bool, np.bool_)):
            return [option] if value else []
        if value is None:
            return []
        if kind == "alignment":
            return _words(option, self._alignment(name, value))
        if kind == "source":
            return [word for path in self._sources(option, name, value) for word in _words(option, path)]
        return _words(option, _text(value))

    def words_of_one_tree(self, value: Any) -> list[str]:
        """The words of the option for a file of one tree; several are a fault."""
        paths = [] if value is None else self._sources("--tree", "tree", value)
        for path in filter(os.path.isfile, paths):
            with self._collecting(path):
                count = len(trees_in_file(path))
                if count > 1:
                    self._faults.append(Fault(f"{count} trees: expected one", file=path))
        return [word for path in paths for word in _words("--tree", path)]

    def check(self) -> None:
        """Refuses what cannot be written, all of it."""
        if self._faults:
            raise self.renamed(MlsearchError("refused", self._faults))

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
        content = _content(value)
        if content is not None:
            return self._write(name, content)
        rows = []
        try:
            for taxon, sequence in rows_of(value):
                rows.append(f">{taxon}\n{self._sequence(name, taxon, sequence)}\n")
        except TypeError as error:
            self._faults.append(Fault(str(error), file=name))
        return self._write(name, "".join(rows), has_lines=False)

    def _sequence(self, name: str, taxon: str, sequence: Any) -> str:
        """The characters of a taxon, if both are what they should be."""
        messages = []
        if not taxon or len(taxon.split()) != 1 or taxon.strip() != taxon:
            messages.append("names of taxa have no white space and are not empty: expected another name")
        text = text_of_sequence(sequence)
        if text is None:
            messages.append(f"a value of type '{type(sequence).__name__}' is no sequence: expected its characters as text")
        elif ">" in text:
            # It would begin another taxon.
            messages.append("'>' in a sequence: expected the characters of one taxon")
        self._faults += [Fault(message, file=name, name=taxon) for message in messages]
        return text or ""

    def _sources(self, option: str, name: str, value: Any) -> list[str]:
        """The files of an option, or words that stand for them."""
        if isinstance(value, os.PathLike):
            return [os.fspath(value)]
        text = _source_text(value)
        if text is not None:
            return [self._write(name, _line(text))]
        if isinstance(value, str):
            return [value]
        if not hasattr(value, "__iter__"):
            message = f"a value of type '{type(value).__name__}': expected a path, a text, a tree, or a list of these"
            self._faults.append(Fault(message, file=name))
            return []
        items = list(value)
        paths = [os.fspath(item) for item in items if _is_path(option, item)]
        if paths and len(paths) == len(items):
            if len(paths) == 1 or option == _OF_FILES:
                return paths
            if option in _OF_TREES and not any(map(os.path.exists, paths)):
                # Words such as "nj"; or none of the files exists, which the program says.
                return [",".join(paths)]
        texts = [self._text_in_list(option, name, item) for item in items]
        return [self._write(name, "".join(map(_line, texts)))]

    def _text_in_list(self, option: str, name: str, item: Any) -> str:
        """What a list of files, texts, trees or numbers has at a place."""
        has_trees = option in _OF_TREES
        if _is_path(option, item):
            path = os.fspath(item)
            with self._collecting(path):
                # A NEXUS or compressed file cannot stand behind another as it is.
                return "\n".join(trees_in_file(path)) if has_trees else Path(path).read_text(encoding="utf-8")
            return ""
        text = _source_text(item)
        if text is not None and has_trees and text.lstrip()[:6].upper() == "#NEXUS":
            with self._collecting(name):
                return "\n".join(trees_in_text(text, name))
            return ""
        return str(item) if text is None else text.strip()

    @contextmanager
    def _collecting(self, path: str) -> Iterator[None]:
        """What is wrong with a file becomes faults."""
        try:
            yield
        except MlsearchError as error:
            self._faults += error.faults
        except (OSError, EOFError, UnicodeDecodeError) as error:
            message = f"the file cannot be read: {getattr(error, 'strerror', None) or error}"
            self._faults.append(Fault(message, file=path))


def _content(value: Any) -> str | None:
    """The text that an open file or bytes have; `None` for everything else."""
    # Other packages have things that can be read, but not by the line.
    content = value.read() if hasattr(value, "readline") else value
    if isinstance(content, (bytes, bytearray)):
        content = bytes(content)
        is_compressed = content.startswith(b"\x1f\x8b")
        return (gzip.decompress(content) if is_compressed else content).decode("utf-8", "replace")
    return content if content is not value else None


def _source_text(value: Any) -> str | None:
    """The text of a source; `None` for a path, a word, a number and a list."""
    if isinstance(value, Tree):
        return value.newick
    if isinstance(value, str):
        is_text = "\n" in value or value.lstrip().startswith("(") or _defines(value)
        return value if is_text else None
    content = _content(value)
    return newick_of_other(value) if content is None else content


def _is_path(option: str, item: Any) -> bool:
    """True for what is a path in a list; where the files have no trees, a text that names no file is a line of one."""
    if isinstance(item, str) and _source_text(item) is None:
        return option in _OF_TREES or option == _OF_FILES or os.path.exists(item)
    return isinstance(item, os.PathLike)


def _defines(text: str) -> bool:
    """True for a line of a partition file."""
    return "=" in text and not os.path.exists(text)


def _line(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"


def _words(option: str, value: str) -> list[str]:
    return [f"{option}={value}"] if option.startswith("--") else [option, value]


def _text(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "on" if value else "off"
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if isinstance(value, Iterable) and not isinstance(value, str):
        return ",".join(_text(item) for item in value)
    return str(value)
