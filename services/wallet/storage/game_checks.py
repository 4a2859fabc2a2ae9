"""What games, gifts and weeks did to the ledger, proved; the form of `checks` (reliability E4-E6, E8, E9, E11-E14).

A limit of the platform's file (how many a day, how much a prize) may have been another when it applied, so what is
proved is that the counts by which it was kept agree with the ledger.
"""

CHECKS: tuple[tuple[str, str], ...] = (
    # A refund leaves nothing of the game but experience; a void nothing but what the house lost by it.
    (
        "E4",
        """
        select r.kind || ' ' || r.table_id || ' ' || r.account_id || ' ' || p.asset, '0', sum(p.amount)::text
        from wallet.reversal r join wallet.transfer t on t.table_id = r.table_id
        join wallet.posting p on p.transfer_id = t.id and p.account_id = r.account_id
        where t.reason <> 'operator_loss'
        group by r.kind, r.table_id, r.account_id, p.asset having sum(p.amount) <> 0 order by 1 limit :limit
        """,
    ),
    (
        "E4",
        """
        select coalesce(t.key, 'refund ' || r.table_id || ' ' || r.account_id), 'a refund and its row',
          case when t.key is null then 'the row alone' else 'the transfer alone' end
        from (select * from wallet.reversal where kind = 'refund') r
        full join (select * from wallet.transfer where reason = 'refund') t
          on t.key = 'refund:' || r.table_id || ':' || r.account_id
        where t.key is null or r.table_id is null order by 1 limit :limit
        """,
    ),
    (
        "E4",
        """
        select g.table_id || ' ' || s.account_id, 'voided', 'not taken back'
        from wallet.game g join wallet.finished_game using (table_id) join wallet.seat s using (table_id)
        where g.state = 'voided' and not exists (
          select from wallet.reversal r where r.table_id = g.table_id and r.account_id = s.account_id)
        order by 1 limit :limit
        """,
    ),
    # Prizes are for people who bid themselves, did not leave, and were among the first three.
    (
        "E6",
        """
        select t.key, 'a seat that counts, among the first three',
          case when s.counts then 'place ' || s.place else 'does not count' end
        from wallet.transfer t join wallet.posting p on p.transfer_id = t.id and p.account_id is not null
        join wallet.seat s on s.table_id = t.table_id and s.account_id = p.account_id
        where t.reason = 'prize' and not (s.counts and s.place between 1 and 3) order by 1 limit :limit
        """,
    ),
    (
        "E6",
        """
        select t.key, 'a seat at the game', 'none'
        from wallet.transfer t join wallet.posting p on p.transfer_id = t.id and p.account_id is not null
        where t.reason in ('prize', 'classic_reward')
          and exists (select from wallet.seat s where s.table_id = t.table_id)
          and not exists (select from wallet.seat s where s.table_id = t.table_id and s.account_id = p.account_id)
        order by 1 limit :limit
        """,
    ),
    # A sealed week's totals are its prizes less what had been given back by then, for ever.
    (
        "E8",
        """
        with found as (
          select f.week_id, p.account_id, sum(p.amount)::bigint as coins, count(*)::integer as prizes
          from wallet.week k join wallet.finished_game f using (week_id)
          join wallet.transfer t on t.table_id = f.table_id and t.reason = 'prize'
          join wallet.posting p on p.transfer_id = t.id and p.account_id is not null
          where k.sealed_at is not null and not exists (
            select from wallet.reversal r
            where r.table_id = f.table_id and r.account_id = p.account_id and not r.after_seal)
          group by f.week_id, p.account_id
        )
        select week_id || ' ' || account_id, coalesce(f.coins || ' in ' || f.prizes, 'none'),
          coalesce(k.coins || ' in ' || k.prizes, 'none')
        from found f full join wallet.week_total k using (week_id, account_id)
        where (f.coins, f.prizes) is distinct from (k.coins, k.prizes) order by 1 limit :limit
        """,
    ),
    # Once by its key, which names whom it was for.
    (
        "E9",
        """
        select t.key, case t.reason when 'signup_gift' then 'signup:' when 'weekly_cups' then 'weekly_coffee:<week>:'
            when 'first_game_gift' then 'first_game:<day>:' when 'podium' then 'league_prize:<week>:'
            when 'classic_reward' then 'classic:<table>:' else t.reason || ':<table>:' end || p.account_id, t.key
        from wallet.transfer t join (
          select distinct transfer_id, account_id from wallet.posting where account_id is not null
        ) p on p.transfer_id = t.id
        where case t.reason
          when 'signup_gift' then t.key <> 'signup:' || p.account_id
          when 'weekly_cups' then t.key !~ ('^weekly_coffee:[0-9]{4}-W[0-9]{2}:' || p.account_id || '$')
          when 'first_game_gift' then t.key !~ ('^first_game:[0-9]{4}-[0-9]{2}-[0-9]{2}:' || p.account_id || '$')
          when 'podium' then t.key !~ ('^league_prize:[0-9]{4}-W[0-9]{2}:' || p.account_id || '$')
          when 'classic_reward' then t.key is distinct from 'classic:' || t.table_id || ':' || p.account_id
          when 'prize' then t.key is distinct from 'prize:' || t.table_id || ':' || p.account_id
          else false end
        order by 1 limit :limit
        """,
    ),
    (
        "E11",
        """
        select t.table_id || ' ' || p.account_id, 'one cup', sum(-p.amount)::text
        from wallet.transfer t join wallet.posting p on p.transfer_id = t.id
        where t.reason = 'entry_hold' and p.account_id is not null and p.asset like 'cup%'
        group by t.table_id, p.account_id having sum(-p.amount) > 1 order by 1 limit :limit
        """,
    ),
    (
        "E12",
        """
        select t.key, f.day_id, split_part(t.key, ':', 2)
        from wallet.transfer t join wallet.finished_game f using (table_id) join wallet.seat s using (table_id)
        where t.reason = 'first_game_gift' and t.key = 'first_game:' || split_part(t.key, ':', 2) || ':' || s.account_id
          and split_part(t.key, ':', 2) <> f.day_id order by 1 limit :limit
        """,
    ),
    (
        "E13",
        """
        with paid as (
          select p.account_id, f.day_id, count(distinct t.id) as n
          from wallet.transfer t join wallet.finished_game f using (table_id)
          join wallet.posting p on p.transfer_id = t.id and p.account_id is not null
          where t.reason = 'classic_reward' group by p.account_id, f.day_id
        ), shares as (select account_id, day_id, used from wallet.day_share where kind = 'classic')
        select account_id || ' ' || day_id, coalesce(n, 0)::text, coalesce(used, 0)::text
        from paid full join shares using (account_id, day_id) where n is distinct from used order by 1 limit :limit
        """,
    ),
    (
        "E14",
        """
        with refunds as (
          select r.account_id, f.day_id, count(*) as n
          from wallet.reversal r join wallet.finished_game f using (table_id)
          where r.kind = 'refund' group by r.account_id, f.day_id
        ), shares as (select account_id, day_id, used from wallet.day_share where kind = 'refund')
        select account_id || ' ' || day_id, coalesce(n, 0)::text, coalesce(used, 0)::text
        from refunds full join shares using (account_id, day_id) where n is distinct from used order by 1 limit :limit
        """,
    ),
)
