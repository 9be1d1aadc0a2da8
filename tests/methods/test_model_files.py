"""A model file that is not whole is never read: each bit of it counts."""

from __future__ import annotations

import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grandplus.methods.files import load_model
from grandplus.methods.registry import NAMES
from grandplus.runtime.errors import ArtifactError
from tests.methods.small_graph import trained_shortly

pytestmark = pytest.mark.filterwarnings("ignore::grandplus.DiagnosisWarning")  # of two epochs nothing is expected


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The file of a model, by method."""
    folder = tmp_path_factory.mktemp("models")

    def made(name):
        file = folder / f"{name}.safetensors"
        if not file.exists():
            trained_shortly(name).models_[0].save(file)
        return file

    return made


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_is_read_and_written_again_has_the_same_bytes(files, name, tmp_path):
    load_model(files(name)).save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == files(name).read_bytes()


@pytest.mark.parametrize("name", ["gcn", "grandplus", "pprgo"])
@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7), of_tensors=st.booleans())
def test_a_bit_that_flipped_is_noticed(files, tmp_path_factory, name, place, bit, of_tensors):
    content = bytearray(files(name).read_bytes())
    data = 8 + struct.unpack("<Q", content[:8])[0]
    start, end = (data, len(content)) if of_tensors else (0, data)
    content[start + int(place * (end - start))] ^= 1 << bit
    damaged = tmp_path_factory.getbasetemp() / f"damaged-{name}.safetensors"
    damaged.write_bytes(content)
    with pytest.raises(ArtifactError, match=f"damaged-{name}.safetensors"):
        load_model(damaged)


@pytest.mark.parametrize("name", NAMES)
def test_tensors_of_zeros_are_noticed(files, tmp_path, name):
    content = bytearray(files(name).read_bytes())
    data = 8 + struct.unpack("<Q", content[:8])[0]
    content[data:] = bytes(len(content) - data)
    (tmp_path / "zeros.safetensors").write_bytes(content)
    with pytest.raises(ArtifactError, match="is damaged: the SHA-256 of its content is"):
        load_model(tmp_path / "zeros.safetensors")


def test_a_file_of_an_older_version_says_what_to_do(files, tmp_path):
    content = files("sgc").read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8 : 8 + length])
    known = json.loads(header["__metadata__"]["grandplus"])
    header["__metadata__"]["grandplus"] = json.dumps(known | {"format_version": 3})
    text = json.dumps(header).encode()
    (tmp_path / "old.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + content[8 + length :])
    with pytest.raises(ArtifactError, match="format version is 3; expected 4; train it again, or read it with"):
        load_model(tmp_path / "old.safetensors")
