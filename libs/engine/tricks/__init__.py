"""What every trick-taking game shares: who wins a trick, cards on the table, how they are shown and written."""
