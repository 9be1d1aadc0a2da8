"""All trials of a run are trained: side by side in processes on CPU, one after another on a GPU."""

from __future__ import annotations

import contextlib
import functools
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from grandplus.graph.graph import Graph
from grandplus.graph.splits import Split, Splits
from grandplus.methods.memory import training_memory
from grandplus.methods.protocol import Task
from grandplus.methods.registry import method_of
from grandplus.methods.remaining import Estimate
from grandplus.pipeline.finished import Finished
from grandplus.pipeline.folders import history_file, model_file
from grandplus.pipeline.live import Live, Watch
from grandplus.pipeline.settings import Settings
from grandplus.pipeline.start import Start
from grandplus.propagation.rows import Rows
from grandplus.runtime import environment, tasks
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.progress import Progress
from grandplus.runtime.storage import finished_whole


def train_trials(
    graph: Path,
    rows: Path,
    out: Path,
    settings: Settings,
    *,
    live: Path,
    finished: Finished | None = None,
    start: Start | None = None,
) -> None:
    """Train every trial that isn't there yet.

    Parameters
    ----------
    graph, rows : Path
        Folders of earlier stages; nothing is read from ``rows`` if the method needs none.
    out : Path
        An existing folder for ``trial-00000.safetensors`` and ``history-00000.parquet``, …
    settings : Settings
    live : Path
        The file for partial metrics, which is gone at the end.
    finished : Finished, optional
        The trials of earlier runs. By default none is looked for, and none kept.
    start : Start, optional
        The models whose weights the trials start from; by default these are random.

    Raises
    ------
    GrandPlusError
        ``GRANDPLUS_MEMORY`` is too small for one trial, or a trial can't be trained.
    """
    device = environment.device()
    alone = device == "cuda" or environment.scheduler()  # one after another, or each on a machine of its own
    at_most = 1 if alone else trials_at_once(Graph.load(graph), Splits.load(graph).of(0), settings)
    missing = [trial for trial in range(settings.trials) if not model_file(out, trial).exists()]
    if finished:
        missing = _not_found(missing, finished, settings.trials, out)
    notes = out.with_name(f"{out.name}.live").absolute()
    sums = start.sums if start else None
    run = _Run(graph.absolute(), rows.absolute(), out.absolute(), notes, settings, device, finished, sums)
    cores = 1 if alone else environment.workers()
    threads = threads_of_trials(len(missing), min(at_most, cores), cores)
    done = tasks.map_tasks(functools.partial(_train_trial, run), missing, threads, at_most=at_most)
    estimate = _estimate(graph, out, settings, missing)
    with (
        start.copied(run.start, missing) if start else contextlib.nullcontext(),
        Live(live, notes, estimate) as partial,
        Progress(
            "train",
            settings.trials,
            "trial",
            done=settings.trials - len(missing),
            note=partial.sum_up,
            remaining=False,  # the note knows better
        ) as bar,
    ):
        for _ in done:
            bar.update()
    if finished:
        finished.store.trim()


def threads_of_trials(trials: int, at_once: int, cores: int) -> list[int]:
    """How many cores each trial uses, one beside the other: those of the last round share what would be idle.

    A core for each trial comes first, since a trial on two cores takes more than half of its time on one.

    Parameters
    ----------
    trials : int
    at_once : int
        How many are trained side by side.
    cores : int

    Examples
    --------
    >>> threads_of_trials(5, at_once=4, cores=4), threads_of_trials(4, at_once=1, cores=2)
    ([1, 1, 1, 1, 4], [2, 2, 2, 2])
    """
    last = trials % at_once
    return [cores // at_once] * (trials - last) + [cores // last for _ in range(last)]


def trials_at_once(graph: Graph, split: Split, settings: Settings) -> int:
    """How many trials may be trained side by side within ``GRANDPLUS_MEMORY``.

    Parameters
    ----------
    graph : Graph
    split : Split
        Of a trial.
    settings : Settings

    Raises
    ------
    MemoryShortageError
        Not even one.
    """
    each = training_memory(graph, split, settings.train, settings.gfpush.top_k)
    return max(environment.memory() // each, 1)  # free memory may have become less since that was checked


def _not_found(missing: list[int], finished: Finished, trials: int, out: Path) -> list[int]:
    """Put the trials that are finished into ``out``, and give the others."""
    rest = [trial for trial in missing if not finished.take(trial, out)]
    if found := len(missing) - len(rest):
        print(f"train: {found} of {trials} trials are there from an earlier run", flush=True)
    return rest


def _estimate(graph: Path, out: Path, settings: Settings, missing: list[int]) -> Estimate:
    labelled = len(Splits.load(graph).of(0).train)
    there = sorted(set(range(settings.trials)).difference(missing))
    steps = [pq.read_table(history_file(out, trial), columns=["step"])["step"][-1].as_py() for trial in there]
    return Estimate.of(settings.train, labelled, len(missing), steps)


@dataclass(frozen=True)
class _Run:
    """What the trials of a run have in common; folders by absolute paths, as a worker may start elsewhere."""

    graph: Path
    rows: Path
    out: Path
    notes: Path
    settings: Settings
    device: str
    finished: Finished | None
    start_sums: list[str] | None  # of the models that trials start from

    @property
    def start(self) -> Path:
        """The folder of these models."""
        return self.out.with_name(f"{self.out.name}.start")


def _train_trial(run: _Run, trial: int, threads: int) -> int:
    """Train one trial, in a process of its own; its model appears last, so it marks the end."""
    import torch  # here, as the process that waits for the trials needs none

    torch.set_num_threads(1)  # gives the same bytes anywhere; ours do with any number
    settings, graph = run.settings, Graph.load(run.graph)
    split, rows = Splits.load(run.graph).of(trial), None
    if settings.needs_rows:  # the trial gets its own alone, so that it can't depend on other trials
        nodes = split.needing_rows(unlabelled=settings.train.uses_unlabelled)
        all_rows = Rows.load(run.rows, graph.adjacency.fingerprint)
        rows = all_rows if len(all_rows) == len(nodes) else all_rows.of(nodes)
    watch = Watch(run.notes, trial)
    info = {"dataset": settings.dataset, "matrix": settings.matrix.name, "seed": settings.seed, "trial": trial}
    task = Task(graph, split, rows, seed=[settings.seed, trial], device=run.device, threads=threads)
    if run.start_sums:
        task = replace(task, start=model_file(run.start, trial))
        info["from"] = run.start_sums[trial]
    try:
        trained = method_of(settings.model).fit(task, settings.train, info=info, watch=watch)
    except GrandPlusError as error:
        raise GrandPlusError(f"{error}", where=f"trial {trial}") from None
    watch.end()
    history, model = history_file(run.out, trial), model_file(run.out, trial)
    with finished_whole(history) as partial:
        pq.write_table(_history_table(trial, trained.history), partial)
    with finished_whole(model) as partial:
        trained.model.save(partial)
        if run.finished:  # before the model appears, so that a kill can't come between
            run.finished.add(trial, (history.name, history), (model.name, partial))
    return trial


def _history_table(trial: int, history: dict[str, list[float]]) -> pa.Table:
    """Columns: trial and step (int64), and the scores of the validations (float64)."""
    table = pa.table({"trial": pa.array([trial] * len(history["step"]), pa.int64()), **history})
    step = table.schema.get_field_index("step")
    return table.set_column(step, "step", table["step"].cast(pa.int64()))
