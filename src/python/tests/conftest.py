"""Data that several tests use."""

from __future__ import annotations

from pathlib import Path

import pytest

import mlsearch

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def primates() -> Path:
    """12 taxa."""
    return ROOT / "datasets" / "primates.phy"


@pytest.fixture(scope="session")
def hominoids() -> Path:
    """7 taxa."""
    return ROOT / "datasets" / "hominoids.phy"


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An alignment whose search takes long."""
    found = mlsearch.simulate("rand{150}", "GTR{1/2/1/1/3/1}+FU{0.3/0.2/0.2/0.3}+G4{0.5}", 3000)
    path = tmp_path_factory.mktemp("large") / "large.phy"
    path.write_bytes(found.files["phy"])
    return path


@pytest.fixture(scope="session")
def replicates(hominoids: Path) -> list[mlsearch.Tree]:
    """Ten trees of 7 taxa."""
    return mlsearch.bootstrap(hominoids, "JC", bs_trees=10).trees
