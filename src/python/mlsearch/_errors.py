"""What is wrong with an input, as an exception; and what a user should know, as a warning."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Mapping, Optional, Sequence, Tuple

__all__ = ["Fault", "MlsearchError", "MlsearchWarning", "with_arguments"]

_OPTION = re.compile(r"(?<![\w-])--([a-z][a-z-]*[a-z])")

#: How the command line refuses a value of an option that is on or off.
_NO_VALUE = re.compile(r"(--[a-z-]+) takes no value, but has ('.*?')")

_Parts = Tuple[str, Optional[str], Optional[int], Optional[int], Optional[str]]


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong, and where. Lines and columns are counted from 1."""

    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    #: Taxon, partition or option.
    name: str | None = None

    def __str__(self) -> str:
        place = [
            self.file,
            None if self.line is None else f"line {self.line}",
            None if self.column is None else f"column {self.column}",
        ]
        text = ", ".join(part for part in place if part)
        if self.name is not None:
            text += f"{', ' if text else ''}'{self.name}'"
        return f"{text}: {self.message}" if text else self.message


class MlsearchError(Exception):
    """Why there is no result, with all that is wrong.

    Attributes
    ----------
    state : str
        "refused" for input or arguments that can be corrected, "failed" for everything else.
    faults : tuple of Fault
        All that is wrong; at most the first 50.
    count : int
        How many faults there are.

    Examples
    --------
    >>> import mlsearch
    >>> try:
    ...     mlsearch.search({"a": "ACGT", "b": "AC!T", "c": "A?GT", "d": "?CGT"}, "JC")
    ... except mlsearch.MlsearchError as error:
    ...     print(error.state, [fault.name for fault in error.faults])
    refused ['b']
    """

    state: str
    faults: tuple[Fault, ...]
    count: int

    def __init__(self, state: str, faults: Sequence[Fault], count: int | None = None) -> None:
        self.state = state
        self.faults = tuple(faults)
        self.count = len(self.faults) if count is None else count
        lines = [str(fault) for fault in self.faults]
        if self.count > len(lines):
            lines.append(f"... and {self.count - len(lines)} more errors")
        super().__init__("\n".join(lines))

    @classmethod
    def _of(cls, state: str, faults: Sequence[_Parts], count: int) -> MlsearchError:
        of = [Fault(with_arguments(message), *place) for message, *place in faults]  # type: ignore[arg-type]
        return cls(state, of, count)

    def _renamed(self, names: Mapping[str, str], without_lines: Sequence[str]) -> MlsearchError:
        """The same with these names instead of paths of temporary files; lines of data that were no text say nothing."""

        def renamed(fault: Fault) -> Fault:
            file, line = fault.file, fault.line
            if file in without_lines:
                line = None
            message = fault.message
            for path, name in names.items():
                message = message.replace(path, name)
                file = file.replace(path, name) if file else file
            return replace(fault, message=message, file=file, line=line)

        return MlsearchError(self.state, [renamed(fault) for fault in self.faults], self.count)

    def __reduce__(self) -> tuple[object, ...]:
        return (MlsearchError, (self.state, self.faults, self.count))


def with_arguments(text: str) -> str:
    """A message in which options are the arguments of Python: `bs_trees` for `--bs-trees`."""
    text = _NO_VALUE.sub(r"\1 is \2: expected True or False", text)
    return _OPTION.sub(lambda option: f"`{_ARGUMENTS.get(option[1], option[1].replace('-', '_'))}`", text)


#: Arguments that are not called as their options.
_ARGUMENTS = {"msa": "alignment"}


class MlsearchWarning(UserWarning):
    """What should be known before a result is relied on."""
