"""Checkpoints of a training: whole or not there, and refused where they are of another training."""

from __future__ import annotations

import contextlib
import json
import os
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from s2s_ad.diagnostics import ParallelError
from s2s_ad.tensors import Parameter, plain

FORMAT = 1


class Checkpoint:
    """A file with Parameters, how far a training is, and its losses so far.

    It is written beside its place and then put there, so the last one is whole whenever the
    process dies.

    Args:
        path: the file; `.npz` is its format, whatever its name.
        parameters: all Parameters that a step changes.
        training: what has to be the same to go on exactly: a dict that JSON can hold.
    """

    def __init__(self, path: Any, parameters: Iterable[Parameter], training: dict[str, Any]):
        self.path = Path(path)
        self.parameters = list({id(each): each for each in parameters}.values())
        self.training = training

    def write(self, step: int, losses: list[float]) -> None:
        """Put the state after a step into the file."""
        arrays = {f"p{i}": plain(each) for i, each in enumerate(self.parameters)}
        head = {"format": FORMAT, "step": step, "training": self.training, "names": self._names()}
        beside = self.path.with_name(f".{self.path.name}.{os.getpid()}.new")
        try:
            with beside.open("wb") as file:
                np.savez(file, head=np.array(json.dumps(head)), losses=np.array(losses), **arrays)
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, self.path)
        finally:
            with contextlib.suppress(FileNotFoundError):
                beside.unlink()

    def read(self) -> tuple[int, list[float]]:
        """Restore the Parameters; the number of steps done, and their losses.

        Raises:
            ParallelError: the file cannot be read, or is of another training.
        """
        try:
            with np.load(self.path, allow_pickle=False) as held:
                head = json.loads(str(held["head"]))
                losses = held["losses"].tolist()
                arrays = [held[f"p{i}"] for i in range(len(head["names"]))]
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise ParallelError(
                "S2S702",
                f"the checkpoint {self.path} cannot be read",
                why=str(error),
                help="remove it to begin anew, or give the right file",
            ) from None
        self._check(head, arrays)
        for parameter, array in zip(self.parameters, arrays, strict=True):
            plain(parameter)[...] = array
        return head["step"], losses

    def _check(self, head: dict[str, Any], arrays: list[np.ndarray]) -> None:
        mine = {"format": FORMAT, "names": self._names(), **self.training}
        its = {"format": head["format"], "names": head["names"], **head["training"]}
        for name in mine:
            if mine[name] != its.get(name):
                raise self._other(name, its.get(name), mine[name])
        for parameter, array in zip(self.parameters, arrays, strict=True):
            own = plain(parameter)
            if own.shape != array.shape or own.dtype != array.dtype:
                kinds = [f"{each.dtype}{list(each.shape)}" for each in (array, own)]
                raise self._other(parameter.name, *kinds)

    def _other(self, name: str, its: Any, mine: Any) -> ParallelError:
        return ParallelError(
            "S2S702",
            f"the checkpoint {self.path} is of another training: {name} is {_short(its)} there, "
            f"and {_short(mine)} here",
            why="the steps that follow would not be those that were interrupted",
            help="train with the same settings and data, or with resume=False",
        )

    def _names(self) -> list[str]:
        return [each.name for each in self.parameters]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
