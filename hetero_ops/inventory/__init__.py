"""What exists: fleet documents from files, and from what Kubernetes and traces say."""
