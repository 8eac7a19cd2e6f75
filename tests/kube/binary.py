"""The control plane's binary: built once for one state of its Go module, and kept.

Run as a script it builds what is missing and prints where it lies. The standard library is enough for it.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

MODULE = Path(__file__).parent / "controlplane"
BUILD = Path(__file__).parents[2] / "build" / "controlplane"


def version() -> str:
    """Give the version of Kubernetes that go.mod asks for, such as `1.36.3`."""
    found = re.search(r"^\s*(?:require )?k8s\.io/kubernetes v(\S+)$", (MODULE / "go.mod").read_text(), re.MULTILINE)
    assert found, "go.mod names no k8s.io/kubernetes"
    return found[1]


def path() -> Path:
    """Give where the binary of the module as it is now lies, or would lie."""
    hashed = hashlib.sha256()
    for file in [MODULE / "go.mod", MODULE / "go.sum", *sorted(MODULE.glob("*.go"))]:
        hashed.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return BUILD / hashed.hexdigest()[:16] / "controlplane"


def missing() -> str | None:
    """Say why there is no binary, or None where there is one."""
    if path().exists():
        return None
    return "not built: run `make controlplane`" if shutil.which("go") else "no Go on this machine"


def build() -> None:
    """Build the binary. Minutes with an empty cache of Go, seconds otherwise."""
    target = path()
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_suffix(f".{os.getpid()}")  # an interrupted build leaves no binary that looks whole
    major, minor, _ = version().split(".")
    stamp = "-X k8s.io/component-base/version."  # without it the server calls itself v0.0.0 and clients complain
    flags = f"-s -w {stamp}gitVersion=v{version()} {stamp}gitMajor={major} {stamp}gitMinor={minor}"
    same = ["-mod=readonly", "-trimpath", "-buildvcs=false"]  # nothing but the module decides what is built
    command = ["go", "build", *same, f"-ldflags={flags}", "-o", str(unfinished), "."]
    subprocess.run(command, cwd=MODULE, env=os.environ | {"CGO_ENABLED": "0"}, check=True)
    unfinished.rename(target)


if __name__ == "__main__":
    reason = missing()
    if reason and reason.startswith("no Go"):
        sys.exit("go is missing: install Go 1.26 or newer, https://go.dev/dl")
    if reason:
        build()
    print(path())  # noqa: T201 - the answer
