"""Programs talk to the API: one behaviour a file."""
