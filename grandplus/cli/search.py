"""The appendix's search for hyperparameters: first of the network, then of propagation, each by 3 seeds.

    python -m experiments.search pubmed

Takes the highest mean validation accuracy; test labels are not looked at. Unattended and resumable: every training is
kept as soon as it is done. Trains as many at once as GRANDPLUS_WORKERS says. Writes the winner as a card,
data/catalog/<dataset>-<matrix>-tuned.yaml, and its way there into experiments/search/<dataset>-<matrix>.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import sys
from pathlib import Path

from grandplus.pipeline.ending import ending
from grandplus.runtime.errors import GrandPlusError

FOLDER = Path("experiments/search")
TRIALS = {"network": 16, "propagation": 24}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", help="a card in data/catalog")
    parser.add_argument("--matrix", choices=("ppr", "avg", "single"), default="avg", help="which to tune")
    for stage, usual in TRIALS.items():
        parser.add_argument(f"--{stage}", type=int, default=usual, metavar="TRIALS", help=f"default: {usual}")
    arguments = parser.parse_args()
    trials = {stage: getattr(arguments, stage) for stage in TRIALS}
    return ending(lambda: search(arguments.dataset, arguments.matrix, trials))


def search(dataset: str, matrix: str, trials: dict[str, int]) -> None:
    """Run both stages, and write what they found."""
    if importlib.util.find_spec("optuna") is None:
        raise GrandPlusError("the search needs Optuna", fix="run pip install -e '.[search]'")
    import optuna

    from grandplus.pipeline.cases import STORE, Case, check_no_gpu, prepare
    from grandplus.pipeline.trials import trials_at_once
    from grandplus.runtime import environment, pools
    from grandplus.runtime.storage import finished_whole, locked
    from grandplus.search import results
    from grandplus.search.space import STAGES, changed, space_of, without_too_wide
    from grandplus.search.study import SEEDS, complete

    for stage, count in trials.items():
        if count < 1:
            raise GrandPlusError(f"--{stage} is {count}", expected="at least 1")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    case, name, found = Case(dataset, matrix), f"{dataset}-{matrix}", {}
    check_no_gpu()
    workers = environment.workers()
    graph = prepare(case, SEEDS).graph
    trials_at_once(graph, case.settings(SEEDS).train)
    database = STORE.absolute() / f"search-{name}.db"
    with locked(database.with_suffix(".lock")), pools.processes(workers) as pool:
        for stage in STAGES:
            space = without_too_wide(space_of(stage, case.settings(SEEDS)), graph, case.settings(SEEDS))
            # Of other settings or another graph the study is another one.
            inputs = hashlib.sha256(f"{prepare(case, SEEDS).inputs} {space} exact".encode()).hexdigest()[:12]
            study = optuna.create_study(
                storage=f"sqlite:///{database}",
                study_name=f"{stage}-{inputs}",
                direction="maximize",
                pruner=optuna.pruners.MedianPruner(),
                load_if_exists=True,
            )
            best = complete(study, stage, space, case, trials[stage], pool)
            found[stage] = study, best
            case = changed(case, best.params)
    folder = FOLDER / name
    folder.mkdir(parents=True, exist_ok=True)
    results.plot(found, f"{name}: search on validation nodes", folder / "history.png")
    with finished_whole(folder / "table.md", alone=True) as partial:
        partial.write_text(results.table(found), encoding="utf-8")
    card = results.save_winner(case, best)
    print(results.summary(found, case))
    print(f"history: {folder}/table.md, history.png")
    print(f"to run it: dvc exp run -S dataset={card} -S matrix={matrix}")


if __name__ == "__main__":
    sys.exit(main())
