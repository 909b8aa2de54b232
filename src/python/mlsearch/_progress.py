"""How far a run has come: :class:`Moment`, and a bar that shows it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Callable, Optional, Union

__all__ = ["Bar", "Moment", "Progress", "observer"]

_WIDTH = 30


@dataclass(frozen=True)
class Moment:
    """How far a run has come."""

    #: What is done now, in a line.
    line: str
    #: Share of the stage that is done, from 0 to 1, where it is known.
    share: float | None
    #: The best log-likelihood so far.
    log_likelihood: float | None


#: True for a bar, or a function that is called with each moment of the run.
Progress = Union[bool, Callable[[Moment], object], None]

_Observer = Callable[[str, Optional[float], Optional[float]], None]


class Bar:
    """A bar on standard error, which is cleared at its end."""

    def __init__(self) -> None:
        self._length = 0

    def __call__(self, moment: Moment) -> None:
        share = moment.share or 0.0
        full = int(share * _WIDTH)
        text = f"{100 * share:3.0f} %|{'#' * full}{'.' * (_WIDTH - full)}| {moment.line}"[:100]
        self._write(text)

    def close(self) -> None:
        """Takes the bar off the terminal."""
        self._write("")
        sys.stderr.write("\r")
        sys.stderr.flush()

    def _write(self, text: str) -> None:
        sys.stderr.write(f"\r{text.ljust(self._length)}")
        sys.stderr.flush()
        self._length = len(text)


def observer(show: Callable[[Moment], object]) -> _Observer:
    """What the native part calls."""

    def observe(line: str, share: float | None, log_likelihood: float | None) -> None:
        show(Moment(line, share, log_likelihood))

    return observe
