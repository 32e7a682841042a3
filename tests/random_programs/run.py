"""A range of seeds, in shards, with a record that a later run goes on with."""

from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from random_programs import oracle, reduce
from random_programs.statements import generate


@dataclasses.dataclass
class Record:
    """What came of the program of one seed."""

    seed: int
    digest: str
    outcomes: list[oracle.Outcome]

    @property
    def failed(self) -> list[oracle.Outcome]:
        return [each for each in self.outcomes if each.status == "failed"]

    @property
    def refused(self) -> list[oracle.Outcome]:
        return [each for each in self.outcomes if each.status == "refused"]


def run(seed: int, modes: tuple[str, ...] = oracle.MODES) -> Record:
    """Generate the program of a seed and compare it in all modes."""
    made = generate(seed)
    outcomes, digest = oracle.check(made.source, made.arguments, seed, modes)
    return Record(seed, digest, outcomes)


def report(record: Record, seconds: float) -> str:
    """Each sort of failure of a program, and the smallest program that has it."""
    made = generate(record.seed)
    parts, seen = [], set()
    for outcome in record.failed:
        if outcome.sort in seen:
            continue
        seen.add(outcome.sort)
        source, arguments = made.source, made.arguments
        if seconds:
            source, arguments = reduce.reduced(source, arguments, record.seed, outcome, seconds)
        parts.append(
            f"seed {record.seed}, {outcome.mode}: {outcome.sort}\n{outcome.detail}\n"
            f"{source}\narguments = {arguments}\n"
        )
    return "\n".join(parts)


def sort_of(outcome: oracle.Outcome) -> str:
    """A text that is the same for the same cause, mostly."""
    first = outcome.detail.split("\n")[0]
    first = re.sub(r"'[^']*'|`[^`]*`|\d+(\.\d+)?|array\(.*|\[.*", "_", first)
    return f"{outcome.status} {outcome.sort}: {first[:110]}"


def summary(records: Iterable[Record]) -> str:
    """Figures: how many programs, and what came of them."""
    records = list(records)
    modes: dict[str, collections.Counter] = {}
    sorts: dict[str, list[int]] = {}
    for record in records:
        for outcome in record.outcomes:
            modes.setdefault(outcome.mode, collections.Counter())[outcome.status] += 1
            if outcome.status in ("failed", "refused"):
                seeds = sorts.setdefault(sort_of(outcome), [])
                if record.seed not in seeds:
                    seeds.append(record.seed)
    failed = sum(bool(record.failed) for record in records)
    refused = sum(bool(record.refused) for record in records)
    lines = [f"{len(records)} programs: {failed} failed, {refused} refused in a mode"]
    for mode, counts in modes.items():
        lines.append(
            f"  {mode:16s} " + ", ".join(f"{n} {status}" for status, n in counts.most_common())
        )
    for sort, seeds in sorted(sorts.items(), key=lambda item: -len(item[1])):
        lines.append(f"  {len(seeds):4d} x {sort}   seeds {seeds[:5]}")
    return "\n".join(lines)


def load(file: Path) -> Iterator[Record]:
    """The records of earlier runs; a line that was cut short is none."""
    if file.exists():
        for line in file.read_text().splitlines():
            try:
                entry: dict[str, Any] = json.loads(line)
            except json.JSONDecodeError:
                continue
            yield Record(
                entry["seed"], entry["digest"], [oracle.Outcome(*o) for o in entry["outcomes"]]
            )


def run_seeds(
    seeds: Iterable[int], state: Path | None = None, modes: tuple[str, ...] = oracle.MODES
) -> Iterator[Record]:
    """The records of some seeds: those of the state file, and what is run now is added to it."""
    known = {record.seed: record for record in load(state)} if state else {}
    for seed in seeds:
        if seed not in known and state:
            with state.open("a") as file:
                file.write(line_of(known.setdefault(seed, run(seed, modes))) + "\n")
        yield known.get(seed) or run(seed, modes)


def line_of(record: Record) -> str:
    outcomes = [[o.mode, o.status, o.sort, o.detail[:300]] for o in record.outcomes]
    return json.dumps({"seed": record.seed, "digest": record.digest, "outcomes": outcomes})


def main(arguments: list[str] | None = None) -> int:
    """The command line; the status is 1 if a program failed."""
    parser = argparse.ArgumentParser(prog="random_programs", description=__doc__)
    parser.add_argument("seeds", help="first:last, or one seed")
    parser.add_argument("--state", type=Path, help="a file that records what was run")
    parser.add_argument("--shard", default="1/1", help="i/n: each n-th seed, from the i-th on")
    parser.add_argument("--seconds", type=float, default=0.0, help="stop after so long")
    parser.add_argument(
        "--reduce", type=float, default=30.0, help="seconds to make a failing program small"
    )
    parser.add_argument("--show", action="store_true", help="print each program")
    parser.add_argument(
        "--native", action="store_true", help="native code with each index checked, beside NumPy"
    )
    options = parser.parse_args(arguments)
    if options.native:
        os.environ |= {"S2S_AD_NATIVE": "1", "S2S_AD_CACHE": "0"}
        os.environ.setdefault("NUMBA_OPT", "0")  # what is wrong with memory is so without, too
    modes = oracle.NATIVE_MODES if options.native else oracle.MODES
    first, _, last = options.seeds.partition(":")
    shard, shards = map(int, options.shard.split("/"))
    seeds = range(int(first), int(last) if last else int(first) + 1)[shard - 1 :: shards]
    known = {record.seed for record in (load(options.state) if options.state else ())}
    start, done = time.monotonic(), []
    for record in run_seeds(seeds, options.state, modes):
        done.append(record)
        if options.show:
            made = generate(record.seed)
            print(f"{made.source}\narguments = {made.arguments}\n", flush=True)
        if record.failed and options.reduce and record.seed not in known:
            print(report(record, options.reduce), flush=True)
        if options.seconds and time.monotonic() - start > options.seconds:
            break
    print(summary(done))
    return int(any(record.failed for record in done))


if __name__ == "__main__":
    sys.exit(main())
