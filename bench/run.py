"""`make bench`: measure, compare with the floors and the budgets, and write `docs/benchmarks.md`.

Every figure and its floor are taken in turns in one run, several times, and the medians are compared: the machine is
noisy, the ratio is less so. `--quick` fills smaller stores, for a look; its figures are not written.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median

from bench import floors, loads, startup
from bench.report import Figure, Report
from bench.stores import Store, fill
from clew import Memory, connect
from clew.db.engines import open_database
from tests.support import postgres

ROUNDS = 3
SECONDS = 2.0
SMALL = 10_000
CHANCE = random.Random(20260206)  # noqa: S311 - which conversations are measured, no secret

Measure = Callable[[], Awaitable[float]]


async def medians(*measures: Measure) -> list[float]:
    """The median of each, taken in turns so that all of them meet the same machine; a first turn warms up."""
    taken: list[list[float]] = [[] for _ in measures]
    for measure in measures:
        await measure()
    for _ in range(ROUNDS):
        for results, measure in zip(taken, measures, strict=True):
            results.append(await measure())
    return [median(results) for results in taken]


async def sqlite(report: Report, folder: Path, messages: int) -> None:
    big, small = folder / "big.db", folder / "small.db"
    stores = await _filled(f"sqlite:///{big}", f"sqlite:///{small}", messages)
    async with connect(f"sqlite:///{big}") as memory, connect(f"sqlite:///{small}") as little:
        write, read = loads.record(memory, stores[0], CHANCE), loads.fetch(memory, stores[0], CHANCE)
        rates = await medians(
            lambda: loads.rate(write, 64, SECONDS),
            lambda: asyncio.to_thread(floors.sqlite_writes, big, stores[0], 5_000, CHANCE),
            lambda: loads.rate(read, 16, SECONDS),
            lambda: asyncio.to_thread(floors.sqlite_reads, big, stores[0], 20_000, CHANCE),
        )
        report.ratio("SQLite: record_interaction, 64 callers", rates[:2], "apsw, one commit each", at_least=1.0)
        report.ratio("SQLite: fetch_chat_history(10), 16 callers", rates[2:], "apsw read loop", at_least=0.3)
        await _growth(report, "SQLite", (memory, stores[0]), (little, stores[1]))
        bare = await medians(
            lambda: asyncio.to_thread(floors.sqlite_reads, big, stores[0], 20_000, CHANCE),
            lambda: asyncio.to_thread(floors.sqlite_reads, small, stores[1], 20_000, CHANCE),
        )
        report.note(
            f"The bare apsw read loop itself costs {bare[1] / bare[0]:.2f}x at that size of what it costs small."
        )
        await _hundred(report, "SQLite", memory, stores[0])


async def postgresql(report: Report, messages: int) -> None:
    with postgres.start(None, fsync=True, settings={"max_wal_size": "4GB"}) as server:
        for name in ("big", "small"):
            server.run("psql", "-qc", f"CREATE DATABASE {name}")
        stores = await _filled(server.dsn("big"), server.dsn("small"), messages)
        server.run("psql", "-qc", "VACUUM ANALYZE", "-d", "big")
        async with connect(server.dsn("big")) as memory, connect(server.dsn("small")) as little:
            write = loads.record(memory, stores[0], CHANCE)
            rates = await medians(
                lambda: loads.rate(write, 64, SECONDS),
                lambda: asyncio.to_thread(floors.postgres_writes, server, stores[0], round(SECONDS)),
            )
            report.ratio("PostgreSQL: record_interaction, 64 callers", rates, "pgbench, 16 connections", at_least=0.7)
            await _growth(report, "PostgreSQL", (memory, stores[0]), (little, stores[1]))
            await _hundred(report, "PostgreSQL", memory, stores[0])


async def _filled(big_url: str, small_url: str, messages: int) -> list[Store]:
    stores = []
    for url, name, size in ((big_url, "big", messages), (small_url, "small", SMALL)):
        database = await open_database(url, pool=10, wait=10)
        stores.append(await fill(database, name, size, 10_000 if name == "big" else 100))
        await database.close()
    return stores


async def _growth(report: Report, engine: str, big: tuple[Memory, Store], small: tuple[Memory, Store]) -> None:
    """What the same call costs in the big store against the small one."""
    calls = {
        "fetch_chat_history(10)": (loads.fetch(*big, CHANCE), loads.fetch(*small, CHANCE), 16, 1.5),
        "the same behind 10,000 other entries": (loads.fetch_noisy(*big), loads.fetch(*small, CHANCE), 16, 1.5),
        "list_conversations(20) of 10,000": (loads.list_many(big[0]), loads.list_many(small[0]), 16, 1.5),
        "record_interaction, 64 callers": (loads.record(*big, CHANCE), loads.record(*small, CHANCE), 64, 2.5),
    }
    for name, (much, little, callers, budget) in calls.items():
        rates = await medians(
            lambda call=much, n=callers: loads.rate(call, n, SECONDS),  # type: ignore[misc]
            lambda call=little, n=callers: loads.rate(call, n, SECONDS),  # type: ignore[misc]
        )
        report.growth(f"{engine}: {name}", rates, (big[1].messages, small[1].messages), at_most=budget)


async def _hundred(report: Report, engine: str, memory: Memory, store: Store) -> None:
    """100 conversations at once, each recording one exchange after the other."""
    [interactions] = await medians(lambda: loads.rate(loads.record(memory, store, CHANCE), 100, SECONDS))
    report.add(
        Figure(f"{engine}: durable messages a second, 100 conversations at once", 2 * interactions, "/s", at_least=1000)
    )


async def _main(arguments: argparse.Namespace) -> Report:
    messages = 100_000 if arguments.quick else 1_000_000
    report = Report(messages)
    startup.measure(report)
    if arguments.engine in ("both", "sqlite"):
        folder = Path(tempfile.mkdtemp(prefix="clew-bench-"))
        try:
            await sqlite(report, folder, messages)
        finally:
            shutil.rmtree(folder)
    if arguments.engine in ("both", "postgres"):
        await postgresql(report, messages)
    return report


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench")
    parser.add_argument("--quick", action="store_true", help="smaller stores; the figures are not written down")
    parser.add_argument("--engine", choices=["both", "sqlite", "postgres"], default="both")
    arguments = parser.parse_args()
    report = asyncio.run(_main(arguments))
    print(report.table())
    if not arguments.quick and arguments.engine == "both":
        report.write(Path(__file__).parents[1] / "docs" / "benchmarks.md")
    if report.missed:
        sys.exit(f"{len(report.missed)} of {len(report.figures)} budgets missed")


if __name__ == "__main__":
    main()
