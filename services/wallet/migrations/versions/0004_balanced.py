"""The proof that a transfer sums to zero costs a statement, no longer each of its lines."""

from alembic import op

revision = "0004"
down_revision = "0003"

SCHEMA = "wallet"

STATEMENTS = (
    # That a transfer has lines at all is still seen at the commit, when they are there. It comes first, since whoever
    # posts takes the transfers' table before the lines': the other way round that and this would wait for each other.
    """
    create function wallet.refuse_empty() returns trigger language plpgsql as $$
    begin
      if not exists (select from wallet.posting where transfer_id = new.id) then
        raise exception 'transfer % has no postings', new.id using errcode = 'check_violation';
      end if;
      return null;
    end $$
    """,
    "drop trigger transfer_balanced on wallet.transfer",
    """
    create constraint trigger transfer_has_postings after insert on wallet.transfer
    deferrable initially deferred for each row execute function wallet.refuse_empty()
    """,
    # What one statement adds to a transfer sums to zero for each asset: then each transfer does, at every moment, since
    # lines are never changed. Before, each line had its whole transfer added up at the commit.
    """
    create function wallet.refuse_unbalanced_lines() returns trigger language plpgsql as $$
    declare found_in uuid;
    begin
      select transfer_id into found_in from added group by transfer_id, asset having sum(amount) <> 0 limit 1;
      if found then
        raise exception 'transfer % does not sum to zero', found_in using errcode = 'check_violation';
      end if;
      return null;
    end $$
    """,
    "drop trigger posting_balanced on wallet.posting",
    """
    create trigger posting_balanced after insert on wallet.posting referencing new table as added
    for each statement execute function wallet.refuse_unbalanced_lines()
    """,
    # Only the triggers that went before have called it.
    """
    -- squawk-ignore ban-drop-function
    drop function wallet.refuse_unbalanced()
    """,
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)
