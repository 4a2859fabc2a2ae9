"""Use cases of matchmaking: queueing, matching, seating, what follows from others' events, and watching."""
