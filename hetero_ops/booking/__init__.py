"""Place, reserve, and place anew where somebody was faster."""
