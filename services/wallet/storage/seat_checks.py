"""The proof of who sat where and for which prize (reliability E7, E10); the same form as `checks`."""

from libs.house.modes import Coffee
from libs.house.prizes import PLACE_BP
from libs.house.rooms import GUEST_ROOM

_PLACES = f"array[{', '.join(map(str, PLACE_BP))}]"
_CUPS = ", ".join(f"('{coffee}', {coffee.bp})" for coffee in Coffee)

# An undone game's entry has come back, and is known by its transfer.
_WAS_PAID = """(
    h.state = 'paid'
    or exists (select from wallet.transfer t where t.key = 'entry:' || h.table_id || ':' || h.account_id))"""

# Each seat's own room is that of its paid entry, whoever else sat there, and it pays what the room paid when the game
# was settled. Nobody is paid for a room without an entry, except where it is free: guests are, in the first room alone.
_DUE = f"""
  select f.table_id, s.account_id, coalesce(h.room, s.room) as room,
    case when s.counts and s.place between 1 and {len(PLACE_BP)} and case
        when s.guest then s.room = {GUEST_ROOM} else h.room is not null or r.free end
      then div(r.prize_coins::numeric * ({_PLACES})[s.place] * case when s.guest then {Coffee.NONE.bp} else c.bp end,
        100000000)::bigint
      else 0 end as coins
  from wallet.finished_game f join wallet.seat s using (table_id)
  left join wallet.hold h on h.table_id = s.table_id and h.account_id = s.account_id and not s.guest
    and {_WAS_PAID}
  left join wallet.tariff r on r.id = f.tariff and r.room = coalesce(h.room, s.room)
  left join (values {_CUPS}) as c(coffee, bp) on c.coffee = coalesce(h.coffee, '')
  where f.tariff is not null
"""  # noqa: S608 - constant numbers and words
_PRIZES = """
  select t.table_id, p.account_id, p.house, sum(p.amount) as coins
  from wallet.finished_game f join wallet.transfer t on t.table_id = f.table_id and t.reason = 'prize'
  join wallet.posting p on p.transfer_id = t.id and p.asset = 'coin'
  where f.tariff is not null group by t.table_id, p.account_id, p.house
"""

# A paid seat from its deal until it was left or the game ended, by the clock of the tables that say so: news that comes
# late makes no overlap. A seat that nobody has said the end of is judged when they do.
_PAID_SEATS = f"""
  select h.table_id, h.account_id, g.started_at as since, g.state,
    case when d.at is not null then least(d.at, g.ended_at)
      when not coalesce(s.vacated, false) then g.ended_at end as until
  from wallet.hold h join wallet.game g using (table_id)
  left join wallet.departure d using (table_id, account_id)
  left join wallet.seat s using (table_id, account_id)
  where {_WAS_PAID}
"""  # noqa: S608 - constant text

CHECKS: tuple[tuple[str, str], ...] = (
    (
        "E7",
        f"""
        with due as ({_DUE}), prizes as ({_PRIZES})
        select table_id || ' ' || account_id, coalesce(d.coins, 0) || ' of room ' || coalesce(d.room::text, 'none'),
          coalesce(p.coins, 0)::text
        from due d full join (select * from prizes where account_id is not null) p using (table_id, account_id)
        where coalesce(d.coins, 0) <> coalesce(p.coins, 0) order by 1 limit :limit
        """,  # noqa: S608 - constant text
    ),
    (
        "E7",
        f"""
        with due as (select table_id, sum(coins) as coins from ({_DUE}) as d group by table_id), prizes as ({_PRIZES})
        select table_id || ' in all', coalesce(d.coins, 0)::text, coalesce(-p.coins, 0)::text
        from due d full join (select * from prizes where house = 'prizes') p using (table_id)
        where coalesce(d.coins, 0) <> coalesce(-p.coins, 0) order by 1 limit :limit
        """,  # noqa: S608 - constant text
    ),
    (
        "E10",
        f"""
        with seats as ({_PAID_SEATS}), following as (
          select *, max(until) over (
            partition by account_id order by since, table_id rows between unbounded preceding and 1 preceding
          ) as busy
          from seats where since is not null
        )
        select account_id || ' at ' || table_id, 'since ' || busy || ' or later', 'since ' || since
        from following where since < busy order by 1 limit :limit
        """,  # noqa: S608 - constant text
    ),
)

# (rule, how many it says nothing of, why)
UNPROVED: tuple[tuple[str, str, str], ...] = (
    (
        "E7",
        "select count(*) from wallet.finished_game where tariff is null",
        "games settled before their rooms' prizes were kept",
    ),
    (
        "E10",
        f"""
        select count(*) from ({_PAID_SEATS}) as s
        where state in ('finished', 'voided') and (since is null or until is null)
        """,  # noqa: S608 - constant text
        "paid seats of which no event has said when they began or ended",
    ),
)
