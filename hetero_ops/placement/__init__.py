"""What goes where: the only room that opens the door to the Rust core."""
