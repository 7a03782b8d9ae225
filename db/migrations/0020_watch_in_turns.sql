-- What is watched has its turn by when it was looked at last, and what was never looked at by when it came: fresh rows, which cost
-- nobody anything, do not come before everything else. What bytes of ours carried has a turn of its own beside what never went out.
create index payment_watched_in_turns on payment (network, (batch_id is null), (coalesce(checked_at, accepted_at)))
  where watched and mode = 'live' and state in ('failed', 'superseded', 'expired', 'review', 'held', 'broadcast');
create index payment_unfinal on payment (network, (coalesce(checked_at, accepted_at))) where state = 'settled' and mode = 'live';
drop index payment_watched;
