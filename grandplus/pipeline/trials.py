"""All trials of a run: side by side in processes on CPU, one after another on a GPU."""

from __future__ import annotations

import functools
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp
import torch

from grandplus.graph.graph import Graph
from grandplus.graph.splits import Splits
from grandplus.methods.grandplus.method import Model, fit
from grandplus.methods.grandplus.settings import Settings as Train
from grandplus.methods.protocol import Task, load_model
from grandplus.pipeline.live import Live, Watch
from grandplus.pipeline.settings import Settings
from grandplus.prediction.predictions import write_predictions, write_trial
from grandplus.propagation.rows import Rows
from grandplus.runtime import environment, tasks
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.progress import Progress, progress
from grandplus.runtime.storage import finished_whole

GIB = 2**30


def train_trials(graph: Path, rows: Path, out: Path, settings: Settings, *, live: Path) -> None:
    """Train every trial that ``out`` does not hold yet.

    Parameters
    ----------
    graph, rows : folders of earlier stages
    out : existing folder for ``trial-00000.safetensors`` and ``history-00000.parquet``, …
    live : file for partial metrics, which is gone at the end
    """
    device = environment.device()
    missing = [trial for trial in range(settings.trials) if not model_file(out, trial).exists()]
    notes = out.with_name(f"{out.name}.live").absolute()
    task = functools.partial(_train_trial, graph.absolute(), rows.absolute(), out.absolute(), notes, settings, device)
    alone = device == "cuda" or environment.scheduler()  # one after another, or each on a machine of its own
    at_once = 1 if alone else trials_at_once(Graph.load(graph), settings.train)
    done = tasks.map_tasks(task, missing, at_most=at_once)
    finished = settings.trials - len(missing)
    with (
        Live(live, notes) as partial,
        Progress("train", settings.trials, "trial", done=finished, note=partial.sum_up) as bar,
    ):
        for _ in done:
            bar.update()


def trials_at_once(graph: Graph, settings: Train) -> int:
    """As many as ``GRANDPLUS_MEMORY`` has room for.

    Raises
    ------
    GrandPlusError : for none.
    """
    budget, features = environment.memory(), graph.features
    each = settings.training_memory(int(features.shape[1]), len(graph.classes), sparse=sp.issparse(features))
    if each <= budget:
        return budget // each
    embed = "set train.embed to true, " if sp.issparse(features) and not settings.embed else ""
    raise GrandPlusError(
        f"training would need {each / GIB:.2f} GiB of memory, and may use {budget / GIB:.2f}",
        fix=f"{embed}lower train.hidden, or set GRANDPLUS_MEMORY higher if the machine has more",
    )


def model_file(folder: Path, trial: int) -> Path:
    return folder / f"trial-{trial:05d}.safetensors"


def history_file(folder: Path, trial: int) -> Path:
    return folder / f"history-{trial:05d}.parquet"


def _train_trial(
    graph_folder: Path, rows_folder: Path, out: Path, notes: Path, settings: Settings, device: str, trial: int
) -> int:
    """Train one trial, in a process of its own; its model appears last, so it marks the end."""
    torch.set_num_threads(1)  # trials run side by side, and one thread gives the same bytes anywhere
    graph = Graph.load(graph_folder)
    rows = Rows.load(rows_folder, graph.adjacency.fingerprint)
    split = Splits.load(graph_folder).of(trial)
    try:
        trained = fit(
            Task(graph, split, rows, seed=[settings.seed, trial], device=device),
            settings.train,
            info={"dataset": settings.dataset, "matrix": settings.matrix.name, "seed": settings.seed, "trial": trial},
            watch=Watch(notes, trial),
        )
    except GrandPlusError as error:
        raise GrandPlusError(f"{error}", where=f"trial {trial}") from None
    history = pa.table({"trial": pa.array([trial] * len(trained.history["step"]), pa.int64()), **trained.history})
    step = history.schema.get_field_index("step")
    history = history.set_column(step, "step", history["step"].cast(pa.int64()))
    with finished_whole(history_file(out, trial)) as partial:
        pq.write_table(history, partial)
    trained.model.save(model_file(out, trial))
    return trial


def infer_trials(graph_folder: Path, model_folder: Path, out: Path) -> None:
    """Write ``trial-00000.parquet``, … into the existing folder ``out`` for every model, and what they come to.

    See ``write_trial`` and ``write_predictions`` for the tables.
    """
    torch.set_num_threads(1)  # one thread gives the same bytes anywhere
    graph, splits = Graph.load(graph_folder), Splits.load(graph_folder)
    files = sorted(model_folder.glob("trial-*.safetensors"))
    if not files:
        raise GrandPlusError("holds no model", where=model_folder, fix="run dvc repro train")
    shared = plan = None
    for trial, file in enumerate(progress(files, "infer", len(files), "trial")):
        target = out / f"{file.stem}.parquet"
        if target.exists():
            continue
        model = load_model(file, environment.device())
        assert isinstance(model, Model)
        if plan is None:
            plan = model.plan(graph)
            print(f"infer: {plan}", flush=True)
        if shared is None:
            shared = model.shared_inputs(graph)  # the same for all trials: they share the propagation matrix
        write_trial(target, graph, splits.of(trial), model.predict_proba(graph, shared))
    write_predictions(out, graph, splits)
