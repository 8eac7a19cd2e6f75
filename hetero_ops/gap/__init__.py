"""What a step asks for: profiles of accelerators, the catalog of them, and requirements."""
