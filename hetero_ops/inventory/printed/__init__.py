"""Readers for what the tools of vendors, of Slurm and of asset management print."""
