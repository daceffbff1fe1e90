"""Property tests share their machine with others, so no example has a deadline."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("clew", deadline=None)
settings.load_profile("clew")
