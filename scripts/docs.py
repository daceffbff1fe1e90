"""`make docs`: writes again what is made from the program. A test fails when one of these files is behind."""

from __future__ import annotations

from pathlib import Path

from clew import settings
from clew.app import registry
from clew.tools import reference, typing_stubs

ROOT = Path(__file__).parents[1]


def pages() -> dict[Path, str]:
    """The text of every file that is made, by its path."""
    stubs = {ROOT / "src" / "clew" / name: text for name, text in typing_stubs.stubs(registry()).items()}
    return {
        ROOT / "docs" / "settings.md": settings.page(),
        ROOT / "docs" / "tools.md": reference.page(registry()),
        **stubs,
    }


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(ROOT))
