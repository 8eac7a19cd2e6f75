package main

import (
	"io"
	"os"
)

// endWithParent ends this process when its stdin does: whoever started it has gone without stopping it.
func endWithParent() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(1)
}
