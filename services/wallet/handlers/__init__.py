"""The wallet's use cases, one transaction each. Those of events run in the transaction that records the event."""
