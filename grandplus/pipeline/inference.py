"""Every trial's model is asked for the probabilities of all nodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from grandplus.graph.graph import Graph
from grandplus.graph.splits import Splits
from grandplus.methods.files import load_model
from grandplus.methods.protocol import Model
from grandplus.pipeline.finished import Finished
from grandplus.prediction.predictions import write_predictions, write_trial
from grandplus.prediction.settings import Decision
from grandplus.runtime import environment
from grandplus.runtime.errors import ArtifactError
from grandplus.runtime.progress import progress
from grandplus.runtime.sums import digest_of


def infer_trials(
    graph_folder: Path,
    model_folder: Path,
    out: Path,
    *,
    decision: Decision = "most-probable",
    finished: Finished | None = None,
) -> None:
    """Write ``trial-00000.parquet``, … for every model, and ``predictions.parquet``, which combines them.

    See ``write_trial`` and ``write_predictions`` for the tables. Tables that are there already are kept.

    Parameters
    ----------
    graph_folder, model_folder : Path
        Folders of earlier stages.
    out : Path
        An existing folder.
    decision : {"most-probable", "threshold"}
        How labels are predicted from probabilities.
    finished : Finished, optional
        The tables of earlier runs. By default none is looked for, and none kept.

    Raises
    ------
    ArtifactError
        There is no model, or the models are of different methods or settings.
    GrandPlusError
        A threshold can't decide, see `grandplus.prediction.predictions.write_predictions`.
    """
    torch.set_num_threads(1)  # one thread gives the same bytes anywhere
    graph, splits = Graph.load(graph_folder), Splits.load(graph_folder)
    files = sorted(model_folder.glob("trial-*.safetensors"))
    if not files:
        raise ArtifactError("holds no model", where=model_folder)
    first: Model | None = None
    for trial, file in enumerate(progress(files, "infer", len(files), "trial")):
        target = out / f"{file.stem}.parquet"
        if target.exists() or (finished and finished.take(trial, out)):
            continue
        model = load_model(file, environment.device())
        if first is None:  # the trials of a run have the same settings, and so the same inputs
            first, shared = model, model.shared_inputs(graph)
            _print_plan(model.plan(graph))
        elif (model.method, model.settings) != (first.method, first.settings):
            raise ArtifactError("is of another method or other settings than the first model", where=file)
        write_trial(target, graph, splits.of(trial), model.predict_proba(graph, shared))
        if finished:
            finished.add(trial, (target.name, target))
    if finished:
        finished.store.trim()
    write_predictions(out, graph, splits, decision, digest_of(model_folder))


def _print_plan(plan: Any) -> None:
    if plan is not None:
        print(f"infer: {plan}", flush=True)
