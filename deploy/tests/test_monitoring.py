"""Metrics as the real process shows them, and the alerts and the dashboard made of them."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from rendering import DEPLOY, REPOSITORY, TOOLS, binary, kustomized, pod_of, tool
from signalbox_client import Client, SignalboxError, tools, v1

MONITORING = DEPLOY / "monitoring"
RULES = yaml.safe_load((MONITORING / "rules.yaml").read_text())
ALERTS = [rule for group in RULES["groups"] for rule in group["rules"]]
DASHBOARD = json.loads((MONITORING / "dashboard.json").read_text())
RUNBOOKS = REPOSITORY / "docs" / "runbooks"

# Shown only where something went wrong, or made by Prometheus itself.
ELSEWHERE = {"up"}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def metrics(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """What /metrics shows after calls of all kinds, with the small real model."""
    folder = tmp_path_factory.mktemp("served")
    catalogue = folder / "catalogue.yaml"
    catalogue.write_text(
        "kind: command\nentries:\n"
        "  - name: git-branch\n    responsibility: Create a branch\n"
        "  - name: deploy\n    responsibility: Bring a version into production\n"
    )
    address, admin = f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"
    process = subprocess.Popen(
        [
            *(str(binary()), "serve", "--listen", address, "--catalog", str(catalogue)),
            *("--model", "all-minilm-l6-v2", "--data-dir", str(folder / "data")),
            *("--models-dir", str(REPOSITORY / "models" / "weights")),
        ],
        env={"SIGNALBOX_ADMIN__LISTEN": admin},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("ready"):
                break
        with Client.connect(address, timeout=30) as client:
            client.route("create a branch")
            with pytest.raises(SignalboxError):
                client.route("")
            with client.loop() as loop:
                call = tools.reported("push", "main", "rejected", failed=True)
                for _ in range(3):
                    loop.report(v1.ReportedStep(calls=[call]))
        with urllib.request.urlopen(f"http://{admin}/metrics", timeout=30) as answer:
            assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
            yield answer.read().decode()
    finally:
        process.terminate()
        process.communicate(timeout=60)


def promtool_check(text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [TOOLS / "promtool", "check", "metrics"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )


def test_promtool_has_nothing_to_say_of_the_metrics(metrics: str) -> None:
    done = promtool_check(metrics)
    assert done.returncode == 0, done.stderr + done.stdout
    assert done.stderr == ""
    assert promtool_check(metrics.replace("_total", "_sum")).returncode != 0, "it can fail"


def test_every_metric_is_documented(metrics: str) -> None:
    page = (REPOSITORY / "docs" / "telemetry.md").read_text()
    families = set(re.findall(r"^# TYPE (\S+)", metrics, flags=re.MULTILINE))
    assert len(families) > 20
    for family in families - {"target_info"}:
        if not family.startswith("process_"):
            assert f"`{family}`" in page, family


def names_in(expression: str) -> set[str]:
    """The metrics of an expression: what is no function, label, number or keyword."""
    bare = re.sub(r'"[^"]*"|\{[^}]*\}|\[[^\]]*\]', " ", expression)
    bare = re.sub(r"\b(by|without|on|ignoring|group_left)\s*\([^)]*\)", " ", bare)
    return {
        name
        for name in re.findall(r"\b[a-z_][a-z0-9_]*\b(?!\s*\()", bare)
        if name not in {"and", "by", "without", "on", "ignoring", "group_left"}
    }


def shown(metrics: str) -> set[str]:
    lines = [line for line in metrics.splitlines() if not line.startswith("#")]
    return {re.split(r"[{ ]", line, maxsplit=1)[0] for line in lines}


def label_names(expression: str) -> set[str]:
    selectors = " ".join(re.findall(r"\{([^}]*)\}", expression))
    grouped = " ".join(re.findall(r"\b(?:by|without|on|ignoring)\s*\(([^)]*)\)", expression))
    found = set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", selectors)) | set(re.findall(r"\w+", grouped))
    return found - {"instance", "job", "pod", "namespace", "le"}


def expressions() -> dict[str, str]:
    found = {f"alert {alert['alert']}": str(alert["expr"]) for alert in ALERTS}
    for panel in DASHBOARD["panels"]:
        for target in panel.get("targets", []):
            found[f"panel {panel['title']} {target['refId']}"] = target["expr"]
    return found


@pytest.mark.parametrize("where", sorted(expressions()))
def test_expressions_name_metrics_that_exist(where: str, metrics: str) -> None:
    expression = expressions()[where]
    names = names_in(expression)
    assert names
    assert names - ELSEWHERE <= shown(metrics), where
    for label in label_names(expression):
        assert f'{label}="' in metrics or label == "error_type", f"{label} in {where}"


def test_rules_are_valid_and_do_what_they_say() -> None:
    tool("promtool", "check", "rules", str(MONITORING / "rules.yaml"))
    tool("promtool", "test", "rules", str(MONITORING / "rules_test.yaml"))


def test_every_alert_is_tested_and_has_a_runbook() -> None:
    cases = yaml.safe_load((MONITORING / "rules_test.yaml").read_text())["tests"]
    fired = {
        each["alertname"]
        for case in cases
        for each in case["alert_rule_test"]
        if each["exp_alerts"]
    }
    names = {alert["alert"] for alert in ALERTS}
    assert fired == names
    pages = set()
    for alert in ALERTS:
        page = Path(alert["annotations"]["runbook_url"]).name
        pages.add(page)
        text = (RUNBOOKS / page).read_text()
        assert text.startswith(f"# {alert['alert']}\n")
        for part in ("What it means", "What callers notice", "Look at", "Do"):
            assert f"**{part}**" in text, f"{page}: {part}"
    assert pages == {each.name for each in RUNBOOKS.glob("*.md")} - {"README.md"}
    index = (RUNBOOKS / "README.md").read_text()
    assert all(f"]({page})" in index for page in pages)


def test_the_dashboards_expressions_are_valid(tmp_path: Path) -> None:
    replaced = {"$__rate_interval": "5m", "$namespace": ".*", "$pod": ".*"}
    rules = []
    for number, expression in enumerate(expressions().values()):
        for name, value in replaced.items():
            expression = expression.replace(name, value)
        assert "$" not in re.sub(r"\$labels|\$value", "", expression)
        rules.append({"record": f"panel:{number}", "expr": expression})
    file = tmp_path / "panels.yaml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    tool("promtool", "check", "rules", str(file))


def test_the_dashboard_is_laid_out() -> None:
    panels: list[dict[str, Any]] = DASHBOARD["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, f"{panel['title']} lies over another"
        taken |= cells
        assert panel["type"] == "row" or panel["description"]


def test_the_limits_of_the_alerts_are_those_of_the_manifests() -> None:
    (sidecar,) = [each for each in pod_of(kustomized("uds"))["spec"]["initContainers"]]
    memory = sidecar["resources"]["limits"]["memory"]
    (volume,) = [
        each
        for each in pod_of(kustomized("uds"))["spec"]["volumes"]
        if each["name"] == "signalbox-data"
    ]
    by_name = {alert["alert"]: str(alert["expr"]) for alert in ALERTS}
    assert memory.removesuffix("Mi") in by_name["SignalboxMemory"]
    size = volume["emptyDir"]["sizeLimit"].removesuffix("Gi")
    assert f"{size} * 1024" in by_name["SignalboxStoreLarge"]


def test_the_pod_monitor_finds_the_pods() -> None:
    monitor = yaml.safe_load((MONITORING / "podmonitor.yaml").read_text())
    pod = pod_of(kustomized("uds"))
    labels = monitor["spec"]["selector"]["matchLabels"]
    assert labels.items() <= pod["metadata"]["labels"].items()
    ports = [port["name"] for port in pod["spec"]["initContainers"][0]["ports"]]
    assert monitor["spec"]["podMetricsEndpoints"][0]["port"] in ports


def test_waiting_is_bounded() -> None:
    """A start-up probe that gives up later than the alert would make noise of a slow start."""
    (sidecar,) = pod_of(kustomized("uds"))["spec"]["initContainers"]
    probe = sidecar["startupProbe"]
    assert probe["failureThreshold"] * probe["periodSeconds"] <= 600
