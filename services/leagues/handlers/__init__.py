"""Use cases of leagues, one transaction each."""
