"""Trees of other packages, and of files, as Newick text: with the names, lengths and support that they have, and no others."""

from __future__ import annotations

import gzip
import re
from itertools import count, takewhile
from pathlib import Path
from typing import Any, Callable, NamedTuple, Sequence

from . import _native
from ._rows import with_underscores

__all__ = ["newick_of_other", "trees_in_file", "trees_in_text"]

#: Other names stand in quotes.
_PLAIN = re.compile(r"[^\s()\[\],:;'\"#\ufeff\x00-\x1f][^\s()\[\],:;'\"\x00-\x1f]*")


class _Node(NamedTuple):
    """What is known of a node of any package."""

    children: Sequence[Any]
    name: str | None
    #: Of the branch above it.
    length: float | None
    #: The numbers at the branch above it.
    support: Sequence[Any] = ()


def newick_of_other(tree: Any) -> str | None:
    """The text of a tree of another package; `None` if it is none."""
    package = type(tree).__module__.split(".")[0]
    if package == "dendropy" and hasattr(tree, "seed_node"):
        return _newick(tree.seed_node, _of_dendropy)
    if package == "Bio" and hasattr(tree, "root"):
        return _newick(tree.root, _of_biopython)
    if package == "ete3" and hasattr(tree, "children"):
        return _newick(tree, _of_ete3(tree))
    if package == "ete4" and hasattr(tree, "children"):
        return _newick(tree, lambda node: _Node(node.children, node.name, node.dist, [node.support]))
    if package == "cogent3" and hasattr(tree, "children"):
        return _newick(tree, _of_cogent3)
    if package == "skbio" and hasattr(tree, "children"):
        return _newick(tree, _of_skbio)
    return None


def trees_in_file(path: str) -> list[str]:
    """The trees of a file, each as Newick text.

    Raises
    ------
    MlsearchError
        With all that is wrong in the file.
    OSError
        If it cannot be read.
    """
    data = Path(path).read_bytes()
    if data.startswith(b"\x1f\x8b"):
        data = gzip.decompress(data)
    return trees_in_text(data.decode("utf-8", "replace"), path)


def trees_in_text(text: str, name: str) -> list[str]:
    """The trees of the text of a file with this name, each as Newick text."""
    return [_of_nodes(nodes) for nodes in _native.read_newick(text, name)]


def _of_nodes(nodes: Sequence[tuple[int | None, str | None, float | None]]) -> str:
    children: list[list[int]] = [[] for _ in nodes]
    for number, (parent, _, _) in enumerate(nodes):
        if parent is not None:
            children[parent].append(number)
    return _newick(0, lambda number: _Node(children[number], *nodes[number][1:]))


def _newick(root: Any, of: Callable[[Any], _Node]) -> str:
    """The text of a tree whose nodes are described by `of`. Nothing recurses: trees may be deep."""
    text = []
    # What is still to be written, the next at the end: nodes, and text behind their children.
    pending: list[tuple[Any, str | None]] = [(root, None)]
    while pending:
        node, written = pending.pop()
        if written is not None:
            text.append(written)
            continue
        children, name, length, support = of(node)
        label = "/".join(([name] if name else []) + (_numbers(support) if children else []))
        # A root has no branch.
        branch = "" if length is None or node is root else f":{_number(length)}"
        label = (_quoted(label) if label else "") + branch
        if not children:
            text.append(label)
            continue
        text.append("(")
        pending.append((None, ")" + label))
        for number, child in enumerate(reversed(children)):
            pending += [(None, ",")] if number else []
            pending.append((child, None))
    return "".join(text) + ";"


def _quoted(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else "'" + name.replace("'", "''") + "'"


def _numbers(support: Sequence[Any]) -> list[str]:
    """Those of the values that are numbers: annotations may be anything."""
    numbers = []
    for value in support:
        try:
            numbers.append(_number(value))
        except (TypeError, ValueError):
            continue
    return numbers


def _number(value: Any) -> str:
    text = repr(float(value))
    return text[:-2] if text.endswith(".0") else text


#: Annotations of DendroPy that are support, of which the first that a node has counts: those that are read in comments of files.
_SUPPORT = ("support", "posterior", "prob", "bootstrap")


def _of_dendropy(node: Any) -> _Node:
    values = node.annotations.values_as_dict()
    first = next((name for name in _SUPPORT if name in values), "")
    further = takewhile(values.__contains__, (f"{first}_{number}" for number in count(2)))
    name = node.taxon.label if node.taxon is not None else node.label
    support = [values[each] for each in [first, *further]] if first else []
    return _Node(node.child_nodes(), with_underscores(name or ""), node.edge.length, support)


def _of_biopython(clade: Any) -> _Node:
    if hasattr(clade, "confidences"):
        # PhyloXML has several, which are numbers or have one as `value`.
        support = [getattr(each, "value", each) for each in clade.confidences]
    else:
        support = [clade.confidence]
    return _Node(clade.clades, clade.name, clade.branch_length, support)


def _of_ete3(tree: Any) -> Callable[[Any], _Node]:
    """How nodes of a tree of ETE 3 are described: there, what is not known is 1."""
    nodes = [node for node in tree.traverse() if node is not tree]
    has_lengths = any(node.dist != 1 for node in nodes)
    supports = {node.support for node in nodes if node.children}
    # In percent, 1 is what was not given; as a probability, it is a value like others.
    unknown = {1.0} if max(supports, default=1.0) > 1 or supports == {1.0} else set()

    def of(node: Any) -> _Node:
        is_known = node is not tree and node.support not in unknown
        return _Node(
            node.children,
            node.name,
            node.dist if has_lengths else None,
            [node.support] if is_known else [],
        )

    return of


def _of_cogent3(node: Any) -> _Node:
    # Nodes without names get some, such as "edge.0".
    is_named = not node.children or getattr(node, "name_loaded", True)
    return _Node(node.children, node.name if is_named else None, node.length, [getattr(node, "support", None)])


def _of_skbio(node: Any) -> _Node:
    return _Node(node.children, with_underscores(node.name or ""), node.length, [getattr(node, "support", None)])
