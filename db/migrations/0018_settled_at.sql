-- The first settlement of a payment, set once: whatever a reorganisation takes back and the chain shows again, a citation answers
-- for another authorization in the ten seconds after this moment only, and the time to settlement stays known.
-- decided_at is the first moment of the decision that stands. Rows settled before have null here: their decided_at is read instead.
alter table payment add column settled_at timestamptz(3);
