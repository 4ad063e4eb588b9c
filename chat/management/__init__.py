"""What can be done on the command line."""
