"""What the pages name is there: verbs and options of ``grandplus``, targets of make, files, headings, settings."""

import argparse
import re
import shlex
from pathlib import Path

import pytest
from ruamel.yaml import YAML

import grandplus
from grandplus.cli import main as cli
from grandplus.methods.registry import NAMES
from grandplus.propagation.matrices import MATRICES, parameters

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), ROOT / "experiments/README.md", ROOT / "benchmarks/README.md"]
)
IDS = [str(page.relative_to(ROOT)) for page in PAGES]
# What CONTRIBUTING.md adds as an example, and a mistake that docs/settings.md shows.
EXAMPLES = {"grandplus/methods/linear", "tests/datasets/test_graph_json.py", "train.min_steps", "train.lrr"}
COMMAND = re.compile(r"^(?:\$ )?(?:printf .* \| )?grandplus ([a-z].*)$")


def code_of(page: Path) -> list[str]:
    """Lines of blocks that are no Python, and code within sentences."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    outside = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    lines = [line for language, block in blocks if language in ("", "sh") for line in block.splitlines()]
    return lines + re.findall(r"`([^`\n]+)`", outside)


def commands_of(page: Path) -> list[list[str]]:
    """The arguments of each ``grandplus VERB ...``."""
    return [
        shlex.split(re.split(r" [|<>] | {2,}#", match[1])[0].replace("…", ""))
        for line in code_of(page)
        if (match := COMMAND.match(line.strip()))
    ]


def anchors_of(page: Path) -> set[str]:
    """Its headings, as GitHub links to them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.fixture(scope="module")
def verbs() -> dict[str, argparse.ArgumentParser]:
    parser = cli._parser()
    return next(action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction))


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_commands_exist(page, verbs):
    for verb, *arguments in commands_of(page):
        assert verb in verbs
        options = set(verbs[verb]._option_string_actions)
        assert {word.partition("=")[0] for word in arguments if word.startswith("-") and word != "-"} <= options


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if link.startswith("http"):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors_of(target), link


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_targets_of_make_and_modules_exist(page):
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for line in code_of(page):
        if match := re.match(r"(?:\$ )?make ([a-z]+)", line):
            assert match[1] in targets
        if page.name == "CHANGELOG.md":  # which names what is gone
            continue
        for module in re.findall(r"python -m ((?:stages|experiments|benchmarks)[\w.]*)", line):
            assert list(ROOT.glob(f"{module.replace('.', '/')}*")), module


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_named_files_exist(page):
    """Files of the code and of the tests that a page names between backticks."""
    for line in code_of(page):
        if re.fullmatch(r"(grandplus|tests|stages|experiments|benchmarks)/[\w/.]+", line):
            assert (ROOT / line).exists() or line in EXAMPLES, line


def test_the_reference_lists_every_name_of_the_package():
    listed = (ROOT / "docs/api/index.rst").read_text()
    for name, home in grandplus._HOME.items():
        assert f"~grandplus.{home}.{name}\n" in listed
    rooms = {path.stem for path in (ROOT / "grandplus").iterdir() if path.is_dir() or path.suffix == ".py"}
    rooms = {name for name in rooms if not name.startswith("_")}
    assert rooms == set(re.findall(r"^   grandplus\.(\w+)$", listed, re.MULTILINE))


def test_the_glossary_has_every_matrix():
    """A line for each family, from its docstring."""
    page = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
    for name, family in MATRICES.items():
        meaning = (family.__doc__ or "").strip().splitlines()[0].rstrip(".")
        given = ", ".join(f"`{key}`" for key in parameters(family))
        line = f"| `{name}` | {meaning} | {given} |"
        assert line in page


def the_line(file, start):
    """The line of a file that begins so."""
    lines = [line.strip() for line in (ROOT / file).read_text(encoding="utf-8").splitlines()]
    (line,) = (line for line in lines if line.startswith(start))
    return line


@pytest.mark.parametrize(
    ("file", "start"),
    [
        ("README.md", "| `matrix` |"),
        ("docs/settings.md", "| `matrix` |"),
        ("params.yaml", "matrix:"),
        ("grandplus/estimator/grandplus.py", 'matrix : {"'),
    ],
)
def test_lines_that_list_the_matrices_name_each(file, start):
    line = the_line(file, start)
    assert {name for name in MATRICES if not re.search(rf"\b{name}\b", line)} == set(), f"{file}: {line}"


@pytest.mark.parametrize("file", ["README.md", "docs/settings.md"])
def test_lines_that_list_the_methods_name_each(file):
    line = the_line(file, "| `model` |")
    assert {name for name in NAMES if f"`{name}`" not in line} == set(), f"{file}: {line}"


def test_settings_of_commands_exist():
    params = YAML(typ="safe").load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    for page in PAGES:
        for line in code_of(page):
            for key in re.findall(r"-S '?([\w.]+)=", line):
                section, _, name = key.rpartition(".")
                assert name in (params[section] if section else params) or key in EXAMPLES, key


def test_the_example_of_the_readme_runs(capsys):
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    exec(compile(example, "README.md", "exec"), {})
    stated = re.search(r"print\(.*\)  # ([\d.]+)", example)
    assert stated
    assert float(capsys.readouterr().out) == pytest.approx(
        float(stated[1]), abs=0.05
    )  # another processor rounds otherwise


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) < 200
