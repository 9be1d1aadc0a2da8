"""data/graph, data/model -> data/predictions: class probabilities of all nodes, for each trial."""

from pathlib import Path

from grandplus.execution import device
from grandplus.scratch import key_of
from grandplus.settings import Settings
from stages.common import run
from stages.folders import checked, output

GRAPH, MODEL, PREDICTIONS = Path("data/graph"), Path("data/model"), Path("data/predictions")


def work(_: Settings) -> None:
    from grandplus.inference import infer_trials

    key = key_of(device=device(), graph=checked(GRAPH), model=checked(MODEL))
    with output("infer", key, PREDICTIONS) as folder:
        infer_trials(GRAPH, MODEL, folder)


if __name__ == "__main__":
    run("infer", work)
