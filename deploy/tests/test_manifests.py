"""The manifests: valid for every version, the same from both tools, and as strict as they say."""

from __future__ import annotations

import copy
import subprocess
from typing import Any

import kubernetes_validate
import pytest
from rendering import (
    CHART,
    EXAMPLES,
    FLAVOURS,
    VERSIONS,
    Object,
    binary,
    everything,
    kustomized,
    pod_of,
    settings_of,
    sidecar_of,
    templated,
    tool,
)

EVERYTHING = everything()


@pytest.fixture(params=sorted(EVERYTHING))
def made(request: pytest.FixtureRequest) -> list[Object]:
    return copy.deepcopy(EVERYTHING[str(request.param)])


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_takes_them(made: list[Object], version: str) -> None:
    if any("image" in volume for volume in pod_of(made)["spec"]["volumes"]) and version < "1.31":
        pytest.skip("image volumes are newer")
    for each in made:
        kubernetes_validate.validate(each, version, strict=True)


def test_the_validation_can_fail(made: list[Object]) -> None:
    probe = sidecar_of(made)["startupProbe"]
    pod = pod_of(made)
    pod["spec"]["initContainers"][0]["startupProbe"] = probe | {"grpc": {"service": "startup"}}
    (broken,) = [each for each in made if each["kind"] in ("Deployment", "Pod")]
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(broken, VERSIONS[-1], strict=True)


def by_kind(made: list[Object]) -> dict[str, Object]:
    """Objects by kind, without what has no meaning: the order of variables, mounts, volumes."""

    def sort(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: sort(each) for key, each in value.items()}
        if isinstance(value, list):
            named = all(isinstance(each, dict) and "name" in each for each in value)
            return sorted(map(sort, value), key=lambda each: each["name"]) if named else value
        return value

    return {each["kind"]: sort(each) for each in made}


@pytest.mark.parametrize("flavour", sorted(FLAVOURS))
def test_the_chart_renders_what_the_overlay_does(flavour: str) -> None:
    assert by_kind(templated(*FLAVOURS[flavour])) == by_kind(kustomized(flavour))


def test_the_chart_is_clean() -> None:
    tool("helm", "lint", "--strict", str(CHART))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("transport=vsock", "transport"),
        ("terminationGracePeriodSeconds=10", "terminationGracePeriodSeconds"),
        ("replica=2", "replica"),
    ],
)
def test_the_chart_refuses_what_it_does_not_know(value: str, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        templated(value)


def test_the_chart_refuses_two_pods_on_one_database() -> None:
    with pytest.raises(AssertionError, match="one process at a time"):
        templated("data.existingClaim=c", "replicas=2")


def test_every_other_value_still_renders() -> None:
    made = templated(
        "data.existingClaim=journal",
        "telemetry.otlpEndpoint=http://$(NODE_IP):4317",
        "env[0].name=SIGNALBOX_JOURNAL__ROUTES",
        "env[0].value=on",
        "tolerations[0].operator=Exists",
        "nodeSelector.disk=ssd",
        "podAnnotations.a=b",
        "networkPolicy.enabled=false",
        "image.pullPolicy=Always",
    )
    assert {each["kind"] for each in made} == {"Deployment", "ServiceAccount"}
    for each in made:
        kubernetes_validate.validate(each, VERSIONS[-1], strict=True)
    settings = settings_of(sidecar_of(made))
    assert settings["SIGNALBOX_TELEMETRY__OTLP_ENDPOINT"] == "http://$(NODE_IP):4317"
    deployment = by_kind(made)["Deployment"]
    assert deployment["spec"]["strategy"] == {"type": "Recreate"}


def test_signalbox_is_a_native_sidecar(made: list[Object]) -> None:
    assert sidecar_of(made)["restartPolicy"] == "Always"


def test_the_pod_is_restricted(made: list[Object]) -> None:
    """What the Pod Security Standard `restricted` asks for, and a root that cannot be written."""
    spec = pod_of(made)["spec"]
    assert spec["automountServiceAccountToken"] is False
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["runAsUser"] == 65532
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert not {"hostNetwork", "hostPID", "hostIPC"} & spec.keys()
    for container in spec["initContainers"] + spec["containers"]:
        context = container["securityContext"]
        assert context["allowPrivilegeEscalation"] is False
        assert context["readOnlyRootFilesystem"] is True
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert not any("hostPort" in port for port in container.get("ports", []))
        assert container["resources"]["requests"]["memory"]
        assert container["resources"]["limits"]["memory"]
    for volume in spec["volumes"]:
        assert volume.keys() & {"emptyDir", "image", "persistentVolumeClaim"}
        assert "emptyDir" not in volume or volume["emptyDir"]["sizeLimit"], "no volume unbounded"


def test_probes_ask_the_admin_port(made: list[Object]) -> None:
    sidecar = sidecar_of(made)
    (admin,) = [port for port in sidecar["ports"] if port["name"] == "admin"]
    listen = settings_of(sidecar)["SIGNALBOX_ADMIN__LISTEN"]
    assert listen == f"0.0.0.0:{admin['containerPort']}", "the kubelet is not on the loopback"
    for probe, service in (
        ("startupProbe", "startup"),
        ("readinessProbe", "readiness"),
        ("livenessProbe", "liveness"),
    ):
        grpc = sidecar[probe]["grpc"]
        assert grpc == {"port": admin["containerPort"], "service": service}


def test_callers_come_from_the_pod_alone(made: list[Object]) -> None:
    settings = settings_of(sidecar_of(made))
    listen = settings["SIGNALBOX_SERVER__LISTEN"]
    assert listen == "" or listen.startswith("127.0.0.1:")
    assert listen or settings["SIGNALBOX_SERVER__UDS"]
    for each in made:
        if each["kind"] == "NetworkPolicy":
            (rule,) = each["spec"]["ingress"]
            assert rule["ports"] == [{"protocol": "TCP", "port": 9464}]
            labels = each["spec"]["podSelector"]["matchLabels"]
            assert labels.items() <= pod_of(made)["metadata"]["labels"].items()


def test_the_agent_is_told_where_signalbox_listens(made: list[Object]) -> None:
    settings = settings_of(sidecar_of(made))
    (agent,) = pod_of(made)["spec"]["containers"]
    target = settings_of(agent)["SIGNALBOX_TARGET"]
    socket = settings.get("SIGNALBOX_SERVER__UDS")
    assert target == (f"unix://{socket}" if socket else settings["SIGNALBOX_SERVER__LISTEN"])
    if socket:
        folder = socket.rpartition("/")[0]
        for container in (agent, sidecar_of(made)):
            mounts = {mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]}
            assert mounts[folder] == "signalbox-socket"


def test_signalbox_takes_every_setting(made: list[Object]) -> None:
    settings = settings_of(sidecar_of(made))
    # This build has no GPU; what the setting is called is checked all the same.
    wants_gpu = settings.get("SIGNALBOX_MODEL__DEVICE") == "cuda"
    done = subprocess.run(
        [binary(), "check-config", "--dump"],
        env={**settings, "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    if wants_gpu:
        assert done.stderr.endswith("model.device: this build has no `cuda` feature\n")
    else:
        assert done.returncode == 0, done.stderr
        assert 'listen = "0.0.0.0:9464"' in done.stdout
        assert "threads = 2" in done.stdout


def test_there_is_time_to_drain(made: list[Object]) -> None:
    done = subprocess.run(
        [binary(), "check-config", "--dump"],
        env={"PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("drain_seconds")]
    grace = pod_of(made)["spec"]["terminationGracePeriodSeconds"]
    assert grace >= int(line.rpartition("= ")[2]) + 5


def test_examples_are_all_tested() -> None:
    folder = CHART.parents[1] / "examples"
    assert sorted(each.name for each in folder.iterdir() if each.is_dir()) == sorted(EXAMPLES)
