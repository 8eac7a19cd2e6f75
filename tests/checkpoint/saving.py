"""What is saved here, and what is read back."""

import json
from pathlib import Path


def writing(step):
    return lambda folder: (folder / "state.json").write_text(json.dumps({"step": step}))


def step_of(path):
    return None if path is None else json.loads((Path(path) / "state.json").read_text())["step"]


def names(directory):
    return sorted(path.name for path in directory.iterdir())
