"""Trees as they are in results, and on their way to other packages."""

from __future__ import annotations

import io
from importlib import import_module
from typing import Any, NamedTuple

from . import _native

__all__ = ["Split", "Tree"]


class Split(NamedTuple):
    """An inner branch."""

    #: The taxa of the side without the first taxon (by name).
    taxa: frozenset[str]
    #: Its length in substitutions per site, if the tree has lengths.
    length: float | None
    #: Its label as written.
    label: str
    #: The numbers in its label, which are separated by `/`; NaN for what is no number.
    support: tuple[float, ...]


class Tree:
    """A tree in Newick format.

    Parameters
    ----------
    newick : str
        Its text.

    Examples
    --------
    >>> tree = Tree("((a:1,b:2)95:0.5,c:1,(d:1,e:2)80:0.25);")
    >>> tree.taxa
    ['a', 'b', 'c', 'd', 'e']
    >>> for split in tree.splits():
    ...     print(sorted(split.taxa), split.length, split.support)
    ['c', 'd', 'e'] 0.5 (95.0,)
    ['d', 'e'] 0.25 (80.0,)
    >>> tree.same_topology(Tree("(((a,b),c),(d,e));"))
    True
    """

    def __init__(self, newick: str) -> None:
        trees = _native.read_newick(newick, "newick")
        if len(trees) != 1:
            raise ValueError(f"{len(trees)} trees: expected the text of one; Tree.read reads several")
        self.newick = newick.strip()
        self._nodes = trees[0]

    @classmethod
    def read(cls, text: str) -> list[Tree]:
        """All trees of a text with one in each line."""
        return [cls(line) for line in text.splitlines() if line.strip()]

    @property
    def taxa(self) -> list[str]:
        """Names of the tips, in the order of the text."""
        inner = {parent for parent, _, _ in self._nodes}
        return [name or "" for node, (_, name, _) in enumerate(self._nodes) if node not in inner]

    @property
    def length(self) -> float:
        """Sum of all branch lengths."""
        return sum(length or 0.0 for _, _, length in self._nodes)

    def _tips_below(self) -> list[set[str]]:
        below: list[set[str]] = [set() for _ in self._nodes]
        inner = {parent for parent, _, _ in self._nodes}
        # Parents come before their children.
        for node in reversed(range(len(self._nodes))):
            parent, name, _ = self._nodes[node]
            if node not in inner:
                below[node].add(name or "")
            if parent is not None:
                below[parent] |= below[node]
        return below

    def splits(self) -> list[Split]:
        """The inner branches, each once, in the order of the text: a root of two branches is in the middle of one."""
        below = self._tips_below()
        taxa = frozenset(below[0])
        first = min(taxa)
        found: dict[frozenset[str], Split] = {}
        for node, (parent, label, length) in enumerate(self._nodes):
            side = frozenset(below[node])
            if parent is None or not 1 < len(side) < len(taxa) - 1:
                continue
            side = taxa - side if first in side else side
            label = label or ""
            before = found.get(side)
            if before is not None:
                total = None if length is None or before.length is None else length + before.length
                found[side] = Split(side, total, before.label or label, before.support or _numbers(label))
            else:
                found[side] = Split(side, length, label, _numbers(label))
        return list(found.values())

    def supports(self) -> dict[frozenset[str], tuple[float, ...]]:
        """The numbers in the labels of inner branches, by the taxa on the side without the first taxon."""
        return {split.taxa: split.support for split in self.splits() if split.support}

    def same_topology(self, other: Tree) -> bool:
        """True if it has the same taxa and inner branches."""
        mine, others = ({split.taxa for split in tree.splits()} for tree in (self, other))
        return sorted(self.taxa) == sorted(other.taxa) and mine == others

    def to_dendropy(self) -> Any:
        """A `dendropy.Tree`; labels of inner nodes are those of its nodes."""
        return import_module("dendropy").Tree.get(data=self.newick, schema="newick", preserve_underscores=True)

    def to_biopython(self) -> Any:
        """A tree of `Bio.Phylo`; numbers at inner nodes are its confidences."""
        return import_module("Bio.Phylo").read(io.StringIO(self.newick), "newick")

    def to_ete3(self) -> Any:
        """An `ete3.Tree`; without numbers at all inner nodes, these are names."""
        quoted = "'" in self.newick
        return import_module("ete3").Tree(self.newick, format=1, quoted_node_names=quoted)

    def to_ete4(self) -> Any:
        """An `ete4.Tree`."""
        return import_module("ete4").Tree(self.newick, parser=1)

    def to_cogent3(self) -> Any:
        """A tree of cogent3."""
        return import_module("cogent3").make_tree(self.newick)

    def to_skbio(self) -> Any:
        """A `skbio.TreeNode`."""
        text = io.StringIO(self.newick)
        return import_module("skbio").TreeNode.read(text, convert_underscores=False)

    def draw(self, **options: Any) -> str:
        """The tree as SVG; the options are those of :func:`mlsearch.draw`.

        Examples
        --------
        >>> Tree("((a:1,b:2):1,c:1,d:1);").draw(width=120)[:4]
        '<svg'
        """
        from .words.draw import draw

        return draw(self, **{**options, "format": "svg"}).text_of("tree.svg")

    def _repr_svg_(self) -> str:
        return self.draw(width=160)

    def __str__(self) -> str:
        return self.newick

    def __repr__(self) -> str:
        shown = self.newick if len(self.newick) <= 60 else self.newick[:57] + "..."
        return f"Tree({shown!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tree) and self.newick == other.newick

    def __hash__(self) -> int:
        return hash(self.newick)


def _numbers(label: str) -> tuple[float, ...]:
    def number(part: str) -> float:
        try:
            return float(part)
        except ValueError:
            return float("nan")

    numbers = tuple(number(part) for part in label.split("/")) if label else ()
    return numbers if any(value == value for value in numbers) else ()
