"""A slow, obvious placer: the definitions in plain Python, tried on every set of devices. What the core is checked by."""
