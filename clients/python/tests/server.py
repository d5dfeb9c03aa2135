"""Runs the real binary for the tests."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

REPOSITORY = Path(__file__).resolve().parents[3]
STARTER = REPOSITORY / "catalogs" / "starter"

# The debug build may load a model and embed the catalogue first, on a busy machine.
START_SECONDS = 900.0
STOP_SECONDS = 60.0


def binary() -> Path:
    """The binary to test: SIGNALBOX_BIN, else the release build, else the debug build."""
    if named := os.environ.get("SIGNALBOX_BIN"):
        found = Path(named)
        assert found.is_file(), f"SIGNALBOX_BIN names {named}, which is no file"
        return found.resolve()
    target = REPOSITORY / os.environ.get("CARGO_TARGET_DIR", "target")
    tried = [target / profile / "signalbox" for profile in ("release", "debug")]
    for candidate in tried:
        if candidate.is_file():
            return candidate
    raise AssertionError(f"no binary to test at {tried}: run `cargo build` or set SIGNALBOX_BIN")


def models_dir(fallback: Path) -> Path:
    """The fetched models where there are any, else an empty folder: routing by tokens alone."""
    fetched = REPOSITORY / "models" / "weights"
    return fetched if fetched.is_dir() else fallback


def starter_vectors() -> Path:
    """Vectors of the starter catalogue, left by the Rust tests: where they are, a server is
    ready at once instead of after a minute."""
    target = REPOSITORY / os.environ.get("CARGO_TARGET_DIR", "target")
    return target / "tmp" / "starter-vectors"


class Server:
    """One process of the binary, with a folder of its own; `stop` ends it. With `model` it
    loads the real encoder, without it routes by tokens alone."""

    def __init__(
        self, data_dir: Path | None = None, *, model: bool = False, address: str | None = None
    ) -> None:
        # A socket's path may have 107 bytes: too few for pytest's own temporary folders.
        self.folder = Path(tempfile.mkdtemp(prefix="sb-"))
        self.tcp = address or f"127.0.0.1:{_free_port()}"
        self.socket = self.folder / "door.sock"
        empty = self.folder / "no-models"
        empty.mkdir()
        command = [
            str(binary()),
            "serve",
            *("--listen", self.tcp),
            *("--uds", str(self.socket)),
            *("--catalog", str(STARTER)),
            *("--models-dir", str(models_dir(empty))),
        ]
        if not model:
            command += ["--model", "none"]
        elif data_dir is None and starter_vectors().is_dir():
            data_dir = self.folder / "data"
            shutil.copytree(starter_vectors(), data_dir)
        if data_dir is not None:
            command += ["--data-dir", str(data_dir)]
        self._terminated = False
        self._stdout = self.folder / "stdout"
        self._stderr = self.folder / "stderr"
        with self._stdout.open("wb") as out, self._stderr.open("wb") as err:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                cwd=self.folder,
                # Its settings are the flags above and nothing of whoever runs the tests.
                env={k: v for k, v in os.environ.items() if not k.startswith("SIGNALBOX_")}
                | {"SIGNALBOX_ADMIN__LISTEN": ""},
            )
        try:
            self._wait_until_ready()
        except BaseException:
            self.process.kill()
            self.process.wait()
            raise

    @property
    def unix(self) -> str:
        return f"unix:{self.socket}"

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def stdout(self) -> list[str]:
        """The lines written to standard output so far."""
        return self._stdout.read_text().splitlines()

    def logs(self) -> str:
        """The end of what the process said, for a failed assertion."""
        return f"{self._stdout.read_text()[-2000:]}\n{self._stderr.read_text()[-6000:]}"

    def terminate(self) -> None:
        """Sends SIGTERM, once: a second one would end the process without its drain."""
        if self._terminated:
            return
        self._terminated = True
        self.process.send_signal(signal.SIGTERM)

    def stop(self) -> int:
        """Sends SIGTERM, waits for the drain and answers the exit code."""
        if self.alive:
            self.terminate()
        try:
            return self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise

    def kill(self) -> None:
        """Ends the process as a crash would."""
        self.process.kill()
        self.process.wait()

    def remove(self) -> None:
        """Removes the folder; only after `stop`."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _wait_until_ready(self) -> None:
        until = time.monotonic() + START_SECONDS
        last = "never asked"
        with grpc.insecure_channel(self.tcp, options=[("grpc.enable_http_proxy", 0)]) as channel:
            health = health_pb2_grpc.HealthStub(channel)
            while time.monotonic() < until:
                assert self.alive, f"exited with {self.process.returncode}:\n{self.logs()}"
                try:
                    answer = health.Check(
                        health_pb2.HealthCheckRequest(service="readiness"),
                        timeout=2,
                        wait_for_ready=True,
                    )
                    if answer.status == health_pb2.HealthCheckResponse.SERVING:
                        return
                    last = health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status)
                except grpc.RpcError as error:
                    last = str(error.code())
                time.sleep(0.1)
        raise AssertionError(f"not ready in {START_SECONDS:.0f} s ({last}):\n{self.logs()}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
