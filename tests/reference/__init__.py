"""A slow, obvious placer: the definitions in plain Python, tried on every set of devices. The core is checked by it."""
