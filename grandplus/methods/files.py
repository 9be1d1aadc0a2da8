"""Model files of any method, read back."""

from __future__ import annotations

import json
from pathlib import Path

from safetensors import SafetensorError, safe_open

from grandplus.methods.protocol import FORMAT_VERSION, HEADER, Model
from grandplus.methods.registry import method_of, settings_of
from grandplus.runtime.errors import ArtifactError


def load_model(file: Path | str, device: str = "cpu") -> Model:
    """Read a model of any method back.

    Parameters
    ----------
    file : path
    device : {"cpu", "cuda"}

    Raises
    ------
    ArtifactError
        The file is missing, damaged or no model of this format.
    """
    try:
        with safe_open(str(file), framework="pt") as content:
            header = json.loads((content.metadata() or {})[HEADER])
            tensors = {name: content.get_tensor(name) for name in content.keys()}  # noqa: SIM118
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise ArtifactError(f"is no readable model: {error}", where=file) from None
    if header["format_version"] != FORMAT_VERSION:
        raise ArtifactError(f"format version is {header['format_version']}", where=file, expected=str(FORMAT_VERSION))
    model = method_of(header["model"]).Model
    common = {
        "classes": header["classes"],
        "settings": settings_of(header["model"]).Settings.model_validate(header["settings"]),
        "preprocessing": header["preprocessing"],
        "info": header["info"],
    }
    return model.restored(header, tensors, device, **common)
