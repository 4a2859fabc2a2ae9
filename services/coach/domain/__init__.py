"""What a hint is: a view that holds together, and one of its legal actions."""
