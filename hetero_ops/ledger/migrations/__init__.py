"""How the tables came to be, step by step: every database of an older version is brought up by these."""

HEAD = "0002"
"""The last step. Known without reading the steps, since every process asks at every start."""
