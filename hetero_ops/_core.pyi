"""The Rust core as Python sees it."""

from collections.abc import Callable, Sequence
from typing import Any, Final, Never, Self, final

from typing_extensions import disjoint_base

__all__ = [
    "VERSION",
    "AskedTask",
    "Candidate",
    "Candidates",
    "Cut",
    "CutPart",
    "Decision",
    "Fleet",
    "Grant",
    "GroupGrant",
    "NoFit",
    "Placement",
    "Request",
    "affinity",
    "codes",
    "fits_together",
    "fleet_schema",
    "simulate",
    "simulate_timed",
]

VERSION: Final[str]

def affinity(catalog: bytes, request: bytes, policy: str) -> str:
    """How well a whole device of the first profile of a catalog suits a request under a policy; all else as JSON."""

def codes() -> str:
    """The registry of reason codes, as TOML."""

def fits_together(catalog: bytes, names: Sequence[str], placed: Sequence[tuple[str, int]]) -> bool:
    """Whether a device can hold the partitions of these names at once, beside those that are placed already.

    Each placed one is given with the memory slice at which it begins. The catalog is JSON; the device is its first
    profile.
    """

def fleet_schema() -> str:
    """The JSON Schema of the fleet document."""

def simulate(
    fleet: Fleet,
    trace: bytes,
    policies: Sequence[tuple[str, bytes | Callable[[AskedTask, Candidates], object] | None]],
    seeds: list[int],
    arrival_milli: int,
    threads: int,
    *,
    with_learned_mix: bool = False,
    against: str | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> str:
    """Replays a trace on a copy of the fleet, each policy with each seed, as JSON. Changes nothing.

    A policy is a name and nothing, the weights of the core's as JSON, or a callable that gets a task and candidates.
    `arrival_milli` is the demand that arrives, thousandths of the capacity; `against` the policy that the others are
    compared with; `threads` is 0 for one a core; `progress` is called with decisions taken and expected. Ctrl-C, and
    whatever `progress` or a policy raises, ends the replay within a tenth of a second.
    """

def simulate_timed(
    fleet: Fleet,
    trace: bytes,
    policies: Sequence[tuple[str, bytes | Callable[[AskedTask, Candidates], object] | None]],
    seeds: list[int],
    orders: list[str],
    squeeze_milli: int,
    patience_s: int,
    threads: int,
    *,
    with_learned_mix: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> str:
    """Replays a trace with time on a copy of the fleet, each policy with each order of the queue and seed, as JSON.

    `squeeze_milli` is what times between arrivals are divided by, thousandths; `patience_s` how long a task waits
    before a node is kept for it. The rest is as in `simulate`. Changes nothing.
    """

@final
class AskedTask:
    """What a task of a trace asks for."""

    @property
    def count(self) -> int:
        """Devices; 0 for none."""
    @property
    def share_milli(self) -> int:
        """Share of each device, thousandths."""
    @property
    def cpu_milli(self) -> int:
        """CPU, thousandths of a core."""
    @property
    def memory_mib(self) -> int:
        """Host memory, MiB."""

@final
class Candidates:
    """Nodes where a task fits, in the order in which ties should go."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> Candidate: ...

@final
class Candidate:
    """A node where a task fits."""

    @property
    def node(self) -> str:
        """Name."""
    @property
    def cluster(self) -> str:
        """Cluster."""
    @property
    def cpu_milli(self) -> int | None:
        """CPU in all, thousandths of a core; None where unknown."""
    @property
    def free_cpu_milli(self) -> int | None:
        """Free CPU; None where unknown."""
    @property
    def free_memory_mib(self) -> int | None:
        """Free host memory; None where unknown."""
    @property
    def free_milli(self) -> list[tuple[int, int]]:
        """Free share of every device, thousandths, by id."""
    @property
    def models(self) -> list[tuple[int, str | None]]:
        """Model of every device by id; None where unknown."""
    @property
    def usable(self) -> list[int]:
        """Ids of the devices that the task may take."""

@final
class Request:
    """A compiled requirement: built once, asked many times."""

    def __new__(cls, text: bytes) -> Self: ...
    @property
    def requirement(self) -> str:
        """Canonical text of the requirement."""

@final
class Grant:
    """One granted device."""

    @property
    def node(self) -> str:
        """Node."""
    @property
    def id(self) -> int:
        """Id within the node."""
    @property
    def uuid(self) -> str | None:
        """UUID, where known."""
    @property
    def share_milli(self) -> int:
        """Share granted, thousandths of the device."""

@final
class GroupGrant:
    """What one group of a step gets."""

    @property
    def choice(self) -> str:
        """What the group asks for, as `Ascend-910B`."""
    @property
    def node(self) -> str:
        """Node."""
    @property
    def devices(self) -> list[Grant]:
        """Its devices; none for a group of CPU cores."""
    @property
    def vendor(self) -> str | None:
        """Vendor of the devices; None for CPU cores, or unknown."""
    @property
    def accelerator_class(self) -> str | None:
        """Broad kind of the devices, as `gpu`; None for CPU cores, or unknown."""
    @property
    def sku(self) -> str | None:
        """Catalog key of the devices; None for CPU cores, or outside the catalog."""
    @property
    def model(self) -> str | None:
        """Model of the devices; None for CPU cores, or unknown."""
    @property
    def partition(self) -> str | None:
        """Name of the hardware partition that each granted device is; None for whole devices and shares."""
    @property
    def memory_mib(self) -> int | None:
        """Memory granted on each device, MiB; None for CPU cores, or unknown."""
    @property
    def cpu_milli(self) -> int:
        """CPU granted, thousandths of a core."""

@final
class CutPart:
    """A partition that a cut makes."""

    @property
    def partition(self) -> str:
        """Its name, as `1g.10gb`."""
    @property
    def id(self) -> int:
        """The id that it gets within the node."""
    @property
    def start(self) -> int | None:
        """Memory slice at which it begins; None for a mode, which has no slices."""

@final
class Cut:
    """A device that has to be cut into partitions before a step can run."""

    @property
    def cluster(self) -> str:
        """Cluster."""
    @property
    def node(self) -> str:
        """Node."""
    @property
    def device(self) -> int:
        """Id of the device within the node; it is gone afterwards."""
    @property
    def uuid(self) -> str | None:
        """Its UUID, where known."""
    @property
    def sku(self) -> str:
        """Its catalog key."""
    @property
    def parts(self) -> list[CutPart]:
        """What it is cut into, largest first."""

@disjoint_base
class Decision:
    """The answer to a question: a `Placement` or a `NoFit`."""

    def __new__(cls, *args: Never) -> Self: ...
    @property
    def ok(self) -> bool:
        """Whether the step can run."""
    @property
    def verdict(self) -> str:
        """`placed`, `degraded`, `busy` or `impossible`."""
    @property
    def requirement(self) -> str:
        """Canonical text of the requirement."""
    @property
    def nodes(self) -> list[str]:
        """Names of the nodes; none when nothing fits."""
    @property
    def devices(self) -> list[Grant]:
        """Granted devices; none when nothing fits, and for a step that asks for CPU only."""
    @property
    def trace_id(self) -> str:
        """Digest of the question: the same question has the same id."""
    def why(self) -> str:
        """The decision in words: where, the terms of the score, and why not elsewhere."""
    def to_json(self) -> str:
        """The decision as JSON."""
    @staticmethod
    def from_json(text: str) -> Placement | NoFit:
        """Reads what `to_json` wrote. Raises InvalidDocument for anything else."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Placement(Decision):
    """Where a step goes."""

    @property
    def choice(self) -> str:
        """The choice that was granted, as `MI300X`."""
    @property
    def choice_index(self) -> int:
        """Its place in the order of choices, from 0."""
    @property
    def score(self) -> float:
        """0..=100."""
    @property
    def cluster(self) -> str:
        """Cluster."""
    @property
    def cpu_milli(self) -> int:
        """CPU granted, thousandths of a core; 0 where none was asked."""
    @property
    def vendor(self) -> str | None:
        """Vendor of the granted devices; None for CPU only, or unknown."""
    @property
    def accelerator_class(self) -> str | None:
        """Broad kind of the granted devices, as `gpu`; None for CPU only, or unknown."""
    @property
    def sku(self) -> str | None:
        """Catalog key of the granted devices; None for CPU only, or outside the catalog."""
    @property
    def model(self) -> str | None:
        """Model of the granted devices; None for CPU only, or unknown."""
    @property
    def partition(self) -> str | None:
        """Name of the hardware partition that each granted device is; None for whole devices and shares."""
    @property
    def memory_mib(self) -> int | None:
        """Memory granted on each device, MiB; None for CPU only, or unknown."""
    @property
    def groups(self) -> list[GroupGrant]:
        """What each group gets, of a step that asks for devices of several kinds; none otherwise."""
    @property
    def cut(self) -> Cut | None:
        """What has to be cut first; None where all devices are there."""
    @property
    def notes(self) -> list[tuple[str, str]]:
        """Warnings as pairs of code and text: what may be wanted otherwise, as that groups lie on several nodes."""
    @property
    def quantize(self) -> str | None:
        """Precision that the step is to be quantized to; None where it is not."""
    @property
    def precision(self) -> str | None:
        """Precision granted; None where none was asked."""

@final
class NoFit(Decision):
    """Why a step goes nowhere."""

    @property
    def codes(self) -> list[str]:
        """The codes of all reasons, nearest miss first, each once."""

@final
class Fleet:
    """All clusters: built once, changed by small steps, asked many times. Safe to share between threads."""

    def __new__(cls, document: bytes, profiles: bytes) -> Self: ...
    @staticmethod
    def from_json(text: bytes) -> Fleet:
        """Reads a snapshot that `to_json` wrote."""
    def to_json(self) -> bytes:
        """The whole state, holds included, as JSON bytes."""
    def place(
        self, request: Request, *, policy: str = "aware", seed: int = 0, key: str = "", weights: bytes | None = None
    ) -> Placement | NoFit:
        """The best placement, or the reasons for none. Changes nothing."""
    def place_each(
        self,
        requests: list[Request],
        *,
        policy: str = "aware",
        seed: int = 0,
        key: str = "",
        weights: bytes | None = None,
        threads: int = 0,
    ) -> list[Placement | NoFit]:
        """The decision of each request at the present state, in their order. Changes nothing; Ctrl-C ends it.

        `threads` is 0 for one a core.
        """
    def explain(
        self, request: Request, *, policy: str = "aware", seed: int = 0, key: str = "", weights: bytes | None = None
    ) -> str:
        """The decision with every candidate, every refusal and the counts of each stage, as JSON. Changes nothing."""
    def score(self, request: Request, *, policy: str = "aware", weights: bytes | None = None) -> str:
        """The score of every candidate over all choices, every refusal, and the affinity of each kind, as JSON."""
    def suggest_partitions(self) -> str:
        """A layout of partitions for every idle device that may be cut, as JSON. Changes nothing."""
    def may_be_cut(self) -> bool:
        """Whether a pool lets any device be cut into partitions."""
    def commit(self, placement: Placement) -> int:
        """Takes the capacity of a placement; returns the hold. A device that has to be cut for it is cut."""
    def holding(self, placement: Placement) -> str:
        """What a placement would hold and take, by names, as JSON. Raises StalePlacement when what it names changed."""
    def occupy(self, holds: bytes) -> int:
        """Takes what a reservation made elsewhere holds, as JSON, as far as it is there; returns the hold."""
    def release(self, hold: int) -> None:
        """Gives the capacity of a hold back. Raises UnknownHold when there is no such hold."""
    def fragmentation(self) -> str:
        """Fragmentation under the mix in use, as JSON."""
    def overview(self) -> str:
        """Devices by pool and kind, as JSON."""
    def pool_names(self) -> list[str]:
        """The names of all pools."""
    def pools(self) -> str:
        """What the pools that share clusters have, as JSON."""
    def stated_mix(self) -> str:
        """The mix that the document states, as written, as JSON."""
    def stated_limits(self) -> str:
        """The limits that the document states, as written, as JSON."""

    def set_limits(self, limits: bytes) -> None:
        """Holds teams to these limits from now on; what is in use counts."""

    def set_spent(self, spent: bytes) -> None:
        """Takes what was spent of each budget in its present window, as JSON, in the order of the limits."""

    def spending(self, placement: Placement) -> str:
        """What an hour of a placement spends of each budget, as JSON, in the order of the limits."""

    def set_measured(self, table: bytes) -> None:
        """Takes speeds from these measurements from now on, where they have them."""

    def observe(self, readings: bytes) -> None:
        """Takes readings of devices into account from now on, as JSON, all or none."""

    def readings(self) -> str:
        """The last readings that still tell something, as JSON."""

    def set_mix(self, mix: bytes) -> None:
        """Measures fragmentation against another mix from now on."""
    def place_all(self, requests: list[Request], tasks: bytes, settings: bytes) -> tuple[list[Placement | NoFit], str]:
        """Plans many steps at once: the decision of each, and the report as JSON. Changes nothing.

        `tasks` is JSON: of each task `request`, its place in `requests`, `priority` and `age_s`.
        """
    def batch_programme(self, requests: list[Request], tasks: bytes, settings: bytes) -> str:
        """The integer programme of a batch, as JSON: every way to place every request, and what is free."""
    def batch_settle(
        self, requests: list[Request], tasks: bytes, settings: bytes, chosen: list[int | None], bound: int | None
    ) -> tuple[list[Placement | NoFit], str]:
        """The plan that a solution of the programme is, as `place_all`.

        `chosen` is of each task the place of its offer, `bound` what was proved, if anything.
        """
    def place_dag(self, requests: list[Request], steps: bytes, settings: bytes) -> tuple[list[Placement | NoFit], str]:
        """Plans a pipeline: the decision of each step, and the report as JSON. Changes nothing; Ctrl-C ends it.

        `requests` is by step; `steps` is JSON: of each `after` and `near`, places of others, and `duration_s`.
        """
    def simulate_batch(self, trace: bytes, question: bytes) -> str:
        """Plans the tasks of a trace as one batch, as JSON. Changes nothing."""
    def foreign_models(self) -> list[str]:
        """Models in the fleet that the catalog does not have."""
    def __reduce__(self) -> tuple[Any, ...]: ...
