"""Figures, their budgets, and the page they are written to."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import apsw

PAGE = """\
# Benchmarks

Made by `make bench` on {date}: {machine}. A store of {messages:,} messages of 500 characters, through the Python
interface, in one process. Each figure and its floor were measured in turns in one run; the medians are compared.

{table}

{notes}

What the floors are stands in `bench/floors.py`, what the stores hold in `bench/stores.py`.
"""


@dataclass
class Figure:
    """A number, and what it must be."""

    name: str
    value: float
    unit: str
    at_least: float | None = None
    at_most: float | None = None
    detail: str = ""

    @property
    def met(self) -> bool:
        low = self.at_least is None or self.value >= self.at_least
        return low and (self.at_most is None or self.value <= self.at_most)

    @property
    def row(self) -> str:
        budget = f"at least {self.at_least:g}" if self.at_least is not None else f"at most {self.at_most:g}"
        met = "yes" if self.met else "**no**"
        return f"| {self.name} | {_shown(self.value)}{self.unit} | {budget}{self.unit} | {met} | {self.detail} |"


@dataclass
class Report:
    messages: int
    figures: list[Figure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, figure: Figure) -> None:
        self.figures.append(figure)
        print(figure.row, flush=True)

    def note(self, text: str) -> None:
        """What a reader of the figures should know, measured in the same run."""
        self.notes.append(text)
        print(text, flush=True)

    def ratio(self, name: str, rates: list[float], what: str, *, at_least: float) -> None:
        """A rate as a multiple of its floor's."""
        ours, floor = rates
        detail = f"{ours:,.0f}/s against {floor:,.0f}/s ({what})"
        self.add(Figure(name, ours / floor, "x", at_least=at_least, detail=detail))

    def growth(self, name: str, rates: list[float], sizes: tuple[int, int], *, at_most: float) -> None:
        """What a call costs in a big store, as a multiple of its cost in a small one."""
        big, small = rates
        detail = f"{1e6 / big:,.0f} us at {sizes[0]:,} messages, {1e6 / small:,.0f} us at {sizes[1]:,}"
        self.add(Figure(f"{name}: growth", small / big, "x", at_most=at_most, detail=detail))

    @property
    def missed(self) -> list[Figure]:
        return [figure for figure in self.figures if not figure.met]

    def table(self) -> str:
        head = ["| what | measured | budget | met | detail |", "|---|---|---|---|---|"]
        return "\n".join(head + [figure.row for figure in self.figures])

    def write(self, page: Path) -> None:
        machine = f"{os.cpu_count()} cores, Python {platform.python_version()}, SQLite {apsw.sqlite_lib_version()}"
        date = datetime.now(UTC).date().isoformat()
        page.write_text(
            PAGE.format(
                date=date, machine=machine, messages=self.messages, table=self.table(), notes="\n".join(self.notes)
            )
        )


def _shown(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"
