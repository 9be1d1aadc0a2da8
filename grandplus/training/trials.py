"""All trials of a run: side by side in processes on CPU, one after another on a GPU."""

from __future__ import annotations

import functools
import itertools
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp
import torch

from grandplus import execution
from grandplus.errors import GrandPlusError
from grandplus.graph import Features, Graph
from grandplus.progress import Progress
from grandplus.propagation.rows import Rows
from grandplus.scratch import finished_whole
from grandplus.settings import Settings, Train
from grandplus.splits import Splits
from grandplus.training.live import Live, Watch
from grandplus.training.trainer import train

GIB = 2**30
BASE = 300 * 2**20  # of a process with PyTorch, its rows and small batches
COPIES_OF_PARAMETERS, COPIES_OF_INPUTS = 5, 4


def train_trials(graph: Path, rows: Path, out: Path, settings: Settings, *, live: Path) -> None:
    """Train every trial that ``out`` does not hold yet.

    Parameters
    ----------
    graph, rows : folders of earlier stages
    out : existing folder for ``trial-00000.safetensors`` and ``history-00000.parquet``, …
    live : file for partial metrics, which is gone at the end
    """
    device = execution.device()
    missing = [trial for trial in range(settings.trials) if not model_file(out, trial).exists()]
    notes = out.with_name(f"{out.name}.live").absolute()
    task = functools.partial(_train_trial, graph.absolute(), rows.absolute(), out.absolute(), notes, settings, device)
    alone = device == "cuda" or execution.scheduler()  # one after another, or each on a machine of its own
    at_once = 1 if alone else trials_at_once(Graph.load(graph), settings.train)
    done = execution.map_tasks(task, missing, at_most=at_once)
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
    budget, each = execution.memory(), predicted_peak(graph.features, len(graph.classes), settings)
    if each <= budget:
        return budget // each
    embed = "set train.embed to true, " if sp.issparse(graph.features) and not settings.embed else ""
    raise GrandPlusError(
        f"training would need {each / GIB:.2f} GiB of memory, and may use {budget / GIB:.2f}",
        fix=f"{embed}lower train.hidden, or set GRANDPLUS_MEMORY higher if the machine has more",
    )


def predicted_peak(features: Features, classes: int, settings: Train) -> int:
    """Bytes that training a model takes at most, files that are memory-mapped not counted.

    Each parameter stands five times: itself, its gradient, both moments and the best so far. Of a batch
    there are a layer's input, output and their gradients; sparse inputs stay sparse where they can.
    """
    width = int(features.shape[1])
    stays_sparse = sp.issparse(features) and not settings.batchnorm and not settings.row_norm
    inputs = settings.hidden if settings.embed else width
    widths = [inputs, *[settings.hidden] * (settings.layers - 1), classes]
    parameters = sum((rows + 1) * columns for rows, columns in itertools.pairwise(widths))
    parameters += width * settings.hidden if settings.embed else 0
    batch = settings.augmentations * (settings.batch_labelled + settings.batch_unlabelled)
    dense = sum(widths[1:]) if stays_sparse and not settings.embed else sum(widths)
    return BASE + 4 * (COPIES_OF_PARAMETERS * parameters + COPIES_OF_INPUTS * batch * dense)


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
        trained = train(
            graph.features,
            graph.labels,
            rows,
            split,
            settings.train,
            classes=graph.classes,
            seed=[settings.seed, trial],
            device=device,
            info={"dataset": settings.dataset, "matrix": settings.matrix, "seed": settings.seed, "trial": trial},
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
