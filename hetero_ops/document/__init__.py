"""Text to plain objects that know the file and line they came from: YAML and JSON."""
