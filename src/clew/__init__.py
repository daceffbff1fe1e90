"""Clew, the memory server for AI agents.

Importing this is cheap: what is named here is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clew.context_service import ContextService
    from clew.embedded import Memory, connect
    from clew.errors import ClewError

__all__ = ["ClewError", "ContextService", "Memory", "__version__", "connect"]
__version__ = "0.1.0"

_HOMES = {
    "ClewError": "clew.errors",
    "ContextService": "clew.context_service",
    "Memory": "clew.embedded",
    "connect": "clew.embedded",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'clew' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
