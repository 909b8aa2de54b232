"""A call of the program: its words, its run, its result."""

from __future__ import annotations

import os
import warnings
from typing import Any, Sequence, Tuple

from . import _native
from ._errors import MlsearchError, MlsearchWarning, with_arguments
from ._inputs import Alignment, Inputs, PathLike, Source, Value
from ._progress import Bar, Progress, observer
from ._result import Result

__all__ = ["Alignment", "PathLike", "Progress", "Source", "Value", "call"]

#: Option, name of the argument, kind, value.
Argument = Tuple[str, str, str, Any]

_WARNING = "warning: "


def call(
    word: str,
    arguments: Sequence[Argument],
    prefix: PathLike | None,
    redo: bool,
    progress: Progress,
) -> Result:
    """Carries out a word with these arguments."""
    with Inputs() as inputs:
        words = [word]
        for option, name, kind, value in arguments:
            words += inputs.words(option, name, kind, value)
        inputs.check()
        if prefix is None:
            # Nobody would see the page; `Result.page` makes it.
            is_open = any(option == "--report" and value is None for option, _, _, value in arguments)
            words += ["--report=off"] if is_open else []
            path = os.fspath(inputs.folder / "results" / "run")
            os.mkdir(os.path.dirname(path))
        else:
            path = os.fspath(prefix)
        words += [f"--prefix={path}"] + (["--redo"] if redo else [])
        bar = Bar() if progress is True else None
        show = bar or (progress if callable(progress) else None)
        try:
            observe = None if show is None else observer(show)
            text, messages = _native.run(words, observe, prefix is not None)
        except MlsearchError as error:
            raise inputs.renamed(error) from None
        finally:
            if bar is not None:
                bar.close()
        result = Result._read(word, path, text, is_temporary=prefix is None)
    for line in messages.splitlines():
        if line.startswith(_WARNING):
            message = with_arguments(line[len(_WARNING) :])
            warnings.warn(message, MlsearchWarning, stacklevel=3)
    return result
