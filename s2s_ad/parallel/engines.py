"""Where graphs run: on threads of this process, or on the workers of a Dask cluster."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from s2s_ad.api.check_arguments import shown
from s2s_ad.diagnostics import ArgumentTypeError, ParallelError, S2SError
from s2s_ad.load.noted import noted
from s2s_ad.parallel.calls import Sent
from s2s_ad.parallel.tasks import Bound, Leaves, Sealed, Work, fresh_token, handed_on
from s2s_ad.parallel.travel import Packed

#: values of more bytes go to workers by themselves; smaller ones go with each task
LARGE = 1 << 16
#: sums of no more bytes are finished by the client, which saves a way to a worker and back
SMALL_RESULT = 1 << 20
#: of the workers' memory, how much may be taken by data that is kept for the next step
SHARE_HELD = 0.25
TICK = 0.5  # seconds between looks at the cluster
MOST_ATTEMPTS = 4  # times that a step is begun because what was sent has been lost
PATIENCE = 60.0  # seconds without a worker

Parts = dict[tuple[int, int], Any]
Result = TypeVar("Result")


class Engine(Protocol):
    """What runs a graph."""

    def text(self, text: Packed) -> Any:
        """What stands for a text in a graph."""

    def everywhere(self, bound: Bound) -> Any:
        """What stands in a graph for values that all workers need."""

    def spread(self, parts: Parts, sent: Sent) -> Parts:
        """What stands in a graph for arrays of which each is needed once a step.

        Args:
            parts: by (chunk, source): the same array there in each step.
            sent: what the cluster holds of them already.
        """

    def tasks(self, works: list[Work]) -> list[Callable]:
        """What stands in a graph for what tasks do."""

    def run(self, graph: dict, keys: list) -> list:
        """The values of these tasks."""

    def kept(self, graph: dict, keys: list) -> list:
        """What stands in another graph for the results of these tasks, left where they are."""

    def tried(self, step: Callable[[], Result]) -> Result:
        """The result of what sends and runs; begun again where what was sent is lost."""


class Threads:
    """The threads of Dask in this process."""

    def text(self, text: Packed) -> Packed:
        return text

    def everywhere(self, bound: Bound) -> Bound:
        return bound

    def spread(self, parts: Parts, sent: Sent) -> Parts:
        return parts

    def tasks(self, works: list[Work]) -> list[Callable]:
        return works

    def run(self, graph: dict, keys: list) -> list:
        from dask.threaded import get

        return list(get(graph, keys))

    def kept(self, graph: dict, keys: list) -> list:
        return [Leaves(each) for each in self.run(graph, keys)]

    def tried(self, step: Callable[[], Result]) -> Result:
        try:
            return step()
        except Exception as error:
            noted(error)
            raise


class Lost(Exception):
    """What was sent to workers is nowhere any more: they died."""


class Cluster:
    """The workers that a client of Dask leads to.

    A Future that is released at once makes the client's next message wait: those of a step are kept
    until the next one has been sent.
    """

    def __init__(self, client: Any):
        self.client, self.patience = client, PATIENCE
        self._texts: dict[str, Any] = {}
        self._epoch = fresh_token()
        self._room_in_epoch: float | None = None
        self._before: list = []
        self._lock = threading.Lock()

    def text(self, text: Packed) -> Any:
        with self._lock:
            known = self._texts.get(text.digest)
            if known is None or known.status in ("cancelled", "lost", "error"):
                known = self._texts[text.digest] = self.client.submit(handed_on, text, key=text.key)
            return known

    def everywhere(self, bound: Bound) -> Any:
        if bound.nbytes <= LARGE:
            return bound
        return self._sent([bound], broadcast=True)[0]

    def spread(self, parts: Parts, sent: Sent) -> Parts:
        large = [at for at, each in parts.items() if getattr(each, "nbytes", 0) > LARGE]
        if not large:
            return parts
        if sent.epoch != self._epoch:
            sent.epoch, sent.held, sent.nbytes = self._epoch, {}, 0
        missing = [at for at in large if at not in sent.held]
        futures = self._sent([parts[at] for at in missing]) if missing else []
        fresh = dict(zip(missing, futures, strict=True))
        nbytes = sent.nbytes + sum(parts[at].nbytes for at in missing)
        if fresh and nbytes <= self._room():
            sent.held.update(fresh)
            sent.nbytes = nbytes
        return {at: sent.held.get(at, fresh.get(at, each)) for at, each in parts.items()}

    def _room(self) -> float:
        """How many bytes of data the workers may hold between steps."""
        if self._room_in_epoch is None:
            workers = self.client.scheduler_info(n_workers=-1).get("workers", {}).values()
            limits = [each.get("memory_limit") or float("inf") for each in workers]
            self._room_in_epoch = SHARE_HELD * sum(limits)
        return self._room_in_epoch

    def _forget(self) -> None:
        """Workers have died with what they were sent: it is sent again."""
        self._texts.clear()
        self._epoch, self._room_in_epoch = fresh_token(), None

    def _sent(self, values: list, broadcast: bool = False) -> list:
        from dask.distributed import TimeoutError as Timeout

        self._wait_for_workers()
        try:
            return self.client.scatter(values, hash=False, broadcast=broadcast)
        except Timeout:
            raise Lost from None

    def tasks(self, works: list[Work]) -> list[Callable]:
        common: dict = {}
        for each in works:
            shared = id(each.text), id(each.bound)
            if shared not in common:
                common[shared] = Sealed.common_to(each)
        return [Sealed(common[id(each.text), id(each.bound)], each) for each in works]

    def run(self, graph: dict, keys: list) -> list:
        futures = self.kept(graph, keys)
        self._before, before = futures, self._before
        del before  # released once the next graph has been sent
        return list(self._finished(futures))

    def kept(self, graph: dict, keys: list) -> list:
        with warnings.catch_warnings(), self.client.as_current():  # futures in a graph ask for it
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            return self.client.get(graph, keys, sync=False)

    def _finished(self, futures: list) -> list:
        """What they give, once all are done; or the cluster cannot go on."""
        from dask.distributed import TimeoutError as Timeout
        from dask.distributed import wait

        async def finished() -> list:  # both in one visit to the client's thread
            await wait(futures, timeout=TICK)
            return await self.client.gather(futures, asynchronous=True)

        empty_since = None
        while True:
            with contextlib.suppress(Timeout), self.client.as_current():
                return self.client.sync(finished)
            self._check_connected()
            if self._has_workers():
                empty_since = None
                continue
            empty_since = empty_since or time.monotonic()
            if time.monotonic() - empty_since > self.patience:
                raise _no_workers(self.patience)

    def _has_workers(self) -> bool:
        return bool(self.client.scheduler_info(n_workers=1).get("workers"))

    def _wait_for_workers(self) -> None:
        """A cluster whose workers are being started again gets the time for it."""
        from dask.distributed import TimeoutError as Timeout

        self._check_connected()
        if not self._has_workers():
            try:
                self.client.wait_for_workers(1, timeout=self.patience)
            except Timeout:
                raise _no_workers(self.patience) from None

    def _check_connected(self) -> None:
        if self.client.status != "running":
            raise ParallelError(
                "S2S701",
                f"the scheduler is lost: the client is {self.client.status}",
                why=f"{self.client!r} has no connection to it any more",
                help="start a cluster and connect again; a training goes on from its checkpoint "
                "with resume=True",
            )

    def tried(self, step: Callable[[], Result]) -> Result:
        for _ in range(MOST_ATTEMPTS):
            try:
                return step()
            except S2SError:
                raise
            except Exception as error:
                failed = error
            if not self._is_lost(failed):
                raise self._told(failed)
            self._forget()
            self._wait_for_workers()
        raise ParallelError(
            "S2S701",
            f"{MOST_ATTEMPTS} times workers died with what this step had sent them",
            why=str(failed),
            help="look at the workers' logs and their memory; smaller chunks need less of it",
        )

    def _is_lost(self, error: Exception) -> bool:
        from dask.distributed import CancelledError
        from dask.distributed.comm import CommClosedError

        is_lost = isinstance(error, Lost | CancelledError | CommClosedError)
        if is_lost or isinstance(error, OSError):
            time.sleep(TICK)  # the client notes a little later that the scheduler is gone
            self._check_connected()
        return is_lost

    def _told(self, error: Exception) -> Exception:
        """What is raised: what the function raised as it is, with the user's line; else why."""
        from dask.distributed import KilledWorker

        if isinstance(error, KilledWorker):
            return ParallelError(
                "S2S701",
                f"workers died again and again while they computed {error.task}",
                why="most often a worker needs more memory than its limit, or a library crashes",
                help="smaller chunks, more memory for each worker, or fewer threads in it; its log "
                "says more",
            )
        noted(error)
        return error


def _no_workers(patience: float) -> ParallelError:
    return ParallelError(
        "S2S701",
        f"there has been no worker for {patience:g} seconds",
        why="the scheduler is there, and nobody computes",
        help="start workers: cluster.scale(2), or dask worker ADDRESS",
    )


# ---- which one -----------------------------------------------------------------------------------

ENGINE = "_s2s_engine"  # the attribute of a client that holds its engine, and goes with it
_connected: dict[str, Any] = {}


def engine_of(label: str, client: Any, patience: float = PATIENCE) -> Engine:
    """What computes a call.

    Args:
        client: a Client of Dask, a cluster, the address of a scheduler, or "threads"; without
            one the client that is active in this process, and threads where there is none.
    """
    found = _client(label, client)
    if found is None:
        return Threads()
    engine = vars(found).setdefault(ENGINE, Cluster(found))
    engine.patience = patience
    return engine


def _client(label: str, client: Any) -> Any:
    if client is None:
        return _active()
    if isinstance(client, str):
        if client == "threads":
            return None
        return _connection(label, client)
    if hasattr(client, "scheduler_address") and hasattr(client, "get_client"):
        return _connection(label, client.scheduler_address)
    if not (hasattr(client, "scatter") and hasattr(client, "gather")):
        raise ArgumentTypeError(
            "S2S501",
            f"{label}: argument 'client' must be a dask.distributed.Client, a cluster, the address "
            f"of a scheduler or 'threads', got {shown(client)}",
        )
    if client.asynchronous:
        raise ArgumentTypeError(
            "S2S501",
            f"{label}: argument 'client' is asynchronous",
            help="make one with asynchronous=False",
        )
    return client


def _active() -> Any:
    """The client of this process, where there is one: who made it has imported `distributed`."""
    module = sys.modules.get("distributed")
    if module is None:
        return None
    try:
        return module.Client.current()
    except ValueError:
        return None


def _connection(label: str, address: str) -> Any:
    """A client for a scheduler, made once."""
    from dask.distributed import Client

    known = _connected.get(address)
    if known is not None and known.status == "running":
        return known
    try:
        made = _connected[address] = Client(address, set_as_default=False, timeout="10s")
    except (OSError, ValueError) as error:
        raise ParallelError(
            "S2S701",
            f"{label}: argument 'client' is {address!r}, and no scheduler answers there",
            why=str(error),
            help="start one: dask scheduler, or LocalCluster()",
        ) from None
    return made
