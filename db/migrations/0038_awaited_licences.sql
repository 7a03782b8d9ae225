-- What the licence of a payment is made of that settles while its caller waits: how long he does from accepted_at, how long it lives, and the
-- key of the process that will sign it. Null of rows of the version before: their licence is fixed when success is first answered.
alter table payment_intake add column wait_ms integer, add column licence_seconds integer, add column signing_kid text;
