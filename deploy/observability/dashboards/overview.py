"""The first page at night: is play fast, is money right, is anything stuck."""

from deploy.observability.dashboards.panels import Panel, Query, dashboard, quantiles


def overview() -> str:
    """JSON of the dashboard `whist-overview`."""
    return dashboard(
        "whist-overview",
        "Whist · 10 overview",
        "Is play fast, is money right, is anything stuck. Each row leads to a page of its own.",
        [
            Panel(
                title="Moves acknowledged within 250 ms",
                description="Share of the last five minutes' moves; the promise is 99.5 % over 30 days.",
                unit="percentunit",
                queries=[Query(expr="1 - whist:turn_slow:ratio_rate5m")],
                kind="stat",
                width=6,
                height=6,
            ),
            Panel(
                title="Ledger imbalance",
                description="Differences that the last proof of the ledger found. Anything but zero is an incident.",
                unit="short",
                queries=[Query(expr="max(whist_ledger_imbalance)")],
                kind="stat",
                width=6,
                height=6,
                limit=1,
            ),
            Panel(
                title="Live tables",
                description="Tables owned by all workers together.",
                unit="short",
                queries=[Query(expr="sum(whist_tables_live)")],
                kind="stat",
                width=6,
                height=6,
            ),
            Panel(
                title="Parked events",
                description="Events waiting behind a poisoned key, all consumers together.",
                unit="short",
                queries=[Query(expr="sum(max by (consumer) (whist_events_parked))")],
                kind="stat",
                width=6,
                height=6,
                limit=1,
            ),
            Panel(
                title="Move latency",
                description="From the gateway's receipt of a move to its acknowledgement.",
                unit="s",
                queries=quantiles("whist_turn_seconds", 'stage="total"'),
                limit=0.25,
            ),
            Panel(
                title="Moves",
                description="Journaled decisions, by who made them.",
                unit="ops",
                queries=[Query(expr="sum by (by) (rate(whist_moves_total[$__rate_interval]))", legend="{{by}}")],
            ),
            Panel(
                title="Wait for a table",
                description="From a ticket's birth to its seat; a deal is due after 10 s at the latest.",
                unit="s",
                queries=quantiles("whist_queue_wait_seconds", ""),
                limit=11,
            ),
            Panel(
                title="Players",
                description="Sockets and accounts connected to all gateways, and tickets in the queue.",
                unit="short",
                queries=[
                    Query(expr="sum(whist_sockets_open)", legend="sockets"),
                    Query(expr="sum(whist_accounts_connected)", legend="accounts"),
                    Query(expr="sum by (mode) (max by (mode, pod) (whist_tickets_waiting))", legend="waiting {{mode}}"),
                ],
            ),
            Panel(
                title="Coins created",
                description="Coins that came into players' reach, by reason.",
                unit="ops",
                queries=[
                    Query(
                        expr="sum by (reason) (rate(whist_wallet_coins_created_total[$__rate_interval]))",
                        legend="{{reason}}",
                    )
                ],
            ),
            Panel(
                title="Coins destroyed",
                description="Coins that left players' reach for good, by reason.",
                unit="ops",
                queries=[
                    Query(
                        expr="sum by (reason) (rate(whist_wallet_coins_destroyed_total[$__rate_interval]))",
                        legend="{{reason}}",
                    )
                ],
            ),
            Panel(
                title="Calls",
                description="gRPC calls answered by each service.",
                unit="reqps",
                queries=[
                    Query(
                        expr="sum by (service) (rate(whist_rpc_seconds_count[$__rate_interval]))", legend="{{service}}"
                    )
                ],
            ),
            Panel(
                title="Calls that broke",
                description="Answers INTERNAL and DATABASE_AWAY: never a player's mistakes.",
                unit="reqps",
                queries=[
                    Query(
                        expr="sum by (service, method) "
                        '(rate(whist_rpc_seconds_count{code=~"INTERNAL|DATABASE_AWAY"}[$__rate_interval]))',
                        legend="{{service}} {{method}}",
                    )
                ],
            ),
            Panel(
                title="Outbox",
                description="Committed events that the broker has not acknowledged, by service.",
                unit="short",
                queries=[Query(expr="max by (service) (whist_outbox_waiting)", legend="{{service}}")],
            ),
            Panel(
                title="Events",
                description="Events taken by consumers, by outcome.",
                unit="ops",
                queries=[
                    Query(
                        expr="sum by (consumer, outcome) (rate(whist_events_handled_total[$__rate_interval]))",
                        legend="{{consumer}} {{outcome}}",
                    )
                ],
            ),
            Panel(
                title="Event loop lag",
                description="How late each process ran its last tick: the sign of a process that is short of CPU.",
                unit="s",
                queries=[Query(expr="max by (service) (whist_loop_lag_seconds)", legend="{{service}}")],
                limit=0.25,
            ),
            Panel(
                title="Failing jobs",
                description="Runs of periodic jobs that raised, a minute.",
                unit="opm",
                queries=[
                    Query(
                        expr="60 * sum by (service, job) (rate(whist_job_failures_total[$__rate_interval]))",
                        legend="{{service}} {{job}}",
                    )
                ],
            ),
            Panel(
                title="Waiting for the coach",
                description="Finished games not analysed yet; the rewards of classic games wait for it.",
                unit="short",
                queries=[Query(expr="max(whist_coach_games_waiting)", legend="games")],
            ),
            Panel(
                title="Analysis",
                description="Time that the coach takes for one finished game.",
                unit="s",
                queries=quantiles("whist_coach_analysis_seconds", ""),
            ),
        ],
    )
