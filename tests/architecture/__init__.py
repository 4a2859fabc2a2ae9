"""What the documents promise, held against the code."""
