"""Management commands about people."""
