"""What kustomize and Helm make of deploy/, and the tools that check it."""

from __future__ import annotations

import functools
import os
import subprocess
from pathlib import Path
from typing import Any

import yaml

DEPLOY = Path(__file__).resolve().parents[1]
REPOSITORY = DEPLOY.parent
CHART = DEPLOY / "helm" / "signalbox"
TOOLS = Path(os.environ.get("SIGNALBOX_TOOLS", REPOSITORY / ".venv" / "tools"))

# Kubernetes versions with native sidecars on by default; the last two know image volumes as a
# feature that is on.
VERSIONS = ("1.29", "1.31", "1.33", "1.35", "1.37")

# Overlay, and the chart's values that render the same.
FLAVOURS: dict[str, tuple[str, ...]] = {
    "uds": (),
    "tcp": ("transport=tcp",),
    "gpu": ("gpu.enabled=true",),
    "uds-model-image": ("models.image=example.com/signalbox-models:0.1.0",),
}

EXAMPLES = ("python", "go")

Object = dict[str, Any]


def tool(*command: str) -> str:
    """Runs one of the fetched programs and answers what it printed."""
    program = TOOLS / command[0]
    assert program.exists(), f"{program} is not there: `make deploy-tools`"
    environment = os.environ | {"HELM_CACHE_HOME": "/tmp/helm-cache", "HOME": "/tmp"}
    done = subprocess.run(
        [str(program), *command[1:]],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, f"{' '.join(command)}:\n{done.stdout}{done.stderr}"
    return done.stdout


def objects(text: str) -> list[Object]:
    return [each for each in yaml.safe_load_all(text) if each]


@functools.cache
def _kustomized(overlay: str) -> str:
    return tool("kubectl", "kustomize", str(DEPLOY / "kustomize" / "overlays" / overlay))


def kustomized(overlay: str) -> list[Object]:
    return objects(_kustomized(overlay))


def templated(*values: str, version: str = "1.35.0") -> list[Object]:
    settings = [f"--set={value}" for value in values]
    return objects(
        tool("helm", "template", "agent", str(CHART), "--kube-version", version, *settings)
    )


def example(name: str) -> list[Object]:
    return objects((DEPLOY / "examples" / name / "pod.yaml").read_text())


def everything() -> dict[str, list[Object]]:
    """All objects that deploy/ makes, by where they come from."""
    made = {f"overlay {name}": kustomized(name) for name in FLAVOURS}
    made |= {f"chart {name}": templated(*values) for name, values in FLAVOURS.items()}
    made |= {f"example {name}": example(name) for name in EXAMPLES}
    return made


def pod_of(made: list[Object]) -> Object:
    """The pod, whether alone or a Deployment's template."""
    for each in made:
        if each["kind"] == "Deployment":
            template: Object = each["spec"]["template"]
            return template
        if each["kind"] == "Pod":
            return each
    raise AssertionError("no pod")


def sidecar_of(made: list[Object]) -> Object:
    (found,) = [
        each for each in pod_of(made)["spec"]["initContainers"] if each["name"] == "signalbox"
    ]
    return dict(found)


def settings_of(container: Object) -> dict[str, str]:
    """The variables of a container that have a value of their own."""
    return {each["name"]: each["value"] for each in container["env"] if "value" in each}


def binary() -> Path:
    """The binary to test."""
    named = os.environ.get("SIGNALBOX_BIN")
    assert named, "SIGNALBOX_BIN names no binary"
    return Path(named)
