"""What a fleet would have made of a trace: the part of `Fleet` that replays."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

from hetero_ops._core import Fleet as CoreFleet
from hetero_ops._core import simulate, simulate_timed
from hetero_ops.gap.catalog import Catalog
from hetero_ops.placement import batch
from hetero_ops.placement.contender import Policy, contenders
from hetero_ops.placement.door import check_seed
from hetero_ops.placement.report import SimulationReport, TimedReport
from hetero_ops.placement.simulation import Progress, arrival_milli, checked_patience_s, read_trace, squeeze_milli


class Replays:
    """Replays on a copy of a fleet, which stays as it is."""

    __slots__ = ()

    _core: CoreFleet
    _catalog: Catalog

    def simulate(  # noqa: PLR0913 - a replay has many settings, all with defaults
        self,
        trace: str | os.PathLike[str],
        *,
        policies: Sequence[str | Policy] = ("aware",),
        seeds: Sequence[int] = (42,),
        arrival: float = 1.3,
        with_learned_mix: bool = False,
        against: str | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> SimulationReport:
        """Replays a trace on this fleet as it is now, which stays so: every policy with every seed.

        Args:
            trace: a task list in the columns of the openb trace (`.csv`). It is the expected workload too.
            policies: `random`, `first-fit`, `best-fit`, `worst-fit`, `dot-product`, `gpu-packing`, `gpu-clustering`,
                `fgd` or `aware`; docs/simulate.md has their rules. `weights:FILE` is `aware` with the weights of a
                JSON file. A function, or `module:function`, gets each task and the nodes where it fits and says where
                it goes.
            seeds: each decides which tasks arrive in which order, and how ties go.
            arrival: demand that arrives, over the capacity of all devices.
            with_learned_mix: replays `aware` once more, with a mix that it learns from the tasks that it has seen.
            against: one of the policies; the others are compared with it, seed by seed.
            threads: how many; one a core when `None`. Only the measured times depend on it.
            progress: called about ten times a second with decisions taken and expected; what it raises ends the replay.

        Raises:
            InvalidDocument: the trace cannot be read, or replayed on this fleet.
            InvalidRequirement: there is no such policy; the nearest one is named.
            KeyboardInterrupt: Ctrl-C, within a tenth of a second.
        """
        for seed in seeds:
            check_seed(seed)
        text = simulate(
            self._core,
            read_trace(Path(trace), self._catalog),
            contenders(policies),
            list(seeds),
            arrival_milli(arrival),
            threads or 0,
            with_learned_mix=with_learned_mix,
            against=against,
            progress=progress,
        )
        report: SimulationReport = json.loads(text)
        return report

    def simulate_timed(  # noqa: PLR0913
        self,
        trace: str | os.PathLike[str],
        *,
        policies: Sequence[str | Policy] = ("aware",),
        seeds: Sequence[int] = (42,),
        orders: Sequence[str] = ("backfill",),
        squeeze: float = 1,
        patience_s: int = 3600,
        with_learned_mix: bool = False,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> TimedReport:
        """Replays a trace on this fleet with its own times: tasks come, wait, run and end. The fleet stays as it is.

        Args:
            trace: as in `simulate`, with `creation_time`, `scheduled_time` and `deletion_time`; `qos` is the priority.
            policies: as in `simulate`.
            seeds: each decides how ties go.
            orders: `fifo`, strictly by arrival, or `backfill`: by priority, then age, then size, and who does not fit
                is passed until it has waited for long; then a node is kept for it.
            squeeze: what times between arrivals are divided by; tasks run as long as they ran.
            patience_s: how long that is.
            with_learned_mix: as in `simulate`.
            threads: as in `simulate`.
            progress: as in `simulate`, with tasks come and expected.

        Raises:
            InvalidDocument: as `simulate`.
            InvalidRequirement: as `simulate`, and for an unknown order.
            KeyboardInterrupt: as `simulate`.
        """
        for seed in seeds:
            check_seed(seed)
        text = simulate_timed(
            self._core,
            read_trace(Path(trace), self._catalog, with_times=True),
            contenders(policies),
            list(seeds),
            list(orders),
            squeeze_milli(squeeze),
            checked_patience_s(patience_s),
            threads or 0,
            with_learned_mix=with_learned_mix,
            progress=progress,
        )
        report: TimedReport = json.loads(text)
        return report

    def simulate_batch(
        self,
        trace: str | os.PathLike[str],
        searches: Sequence[batch.Search],
        *,
        seeds: Sequence[int] = (42,),
        arrival: float = 1.3,
        with_tasks: bool = False,
    ) -> batch.BatchReport:
        """Plans the tasks of a trace on this fleet all at once, with each search and seed; the fleet stays as it is.

        Args:
            trace: as in `simulate`, from which as many tasks come. All are known; their order is their age.
            searches: how plans are looked for; the seed of each is that of the run.
            seeds: as in `simulate`.
            arrival: as in `simulate`.
            with_tasks: tells where every task goes.

        Raises:
            InvalidDocument: as `simulate`.
            KeyboardInterrupt: as `simulate`.
        """
        for seed in seeds:
            check_seed(seed)
        tasks = read_trace(Path(trace), self._catalog)
        return batch.replay(self._core, tasks, searches, seeds, arrival_milli(arrival), with_tasks=with_tasks)
