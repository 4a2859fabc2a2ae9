"""What every service shares: settings, gRPC, events, database, clock, telemetry. It knows no game word."""
