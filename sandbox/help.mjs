/** What `npm start -- --help` prints; plain JavaScript, so that it needs no package and any Node. */
export const START_HELP = `npm start [-- options]
  Boots Postgres, Temporal, a chain and the service, plays one purchase, and keeps serving until Ctrl-C.

  --exit            end after the purchase; status 0 only if every step succeeded
  --fresh           begin with empty data
  --no-history      without the demo site's 28 days of sales, which starts faster
  --folder PATH     keep state, logs and secrets there instead of in .sandbox
  --build-temporal  have Go build Temporal where neither its download nor pip brings it; minutes, once
  --help, -h        print this

  Ports: PORT (8402, the API), PUBLISHER_PORT (8404), SINK_PORT (8405), SITE_PORT (8406), POSTGRES_PORT (5442),
  TEMPORAL_PORT (7233), TEMPORAL_UI_PORT (8233), CHAIN_PORT (8545); a taken one gives way to the next free one.
  TEMPORAL_ADDRESS: the host:port of a Temporal server that runs already.
`;
