"""How a step is kept while it runs: its checkpoints, and what its end means."""
