-- How the answer to a page's payment went, in the words of its site and of its buyer: a row a payment at most. No row: neither said anything.
create table page_answer (
  tenant_id uuid not null,
  payment_id uuid not null,
  -- The page that the site sent first, without its content coding: once, and never changed.
  sha256 bytea check (octet_length(sha256) = 32),
  bytes bigint check (bytes > 0),
  noted_at timestamptz(3),
  -- The newest answer: when it was given, and how it ended; null: the site did not see its end, or did not say.
  answered_at timestamptz(3),
  outcome text check (outcome in ('delivered', 'lost')),
  lost_at timestamptz(3), -- when an answer was lost for the first time
  again_count integer not null default 0 check (again_count >= 0), -- answers after the first one
  again_sha256 bytea check (octet_length(again_sha256) = 32), -- of the newest of these, where the page had changed
  again_bytes bigint check (again_bytes > 0),
  -- Licences given for nothing after the first had ended, each to another payment that the same wallet signed.
  owed_given smallint not null default 0 check (owed_given between 0 and 5),
  -- What the payer says it holds, with the signature of that sentence: once, and never changed.
  held_sha256 bytea check (octet_length(held_sha256) = 32),
  held_signature bytea,
  held_at timestamptz(3),
  primary key (tenant_id, payment_id),
  check ((sha256 is null) = (bytes is null)),
  check ((held_sha256 is null) = (held_at is null) and (held_signature is null) = (held_at is null))
);
create constraint trigger names_payment after insert or update of tenant_id, payment_id on page_answer
  for each row execute function names_payment();
grant select, insert, update on page_answer to svc_app;
