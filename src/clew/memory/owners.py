"""The row of an owner: the lock that makes an owner's writes serial, and the counters taken under it.

Every write locks its owners first, in sorted order. Everything else follows from that: a rule that reads before it
writes holds, ids and places have no gaps, and two writes never wait for each other in a circle.
"""

from __future__ import annotations

from typing import Final

from clew.core.model import Owner
from clew.db.database import Transaction
from clew.scope import Scope

COLUMNS: Final = "id, next_id, entries, bytes"


async def lock(tx: Transaction, scope: Scope) -> None:
    """Make this write the owner's only one until it ends. Makes the owner's row where there is none."""
    if await tx.one("SELECT id FROM clew.owner WHERE id = $1 FOR UPDATE", scope.owner) is None:
        await tx.run("INSERT INTO clew.owner (id) VALUES ($1) ON CONFLICT (id) DO NOTHING", scope.owner)
        await tx.one("SELECT id FROM clew.owner WHERE id = $1 FOR UPDATE", scope.owner)


async def lock_all(tx: Transaction, owners: list[str]) -> dict[str, Owner]:
    """Lock those of these owners that are there, in order, and read their counters."""
    rows = await tx.all(
        f"SELECT {COLUMNS} FROM clew.owner WHERE id IN $1:text[] ORDER BY id FOR UPDATE", sorted(owners)
    )
    return {row[0]: Owner(*row) for row in rows}
