"""Romanian Whist (R1–R11): four to six players, each alone, who must bid their tricks exactly."""
