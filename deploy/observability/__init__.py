"""What is watched, and how it is shown."""
