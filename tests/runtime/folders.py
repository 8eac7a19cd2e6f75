"""Checkpoint folders as their writers leave them: ours, PyTorch DCP's, Orbax's; whole and unfinished."""

import json
import os
from pathlib import Path

from hetero_ops import checkpoint


def ours(root, step, *, metric=None, keep=None):
    os.environ["HETERO_OPS_CHECKPOINT_DIR"] = str(root)
    try:
        return Path(checkpoint.save(lambda f: (f / "state").write_text(str(step)), step=step, metric=metric, keep=keep))
    finally:
        del os.environ["HETERO_OPS_CHECKPOINT_DIR"]


def dcp(root, name, *, ranks=2, at_s=None, metadata=".metadata"):
    """As `torch.distributed.checkpoint.save` leaves it: a file a rank, and at last the metadata of rank 0."""
    folder = root / name
    folder.mkdir(parents=True)
    for rank in range(ranks):
        (folder / f"__{rank}_0.distcp").write_bytes(b"tensors")
    if metadata:
        (folder / metadata).write_bytes(b"\x80pickled")
        if at_s is not None:
            os.utime(folder / metadata, (at_s, at_s))
    return folder


def orbax(root, name, *, committed=1_796_000_000_000_000_000, mark="_CHECKPOINT_METADATA", at_s=None):
    """As `CheckpointManager.save` leaves a step: items in folders, and a mark of the whole; 0.12 leaves all three."""
    folder = root / name
    (folder / "default" / "d").mkdir(parents=True)
    (folder / "default" / "manifest.ocdbt").write_bytes(b"arrays")
    noted = {
        "item_handlers": {},
        "init_timestamp_nsecs": 1_795_999_999_000_000_000,
        "commit_timestamp_nsecs": committed,
    }
    (folder / mark).write_text(json.dumps(noted) if mark == "_CHECKPOINT_METADATA" else "")
    if at_s is not None:
        os.utime(folder / mark, (at_s, at_s))
    return folder
