"""The table workers' page: where a move's time goes, and what happens to tables when workers come and go."""

from deploy.observability.dashboards.panels import Panel, Query, dashboard, heatmap, quantiles

# In the order in which a move passes them; each observed by the process that sees it.
STAGES = {
    "gateway": "from a frame's receipt until it is on the worker's stream",
    "queue": "on the worker until its table takes it up",
    "decide": "the rules",
    "journal": "until the commit in PostgreSQL",
    "fanout": "from the commit until the frames are on the streams to the gateways",
    "total": "from the gateway's receipt until the mover's acknowledgement is written",
}


def tables() -> str:
    """JSON of the dashboard `whist-tables`."""
    return dashboard(
        "whist-tables",
        "Whist · 30 tables",
        "Where a move's time goes, stage by stage, and how tables change workers.",
        [
            Panel(
                title="p99 by stage",
                description="One line a stage: the stage that rises with the total is the one to look at.",
                unit="s",
                queries=quantiles("whist_turn_seconds", "", by="stage")[2:],
                width=24,
                limit=0.25,
            ),
            heatmap(
                "Turn latency",
                "Every move of all gateways, receipt to acknowledgement.",
                "whist_turn_seconds",
                'stage="total"',
            ),
            *(
                Panel(
                    title=f"Stage {stage}",
                    description=f"Stage {stage}: {meaning}.",
                    unit="s",
                    queries=quantiles("whist_turn_seconds", f'stage="{stage}"'),
                    width=8,
                )
                for stage, meaning in STAGES.items()
            ),
            Panel(
                title="Commit",
                description="Time of one group commit of the journal.",
                unit="s",
                queries=quantiles("whist_journal_commit_seconds", ""),
                width=8,
            ),
            Panel(
                title="Entries a commit",
                description="How many moves share a commit: grows under load, and saves the database work.",
                unit="short",
                queries=quantiles("whist_journal_batch_entries", ""),
                width=8,
            ),
            Panel(
                title="Commits that went wrong",
                description="Slow, with a lost answer (read back), or refused because the table is another worker's.",
                unit="ops",
                queries=[
                    Query(expr="sum(rate(whist_journal_slow_commits_total[$__rate_interval]))", legend="slow"),
                    Query(expr="sum(rate(whist_journal_unknown_outcomes_total[$__rate_interval]))", legend="unknown"),
                    Query(expr="sum(rate(whist_journal_fenced_total[$__rate_interval]))", legend="fenced"),
                ],
                width=8,
            ),
            Panel(
                title="Live tables by worker",
                description="Tables that each worker owns; a new worker fills up with new tables only.",
                unit="short",
                queries=[Query(expr="sum by (pod) (whist_tables_live)", legend="{{pod}}")],
                width=8,
            ),
            Panel(
                title="Tables taken over",
                description="Tables recovered from a worker that had gone.",
                unit="ops",
                queries=[
                    Query(expr="sum by (pod) (rate(whist_tables_recovered_total[$__rate_interval]))", legend="{{pod}}")
                ],
                width=8,
            ),
            Panel(
                title="Pause of a table that changed its worker",
                description="Time nobody could move: under 1 s when planned, under 6 s after a crash.",
                unit="s",
                queries=quantiles("whist_table_pause_seconds", ""),
                width=8,
                limit=6,
            ),
            Panel(
                title="Moves by who made them",
                description="A rising share of time_out says that players cannot reach us in time.",
                unit="ops",
                queries=[Query(expr="sum by (by) (rate(whist_moves_total[$__rate_interval]))", legend="{{by}}")],
                width=8,
            ),
            Panel(
                title="Refused moves",
                description="By reason; a jump after a release of a client is that client's mistake.",
                unit="ops",
                queries=[
                    Query(
                        expr="sum by (reason) (rate(whist_moves_refused_total[$__rate_interval]))", legend="{{reason}}"
                    )
                ],
                width=8,
            ),
            Panel(
                title="Games",
                description="Finished by kind, and voided by our fault with the reason.",
                unit="ops",
                queries=[
                    Query(expr="sum by (kind) (rate(whist_games_finished_total[$__rate_interval]))", legend="{{kind}}"),
                    Query(
                        expr="sum by (reason) (rate(whist_games_voided_total[$__rate_interval]))",
                        legend="voided {{reason}}",
                    ),
                ],
                width=8,
            ),
        ],
    )
