"""What gateway and table worker share."""
