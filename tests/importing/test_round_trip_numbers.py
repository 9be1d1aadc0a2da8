"""A random graph with numbers and unknown labels in the forms of other programs is that graph, or refused."""

from __future__ import annotations

import csv
import tempfile
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from random_graphs import RandomGraph, random_graphs, same_graph

from grandplus.datasets.raw import read_files
from grandplus.datasets.source import Reading, Source
from grandplus.datasets.tables.class_names import UNKNOWN
from grandplus.importing.recognise import recognise
from grandplus.runtime.errors import GrandPlusError

# Program: what separates fields, begins the fraction, and separates thousands.
PROGRAMS = {
    "pandas": (",", ".", ""),
    "R's write.csv2": (";", ",", ""),
    "LibreOffice in German, cells with separators": (";", ",", "."),
    "LibreOffice in French, cells with separators": (";", ",", "\u202f"),
    "Excel in English, cells with separators": (",", ".", ","),
    "Excel in Swedish, text with tabs": ("\t", ",", "\u00a0"),
    "Excel in Swiss German": (";", ".", "’"),
}
KINDS = ("positions", "numbers", "zero-padded", "text", "unicode")  # no first line of these looks like a header
CELLS = {  # of a number in a spreadsheet
    "as it is": str,
    "three decimals": lambda number: f"{number:.3f}",
    "exponent": lambda number: f"{number:.6E}",
    "percent": lambda number: f"{number * 100}%",
}


def spelled(number: float, cell: str, mark: str, thousands: str) -> str:
    text = CELLS[cell](Decimal(number))
    sign = "-" if text.startswith("-") else ""
    whole, point, rest = text.removeprefix("-").partition(".")
    if whole.isdecimal() and "E" not in rest:
        whole = f"{int(whole):,}".replace(",", thousands)
    return sign + whole + (mark if point else "") + rest


def write(folder: Path, graph: RandomGraph, program: str, cells: list[str], unknown: str, *, header: bool) -> None:
    delimiter, mark, thousands = PROGRAMS[program]
    with (folder / "edges.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, delimiter=delimiter).writerows([*([["source", "target"]] * header), *graph.named])
    rows: list[list[Any]] = []
    for name, label, numbers in zip(graph.ids, graph.labels, graph.features, strict=True):
        texts = [spelled(number, cell, mark, thousands) for number, cell in zip(numbers, cells, strict=True)]
        rows.append([name, unknown if label is None else label, *texts])
    names = ["id", "label", *(f"x{column}" for column in range(len(cells)))]
    with (folder / "nodes.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, delimiter=delimiter).writerows([*([names] * header), *rows])


@pytest.mark.parametrize("program", PROGRAMS)
@settings(max_examples=15)
@given(random_graphs(KINDS), st.data())
def test_the_same_graph_or_a_refusal(program, graph, data):
    scale = data.draw(st.sampled_from([1.0, 125.5, 4096.0]))  # so that some have thousands
    features = np.arange(len(graph.ids))[:, None] / 4 if graph.features is None else graph.features
    graph = replace(graph, features=features * scale)
    width = graph.features.shape[1]
    cells = data.draw(st.lists(st.sampled_from(list(CELLS)), min_size=width, max_size=width))
    unknown, header = data.draw(st.sampled_from(UNKNOWN)), data.draw(st.booleans())
    asked = {} if header else {"id": 1, "label": 2, "ends": (1, 2), "header": "no"}
    asked |= data.draw(st.sampled_from([{}, {"decimal": PROGRAMS[program][1]}]))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, graph, program, cells, unknown, header=header)
        try:
            form, read = recognise([folder / "edges.csv", folder / "nodes.csv"], Reading(**asked))
            raw = read_files(folder, form, ["edges.csv", "nodes.csv"], Source(format=form, read=read))
        except GrandPlusError as refused:
            event(f"refused: {refused.found}")
            return
    event("read")
    features = None if raw.features is None else raw.features.astype(np.float32)
    same_graph(graph, replace(raw, features=features))
