"""A whole control plane on loopback ports, and a kubelet that only pretends: up in seconds, gone without a trace."""

import json
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.kube.api import Api
from tests.kube.processes import Processes, wait_for

ROOT = Path(__file__).parents[2]
_SERVICE_ACCOUNTS = "https://kubernetes.default.svc"
# With these on, every pod needs a service account and every new node carries a taint that no controller here removes.
_NO_ADMISSION = "ServiceAccount,TaintNodesByCondition"
# The one for daemon sets has nothing to do, but only it gives the one for evictions the index of pods that it reads.
_CONTROLLERS = (
    "resourceclaim-controller,namespace-controller,garbage-collector-controller,job-controller,"
    "daemonset-controller,taint-eviction-controller"
)
# As plain system:kube-controller-manager it may not create claims, and says so nowhere.
_USERS = {"admin": "system:masters", "manager": "system:masters", "kubelet": "system:masters", "scheduler": ""}


class Cluster:
    """The running control plane. `kubeconfig` is the administrator's; `api` is a client with the same rights."""

    def __init__(self, binary: Path, folder: Path) -> None:
        self.folder = folder
        self.kubeconfig = folder / "admin.kubeconfig"
        self.processes = Processes(folder)
        self.ports = dict(
            zip(["etcd", "peer", "apiserver", "scheduler", "manager", "kubelet"], _free_ports(6), strict=True)
        )
        self._binary = binary
        self._tokens = {user: secrets.token_hex(16) for user in _USERS}
        subprocess.run([binary, "certificate", folder], check=True)
        self._write_users()
        self.api = Api(self.ports["apiserver"], folder / "tls.crt", self._tokens["admin"])
        self.started_in_s = 0.0

    def start(self) -> None:
        begin = time.monotonic()
        self._start("etcd", self._etcd())
        self.start_apiserver()
        self._start("scheduler", self._scheduler())
        self._start("manager", self._manager())
        kubelet = [sys.executable, "-m", "tests.kube.kubelet", str(self.kubeconfig.with_name("kubelet.kubeconfig"))]
        quiet = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        self.processes.start("kubelet", [*kubelet, str(self.ports["kubelet"])], quiet | {"PYTHONPATH": str(ROOT)})
        for name in ("scheduler", "manager", "kubelet"):
            self._wait_for_port(name)
        self.started_in_s = time.monotonic() - begin

    def start_apiserver(self) -> None:
        self._start("apiserver", self._apiserver())
        self._wait(self.api.ready, "apiserver")

    def restart_apiserver(self) -> None:
        """As after a crash; a gentle end would wait for every watch."""
        self.processes.stop("apiserver", gently=False)
        self.start_apiserver()

    def stop(self) -> None:
        self.processes.stop_all()

    def version(self) -> str:
        return str(json.loads(self.api.request("GET", "/version"))["gitVersion"])

    def _start(self, name: str, flags: list[str]) -> None:
        self.processes.start(name, [str(self._binary), name, *flags])

    def _wait(self, true: Callable[[], object], name: str) -> None:
        def alive_and_true() -> object:
            self.processes.check(name)
            return true()

        wait_for(f"the {name}", alive_and_true)

    def _wait_for_port(self, name: str) -> None:
        def listens() -> bool:
            with socket.socket() as tried:
                return tried.connect_ex(("127.0.0.1", self.ports[name])) == 0

        self._wait(listens, name)

    def _write_users(self) -> None:
        lines = [f'{self._tokens[user]},{_login(user)},{user},"{group}"\n' for user, group in _USERS.items()]
        (self.folder / "tokens").write_text("".join(lines))
        server = {
            "server": f"https://127.0.0.1:{self.ports['apiserver']}",
            "certificate-authority": str(self.folder / "tls.crt"),
        }
        for user, token in self._tokens.items():
            content = {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": "tests", "cluster": server}],
                "users": [{"name": user, "user": {"token": token}}],
                "contexts": [{"name": "tests", "context": {"cluster": "tests", "user": user}}],
                "current-context": "tests",
            }
            (self.folder / f"{user}.kubeconfig").write_text(json.dumps(content))  # JSON is YAML

    def _etcd(self) -> list[str]:
        client, peer = (f"http://127.0.0.1:{self.ports[name]}" for name in ("etcd", "peer"))
        return [f"--data-dir={self.folder / 'etcd'}", f"--client-url={client}", f"--peer-url={peer}"]

    def _apiserver(self) -> list[str]:
        key = self.folder / "tls.key"
        return [
            f"--etcd-servers=http://127.0.0.1:{self.ports['etcd']}",
            *self._serve("apiserver"),
            f"--token-auth-file={self.folder / 'tokens'}",
            f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}",
            f"--service-account-issuer={_SERVICE_ACCOUNTS}",
            "--authorization-mode=RBAC",
            "--service-cluster-ip-range=10.0.0.0/16",
            "--endpoint-reconciler-type=none",
            f"--disable-admission-plugins={_NO_ADMISSION}",
        ]

    def _scheduler(self) -> list[str]:
        config = self.folder / "scheduler.json"
        kubeconfig = str(self.folder / "scheduler.kubeconfig")
        content = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "leaderElection": {"leaderElect": False},
            "clientConnection": {"kubeconfig": kubeconfig, "qps": 5000, "burst": 5000},
        }
        config.write_text(json.dumps(content))
        return [f"--config={config}", *self._serve("scheduler"), *_authorized(kubeconfig)]

    def _manager(self) -> list[str]:
        kubeconfig = str(self.folder / "manager.kubeconfig")
        return [
            f"--kubeconfig={kubeconfig}",
            *self._serve("manager"),
            *_authorized(kubeconfig),
            f"--controllers={_CONTROLLERS}",
            "--leader-elect=false",
            "--use-service-account-credentials=false",
            "--kube-api-qps=500",
            "--kube-api-burst=1000",
        ]

    def _serve(self, name: str) -> list[str]:
        return [
            "--bind-address=127.0.0.1",
            f"--secure-port={self.ports[name]}",
            f"--tls-cert-file={self.folder / 'tls.crt'}",
            f"--tls-private-key-file={self.folder / 'tls.key'}",
        ]


def _login(user: str) -> str:
    return "system:kube-scheduler" if user == "scheduler" else user  # RBAC knows this one from the start


def _authorized(kubeconfig: str) -> list[str]:
    return [
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        "--authentication-skip-lookup",  # of client certificates, which nobody has here
    ]


def _free_ports(count: int) -> list[int]:
    """Take all before giving any back, so that no two are the same."""
    taken = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in taken]
    for each in taken:
        each.close()
    return ports
