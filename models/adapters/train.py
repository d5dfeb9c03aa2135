#!/usr/bin/env python3
"""Makes tool-choice.safetensors: python3 models/adapters/train.py [--out FILE] [--report FILE]

Runs `signalbox adapt` on the sets of data.toml, with the settings that stand there, from the
model without any adapter. The training itself is Rust (src/adapt/). Equal data and settings give
the same bytes on the same machine. Takes about ten minutes on two cores; needs the weights
(`make models`) and the binary: SIGNALBOX_BIN, or target/release/signalbox (`make build`).

Prints size and sha256 for models/manifest.toml, where they belong if the file is shipped.
"""
import argparse
import hashlib
import os
import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--data", type=Path, default=HERE / "data.toml", help="default: data.toml")
    parser.add_argument("--out", type=Path, default=HERE / "tool-choice.safetensors",
                        help="default: tool-choice.safetensors")
    parser.add_argument("--report", type=Path, help="write the figures to this file (JSON)")
    arguments = parser.parse_args()
    for item in tomllib.loads(arguments.data.read_text())["sets"]:
        print(f"{item['name']}: weight {item['weight']}, by {item['author']}, {item['license']}", file=sys.stderr)
    binary = os.environ.get("SIGNALBOX_BIN", ROOT / "target/release/signalbox")
    command = [binary, "adapt", "--data", arguments.data, "--from-base", "--out", arguments.out]
    command += ["--models-dir", ROOT / "models/weights"]
    # Settings of whoever runs this must not change what is made.
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SIGNALBOX_")}
    if arguments.report:
        with arguments.report.open("w") as report:
            subprocess.run([*command, "--json"], check=True, stdout=report, env=clean)
    else:
        subprocess.run(command, check=True, env=clean)
    data = arguments.out.read_bytes()
    print(f"size = {len(data)}\nsha256 = \"{hashlib.sha256(data).hexdigest()}\"")


if __name__ == "__main__":
    try:
        main()
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"train.py: {error}")
