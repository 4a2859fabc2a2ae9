"""The proof of transfers, balances and holds in SQL.

Pairs of (rule, statement) whose rows are (subject, expected, found); no row, no difference.

Each statement is one snapshot, so that a check beside running games finds only what is really wrong.
"""

# The transfers a hold in each state must have, by the acts that begin their keys. A paid entry that came back has two.
_ACTS = """
  select h.table_id, h.account_id, h.state, h.coins + h.bars > 0 or h.coffee <> '' as costs,
    coalesce(g.state, 'open') as game, coalesce(r.kind = 'refund', false) as refunded,
    coalesce(string_agg(a.act, '+' order by a.act) filter (where t.key is not null), '') as acts
  from wallet.hold h
  left join wallet.game g using (table_id)
  left join wallet.reversal r on r.table_id = h.table_id and r.account_id = h.account_id
  cross join unnest(array['entry', 'hold', 'refund', 'release', 'return']) as a(act)
  left join wallet.transfer t on t.key = a.act || ':' || h.table_id || ':' || h.account_id
  group by h.table_id, h.account_id, h.state, costs, game, refunded
"""

CHECKS: tuple[tuple[str, str], ...] = (
    (
        "E1",
        """
        select t.id || ' ' || coalesce(p.asset, 'no postings'), '0', coalesce(sum(p.amount)::text, 'none')
        from wallet.transfer t left join wallet.posting p on p.transfer_id = t.id
        group by t.id, p.asset having sum(p.amount) is distinct from 0 order by 1 limit :limit
        """,
    ),
    (
        "E1",
        """
        select 'posting ' || p.n, 'its transfer', 'none' from wallet.posting p
        left join wallet.transfer t on t.id = p.transfer_id where t.id is null order by 1 limit :limit
        """,
    ),
    (
        "E2",
        """
        select account_id || ' ' || asset, coalesce(p.total, 0)::text, coalesce(b.amount, 0)::text
        from wallet.balance b full join (
          select account_id, asset, sum(amount) as total from wallet.posting
          where account_id is not null group by account_id, asset
        ) p using (account_id, asset)
        where coalesce(p.total, 0) <> coalesce(b.amount, 0) order by 1 limit :limit
        """,
    ),
    (
        "E3",
        """
        select account_id || ' ' || asset, '>= 0', amount::text
        from wallet.balance where amount < 0 order by 1 limit :limit
        """,
    ),
    (
        "E4",
        """
        select t.table_id || ' ' || p.account_id || ' ' || p.asset || ' ' || min(t.reason), '1', count(*)::text
        from wallet.posting p join wallet.transfer t on t.id = p.transfer_id
        where t.table_id is not null and p.account_id is not null
        group by t.table_id, p.account_id, p.asset,
          case when t.reason in ('entry_release', 'entry_return', 'refund') then 'back' else t.reason end
        having count(*) > 1 order by 1 limit :limit
        """,
    ),
    (
        "E4",
        """
        select t.key, 'finished, or voided and taken back', coalesce(g.state, 'unknown')
        from wallet.transfer t left join wallet.game g using (table_id)
        where t.reason in ('prize', 'first_game_gift', 'classic_reward') and g.state is distinct from 'finished'
          and not (g.state = 'voided' and exists (
            select from wallet.reversal r join wallet.posting p
              on p.transfer_id = t.id and p.account_id = r.account_id where r.table_id = t.table_id))
        order by 1 limit :limit
        """,
    ),
    (
        "E5",
        f"""
        with holds as ({_ACTS})
        select table_id || ' ' || account_id || ' ' || state,
          case when not costs then 'no transfers' when state = 'open' then 'hold'
            when state = 'paid' and refunded then 'entry+hold+refund' when state = 'paid' then 'entry+hold'
            else 'hold+release or entry+hold+return' end, acts
        from holds where acts <> all(case
          when not costs then array['']
          when state = 'open' then array['hold']
          when state = 'paid' and refunded then array['entry+hold+refund']
          when state = 'paid' then array['entry+hold']
          else array['hold+release', 'entry+hold+return'] end)
        order by 1 limit :limit
        """,  # noqa: S608 - constant text
    ),
    (
        "E5",
        """
        select h.table_id || ' ' || h.account_id || ' ' || h.state,
          case h.state when 'open' then 'an open table' else 'a dealt table' end, coalesce(g.state, 'unknown')
        from wallet.hold h left join wallet.game g using (table_id)
        where (h.state = 'open' and g.state is distinct from 'open')
          or (h.state = 'paid' and (g.state is null or g.state not in ('started', 'finished'))
            and not (g.state = 'voided' and exists (select from wallet.reversal r
              where r.table_id = h.table_id and r.account_id = h.account_id and r.kind = 'refund')))
        order by 1 limit :limit
        """,
    ),
    (
        "E5",
        """
        with held as (
          select 'coin' as asset, sum(coins) as total from wallet.hold where state = 'open'
          union all select 'bar', sum(bars) from wallet.hold where state = 'open'
          union all select 'cup_' || coffee, count(*) from wallet.hold
            where state = 'open' and coffee <> '' group by coffee
        ), posted as (
          select asset, sum(amount) as total from wallet.posting where house = 'holds' group by asset
        )
        select 'holds ' || asset, coalesce(held.total, 0)::text, coalesce(posted.total, 0)::text
        from held full join posted using (asset)
        where coalesce(held.total, 0) <> coalesce(posted.total, 0) order by 1 limit :limit
        """,
    ),
)
