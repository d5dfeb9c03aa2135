"""The Containerfile, as far as it can be checked without an engine: its rules, what it copies,
and the binary in a root file system of its own."""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
from rendering import DEPLOY, REPOSITORY, binary

FILES = sorted(DEPLOY.rglob("Containerfile*"))
SHIPPED = [DEPLOY / "Containerfile", DEPLOY / "Containerfile.cuda"]


def instructions(file: Path) -> list[tuple[str, str]]:
    """The instructions with their continuation lines joined, comments left out."""
    text = re.sub(r"^\s*#.*\n", "", file.read_text(), flags=re.MULTILINE)
    lines = text.replace("\\\n", " ").splitlines()
    return [(line.split()[0], line.split(maxsplit=1)[1]) for line in lines if line.strip()]


def stages(file: Path) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for word, rest in instructions(file):
        if word == "FROM":
            current = found.setdefault(rest.split()[-1], [])
        elif found:
            current.append((word, rest))
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(DEPLOY)))
def test_hadolint_has_nothing_to_say(file: Path) -> None:
    hadolint = Path(sys.executable).parent / "hadolint"
    done = subprocess.run([hadolint, file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.name)
def test_what_ships_has_no_shell_and_no_root(file: Path) -> None:
    parts = dict(stages(file)["signalbox"])
    arguments = dict(
        rest.split("=", 1) for word, rest in instructions(file) if word == "ARG" and "=" in rest
    )
    assert "distroless" in arguments["RUNTIME_IMAGE"]
    assert parts["USER"] == "65532:65532"
    assert parts["ENTRYPOINT"] == '["/usr/bin/signalbox"]'
    shipped = list(stages(file))[-1]
    for name in {"signalbox", shipped}:
        words = {word for word, _ in stages(file)[name]}
        assert "RUN" not in words, "nothing to run a shell with"
    assert "RAYON_NUM_THREADS=1" in parts["ENV"]


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.name)
def test_the_images_settings_are_taken(file: Path, tmp_path: Path) -> None:
    environment = dict(stages(file)["signalbox"])["ENV"]
    settings = dict(re.findall(r"(SIGNALBOX_\w+)=('[^']*'|\S+)", environment))
    settings = {name: value.strip("'") for name, value in settings.items()}
    settings.pop("SIGNALBOX_MODEL__DEVICE", None)
    done = subprocess.run(
        [binary(), "check-config", "--dump"],
        env=settings,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    config = tomllib.loads(done.stdout)
    assert config["catalog"]["paths"] == ["/usr/share/signalbox/catalogs/starter"]
    assert config["store"]["data_dir"] == "/var/lib/signalbox"


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.name)
def test_the_build_has_what_it_needs(file: Path, tmp_path: Path) -> None:
    """Copies what the build stage copies, and lets cargo look whether a target's file lacks."""
    text = (REPOSITORY / ".containerignore").read_text()
    ignored = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert ignored[0] == "*"
    copied = [rest.split() for word, rest in stages(file)["build"] if word == "COPY"]
    for *sources, target in copied:
        for source in sources:
            assert f"!{source.split('/')[0]}" in ignored, f"{source} never reaches the build"
            assert not any(fnmatch.fnmatch(source, each) for each in ignored[1:])
            origin, goal = REPOSITORY / source, tmp_path / target
            if origin.is_dir():
                shutil.copytree(origin, goal)
            else:
                destination = goal / origin.name if target == "./" else goal
                destination.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(origin, destination)
    subprocess.run(
        ["cargo", "metadata", "--locked", "--offline", "--no-deps", "--format-version=1"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    included = re.compile(r'include_(?:str|bytes)!\(\s*"([^"]+)"')
    for source in (tmp_path / "src").rglob("*.rs"):
        for name in included.findall(source.read_text()):
            assert (source.parent / name).exists(), f"{source}: {name} is not copied"
    build = (tmp_path / "build.rs").read_text()
    for name in re.findall(r'"(signalbox/v1/\w+\.proto)"', build):
        assert (tmp_path / "proto" / name).exists()


@pytest.mark.skipif(os.getuid() != 0, reason="only root may change the root")
def test_the_binary_runs_as_nobody_in_a_bare_root(tmp_path: Path) -> None:
    """As in the image: the binary, its libraries, the catalogue; user 65532, who owns only the
    folder of the database. No shell, no /tmp, no /etc, no /proc."""
    root = tmp_path / "root"
    linked = subprocess.run(["ldd", binary()], capture_output=True, text=True, check=True).stdout
    for library in re.findall(r"(/\S+) \(0x", linked):
        place(Path(library), root / library.lstrip("/"))
    place(binary(), root / "usr/bin/signalbox")
    shutil.copytree(REPOSITORY / "catalogs/starter", root / "usr/share/catalogs/starter")
    data = root / "var/lib/signalbox"
    data.mkdir(parents=True, mode=0o700)
    os.chown(data, 65532, 65532)
    # pytest's own folders are closed to others.
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.getuid() and str(folder).startswith("/tmp/"):
            folder.chmod(folder.stat().st_mode | 0o011)
    process = subprocess.Popen(
        ["chroot", "--userspec=65532:65532", root, "/usr/bin/signalbox", "serve"],
        env={
            "PATH": os.environ["PATH"],
            "RAYON_NUM_THREADS": "1",
            "SIGNALBOX_CATALOG__PATHS": '["/usr/share/catalogs/starter"]',
            "SIGNALBOX_MODEL__ID": "none",
            "SIGNALBOX_SERVER__LISTEN": "",
            "SIGNALBOX_SERVER__UDS": "/var/lib/signalbox/signalbox.sock",
            "SIGNALBOX_ADMIN__LISTEN": "127.0.0.1:0",
            "SIGNALBOX_STORE__DATA_DIR": "/var/lib/signalbox",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        until = time.monotonic() + 60
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith("ready") or time.monotonic() > until:
                break
        assert lines, "it ended at once"
        assert lines[-1].startswith("ready"), lines
        assert (data / "signalbox.sock").is_socket()
        assert (data / "signalbox.db").stat().st_uid == 65532
    finally:
        process.terminate()
        _, log = process.communicate(timeout=60)
    assert process.returncode == 0, log


def place(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)
