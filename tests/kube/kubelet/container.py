"""One container: acted from annotations, or the container's command as a process of this machine."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

Said = tuple[datetime, str]

SIDECAR = "airflow-xcom-sidecar"  # waits until a signal ends it
NOT_FOUND = 127


class Container:
    """What one container said and how it ended."""

    def __init__(self, spec: dict[str, Any], annotations: dict[str, str]) -> None:
        self.name: str = spec["name"]
        self.said: list[Said] = []
        self.exit_code: int | None = None
        self.asked_to_stop = asyncio.Event()
        self._spec = spec
        self._say = {key.removeprefix("hetero.test/"): value for key, value in annotations.items()}
        self._news = asyncio.Condition()

    @property
    def xcom(self) -> str | None:
        return self._say.get("xcom")

    async def run(self) -> None:
        try:
            if self.name == SIDECAR:
                await self.asked_to_stop.wait()
                code = 0
            elif self._say.get("local") == "true":
                code = await self._run_process()
            else:
                code = await self._act()
        except OSError as error:
            await self._tell(str(error))
            code = NOT_FOUND
        async with self._news:
            self.exit_code = code
            self._news.notify_all()

    async def listen(self, *, follow: bool) -> AsyncIterator[Said]:
        """Give each line so far; with `follow` also each one to come, until the container ends."""
        given = 0
        while True:
            while given < len(self.said):
                yield self.said[given]
                given += 1
            if not follow or self.exit_code is not None:
                return
            async with self._news:
                if given == len(self.said) and self.exit_code is None:
                    await self._news.wait()

    async def _act(self) -> int:
        for line in self._say.get("log", "").splitlines():
            await self._tell(line)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.asked_to_stop.wait(), float(self._say.get("seconds", 0)))
            return 143  # ended by SIGTERM
        return int(self._say.get("exit-code", 0))

    async def _run_process(self) -> int:
        # Not a group of its own: with the kubelet's group goes whatever a test left behind.
        command = [*self._spec.get("command", []), *self._spec.get("args", [])]
        environment = {"PATH": os.environ["PATH"]} | {
            each["name"]: each.get("value", "") for each in self._spec.get("env", [])
        }
        process = await asyncio.create_subprocess_exec(
            *command,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        ending = asyncio.create_task(self._terminate_when_asked(process))
        try:
            assert process.stdout
            async for line in process.stdout:
                await self._tell(line.decode(errors="replace").removesuffix("\n"))
            code = await process.wait()
        finally:
            ending.cancel()
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
        return code if code >= 0 else 128 - code

    async def _terminate_when_asked(self, process: asyncio.subprocess.Process) -> None:
        await self.asked_to_stop.wait()
        with contextlib.suppress(ProcessLookupError):
            process.terminate()

    async def _tell(self, line: str) -> None:
        async with self._news:
            self.said.append((datetime.now(UTC), line))
            self._news.notify_all()
