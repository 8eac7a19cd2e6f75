"""Where steps run: submit, observe, cancel. `local` runs them as processes of this machine."""
