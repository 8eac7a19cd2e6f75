"""`Fleet`: what exists and what is free; asks the core where steps go."""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

from hetero_ops._core import Fleet as CoreFleet
from hetero_ops._core import NoFit, Placement, Request
from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.compile import compile_request
from hetero_ops.gap.requirement import AnyRequirement, Requirement
from hetero_ops.gap.throughput import ThroughputTable, read_throughput
from hetero_ops.inventory.reading import Reading
from hetero_ops.inventory.source import FleetSource, read_fleet
from hetero_ops.placement import batch, pipeline, pipeline_plan
from hetero_ops.placement.allotments import Allotments
from hetero_ops.placement.ambiguity import RequirementWarning, warnings_on
from hetero_ops.placement.door import as_json, check_seed, profiles
from hetero_ops.placement.holds import Holds
from hetero_ops.placement.limit import compile_limits
from hetero_ops.placement.mix import compile_mix, read_mix
from hetero_ops.placement.pool import check_pools
from hetero_ops.placement.replays import Replays
from hetero_ops.placement.report import (
    Explanation,
    FragmentationReport,
    OverviewRow,
    PartitionSuggestion,
    ScoreReport,
)

# Compiled requests kept; pipelines ask the same few again and again.
_MAX_REQUESTS = 1024


class Fleet(Replays, Allotments, Holds):
    """All clusters of a fleet. Built once, asked many times; safe to share between threads, and it pickles.

    Placing changes nothing. `commit` takes the capacity of a placement in this object, `release` gives it back;
    nothing is written anywhere.
    """

    __slots__ = ("_catalog", "_core", "_foreign_models", "_pool_names", "_requests")

    def __init__(self, core: CoreFleet, catalog: Catalog) -> None:
        """Wraps a fleet of the core; `load` and `from_document` are the usual ways in."""
        self._core = core
        self._catalog = catalog
        self._foreign_models = tuple(core.foreign_models())
        self._pool_names = tuple(core.pool_names())
        self._requests: dict[str | Requirement, Request] = {}

    @classmethod
    def load(
        cls,
        source: str | os.PathLike[str],
        *,
        mix: str | os.PathLike[str] | None = None,
        measured: str | os.PathLike[str] | None = None,
        catalog: Catalog | None = None,
    ) -> Self:
        """Reads a fleet.

        Args:
            source: a fleet file (YAML or JSON), a directory of them, `-` for standard input, or a node list in the
                columns of the openb trace (`.csv`).
            mix: a file with the expected workload, instead of the one that the document states.
            measured: a table of measured throughput; speeds of steps with a `workload` come from it where it has them.
            catalog: where device models are looked up; that of `Catalog.default` when none is given.

        Raises:
            InvalidDocument: what is wrong, in which file and line, and what to do.
        """
        catalog = catalog or Catalog.default()
        fleet = cls.from_source(read_fleet(os.fspath(source), catalog), mix=mix, catalog=catalog)
        if measured is not None:
            fleet.use_measured(read_throughput(Path(measured), catalog))
        return fleet

    @classmethod
    def from_document(cls, document: Mapping[str, Any], *, catalog: Catalog | None = None) -> Self:
        """Builds a fleet from a fleet document in memory.

        Raises:
            InvalidDocument: what is wrong and where in the document.
        """
        return cls.from_source(FleetSource(dict(document), "the document"), mix=None, catalog=catalog)

    @classmethod
    def from_source(
        cls, source: FleetSource, *, mix: str | os.PathLike[str] | None = None, catalog: Catalog | None = None
    ) -> Self:
        """Builds a fleet from what was read; errors name the file and line that they come from.

        Raises:
            InvalidDocument: what is wrong, in which file and line, and what to do.
        """
        catalog = catalog or Catalog.default()
        try:
            core = CoreFleet(as_json(source.document), profiles(catalog))
            fleet = cls(core, catalog)
            if limits := json.loads(core.stated_limits()):
                core.set_limits(compile_limits(limits, catalog, fleet._foreign_models))
            if stated := json.loads(core.stated_mix()):
                core.set_mix(compile_mix(stated, "document", catalog, fleet._foreign_models))
        except InvalidDocument as error:
            where = f"{source.where(error.path)}: " + (f"{error.path}: " if error.path else "")
            raise InvalidDocument(f"{where}{error}", error.path, source.line_of(error.path)) from None
        if mix is not None:
            core.set_mix(read_mix(Path(mix), catalog, fleet._foreign_models))
        return fleet

    @property
    def catalog(self) -> Catalog:
        """Where device models are looked up."""
        return self._catalog

    def use_measured(self, table: ThroughputTable) -> None:
        """Takes speeds from measurements from now on, where they have the `workload` of a step and the device.

        The roofline of the catalog stays for the rest. Answers name the source that counted.
        """
        self._core.set_measured(json.dumps(table.for_core(self._foreign_models)).encode())

    def observe(self, readings: Iterable[Reading]) -> None:
        """Takes readings of devices into account from now on: all of them, or none when one is wrong.

        A reading replaces the last one of its device. It counts until a step comes or goes there; from then on the
        device is estimated again, by its TDP, until it is read anew. Decisions use the power; the rest is for reports.

        Raises:
            InvalidDocument: a node or device is not there, or a figure is none; the path says which reading.
        """
        self._core.observe(json.dumps([reading.for_core() for reading in readings]).encode())

    def readings(self) -> list[Reading]:
        """The last readings that still tell something, by cluster, node and device."""
        return [Reading(**reading) for reading in json.loads(self._core.readings())]

    @classmethod
    def from_json(cls, text: bytes) -> Self:
        """Reads what `to_json` wrote."""
        return cls(CoreFleet.from_json(text), Catalog.default())

    def to_json(self) -> bytes:
        """The whole state, holds included: for pickling, support and replay."""
        return self._core.to_json()

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restore, (self.to_json(), self._catalog))

    def place(
        self,
        requirement: AnyRequirement,
        *,
        policy: str = "aware",
        seed: int = 0,
        key: str = "",
        weights: Mapping[str, int] | None = None,
    ) -> Placement | NoFit:
        """The best placement, or the reasons for none. Changes nothing; the same question has the same answer.

        A step for a partition that is not there may go to one that comes from cutting an idle device, where its pool
        says `repartition: true`: then `placement.cut` says what has to be cut first.

        Args:
            requirement: what the step asks for, as `H100:8 | MI300X:8 where >=80GB bf16 fabric`.
            policy: how candidates are judged, `aware` or `classic`; docs/scores.md says how.
            seed: tells questions apart.
            key: what the caller wants to tell its questions apart by; part of the trace id.
            weights: of the terms `performance`, `topology`, `fragmentation`, `power`, and `draw` where power is to be
                saved, instead of the policy's own, and `numa_penalty_milli`, what a pair of devices across NUMA nodes
                loses (0 to 500; 150 if not said).

        Raises:
            InvalidRequirement: the requirement cannot be understood, or names a model that nobody knows.
        """
        check_seed(seed)
        request, table = self._request(requirement), _table(weights)
        return self._core.place(request, policy=policy, seed=seed, key=key, weights=table)

    def place_each(
        self,
        requirements: Iterable[AnyRequirement],
        *,
        policy: str = "aware",
        seed: int = 0,
        key: str = "",
        weights: Mapping[str, int] | None = None,
    ) -> list[Placement | NoFit]:
        """The decision of `place` for each requirement, in their order, at the present state: none depends on another.

        Two of them may have the same device cut: the second to be committed is stale then, and placed again.

        Many are answered in parallel, on all cores; the threads end with the call, so it may be used before and after a
        fork. Ctrl-C ends it.

        Args:
            requirements: what the steps ask for.
            policy: as for `place`.
            seed: as for `place`.
            key: as for `place`.
            weights: as for `place`.

        Raises:
            InvalidRequirement: as `place`, for the first requirement that is wrong.
        """
        check_seed(seed)
        requests = [self._request(requirement) for requirement in requirements]
        return self._core.place_each(requests, policy=policy, seed=seed, key=key, weights=_table(weights))

    def place_all(  # noqa: PLR0913 - a search has many settings, all with defaults
        self,
        requests: Iterable[batch.Step | AnyRequirement],
        *,
        solver: str = "search",
        objective: str = "order",
        time_limit_s: float = 10,
        steps: int | None = None,
        weights: Mapping[str, float] | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> batch.Plan:
        """Plans many steps at once. Changes nothing; docs/batch.md says what a good plan is.

        Steps for partitions go to those that exist: a plan cuts no device.

        Args:
            requests: the steps: requirements, or `Step` with priority and age.
            solver: `greedy`, `search`, `genetic`, or for small batches `exact` (needs the extra of that name).
            objective: `order` (priority, then age, then allocation), `fair` (priority, then teams in turn by how much
                of their quotas they have), or `allocation` alone.
            time_limit_s: the best plan so far is taken then; the first one is always finished.
            steps: the same after so many steps of the search; plans then repeat, whatever the number of threads.
            weights: of the cost: `alpha` waiting, `beta` unusable capacity, `gamma` power.
            seed: of all that is drawn.
            threads: how many; one a core when `None`.

        Raises:
            InvalidRequirement: a request or a setting cannot be understood, or is nothing for `exact`.
            KeyboardInterrupt: Ctrl-C, within a tenth of a second.
        """
        check_seed(seed)
        search = batch.Search(solver, objective, time_limit_s, steps, seed, threads, weights)
        return batch.plan(self._core, list(requests), search, self._compile)

    def place_dag(
        self, steps: Iterable[pipeline.PipelineStep], *, near_points: float = 1
    ) -> pipeline_plan.PipelinePlan:
        """Plans a pipeline before it runs: where each step goes, and which has to wait for which.

        All steps that may run together fit together. A plan cuts no device into partitions. Changes nothing; the same
        question has the same answer. docs/batch.md says what a good plan is.

        Args:
            steps: the steps, in any order; at most 1000.
            near_points: points of the score, of 100, that a place nearer to the data may cost.

        Raises:
            InvalidRequirement: a step cannot be understood, has the name of another, names one that is not there, or
                comes after itself.
            KeyboardInterrupt: Ctrl-C.
        """
        return pipeline_plan.plan(self._core, list(steps), near_points, self._request)

    def explain(
        self,
        requirement: AnyRequirement,
        *,
        policy: str = "aware",
        seed: int = 0,
        key: str = "",
        weights: Mapping[str, int] | None = None,
    ) -> Explanation:
        """The decision of `place` with every candidate, every refusal and the counts of each stage.

        Raises:
            InvalidRequirement: as `place`.
        """
        check_seed(seed)
        request, table = self._compile(requirement), _table(weights)
        text = self._core.explain(request, policy=policy, seed=seed, key=key, weights=table)
        explanation: Explanation = json.loads(text)
        return explanation

    def score(
        self, requirement: str | Requirement, *, policy: str = "aware", weights: Mapping[str, int] | None = None
    ) -> ScoreReport:
        """Every candidate of every choice with its score, every refusal, and the affinity of each kind of device.

        Scores compare the candidates of all choices; `place` takes the first choice that fits, whatever its score.

        Raises:
            InvalidRequirement: as `place`.
        """
        request, table = self._compile(requirement), _table(weights)
        report: ScoreReport = json.loads(self._core.score(request, policy=policy, weights=table))
        return report

    @property
    def may_be_cut(self) -> bool:
        """Whether a pool lets any device be cut into partitions (`repartition: true`)."""
        return self._core.may_be_cut()

    def suggest_partitions(self) -> PartitionSuggestion:
        """A layout of partitions for every idle device that may be cut, so that the mix is served evenly.

        Changes nothing. `place` cuts by the same rule.
        """
        suggestion: PartitionSuggestion = json.loads(self._core.suggest_partitions())
        return suggestion

    def fragmentation(self) -> FragmentationReport:
        """Free capacity that the expected workload cannot use, of the fleet and node by node."""
        report: FragmentationReport = json.loads(self._core.fragmentation())
        return report

    def overview(self) -> list[OverviewRow]:
        """Devices by pool and kind."""
        rows: list[OverviewRow] = json.loads(self._core.overview())
        return rows

    def warnings(self, requirement: Requirement) -> list[RequirementWarning]:
        """What in a requirement can be understood, but perhaps not as meant, on this fleet."""
        return warnings_on(requirement, self.overview(), self._catalog)

    def _request(self, requirement: AnyRequirement) -> Request:
        known = self._requests.get(requirement) if isinstance(requirement, str | Requirement) else None
        return known or self._compile(requirement)

    def _compile(self, requirement: AnyRequirement) -> Request:
        parsed = Requirement.parse(requirement)
        check_pools(parsed, self._pool_names)
        request = Request(compile_request(parsed, self._catalog, self._foreign_models))
        if len(self._requests) >= _MAX_REQUESTS:
            self._requests.clear()
        self._requests[requirement if isinstance(requirement, str) else parsed] = request
        return request


def _table(weights: Mapping[str, int] | None) -> bytes | None:
    return None if weights is None else json.dumps(dict(weights)).encode()


def _restore(text: bytes, catalog: Catalog) -> Fleet:
    return Fleet(CoreFleet.from_json(text), catalog)
