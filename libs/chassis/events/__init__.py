"""Events without loss: outbox, relay, bus (Kafka or in-process), inbox, parking of poisoned keys.

State, `event` row and `outbox` row are one transaction. A relay publishes and deletes the outbox row after the
broker's acknowledgement. A consumer records the event's id in the transaction of its effect.
"""
