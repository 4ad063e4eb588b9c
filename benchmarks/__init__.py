"""Measures the site beside a peer, beside the bare library, and on models of other sizes; `bin/bench` runs it."""
