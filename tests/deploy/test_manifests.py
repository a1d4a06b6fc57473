"""The manifests and monitoring files say what the code does: versions, probes, limits, names of metrics."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from biem.adapters.telemetry.prometheus import BUCKETS_S, METRICS
from biem.cli.server.serve import PORT
from biem.config import Settings
from tests.support.servers import COMPOSE, images

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
KUBERNETES = DEPLOY / "kubernetes"
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
IMAGE = f"biem:{VERSION}"
ONCE = ("migrate", "login")
"""Services that end well, and are not looked at afterwards."""
Document = dict[str, Any]


def documents(path: Path) -> list[Document]:
    """The YAML documents of a file."""
    return [document for document in yaml.safe_load_all(path.read_text(encoding="utf-8")) if document]


def resources() -> Iterator[Document]:
    """Everything that `kubectl apply -k` applies."""
    (kustomization,) = documents(KUBERNETES / "kustomization.yaml")
    for name in kustomization["resources"]:
        yield from documents(KUBERNETES / name)


def one(kind: str, name: str) -> Document:
    """The resource of this kind and name."""
    (found,) = [part for part in resources() if (part["kind"], part["metadata"]["name"]) == (kind, name)]
    return found


def pods() -> list[tuple[str, Document]]:
    """The pod of each workload."""
    return [
        (part["metadata"]["name"], part["spec"]["template"]["spec"])
        for part in resources()
        if part["kind"] in ("Deployment", "Job")
    ]


class TestKubernetes:
    def test_it_has_every_part_and_no_secret(self) -> None:
        # Given what is applied / When its kinds are listed / Then nothing is missing, and no secret is among them
        assert sorted(part["kind"] for part in resources()) == [
            "ConfigMap", "Deployment", "Deployment", "Deployment", "HorizontalPodAutoscaler", "Job", "Namespace",
            "NetworkPolicy", "NetworkPolicy", "PodDisruptionBudget", "PodDisruptionBudget", "Service", "Service",
            "Service",
        ]  # fmt: skip
        for example in documents(KUBERNETES / "secret.example.yaml"):
            assert all(re.search("[A-Z]{4}", value) for value in example["stringData"].values())

    def test_only_migrations_log_in_as_the_owner(self) -> None:
        # Given the secrets of each pod / When they are read / Then the owner's is given to the migrations alone, last
        secrets = {
            name: [part["secretRef"]["name"] for part in pod["containers"][0]["envFrom"] if "secretRef" in part]
            for name, pod in pods()
        }
        migrations = f"biem-migrate-{VERSION.replace('.', '-')}"
        assert secrets == {
            "biem-worker": ["biem"], "biem-beat": ["biem"], "biem-server": ["biem"], migrations: ["biem", "biem-owner"],
        }  # fmt: skip
        given = {part["metadata"]["name"]: part["stringData"] for part in documents(KUBERNETES / "secret.example.yaml")}
        assert "//biem_login:" in given["biem"]["BIEM_POSTGRES_DSN"]
        assert "//OWNER:" in given["biem-owner"]["BIEM_POSTGRES_DSN"]

    @pytest.mark.parametrize(("name", "pod"), pods(), ids=lambda value: value if isinstance(value, str) else "")
    def test_every_pod_is_pinned_bounded_and_may_do_little(self, name: str, pod: Document) -> None:
        # Given a pod / When its rights and bounds are read
        (container,) = pod["containers"]

        # Then it runs this version, as no one, on a disk it cannot write to, within bounds, without the cluster's API
        assert container["image"] == IMAGE
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["runAsUser"] == 10001
        assert pod["automountServiceAccountToken"] is False
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert container["resources"]["limits"]["memory"]
        assert set(container["resources"]["requests"]) == {"cpu", "memory"}
        assert {"/tmp", "/home/biem/.biem"} <= {mount["mountPath"] for mount in container["volumeMounts"]}
        assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}

    @pytest.mark.parametrize("role", ["worker", "beat"])
    def test_what_runs_for_long_has_probes_of_its_role(self, role: str) -> None:
        # Given a deployment / When its probes are read / Then none that ends a pod asks for a server
        (container,) = one("Deployment", f"biem-{role}")["spec"]["template"]["spec"]["containers"]
        alive = ["python", "-m", "biem.workers.health", role]
        assert container["startupProbe"]["exec"]["command"] == container["livenessProbe"]["exec"]["command"] == alive
        assert container["readinessProbe"]["exec"]["command"] == [*alive[:-1], "--ready", role]
        assert container["command"][:4] == ["celery", "-A", "biem.workers.app", role]

    def test_the_server_is_called_at_its_port_and_only_there(self) -> None:
        # Given the server / When its probes, service and policy are read / Then a restart is asked for by no store
        (container,) = one("Deployment", "biem-server")["spec"]["template"]["spec"]["containers"]
        assert container["command"] == ["biem", "serve", "--host", "0.0.0.0"]
        port = {each["name"]: each["containerPort"] for each in container["ports"]}["http"]
        assert port == PORT
        probes = [container[f"{name}Probe"]["httpGet"] for name in ("startup", "liveness", "readiness")]
        assert [probe["path"] for probe in probes] == ["/health", "/health", "/ready"]
        assert {probe["port"] for probe in probes} == {"http"}
        assert one("Service", "biem-server")["spec"]["ports"] == [{"name": "http", "port": 80, "targetPort": "http"}]
        (rule,) = one("NetworkPolicy", "biem-server")["spec"]["ingress"]
        assert rule["ports"] == [{"protocol": "TCP", "port": "http"}]
        labels = one("Deployment", "biem-server")["spec"]["template"]["metadata"]["labels"]
        assert one("PodDisruptionBudget", "biem-server")["spec"]["selector"]["matchLabels"] == labels
        server = documents(COMPOSE[0])[0]["services"]["server"]
        assert server["command"] == container["command"]
        assert server["environment"]["BIEM_QUEUE"] == container["env"][0]["value"] == "celery"

    def test_there_is_one_beat_and_never_two(self) -> None:
        # Given beat / When it is rolled out / Then the old one goes first
        spec = one("Deployment", "biem-beat")["spec"]
        assert (spec["replicas"], spec["strategy"]["type"]) == (1, "Recreate")

    def test_migrations_have_a_job_for_each_version(self) -> None:
        # Given a new version / When its manifests are applied / Then its job is another one than the last
        assert one("Job", f"biem-migrate-{VERSION.replace('.', '-')}")

    def test_selectors_find_the_pods_they_mean(self) -> None:
        # Given services, budget and autoscaler / When they select / Then a deployment answers
        labels = {
            part["metadata"]["name"]: part["spec"]["template"]["metadata"]["labels"]
            for part in resources()
            if part["kind"] == "Deployment"
        }
        for name, selected in labels.items():
            assert one("Deployment", name)["spec"]["selector"]["matchLabels"] == selected
            assert one("Service", name)["spec"]["selector"] == selected
        assert one("PodDisruptionBudget", "biem-worker")["spec"]["selector"]["matchLabels"] == labels["biem-worker"]
        closed = one("NetworkPolicy", "biem")["spec"]
        [named] = closed["podSelector"]["matchExpressions"]
        everybody = {
            part["spec"]["template"]["metadata"]["labels"][named["key"]]
            for part in resources()
            if "template" in part.get("spec", {})
        }
        assert set(named["values"]) == everybody
        assert [rule["ports"] for rule in closed["ingress"]] == [[{"protocol": "TCP", "port": "metrics"}]]
        scaled = one("HorizontalPodAutoscaler", "biem-worker")["spec"]
        assert scaled["scaleTargetRef"]["name"] in labels
        assert "replicas" not in one("Deployment", "biem-worker")["spec"]  # an apply would undo the autoscaler's number

    def test_the_autoscaler_asks_for_a_metric_that_the_adapter_gives_it(self) -> None:
        # Given autoscaler and adapter / When their names are compared / Then they are one
        (metric,) = one("HorizontalPodAutoscaler", "biem-worker")["spec"]["metrics"]
        (adapter,) = documents(DEPLOY / "prometheus" / "adapter.yml")
        (rule,) = adapter["rules"]["external"]
        assert metric["external"]["metric"]["name"] == rule["name"]["as"] == "biem_outbox_due"
        assert rule["seriesQuery"].startswith("biem_outbox_due")

    def test_the_settings_exist_and_secrets_are_not_among_them(self) -> None:
        # Given the variables of the manifests / When settings are looked up / Then each is one
        example, _ = documents(KUBERNETES / "secret.example.yaml")
        plain, secret = one("ConfigMap", "biem")["data"], example["stringData"]
        known = {f"BIEM_{name}".upper() for name in Settings.model_fields}
        assert {name.split("__")[0] for name in [*plain, *secret]} <= known
        assert not set(plain) & set(secret)
        port = int(plain["BIEM_METRICS_PORT"])
        for name in ("biem-worker", "biem-beat"):
            (container,) = one("Deployment", name)["spec"]["template"]["spec"]["containers"]
            assert container["ports"] == [{"name": "metrics", "containerPort": port}]


class TestCompose:
    def test_every_image_is_pinned_and_ours_has_this_version(self) -> None:
        # Given the images / When their tags are read / Then each has one, and it is not a moving one
        for image in images().values():
            assert re.fullmatch(r"[^:]+:(v?\d+\.\d+.*|RELEASE\..+)", image), image
        for base in re.findall(r"(?m)^FROM (\S+)", (DEPLOY / "Dockerfile").read_text(encoding="utf-8")):
            assert re.search(r":\d+\.\d+\.\d+-", base), base
        assert {image for image in images().values() if image.startswith("biem")} == {IMAGE}

    def test_every_service_that_stays_has_a_health_check_and_nothing_listens_beyond_this_machine(self) -> None:
        # Given the services
        services = [part for path in COMPOSE for part in documents(path)[0]["services"].items()]

        # When their ports and health are read / Then ports are of this machine and anyone who stays is looked at
        for name, service in services:
            assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ())), name
            assert name in ONCE or "healthcheck" in service or "image" not in service, name

    def test_who_ends_is_started_again_and_what_they_say_fills_no_disk(self) -> None:
        # Given the services, each with its own image or ours
        services = [part for path in COMPOSE for part in documents(path)[0]["services"].items() if "image" in part[1]]

        # When their policies are read / Then each is started again, and its log has an end
        assert len(services) == 10
        for name, service in services:
            assert service["restart"] == ("on-failure:5" if name in ONCE else "unless-stopped"), name
            assert set(service["logging"]["options"]) == {"max-size", "max-file"}, name

    def test_its_env_file_holds_no_password_and_every_variable_of_ours_is_a_setting(self) -> None:
        # Given the file that `make up` copies / When it is read / Then passwords are to be replaced
        lines = [line for line in (DEPLOY / "compose.env").read_text(encoding="utf-8").splitlines() if line[0] != "#"]
        variables = dict(line.split("=", 1) for line in lines)
        passwords = [value for name, value in variables.items() if name.endswith("_PASSWORD")]
        assert len(passwords) == len(set(passwords)) == 5
        assert all(value.startswith("change-me-") for value in passwords)
        known = {f"BIEM_{name}".upper() for name in Settings.model_fields}
        assert {name for name in variables if name.startswith("BIEM_")} <= known

    def test_each_password_is_generated_and_unique(self) -> None:
        # Given the file that `make up` writes / When it is made / Then each name has its own password, everywhere
        example = (DEPLOY / "compose.env").read_text(encoding="utf-8")
        words = [sys.executable, str(DEPLOY / "passwords.py")]
        made = subprocess.run(words, input=example, capture_output=True, text=True, check=True).stdout
        given = dict(line.split("=", 1) for line in made.splitlines() if line[0] != "#")
        passwords = {name: value for name, value in given.items() if name.endswith("_PASSWORD")}
        assert len(set(passwords.values())) == 5
        assert all(len(value) == 32 for value in passwords.values())
        assert given["BIEM_POSTGRES_DSN"].count(passwords["POSTGRES_LOGIN_PASSWORD"]) == 1
        assert given["BIEM_MILVUS_TOKEN"] == f"root:{passwords['MILVUS_PASSWORD']}"
        assert "change-me" not in str(given)

    def test_no_password_has_a_default_and_nothing_is_unconfined(self) -> None:
        # Given both files
        text = "".join(path.read_text(encoding="utf-8") for path in COMPOSE)
        # When they are read / Then every password and token must be given, and no container is let off its limits
        used = re.findall(r"\$\{(\w*(?:PASSWORD|TOKEN|SECRET)\w*)([^}]*)\}", text)
        assert {name for name, _ in used} == {
            "POSTGRES_PASSWORD", "POSTGRES_LOGIN_PASSWORD", "REDIS_PASSWORD", "MILVUS_PASSWORD", "MINIO_PASSWORD",
            "BIEM_MILVUS_TOKEN",
        }  # fmt: skip
        assert all(rest.startswith((":?", "?")) for _, rest in used)
        assert not re.search(r"unconfined|privileged|cap_add|network_mode: *host", text)

    def test_only_migrations_log_in_as_the_owner_and_milvus_asks_for_a_password(self) -> None:
        # Given the services / When their logins are read
        services = {name: part for path in COMPOSE for name, part in documents(path)[0]["services"].items()}
        milvus = documents(COMPOSE[1])[0]["services"]["milvus"]["environment"]
        main = documents(COMPOSE[0])[0]["services"]
        owners = [name for name in ("migrate", "worker", "beat") if "//biem:" in str(main[name]["environment"])]
        # Then workers and beat own nothing, and wait for their login
        assert owners == ["migrate"]
        assert main["worker"]["depends_on"]["login"] == {"condition": "service_completed_successfully"}
        assert main["beat"]["depends_on"] == main["worker"]["depends_on"] == main["server"]["depends_on"]
        assert milvus["COMMON_SECURITY_AUTHORIZATIONENABLED"] == "true"
        # And what has no password is reached by Milvus alone
        reached = [name for name, part in services.items() if "milvus-store" in part.get("networks", ())]
        assert sorted(reached) == ["etcd", "milvus", "minio"]
        assert services["etcd"]["networks"] == services["minio"]["networks"] == ["milvus-store"]

    def test_the_image_runs_unprivileged_from_locks_with_hashes(self) -> None:
        # Given the Dockerfile / When its last user and its installs are read
        text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
        users = re.findall(r"(?m)^USER (.+)$", text)

        # Then the user is a number that Kubernetes can check, and each install has hashes or no dependencies
        assert users == ["10001:10001"]
        for install in re.findall(r"pip (?:install|wheel) [^\n]+", text):
            assert "--require-hashes" in install or "--no-deps" in install
        ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
        for source in re.findall(r"(?m)^COPY (?!--from)(.+) \S+$", text):
            assert all(f"!{path}" in ignored for path in source.split())

    def test_the_lock_of_the_image_pins_what_the_tests_run_on(self) -> None:
        # Given both locks / When they are compared / Then what both have has one version
        def pins(path: Path) -> set[str]:
            return set(re.findall(r"(?m)^([a-zA-Z0-9._-]+==[^ ;]+)", path.read_text(encoding="utf-8")))

        everything = pins(ROOT / "requirements.lock")
        image = pins(DEPLOY / "requirements.lock")
        assert image - everything == set()
        assert pins(DEPLOY / "build.lock") - everything == set()
        assert any(pin.startswith("prometheus-client==") for pin in image)
        assert not any(pin.startswith("pytest==") for pin in image)


class TestMonitoring:
    def expressions(self) -> Iterator[tuple[str, str]]:
        (rules,) = documents(DEPLOY / "prometheus" / "rules.yml")
        for group in rules["groups"]:
            for rule in group["rules"]:
                yield rule["alert"], rule["expr"]
        for panel in json.loads((DEPLOY / "grafana" / "biem.json").read_text(encoding="utf-8"))["panels"]:
            for target in panel["targets"]:
                yield panel["title"], target["expr"]

    def test_every_alert_and_panel_asks_for_metrics_that_exist(self) -> None:
        # Given the names that the exporter tells; a histogram has three
        told = set(METRICS) | {f"biem_span_seconds_{part}" for part in ("bucket", "sum", "count")}

        # When the expressions are read / Then they know no other, and every metric is looked at by a user
        asked: set[str] = set()
        for title, expression in self.expressions():
            names = set(re.findall(r"\bbiem_[a-z_]+", expression))
            assert names <= told, title
            asked |= names
        assert {name.replace("_seconds_bucket", "_seconds") for name in asked} >= set(METRICS)

    def test_every_span_that_is_asked_for_exists(self) -> None:
        # Given the spans of the source
        source = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "biem").rglob("*.py"))
        spans = set(re.findall(r'\.span\(\s*"(biem\.[a-z_.]+)"', source))

        # When alerts and panels select spans / Then at least one is found by each
        for title, expression in self.expressions():
            for operator, pattern in re.findall(r'span(=~|=)"([^"]+)"', expression):
                matched = [
                    span for span in spans if re.fullmatch(pattern if operator == "=~" else re.escape(pattern), span)
                ]
                assert matched, f"{title} asks for {pattern}"

    def test_every_alert_says_what_it_means_and_what_to_do(self) -> None:
        # Given the alerts / When their words are read / Then each has them, and thresholds lie within the buckets
        (rules,) = documents(DEPLOY / "prometheus" / "rules.yml")
        alerts = [rule for group in rules["groups"] for rule in group["rules"]]
        assert {"BiemOutboxLags", "BiemDeadLetters", "BiemNoWorker", "BiemRecallDegraded"} <= {
            alert["alert"] for alert in alerts
        }
        for alert in alerts:
            assert alert["labels"]["severity"] in ("info", "warning", "critical")
            assert alert["annotations"]["summary"]
            assert alert["annotations"]["description"]
        assert BUCKETS_S[0] < 0.5 < BUCKETS_S[-1]
        (tried,) = documents(DEPLOY / "prometheus" / "rules.test.yml")  # for promtool, which comes with no package
        fired = {one["alertname"] for test in tried["tests"] for one in test["alert_rule_test"] if one["exp_alerts"]}
        assert fired == {alert["alert"] for alert in alerts}

    def test_the_scraped_jobs_are_those_of_the_alerts(self) -> None:
        # Given the scrape configurations / When their jobs are compared with the alerts' / Then they are the same
        (scraped,) = documents(DEPLOY / "prometheus" / "prometheus.yml")
        jobs = {config["job_name"] for config in scraped["scrape_configs"]}
        asked = {job for _, expression in self.expressions() for job in re.findall(r'job="([^"]+)"', expression)}
        assert jobs == asked == {"biem-worker", "biem-beat"}
        services = {part["metadata"]["name"] for part in resources() if part["kind"] == "Service"}
        assert services == jobs | {"biem-server"}  # in the cluster, the service's name is the job
