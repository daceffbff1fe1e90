"""`make resolve`: whether Clew installs from wheels alone on every platform and Python that it names.

Asked twice: with the latest of everything, and with what is locked. Needs the network; takes half a minute.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
UV = Path(sys.executable).with_name("uv")

WHAT = {"what it requires": "pyproject.toml", "the lock": "requirements/serve.txt"}
PLATFORMS = (
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
    "aarch64-apple-darwin",
    "x86_64-apple-darwin",
    "x86_64-pc-windows-msvc",
)
PYTHONS = ("3.11", "3.12", "3.13", "3.14", "3.15")

ENVIRONMENT = {
    "MACOSX_DEPLOYMENT_TARGET": "14.0",  # some wheels for Apple silicon need it, and uv means an older one unless told
    "UV_PYTHON_DOWNLOADS": "never",  # wheels are looked up, none is built: no other Python is needed
}


class Case(NamedTuple):
    what: str
    platform: str
    python: str


# What is known not to resolve, and why. One that resolves after all fails too: take it out then.
EXCEPTIONS: dict[Case, str] = {}


def refusal(case: Case) -> str:
    """Why this cannot be installed; empty where it can."""
    where = ["--python-platform", case.platform, "--python-version", case.python]
    done = subprocess.run(
        [UV, "pip", "compile", "--quiet", "--no-header", "--only-binary", ":all:", *where, WHAT[case.what]],
        cwd=ROOT,
        env={**os.environ, **ENVIRONMENT},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stderr.strip() or "uv failed" if done.returncode else ""


def main() -> None:
    cases = [Case(*case) for case in product(WHAT, PLATFORMS, PYTHONS)]
    failures = 0
    with ThreadPoolExecutor(4) as threads:
        for case, why in zip(cases, threads.map(refusal, cases), strict=True):
            known = EXCEPTIONS.get(case)
            failed = bool(why) is not bool(known)
            failures += failed
            print("FAILED" if failed else "known " if known else "ok    ", *case, known or "", flush=True)
            if failed:
                print(why or "  is listed as an exception, and resolves: take it off the list", flush=True)
    if failures:
        sys.exit(f"{failures} of {len(cases)} cases failed")
    print(f"All {len(cases)} cases as expected")


if __name__ == "__main__":
    main()
