"""Whether a toolkit runs on the driver of a node, before anything is started there.

Pure: what is known stands in `data/drivers.toml`, what is found is the `driver` map of a node of the fleet document.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from hetero_ops.gap.driver_table import DriverTable, Feature, version_of
from hetero_ops.gap.version import Version, is_at_least, parse_version

Verdict = Literal["ok", "ok-reduced", "fail", "unknown"]

_CUDA_SOURCE = "NVIDIA CUDA Compatibility"
_RELEASE = 2  # major and minor: what a release is called by


@dataclass(frozen=True, slots=True)
class Preflight:
    """What can be said before the start.

    Attributes:
        verdict: `ok`; `ok-reduced`, it runs, but what is newer than the driver may not; `fail`; or `unknown`, which is
            never to be taken for ok.
        toolkit: what was asked for, such as `cuda`, or a feature of a device, such as `mig`.
        wanted: the version asked for, or the lowest driver of a feature; `None` when no rule says it.
        found: the version of the driver that was judged; `None` when the node states none.
        why: one sentence.
        source: where the rule was read; `None` when there is none.
    """

    verdict: Verdict
    toolkit: str
    wanted: str | None
    found: str | None
    why: str
    source: str | None = None


@dataclass(frozen=True, slots=True)
class _Question:
    toolkit: str
    text: str
    version: Version
    driver: Mapping[str, str]
    sku: str | None

    def answer(self, verdict: Verdict, found: str | None, why: str, source: str | None = None) -> Preflight:
        return Preflight(verdict, self.toolkit, self.text, found, why, source)

    def unread(self, key: str) -> Preflight:
        """The answer where the driver is not stated, or not as a version."""
        found = self.driver.get(key)
        return self.answer("unknown", found, _unread(key, found))


def verdict(toolkit: str, version: str, driver: Mapping[str, str], *, sku: str | None = None) -> Preflight:
    """Judges a toolkit against the driver of a node.

    Args:
        toolkit: `cuda`, `rocm`, `cann`, `gaudi` or `neuware`; any other is unknown.
        version: of the toolkit, as `12.8` or `8.5.0.alpha001`.
        driver: versions by key, as the node of a fleet document has them: `nvidia`, `cuda` (the highest CUDA that the
            driver supports), `amd` (the kernel module), `amdgpu` (the driver in its own numbering), `rocm-kernel` (the
            ROCm release that the kernel driver came with), `huawei` (HDK), `habana`, `cambricon`.
        sku: the device, where a rule depends on it (`neuware`).
    """
    rule = _RULES.get(toolkit.lower())
    if rule is None:
        return Preflight("unknown", toolkit, version, None, f"no rule for {toolkit}; known are {', '.join(_RULES)}")
    wanted = parse_version(version)
    if wanted is None:
        return Preflight("unknown", toolkit, version, None, f"{version!r} is no version of {toolkit}")
    return rule(_Question(toolkit.lower(), version, wanted, driver, sku))


def device_verdict(feature: Feature, sku: str, driver: Mapping[str, str]) -> Preflight:
    """Judges the driver of a node against what a feature of a device needs, such as MIG on an H200."""
    row = DriverTable.builtin().device_floor(feature, sku)
    if row is None:
        return Preflight("unknown", feature, None, None, f"no lowest driver is known for {feature} on {sku}")
    found = driver.get(row.key)
    version = parse_version(found or "")
    is_enough = None if version is None else is_at_least(version, version_of(row.driver))
    if is_enough is None:
        return Preflight("unknown", feature, row.driver, found, _unread(row.key, found), row.source)
    if is_enough:
        return Preflight(
            "ok", feature, row.driver, found, f"driver {found} is new enough for {feature} on {sku}", row.source
        )
    why = f"{feature} on {sku} needs driver {row.driver} or newer"
    return Preflight("fail", feature, row.driver, found, why, row.source)


def _unread(key: str, found: str | None) -> str:
    return (
        f"the node states no driver version for {key}" if not found else f"driver {found!r} of {key} cannot be judged"
    )


def _cuda(question: _Question) -> Preflight:
    found = question.driver.get("nvidia")
    version = parse_version(found or "")
    if version is None:
        return question.unread("nvidia")
    major = question.version[0]
    row = next((row for row in DriverTable.builtin().cuda if row.major == major), None)
    is_enough = row is None or is_at_least(version, version_of(row.driver))
    if is_enough is None:
        return question.unread("nvidia")
    if row is not None and not is_enough:
        return question.answer("fail", found, f"CUDA {major} needs driver {row.driver} or newer", row.source)
    doubt = _cuda_doubt(question, version)
    if doubt is None:
        return question.answer("ok", found, f"the driver supports all of CUDA {question.text}", _CUDA_SOURCE)
    if row is None:
        return question.answer("unknown", found, f"no lowest driver is known for CUDA {major}; {doubt}")
    return question.answer("ok-reduced", found, doubt, row.source)


def _cuda_doubt(question: _Question, version: Version) -> str | None:
    """Why a driver may not support all of a CUDA; `None` where it does."""
    stated = question.driver.get("cuda", "")
    ceiling = parse_version(stated)
    if ceiling is not None:
        if _covers(ceiling, question.version):
            return None
        return f"the driver itself supports CUDA {stated}: newer features and compiling PTX need a newer driver"
    later = [row.driver for row in DriverTable.builtin().cuda if row.major > question.version[0]]
    # A driver that is enough for a later major came after every minor of this one, and runs what is older.
    if any(is_at_least(version, version_of(driver)) for driver in later):
        return None
    return "the node does not state up to which CUDA the driver supports everything"


def _covers(ceiling: Version, wanted: Version) -> bool:
    """Whether a driver supports all of a CUDA; a ceiling is a release, so a patch of it does not count."""
    if len(wanted) < _RELEASE:
        return ceiling[0] > wanted[0]
    return is_at_least(ceiling, wanted[:_RELEASE]) is True


def _rocm(question: _Question) -> Preflight:
    if len(question.version) < _RELEASE:
        return question.answer("unknown", None, f"ROCm {question.text} is no release; write it as 6.3")
    release = question.version[:_RELEASE]
    if question.driver.get("rocm-kernel"):
        return _rocm_window(question, release)
    key = "amdgpu" if question.driver.get("amdgpu") else "amd"
    found = question.driver.get(key)
    version = parse_version(found or "")
    if version is None:
        return question.unread(key)
    row = next((row for row in DriverTable.builtin().amdgpu if version_of(row.driver) == version), None)
    if row is None:
        why = f"kernel module {found} is no ROCm release; state the one it came with as rocm-kernel"
        return question.answer("unknown", found, why)
    if release in map(version_of, row.rocm):
        return question.answer("ok", found, f"amdgpu {found} is stated for ROCm {question.text}", row.source)
    why = f"amdgpu {found} is stated for ROCm {', '.join(row.rocm)}, not for {question.text}"
    return question.answer("unknown", found, why, row.source)


def _rocm_window(question: _Question, release: Version) -> Preflight:
    found = question.driver["rocm-kernel"]
    kernel = parse_version(found)
    if kernel is None:
        return question.unread("rocm-kernel")
    rows = DriverTable.builtin().rocm_window
    row = next((row for row in rows if version_of(row.kernel) == kernel[:_RELEASE]), None)
    if row is None:
        return question.answer("unknown", found, f"no window is known for the kernel driver of ROCm {found}")
    why = f"the kernel driver of ROCm {row.kernel} carries ROCm {row.first} to {row.last}"
    is_inside = version_of(row.first) <= release <= version_of(row.last)
    return question.answer("ok" if is_inside else "fail", found, why, row.source)


def _cann(question: _Question) -> Preflight:
    found = question.driver.get("huawei")
    version = parse_version(found or "")
    if version is None:
        return question.unread("huawei")
    row = next((row for row in DriverTable.builtin().cann if version_of(row.release) == question.version), None)
    if row is None:
        why = f"no HDK is known for CANN {question.text}; look into its release note"
        return question.answer("unknown", found, why)
    line = version_of(row.hdk)
    if len(version) < len(line):
        return question.unread("huawei")
    why = f"CANN {question.text} and HDK {row.hdk} go together ({row.strength})"
    if version[: len(line)] == line:
        return question.answer("ok", found, why, row.source)
    return question.answer("fail" if row.strength == "required" else "unknown", found, why, row.source)


def _gaudi(question: _Question) -> Preflight:
    found = question.driver.get("habana")
    version = parse_version(found or "")
    if version is None:
        return question.unread("habana")
    source = DriverTable.builtin().gaudi_source
    if len(version) > _RELEASE and version[:3] == question.version[:3]:
        return question.answer("ok", found, "driver and software are of one release", source)
    why = "driver and software must stand in one row of the support matrix: compare with it"
    return question.answer("unknown", found, why, source)


def _neuware(question: _Question) -> Preflight:
    if question.sku is None:
        return question.answer("unknown", None, "the lowest driver depends on the device: name its sku")
    device = device_verdict("device-plugin", question.sku, question.driver)
    if device.verdict == "fail":
        return question.answer("fail", device.found, device.why, device.source)
    why = "no driver is known for a version of Neuware" if device.verdict == "ok" else device.why
    return question.answer("unknown", device.found, why)


_RULES: dict[str, Callable[[_Question], Preflight]] = {
    "cuda": _cuda,
    "rocm": _rocm,
    "cann": _cann,
    "gaudi": _gaudi,
    "neuware": _neuware,
}
