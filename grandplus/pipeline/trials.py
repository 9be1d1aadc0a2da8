"""All trials of a run are trained: side by side in processes on CPU, one after another on a GPU."""

from __future__ import annotations

import functools
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp
import torch

from grandplus.graph.graph import Graph
from grandplus.graph.splits import Splits
from grandplus.methods.protocol import Task
from grandplus.methods.registry import method_of
from grandplus.methods.settings import MethodSettings
from grandplus.pipeline.live import Live, Watch
from grandplus.pipeline.settings import Settings
from grandplus.propagation.rows import Rows
from grandplus.runtime import environment, tasks
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.progress import Progress
from grandplus.runtime.storage import finished_whole

GIB = 2**30


def train_trials(graph: Path, rows: Path, out: Path, settings: Settings, *, live: Path) -> None:
    """Train every trial that ``out`` does not hold yet.

    Parameters
    ----------
    graph, rows : Path
        Folders of earlier stages; nothing is read from ``rows`` if the method needs none.
    out : Path
        An existing folder for ``trial-00000.safetensors`` and ``history-00000.parquet``, …
    settings : Settings
    live : Path
        The file for partial metrics, which is gone at the end.

    Raises
    ------
    GrandPlusError
        ``GRANDPLUS_MEMORY`` is too small for one trial, or a trial can't be trained.
    """
    device = environment.device()
    missing = [trial for trial in range(settings.trials) if not model_file(out, trial).exists()]
    notes = out.with_name(f"{out.name}.live").absolute()
    task = functools.partial(_train_trial, graph.absolute(), rows.absolute(), out.absolute(), notes, settings, device)
    alone = device == "cuda" or environment.scheduler()  # one after another, or each on a machine of its own
    at_most = 1 if alone else trials_at_once(Graph.load(graph), settings.train)
    done = tasks.map_tasks(task, missing, at_most=at_most)
    finished = settings.trials - len(missing)
    with (
        Live(live, notes) as partial,
        Progress("train", settings.trials, "trial", done=finished, note=partial.sum_up) as bar,
    ):
        for _ in done:
            bar.update()


def trials_at_once(graph: Graph, settings: MethodSettings) -> int:
    """How many trials may be trained side by side within ``GRANDPLUS_MEMORY``.

    Parameters
    ----------
    graph : Graph
    settings : MethodSettings
        Of the method that is trained.

    Raises
    ------
    GrandPlusError
        Not even one.
    """
    (nodes, features), sparse = graph.features.shape, sp.issparse(graph.features)
    each = settings.training_memory(int(nodes), int(features), len(graph.classes), sparse=sparse)
    budget = environment.memory()
    if each <= budget:
        return budget // each
    found = f"training would need {each / GIB:.2f} GiB of memory, and may use {budget / GIB:.2f}"
    ways = [*settings.to_save_memory(sparse=sparse), "set GRANDPLUS_MEMORY higher if the machine has more"]
    raise GrandPlusError(found, fix=", or ".join(ways))


def model_file(folder: Path, trial: int) -> Path:
    """The file of a trial's model in the train stage's folder."""
    return folder / f"trial-{trial:05d}.safetensors"


def history_file(folder: Path, trial: int) -> Path:
    """The file of a trial's validations in the train stage's folder."""
    return folder / f"history-{trial:05d}.parquet"


def _train_trial(
    graph_folder: Path, rows_folder: Path, out: Path, notes: Path, settings: Settings, device: str, trial: int
) -> int:
    """Train one trial, in a process of its own; its model appears last, so it marks the end."""
    torch.set_num_threads(1)  # trials run side by side, and one thread gives the same bytes anywhere
    graph = Graph.load(graph_folder)
    rows = Rows.load(rows_folder, graph.adjacency.fingerprint) if settings.needs_rows else None
    split = Splits.load(graph_folder).of(trial)
    info = {"dataset": settings.dataset, "matrix": settings.matrix.name, "seed": settings.seed, "trial": trial}
    try:
        trained = method_of(settings.model).fit(
            Task(graph, split, rows, seed=[settings.seed, trial], device=device),
            settings.train,
            info=info,
            watch=Watch(notes, trial),
        )
    except GrandPlusError as error:
        raise GrandPlusError(f"{error}", where=f"trial {trial}") from None
    with finished_whole(history_file(out, trial)) as partial:
        pq.write_table(_history_table(trial, trained.history), partial)
    trained.model.save(model_file(out, trial))
    return trial


def _history_table(trial: int, history: dict[str, list[float]]) -> pa.Table:
    """Columns: trial and step (int64), and the scores of the validations (float64)."""
    table = pa.table({"trial": pa.array([trial] * len(history["step"]), pa.int64()), **history})
    step = table.schema.get_field_index("step")
    return table.set_column(step, "step", table["step"].cast(pa.int64()))
