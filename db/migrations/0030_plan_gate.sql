-- A key that was refused for its site's plan is no key to be rotated: it is remembered apart.
alter table host_liveness add column plan_gated_at timestamptz(3);
