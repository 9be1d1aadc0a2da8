"""Model files of any method, read back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors import SafetensorError, safe_open

from grandplus.methods.protocol import FORMAT_VERSION, HEADER, Model, digest_of_model
from grandplus.methods.registry import method_of, settings_of
from grandplus.runtime.errors import ArgumentError, ArtifactError, GrandPlusError
from grandplus.runtime.paths import as_path
from grandplus.runtime.system_errors import artifact_errors
from grandplus.runtime.validation import validated

if TYPE_CHECKING:
    from torch import Tensor


def load_model(file: Path | str, device: str = "cpu") -> Model:
    """Read a model of any method back.

    Parameters
    ----------
    file : path
    device : {"cpu", "cuda"}

    Raises
    ------
    ArgumentError
        The device is none of these, or there is no usable GPU.
    ArtifactError
        The file is missing, damaged or no model of this format.
    """
    file = as_path(file, "file")
    check_device(device)
    with _opened(file, "pt") as content:
        text = _header_text(content)
        header = json.loads(text)
        tensors = {name: content.get_tensor(name) for name in content.keys()}  # noqa: SIM118
        version = header["format_version"]
    if version != FORMAT_VERSION:
        fix = "train it again, or read it with the version of GRAND+ that wrote it"
        raise ArtifactError(f"format version is {version}", where=file, expected=str(FORMAT_VERSION), fix=fix)
    if json.dumps(header, sort_keys=True) != text:  # a number may be read as the same though a digit of it changed
        raise ArtifactError("is damaged: its header is not as it was written", where=file)
    if (digest := header.pop("digest", None)) != (found := digest_of_model(header, tensors)):
        raise ArtifactError(f"is damaged: the SHA-256 of its content is {found}", where=file, expected=digest)
    try:
        return _restored(header, tensors, device)
    except GrandPlusError as error:
        raise ArtifactError(error.found, where=file, expected=error.expected, fix=error.fix) from None
    except (KeyError, TypeError, ValueError, RuntimeError):  # RuntimeError: tensors of other names or shapes
        raise ArtifactError("is damaged: its header and its tensors are not those of one model", where=file) from None


def info_of(file: Path | str) -> dict[str, Any]:
    """What a model file notes of its training, see `grandplus.methods.protocol.Model`; its tensors are not read.

    Parameters
    ----------
    file : path

    Raises
    ------
    ArtifactError
        The file is missing, damaged or no model.
    """
    with _opened(as_path(file, "file"), "numpy") as content:
        info: dict[str, Any] = json.loads(_header_text(content))["info"]
    return info


@contextmanager
def _opened(file: Path, framework: str) -> Iterator[Any]:
    kinds = SafetensorError, KeyError, TypeError, ValueError
    with artifact_errors(file, "is no readable model", *kinds), safe_open(str(file), framework=framework) as content:
        yield content


def check_device(device: str) -> None:
    """Check that a device is one that there is.

    Parameters
    ----------
    device : {"cpu", "cuda"}

    Raises
    ------
    ArgumentError
        It is none of these, or there is no usable GPU.
    """
    if device not in ("cpu", "cuda"):
        raise ArgumentError(f"device is {device!r}", expected="cpu or cuda")
    import torch  # here, as it takes a second to import

    if device == "cuda" and not torch.cuda.is_available():
        raise ArgumentError("device is 'cuda', but torch finds no usable GPU", expected="cpu")


def _header_text(content: Any) -> str:
    return str((content.metadata() or {})[HEADER])


def _restored(header: dict[str, Any], tensors: dict[str, Tensor], device: str) -> Model:
    name = header["model"]
    common = {
        "classes": header["classes"],
        "settings": validated(settings_of(name).Settings, header["settings"], "", "settings."),
        "preprocessing": header["preprocessing"],
        "info": header["info"],
    }
    return method_of(name).Model.restored(header, tensors, device, **common)
