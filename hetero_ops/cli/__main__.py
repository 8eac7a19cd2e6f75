"""`python -m hetero_ops.cli` is `hetero-ops`."""

from hetero_ops.cli import main

main()
