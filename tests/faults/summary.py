"""What the committed table says, in Markdown: of how many faults the outcome was the undisturbed run's bytes.

python tests/faults/summary.py
"""

from __future__ import annotations

import csv
from pathlib import Path

TABLE = Path(__file__).with_name("table.csv")
COLUMNS = {
    "kill -9, all processes": ("SIGKILL", "group"),
    "kill -9, the stage's main one": ("SIGKILL", "main"),
    "kill -9, DVC": ("SIGKILL", "dvc"),
    "Ctrl-C": ("SIGINT", "terminal"),
}


def main() -> None:
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    kills = [row for row in rows if row["delay"]]
    print("| stage |", " | ".join(COLUMNS), "|")
    print("|---|" + "---|" * len(COLUMNS))
    for stage in dict.fromkeys(row["stage"] for row in kills):
        cells = [
            share([row for row in kills if row["stage"] == stage and (row["fault"], row["at"]) == column])
            for column in COLUMNS.values()
        ]
        print(f"| {stage} |", " | ".join(cells), "|")
    print()
    print("| damage | file | met by | |")
    print("|---|---|---|---|")
    for row in rows:
        if not row["delay"]:
            print(f"| {row['fault'].replace('_', ' ')} | {row['at']} | {row['stage']} | {share([row])} |")


def share(rows: list[dict[str, str]]) -> str:
    """Undisturbed bytes: of so many."""
    return f"{sum(row['outcome'] == 'identical' for row in rows)} of {len(rows)}"


if __name__ == "__main__":
    main()
