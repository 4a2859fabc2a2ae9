"""OpenTelemetry traces: one from the socket's frame through gRPC and the events to the last consumer."""

from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import SpanContext, SpanKind, TraceFlags
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

_propagator = TraceContextTextMapPropagator()
_recorders: list[tuple[SpanProcessor, Resource]] = []


def configure_tracing(service: str, otlp_endpoint: str, ratio: float, processor: SpanProcessor | None = None) -> None:
    """Set the process's tracer provider once. Without an endpoint and a processor, tracing stays a no-op."""
    if not otlp_endpoint and processor is None:
        return
    resource = Resource.create({"service.name": f"whist-{service}"})
    recorder = processor or BatchSpanProcessor(OTLPSpanExporter(endpoint=otlp_endpoint, insecure=True))
    provider = TracerProvider(resource=resource, sampler=ParentBased(TraceIdRatioBased(ratio)))
    provider.add_span_processor(recorder)
    trace.set_tracer_provider(provider)
    _recorders.append((recorder, resource))


def tracer() -> trace.Tracer:
    """The process's tracer; a no-op until `configure_tracing` has run."""
    return trace.get_tracer("whist")


def current_traceparent() -> str:
    """The W3C `traceparent` of the running span, or empty."""
    carrier: dict[str, str] = {}
    _propagator.inject(carrier)
    return carrier.get("traceparent", "")


def context_from(traceparent: str) -> otel_context.Context:
    """The context that a `traceparent` header names; an empty or broken one starts afresh."""
    return _propagator.extract({"traceparent": traceparent} if traceparent else {})


@contextmanager
def span(
    name: str, traceparent: str = "", *, kind: SpanKind = SpanKind.INTERNAL, **attributes: str
) -> Iterator[trace.Span]:
    """A span under `traceparent`, or under the running one when that is empty."""
    parent = context_from(traceparent) if traceparent else None
    with tracer().start_as_current_span(name, context=parent, kind=kind, attributes=attributes) as opened:
        yield opened


def span_afterwards(
    name: str, traceparent: str, start_ns: int, end_ns: int, **attributes: str | int | float
) -> SpanContext:
    """Record a span whose times are already known: hot paths measure first and trace only what is sampled."""
    made = tracer().start_span(name, context=context_from(traceparent), start_time=start_ns, attributes=attributes)
    made.end(end_time=end_ns)
    return made.get_span_context()


def root_afterwards(name: str, traceparent: str, start_ns: int, end_ns: int) -> None:
    """Record the very span that `traceparent` names: the root of a trace whose id was handed on before it was made.

    Times are Unix nanoseconds. Nothing happens while tracing is off.
    """
    context = trace.get_current_span(context_from(traceparent)).get_span_context()
    for recorder, resource in _recorders:
        recorder.on_end(
            ReadableSpan(name, context, resource=resource, kind=SpanKind.SERVER, start_time=start_ns, end_time=end_ns)
        )


def sampled(traceparent: str) -> bool:
    """Whether the header's flags ask for recording; costs no span."""
    return bool(traceparent) and bool(int(traceparent[-2:], 16) & TraceFlags.SAMPLED)
