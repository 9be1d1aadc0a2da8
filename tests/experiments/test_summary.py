"""The table of ratios: medians of repeats, this version beside the one before it, and what became slower."""

import csv

from benchmarks.summary import add_run


def line(benchmark, **values):
    return {"benchmark": benchmark, **values}


def test_the_median_of_repeats_beside_the_last_release(tmp_path):
    add_run([line("power", to_scipy=4.0), line("training", dataset="cora", times_faster=5.0)], "0.1.0", tmp_path)
    lines = [line("power", to_scipy=value, seconds=value) for value in (3.0, 2.0, 10.0)]
    text = add_run([*lines, line("training", dataset="cora", times_faster=9.0)], "0.2.0", tmp_path)
    assert text == (tmp_path / "summary.md").read_text()
    assert "| speed of exact products, to scipy |  | 3 | 4 | slower |" in text
    assert "| speed of a training step, to plain PyTorch | cora | 9 | 5 | faster |" in text
    assert "today (0.2.0) | last release (0.1.0)" in text


def test_a_ratio_of_times_is_slower_where_it_is_larger(tmp_path):
    add_run([line("gfpush", case="a", to_floor=1.0), line("gfpush", case="b", to_floor=1.0)], "0.1.0", tmp_path)
    text = add_run([line("gfpush", case="a", to_floor=1.3), line("gfpush", case="b", to_floor=1.1)], "0.2.0", tmp_path)
    assert "| a | 1.3 | 1 | slower |" in text
    assert "| b | 1.1 | 1 |  |" in text


def test_a_run_replaces_the_lines_of_its_version_alone(tmp_path):
    add_run([line("power", to_scipy=4.0)], "0.1.0", tmp_path)
    add_run([line("power", to_scipy=5.0), line("embedding", to_reference=2.0)], "0.2.0", tmp_path)
    add_run([line("power", to_scipy=6.0)], "0.2.0", tmp_path)
    with (tmp_path / "summary.csv").open(newline="") as file:
        values = {(row["benchmark"], row["version"], row["value"]) for row in csv.DictReader(file)}
    assert values == {("power", "0.1.0", "4"), ("power", "0.2.0", "6"), ("embedding", "0.2.0", "2")}


def test_lines_without_a_ratio_are_left_out(tmp_path):
    assert add_run([line("gfpush", case="all", to_hash_map={"a": 2.0})], "0.1.0", tmp_path).count("\n") == 2
