"""The bus on a Kafka-protocol broker (aiokafka)."""

import asyncio
from collections.abc import Sequence
from typing import Any

import structlog
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import IllegalStateError, KafkaError, TopicAlreadyExistsError

from libs.chassis.events.bus import Listener, Subscription
from libs.chassis.events.delivery import Delivery
from libs.chassis.events.envelope import Event

log = structlog.get_logger()

PARTITIONS = 24  # a topic; fixed for years, since it decides which events share an order
FETCH_MAX = 500  # records a round
RESTART_SECONDS = 1.0


async def ensure_topics(bootstrap: str, topics: Sequence[str], *, partitions: int = PARTITIONS) -> None:
    """Create what is missing. For development; in production topics are declared with the cluster."""
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    try:
        existing = set(await admin.list_topics())
        missing = [NewTopic(name, partitions, 1) for name in topics if name not in existing]
        if missing:
            await admin.create_topics(missing)
    except TopicAlreadyExistsError:
        pass  # another process was faster
    finally:
        await admin.close()


class _Assignment(ConsumerRebalanceListener):  # type: ignore[misc] # aiokafka has no types
    """Remembers what was taken away, so that a record of a lost partition is not committed."""

    def __init__(self) -> None:
        self.generation = 0

    async def on_partitions_revoked(self, revoked: Any) -> None:
        self.generation += 1

    async def on_partitions_assigned(self, assigned: Any) -> None: ...


class KafkaBus:
    """Publishes with acks=all; each subscription is a consumer group of its own name."""

    def __init__(self, bootstrap: str, *, idempotent: bool = False) -> None:
        self._bootstrap = bootstrap
        self._idempotent = idempotent
        self._producer: AIOKafkaProducer | None = None
        self._starting = asyncio.Lock()
        self._deliveries: list[Delivery] = []
        self._listeners: list[Listener] = []

    def subscribe(self, subscription: Subscription) -> None:
        self._deliveries.append(Delivery(subscription))

    def listen(self, listener: Listener) -> None:
        self._listeners.append(listener)

    async def publish(self, events: Sequence[Event]) -> None:
        producer = await self._started_producer()
        acknowledgements = [
            await producer.send(event.topic, event.payload, key=event.key, headers=event.headers()) for event in events
        ]
        await asyncio.gather(*acknowledgements)

    async def _started_producer(self) -> AIOKafkaProducer:
        async with self._starting:
            if self._producer is None:
                producer = AIOKafkaProducer(
                    bootstrap_servers=self._bootstrap,
                    acks="all",
                    enable_idempotence=self._idempotent,
                    request_timeout_ms=10_000,
                    linger_ms=0,
                )
                try:
                    await producer.start()
                except BaseException:
                    await producer.stop()
                    raise
                self._producer = producer
            return self._producer

    async def run(self) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                for delivery in self._deliveries:
                    group.create_task(self._consume(delivery))
                    group.create_task(delivery.keep_retrying())
                for listener in self._listeners:
                    group.create_task(self._listen(listener))
                # Where nothing is consumed the producer is still needed until the end.
                await asyncio.Event().wait()
        finally:
            if self._producer is not None:
                await self._producer.stop()
                self._producer = None

    async def _consume(self, delivery: Delivery) -> None:
        while True:
            try:
                await self._consume_once(delivery)
            except (KafkaError, OSError):
                log.warning("consumer_restarts", consumer=delivery.subscription.consumer, exc_info=True)
                await asyncio.sleep(RESTART_SECONDS)

    async def _listen(self, listener: Listener) -> None:
        while True:
            try:
                await self._listen_once(listener)
            except (KafkaError, OSError):
                log.warning("listener_restarts", topic=listener.topic, exc_info=True)
                await asyncio.sleep(RESTART_SECONDS)

    async def _listen_once(self, listener: Listener) -> None:
        """No group and no commits: each replica reads every partition from its end."""
        consumer = AIOKafkaConsumer(
            listener.topic, bootstrap_servers=self._bootstrap, enable_auto_commit=False, auto_offset_reset="latest"
        )
        await consumer.start()
        try:
            async for record in consumer:
                listener.take(record.value)
        finally:
            await consumer.stop()

    async def _consume_once(self, delivery: Delivery) -> None:
        assignment = _Assignment()
        consumer = AIOKafkaConsumer(
            bootstrap_servers=self._bootstrap,
            group_id=delivery.subscription.consumer,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            max_poll_interval_ms=600_000,
        )
        consumer.subscribe([delivery.subscription.topic], listener=assignment)
        await consumer.start()
        try:
            while True:
                batches = await consumer.getmany(timeout_ms=1000, max_records=FETCH_MAX)
                if not batches:
                    continue
                generation = assignment.generation
                async with asyncio.TaskGroup() as group:
                    for records in batches.values():
                        group.create_task(self._partition(delivery, records))
                await self._commit(consumer, batches, assignment, generation)
        finally:
            await consumer.stop()

    @staticmethod
    async def _commit(
        consumer: AIOKafkaConsumer,
        batches: dict[TopicPartition, Any],
        assignment: _Assignment,
        generation: int,
    ) -> None:
        offsets = {partition: records[-1].offset + 1 for partition, records in batches.items()}
        if assignment.generation != generation:
            kept = consumer.assignment()
            offsets = {partition: offset for partition, offset in offsets.items() if partition in kept}
        if not offsets:
            return
        try:
            await consumer.commit(offsets)
        except IllegalStateError:
            log.info("commit_after_rebalance")  # the new owner sees the events again; the inbox knows them

    @staticmethod
    async def _partition(delivery: Delivery, records: Sequence[Any]) -> None:
        """In order within a key; keys of one fetch run one after the other, partitions side by side."""
        for record in records:
            try:
                event = Event.from_record(record.topic, record.key, record.value, list(record.headers))
            except (KeyError, ValueError, TypeError):
                log.exception("foreign_record", topic=record.topic, offset=record.offset)
                continue
            await delivery.take(event)
