"""Partial metrics while trials train, in a file that ``dvc metrics show`` and editors read like any other.

Each trial notes its latest validation in a file of its own, whichever process or machine it runs on; the
stage's process sums them up. Nothing of it is left when training ends.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np

from grandplus.methods.protocol import Scores
from grandplus.methods.remaining import Course, Estimate
from grandplus.runtime.storage import finished_whole

SECONDS_BETWEEN_NOTES = 1.0  # of one trial
SCORES = ("step", "train_loss", "train_accuracy", "val_loss", "val_accuracy")
DECIMALS = 4


class Live:
    """Partial metrics for the length of a block.

    Parameters
    ----------
    file : Path
        The metrics.
    notes : Path
        A folder for the trials' notes. It is emptied first, as a killed run may have left some.
    estimate : Estimate
        Of the time that is left.
    """

    def __init__(self, file: Path, notes: Path, estimate: Estimate) -> None:
        self._file, self._notes, self._estimate = file, notes, estimate

    def __enter__(self) -> Live:
        shutil.rmtree(self._notes, ignore_errors=True)
        self._notes.mkdir()
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._notes, ignore_errors=True)  # a worker may be writing there still, after an error
        with contextlib.suppress(OSError):  # where it could not be written
            self._file.unlink(missing_ok=True)

    def sum_up(self) -> str:
        """Write the means over all trials that have begun, each at its latest validation, if that is possible.

        Returns
        -------
        str
            The time that is left, and the main means.
        """
        notes = [json.loads(file.read_text()) for file in sorted(self._notes.glob("trial-*.json"))]
        if not notes:
            return ""
        means = {name: round(float(np.mean([note["scores"][name] for note in notes])), DECIMALS) for name in SCORES}
        with contextlib.suppress(OSError):  # the next call may succeed, and progress is told all the same
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with finished_whole(self._file, alone=True) as partial:
                partial.write_text(json.dumps({"trials_begun": len(notes), **means}, indent=2) + "\n")
        left = self._estimate.text([Course(**note["course"]) for note in notes])
        mean = f"step {means['step']:.0f} on average, validation accuracy {100 * means['val_accuracy']:.1f} %"
        return "; ".join(filter(None, [left, mean]))


class Watch:
    """Takes note of one trial's validations: ``fit(..., watch=Watch(notes, trial))``.

    Parameters
    ----------
    notes : Path
        The folder of ``Live``.
    trial : int
    """

    def __init__(self, notes: Path, trial: int) -> None:
        self._file = notes / f"trial-{trial:05d}.json"
        self._noted = -SECONDS_BETWEEN_NOTES
        self._course, self._scores = Course(), Scores()

    def __call__(self, scores: Scores) -> None:
        self._course.note(scores)
        self._scores = scores
        if time.monotonic() - self._noted >= SECONDS_BETWEEN_NOTES:
            self._write()
            self._noted = time.monotonic()

    def end(self) -> None:
        """Note that the trial has ended with its latest validation."""
        self._course.ended = True
        self._write()

    def _write(self) -> None:
        # Without the folder, the stage that asked for this trial is gone, and a cluster's worker goes on alone.
        with contextlib.suppress(FileNotFoundError), finished_whole(self._file, alone=True) as partial:
            course = {name: value for name, value in asdict(self._course).items() if not name.startswith("_")}
            scores = {name: self._scores[name] for name in SCORES}
            partial.write_text(json.dumps({"scores": scores, "course": course}))
