"""Stands for a training script: tells what it was given through its environment, one line to read and one of JSON."""

import json
import os
import sys

VISIBILITY = (
    "CUDA_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
    "ZE_AFFINITY_MASK",
    "HABANA_VISIBLE_MODULES",
    "ASCEND_RT_VISIBLE_DEVICES",
    "TPU_VISIBLE_CHIPS",
)


def main(step: str) -> None:
    granted = {name: value for name, value in os.environ.items() if name.startswith("HETERO_OPS_")}
    visible = {name: os.environ[name] for name in VISIBILITY if name in os.environ}
    model, count = granted.get("HETERO_OPS_MODEL"), granted.get("HETERO_OPS_COUNT")
    what = f"{count} x {model}" if model else "no accelerator"
    shown = ", ".join(f"{name}={value}" for name, value in visible.items())
    note = ", a second choice" if granted.get("HETERO_OPS_DEGRADED") == "1" else ""
    print(f"{step}: {what} on {granted.get('HETERO_OPS_NODE')}{note}; {shown}")
    print(json.dumps({"step": step, **granted, **visible}, sort_keys=True))


if __name__ == "__main__":
    main(sys.argv[1])
