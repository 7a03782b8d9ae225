-- Pages that agents got free for want of authors may be watched.
alter table anomaly_rule drop constraint anomaly_rule_metric_check;
alter table anomaly_rule add constraint anomaly_rule_metric_check check (metric in ('agent_hits', 'denied', 'paid', 'payment_failed',
  'payment_failure_rate', 'masquerade_attempts', 'missed_micro', 'earned_micro', 'earned_drop_pct', 'unservable',
  'free_without_authors')) not valid;

-- When a gate last said that it served pages free while the service was away.
alter table host_liveness add column failed_open_at timestamptz(3);
