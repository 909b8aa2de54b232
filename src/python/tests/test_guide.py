"""The examples of the guide, in their order, in an empty folder with the data sets."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_the_examples_of_the_guide_run(tmp_path: Path) -> None:
    guide = (ROOT / "src" / "python" / "guide.md").read_text(encoding="utf-8")
    examples = re.findall(r"^```python\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)
    assert len(examples) >= 4
    (tmp_path / "datasets").symlink_to(ROOT / "datasets")
    code = "\n".join(examples)
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "primates.svg").read_text().startswith("<svg")
    assert (tmp_path / "primates.mlsearch.bestTree").exists()


def test_every_function_is_in_the_guide() -> None:
    import mlsearch

    guide = (ROOT / "src" / "python" / "guide.md").read_text(encoding="utf-8")
    named = [name for name in mlsearch.__all__ if not name.startswith("_")]
    missing = [name for name in named if f"`{name}" not in guide and f"mlsearch.{name}(" not in guide]
    assert set(missing) <= {"Branch", "Fault", "Neighbour", "Result"}, missing
