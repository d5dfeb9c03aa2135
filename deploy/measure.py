#!/usr/bin/env python3
"""Measures what the manifests ask for: memory and processor time of the real process.

For each model: memory when ready, at its peak while the catalogue is encoded, and after a load of
concurrent prompts; processor seconds until ready; wall seconds until ready. Needs the release
binary, the model files and the Python client (`make build models`, then
`.venv/bin/python deploy/measure.py`).
"""

from __future__ import annotations

import argparse
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

from signalbox_client import Client

REPOSITORY = pathlib.Path(__file__).resolve().parents[1]
MODELS = {
    "none": {},
    "all-minilm-l6-v2": {},
    "multilingual-e5-small": {},
    "multilingual-e5-small alone": {"SIGNALBOX_MODEL__ENGLISH": "none"},
}


def memory(pid: int) -> dict[str, float]:
    """Memory of a process in MiB: now, and the highest so far."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    lines = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    return {name: int(lines[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM")}


def processor_seconds(pid: int) -> float:
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def measure(binary: str, model: str, data: pathlib.Path, threads: int, prompts: int) -> str:
    address = f"127.0.0.1:{free_port()}"
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SIGNALBOX_")}
    environment |= {"RAYON_NUM_THREADS": "1", "SIGNALBOX_MODEL__THREADS": str(threads)}
    environment |= {"SIGNALBOX_ADMIN__LISTEN": "", **MODELS[model]}
    begun = time.monotonic()
    process = subprocess.Popen(
        [
            *(binary, "serve", "--listen", address),
            *("--model", model.split()[0], "--data-dir", str(data)),
        ],
        cwd=REPOSITORY,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("ready"):
                break
        ready = time.monotonic() - begun
        used = processor_seconds(process.pid)
        idle = memory(process.pid)
        with Client.connect(address, timeout=60) as client, ThreadPoolExecutor(32) as pool:
            words = ("branch", "invoice", "Kubernetes", "résumé", "表格", "deploy", "poem", "query")
            texts = [
                f"{words[n % 8]} {words[n // 8 % 8]} number {n} for the team"
                for n in range(prompts)
            ]
            started = time.monotonic()
            list(pool.map(client.route, texts))
            rate = prompts / (time.monotonic() - started)
        busy = memory(process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)
    return (
        f"| `{model}` | {ready:.1f} | {used:.1f} | {idle['VmRSS']:.0f} | {busy['VmRSS']:.0f} "
        f"| {busy['VmHWM']:.0f} | {rate:.0f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", default=str(REPOSITORY / "target/release/signalbox"))
    parser.add_argument("--threads", type=int, default=1, help="model.threads")
    parser.add_argument("--prompts", type=int, default=500)
    parser.add_argument("--model", action="append", choices=list(MODELS))
    arguments = parser.parse_args()
    print("| model | ready after s | processor s | MiB ready | MiB loaded | MiB peak | prompts/s |")
    print("|---|---|---|---|---|---|---|")
    for model in arguments.model or MODELS:
        for state in ("first start", "restart"):
            data = (
                pathlib.Path(tempfile.gettempdir())
                / f"signalbox-measure-{os.getpid()}-{model.replace(' ', '-')}"
            )
            row = measure(arguments.binary, model, data, arguments.threads, arguments.prompts)
            print(row.replace("|", f"| {state},", 1))
            sys.stdout.flush()
        shutil.rmtree(data, ignore_errors=True)


if __name__ == "__main__":
    main()
