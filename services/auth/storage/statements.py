"""The SQL of auth. Each change is one conditional statement; times are the database's clock.

Limits live in `attempt_window`, a row a subject with the moments of its last day: exact over any stretch of time and
among any number of replicas. (The `limits` library keeps its counters in Redis, Memcached, MongoDB or memory; for
PostgreSQL, the one store here, it has none.)
"""

from collections.abc import Mapping
from datetime import timedelta

from sqlalchemy import TextClause, text

from services.auth.domain.limits import DAY, HOUR
from services.auth.domain.refresh import GUEST_RETRY

# The moments that still matter, oldest first, with this one at the end.
_WITH_THIS_ONE = """
  array(select m from unnest(w.moments) m where m > clock_timestamp() - cast(:kept as interval) order by m)
  || clock_timestamp()
"""

COUNT_ATTEMPT = text(f"""
insert into auth.attempt_window as w (subject, moments, last_at)
values (:subject, array[clock_timestamp()], clock_timestamp())
on conflict (subject) do update set last_at = clock_timestamp(), moments = {_WITH_THIS_ONE}
where not exists (
  select from unnest(cast(:periods as interval[]), cast(:maxima as integer[])) as limits (period, maximum)
  where (select count(*) from unnest(w.moments) m where m > clock_timestamp() - period) >= maximum
)
returning 1
""")  # noqa: S608 - put together from constants

# For each limit that is used up: until the moment that has to drop out of its period does so.
TIME_TO_WAIT = text("""
select max(w.moments[cardinality(w.moments) - maximum + 1] + period - clock_timestamp()) as wait
from auth.attempt_window w,
  unnest(cast(:periods as interval[]), cast(:maxima as integer[])) as limits (period, maximum)
where w.subject = :subject
  and (select count(*) from unnest(w.moments) m where m > clock_timestamp() - period) >= maximum
""")

NOTE_ATTEMPT = text(f"""
insert into auth.attempt_window as w (subject, moments, last_at)
values (:subject, array[clock_timestamp()], clock_timestamp())
on conflict (subject) do update set last_at = clock_timestamp(), moments = {_WITH_THIS_ONE}
returning 1
""")  # noqa: S608 - put together from constants

RECENT_ATTEMPTS = text("""
select m as moment from auth.attempt_window w, unnest(w.moments) m
where w.subject = :subject and m > clock_timestamp() - cast(:kept as interval) order by m
""")

SERIALIZE = text("select pg_advisory_xact_lock(:key)")

LOGINS_SINCE = text("""
select count(*) as n from (select from auth.login where asked_at > :moment limit :at_most) asked
""")

LOGIN_ASKED = text("""
select login_id, code_hash, locale, expires_at from auth.login
where email = :email and request_id = :request_id and expires_at > clock_timestamp()
""")

PUT_LOGIN = text("""
insert into auth.login (email, login_id, request_id, code_hash, locale, tries, asked_at, expires_at)
values (:email, :login_id, :request_id, :code_hash, :locale, 0, clock_timestamp(), :expires_at)
on conflict (email) do update set login_id = excluded.login_id, request_id = excluded.request_id,
  code_hash = excluded.code_hash, locale = excluded.locale, tries = 0, asked_at = excluded.asked_at,
  expires_at = excluded.expires_at
""")

TAKE_TRY = text("""
update auth.login set tries = tries + 1
where login_id = :login_id and tries < :tries_max and expires_at > clock_timestamp()
returning email, code_hash, locale, tries, clock_timestamp() as at
""")

USE_LOGIN = text("""
with forgotten as (delete from auth.attempt_window where subject = :fails)
delete from auth.login where login_id = :login_id
""")

IS_HOME = text("""
select 1 from auth.home_network h join auth.account a using (account_id)
where a.email = :email and h.network = :network and h.last_at > clock_timestamp() - cast(:kept as interval)
""")

ADD_HOME = text("""
insert into auth.home_network (account_id, network, last_at) values (:account_id, :network, clock_timestamp())
on conflict (account_id, network) do update set last_at = excluded.last_at
""")

DROP_HOMES = text("""
delete from auth.home_network where account_id = :account_id and network in (
  select network from auth.home_network where account_id = :account_id order by last_at desc offset :keep
)
""")

INSERT_ACCOUNT = text("""
insert into auth.account (account_id, name, guest, email, locale, opening_key, created_at, account_since)
values (:account_id, :name, :guest, :email, :locale, :opening_key, :created_at, :since)
on conflict do nothing returning 1
""")

_ACCOUNT = """
select account_id, name, guest, created_at, account_since, named_at is not null as named,
       suspended_at is not null as suspended
  from auth.account
 where deleted_at is null
"""

ACCOUNT = text(_ACCOUNT + "and account_id = :account_id")

ACCOUNTS = text(_ACCOUNT + "and account_id = any(cast(:account_ids as uuid[]))")

HOLD_ACCOUNT = text(_ACCOUNT + "and account_id = :account_id for no key update")

ACCOUNT_OF = text(_ACCOUNT + "and email = :email for no key update")

GUEST_OPENED = text(_ACCOUNT + "and opening_key = :opening_key")

WAS_DELETED = text("select 1 from auth.account where account_id = :account_id and deleted_at is not null")

UPGRADE_GUEST = text("""
update auth.account set guest = false, email = :email, locale = :locale, account_since = :now, opening_key = null
where account_id = :account_id and guest
""")

MARK_SEEN = text("""
update auth.account set seen_on = :day
where account_id = :account_id and not guest and (seen_on is null or seen_on < :day) returning 1
""")

HOLD_UNSEEN = text("""
select 1 from auth.account a
where a.account_id = (select account_id from auth.session where token_hash = :token_hash)
  and not a.guest and (a.seen_on is null or a.seen_on < :day)
for no key update
""")

SET_SUSPENDED = text("""
update auth.account set suspended_at = case when cast(:suspended as boolean) then clock_timestamp() end
where account_id = :account_id
""")

NAMED_AT = text("select named_at from auth.account where account_id = :account_id")

SET_NAME = text("update auth.account set name = :name, named_at = :now where account_id = :account_id")

# Sorted, so that two claims wait for each other in one order. A row is taken when it is nobody's any more, or one's
# own.
CLAIM_NAMES = text("""
insert into auth.claimed_name as c (skeleton, account_id)
select skeleton, cast(:account_id as uuid) from unnest(cast(:skeletons as bytea[])) as skeleton order by skeleton
on conflict (skeleton) do update set account_id = excluded.account_id, free_at = null
where c.account_id = excluded.account_id or c.free_at <= clock_timestamp()
returning 1
""")

GIVE_UP_NAMES = text("""
update auth.claimed_name set free_at = clock_timestamp() + cast(:held as interval)
where account_id = :account_id and free_at is null and skeleton <> all(cast(:keep as bytea[]))
""")

DISOWN_NAMES = text("""
update auth.claimed_name set account_id = null, free_at = coalesce(free_at, clock_timestamp() + cast(:held as interval))
where account_id = :account_id
""")

FORGET_LOGIN = text("delete from auth.login where email = :email")

FORGET_MAIL = text("delete from auth.mail_queue where address = :email")

# Sessions take their used tokens with them.
ERASE_ACCOUNT = (
    text("""
delete from auth.mail_queue where address = (select email from auth.account where account_id = :account_id)
"""),
    text("delete from auth.home_network where account_id = :account_id"),
    text("delete from auth.session where account_id = :account_id"),
    text("""
update auth.account set name = 'deleted', email = null, locale = '', opening_key = null, seen_on = null,
  named_at = null, deleted_at = clock_timestamp()
where account_id = :account_id
"""),
)

PERSONAL = text("""
select a.*, a.named_at is not null as named, a.suspended_at is not null as suspended,
       array(select last_at from auth.home_network h where h.account_id = a.account_id order by last_at) as homes
  from auth.account a
 where a.account_id = :account_id and a.deleted_at is null
""")

_FOUND = """
select a.*, a.named_at is not null as named, a.suspended_at is not null as suspended, s.sessions, s.seen_at
  from auth.account a, lateral (
    select count(*) as sessions, max(used_at) as seen_at
      from auth.session where account_id = a.account_id and ended_at is null and expires_at > clock_timestamp()
  ) s
"""

FIND_BY_ID = text(_FOUND + "where a.account_id = :account_id")

FIND_BY_EMAIL = text(_FOUND + "where a.email = :email")

FIND_BY_NAME = text(
    _FOUND
    + "where lower(a.name) = lower(:name) and a.deleted_at is null and not a.guest "
    + "order by a.named_at is null, a.account_id limit :at_most"
)

ACTS_ON = text("select act, at from auth.audit where subject = :subject order by n")

CONTACT_OF = text("select email, locale from auth.account where account_id = :account_id and email is not null")

INSERT_SESSION = text("""
insert into auth.session (session_id, account_id, device, token_hash, opening_key, created_at, used_at, expires_at)
values (:session_id, :account_id, :device, :token_hash, :opening_key, :used_at, :used_at, :expires_at)
""")

_LIVE = """
  ended_at is null and expires_at > clock_timestamp() and used_at > clock_timestamp() - cast(:idle as interval)
"""
_SESSION = "session_id, account_id, token_hash, used_at, expires_at"

SESSION_OPENED = text(f"""
select {_SESSION} from auth.session
where opening_key = :opening_key and previous_hash is null and {_LIVE}
""")  # noqa: S608 - put together from constants

LIVE_SESSIONS = text(f"""
select session_id, device, created_at, used_at, expires_at from auth.session
where account_id = :account_id and {_LIVE} order by used_at desc, session_id desc
""")  # noqa: S608 - put together from constants

OPEN_SESSIONS = text("""
select session_id from auth.session where account_id = :account_id and ended_at is null order by session_id
""")

OWNER_OF = text("select account_id from auth.session where session_id = :session_id")

SESSION_OPENED_AT = text("""
select created_at from auth.session
where session_id = :session_id and account_id = :account_id and ended_at is null
""")

# The request that opened them is forgotten too: it may now make another guest.
CLOSE_SESSIONS = text("""
update auth.session set ended_at = clock_timestamp(), opening_key = null
where account_id = :account_id and ended_at is null
""")

# The used token is written down in the same statement, so that it is known for as long as its family is.
ROTATE = text(f"""
with rotated as (
  update auth.session set token_hash = :next_hash, previous_hash = :token_hash, used_at = clock_timestamp()
  where token_hash = :token_hash and {_LIVE}
  returning {_SESSION}
), spent as (
  insert into auth.spent_token (token_hash, session_id) select cast(:token_hash as bytea), session_id from rotated
)
select {_SESSION} from rotated
""")  # noqa: S608 - put together from constants

SESSION_BEFORE = text(f"""
select {_SESSION} from auth.session
where previous_hash = :token_hash and ended_at is null and expires_at > clock_timestamp()
  and used_at > clock_timestamp() - cast(:grace as interval)
""")  # noqa: S608 - put together from constants

FAMILY_OF = text("""
with family as (
  select session_id, false as spent from auth.session where token_hash = :token_hash
  union all
  select session_id, true as spent from auth.spent_token where token_hash = :token_hash
)
select f.session_id, f.spent, a.suspended_at is not null as suspended
  from family f join auth.session using (session_id) join auth.account a using (account_id)
 limit 1
""")

END_SESSION = text("""
update auth.session set ended_at = clock_timestamp() where session_id = :session_id and ended_at is null
returning account_id
""")

POST = text("""
insert into auth.mail_queue (mail_id, kind, address, locale, sealed, next_try_at, expires_at)
values (:mail_id, :kind, :address, :locale, :sealed, clock_timestamp(), :expires_at)
""")

# Claimed for the length of a lease: a letter whose sender died is sent by another, at worst twice.
CLAIM_MAIL = text("""
update auth.mail_queue q set tries = tries + 1, next_try_at = clock_timestamp() + cast(:lease as interval)
where q.mail_id in (
  select mail_id from auth.mail_queue
  where next_try_at <= clock_timestamp() and expires_at > clock_timestamp()
  order by next_try_at limit :at_most for update skip locked
)
returning mail_id, kind, address, locale, sealed, tries, expires_at
""")

POSTPONE_MAIL = text("""
update auth.mail_queue set next_try_at = clock_timestamp() + cast(:pause as interval) where mail_id = :mail_id
""")

DELETE_MAIL = text("delete from auth.mail_queue where mail_id = :mail_id")

DROP_EXPIRED_MAIL = text("delete from auth.mail_queue where expires_at <= clock_timestamp() returning 1")

MAILS_WAITING = text("select count(*) as n from auth.mail_queue")

DROP_OLD_HOMES = text("delete from auth.home_network where last_at < clock_timestamp() - cast(:kept as interval)")

SWEEPS: tuple[tuple[TextClause, Mapping[str, timedelta]], ...] = (
    # Kept on for the count of who asked within the hour.
    (text("delete from auth.login where expires_at < clock_timestamp() - cast(:hour as interval)"), {"hour": HOUR}),
    (text("delete from auth.attempt_window where last_at < clock_timestamp() - cast(:day as interval)"), {"day": DAY}),
    (text("delete from auth.session where expires_at < clock_timestamp()"), {}),
    (text("delete from auth.claimed_name where free_at <= clock_timestamp()"), {}),
    *(
        (
            text(
                f"update auth.{table} set opening_key = null where opening_key is not null "  # noqa: S608
                "and created_at < clock_timestamp() - cast(:retry as interval)"
            ),
            {"retry": GUEST_RETRY},
        )
        for table in ("account", "session")
    ),
)
