"""data/graph, data/rows -> data/model: a model and its history for each trial, from scratch or from earlier models."""

from pathlib import Path

from grandplus.pipeline.finished import finished_trainings
from grandplus.pipeline.folders import GRAPH, ROWS, output
from grandplus.pipeline.settings import Settings, resolve
from grandplus.pipeline.stage import run
from grandplus.pipeline.start import find_start
from grandplus.runtime.environment import device

LIVE = Path("reports/live/metrics.json")  # in a folder that dvc.yaml names, so that DVC shows it while it is there


def work(settings: Settings) -> None:
    from grandplus.pipeline.trials import train_trials

    if changes := resolve().changes():  # also what an earlier experiment has left in params.yaml
        print(f"train: other than in the card of {settings.dataset}: {changes}", flush=True)
    # A GPU rounds differently: its trials are not to be mixed with a CPU's.
    start = None if settings.start is None else find_start(settings.start, settings.trials)
    sums = start.sums if start else None
    with output("train", settings, device=device(), start=sums) as folder:
        finished = finished_trainings(GRAPH, ROWS, settings, device(), sums)
        train_trials(GRAPH, ROWS, folder, settings, live=LIVE, finished=finished, start=start)


if __name__ == "__main__":
    run("train", work)
