"""Compute units: how much one device counts against a stated reference device.

Three numbers are kept apart. *Speed* is a ratio of achieved rates, one per precision. *Billing* is one number per
model, the unit coefficient: that of the site where it gives one, else the speed in half precision. *Price* is money.
"""

REFERENCE_SKU = "H100-SXM5-80GB"
"""One hour of it is one unit."""

REFERENCE_TFLOPS = 794.5
"""Its measured dense bf16 GEMM rate (`data/achieved.csv`; stas00/ml-engineering, chapter on compute)."""


def derived_coefficient(achieved_tflops: float | None) -> float | None:
    """The unit coefficient of a device by its achieved rate in half precision; `None` when that is unknown.

    A constant is the reference, not a catalog's entry: a site that changes the entry moves no other coefficient.
    """
    return None if achieved_tflops is None else achieved_tflops / REFERENCE_TFLOPS
