"""The load harness itself."""
