"""What signing in means: pure values and rules."""
