import { flag, priceFloor, wei, wholeNumber } from '../parsers.ts';
import { withDefault } from '../variable.ts';

/** Points a second; the largest lifts the limit. */
const points = wholeNumber(1, 1_000_000);

/** Money, time and load. */
export const limits = {
  licenceLifeSeconds: withDefault({
    name: 'LICENCE_LIFE_SECONDS',
    about: 'Life of a re-read licence and of an access token, in seconds; at most 3600.',
    example: '600',
    fallback: '600',
    schema: wholeNumber(60, 3600),
  }),
  priceFloorMicro: withDefault({
    name: 'PRICE_FLOOR_MICRO',
    about: 'The lowest price of anything that is not free, in micro-USDC.',
    example: '1000',
    fallback: '1000',
    schema: priceFloor,
  }),
  testKeysEnabled: withDefault({
    name: 'TEST_KEYS_ENABLED',
    about:
      'Accepts svc_test_ keys, in production too: publishers try their integration with them. Their settlements are mock and never count as money; our signature stands under their licences, marked settlementRefKind: mock.',
    example: 'false',
    fallback: 'false',
    schema: flag,
  }),
  settleWaitMs: withDefault({
    name: 'SETTLE_WAIT_MS',
    about: 'How long a call waits for its payment to be decided before it answers settlement_pending, in milliseconds.',
    example: '20000',
    fallback: '20000',
    schema: wholeNumber(100, 60_000),
  }),
  eventWindowMs: withDefault({
    name: 'EVENT_WINDOW_MS',
    about: 'How long settled payments are gathered into one settlement.completed event, in milliseconds.',
    example: '300000',
    fallback: '300000',
    schema: wholeNumber(100, 3_600_000),
  }),
  reconcileIntervalMs: withDefault({
    name: 'RECONCILE_INTERVAL_MS',
    about: 'How often the ledger is compared with the chain, in milliseconds.',
    example: '60000',
    fallback: '60000',
    schema: wholeNumber(100, 3_600_000),
  }),
  sweepIntervalMs: withDefault({
    name: 'SWEEP_INTERVAL_MS',
    about: 'How often payments that no live workflow holds are picked up, in milliseconds.',
    example: '5000',
    fallback: '5000',
    schema: wholeNumber(100, 600_000),
  }),
  anomalyIntervalMs: withDefault({
    name: 'ANOMALY_INTERVAL_MS',
    about: "How often publishers' anomaly rules are looked at, in milliseconds.",
    example: '300000',
    fallback: '300000',
    schema: wholeNumber(100, 3_600_000),
  }),
  relayerInFlight: withDefault({
    name: 'RELAYER_IN_FLIGHT',
    about: 'Unmined transactions one relayer key may have at once.',
    example: '4',
    fallback: '4',
    schema: wholeNumber(1, 64),
  }),
  gasBudgetWeiPerDay: withDefault({
    name: 'GAS_BUDGET_WEI_PER_DAY',
    about:
      'Gas one tenant may cost a day, in wei; half of it at most for paying out splits. The default, 0.05 of the native currency, buys on Base 50,000 sales to one author at a base fee of 0.01 gwei, and 120 at the fee cap of 5 gwei: it bounds what a site can make you spend, at any fee.',
    example: '50000000000000000',
    fallback: '50000000000000000',
    schema: wei,
  }),
  sitePages: withDefault({
    name: 'SITE_PAGES',
    about: 'Most pages that a site may import into its catalogue. An import beyond is refused.',
    example: '100000',
    fallback: '100000',
    schema: wholeNumber(1, 1_000_000),
  }),
  cataloguePagesInMemory: withDefault({
    name: 'CATALOGUE_PAGES_IN_MEMORY',
    about:
      'Pages of catalogues that an API process keeps in memory, those asked for last; about half a kilobyte each, one more for every two authors. A site with more sells no scopes.',
    example: '400000',
    fallback: '400000',
    schema: wholeNumber(1_000, 10_000_000),
  }),
  scopesAtOnce: withDefault({
    name: 'SCOPES_AT_ONCE',
    about:
      'Licence scopes that an API process prices or narrows at once; one caller, and one site, gets half of these places at most.',
    example: '4',
    fallback: '4',
    schema: wholeNumber(1, 64),
  }),
  ratePerAddress: withDefault({
    name: 'RATE_PER_ADDRESS',
    about:
      'Points a second, in each API process, of one address that shows no credential. Light calls cost 1 point, medium ones 4 (legs of an offer), heavy ones 10 (licence quotes, sign-in).',
    example: '50',
    fallback: '50',
    schema: points,
  }),
  rateOfRefused: withDefault({
    name: 'RATE_OF_REFUSED',
    about: 'Wrong credentials a second that one address may show to an API process.',
    example: '10',
    fallback: '10',
    schema: points,
  }),
  ratePerKey: withDefault({
    name: 'RATE_PER_KEY',
    about:
      'Points a second, in each API process, of one publisher key or owner: quotes, observations and licence checks cost 1, payments 4, reports and GraphQL 10, exports 20. 200 are 17 million quotes a day, or 50 payments a second.',
    example: '200',
    fallback: '200',
    schema: points,
  }),
  ratePerTenant: withDefault({
    name: 'RATE_PER_TENANT',
    about: 'Points a second, in each API process, of all keys of one site together.',
    example: '500',
    fallback: '500',
    schema: points,
  }),
  ratePerAccount: withDefault({
    name: 'RATE_PER_ACCOUNT',
    about: 'Points a second, in each API process, of one buyer account: its lists cost 1, buying and opening access 10.',
    example: '50',
    fallback: '50',
    schema: points,
  }),
  ratePerAccountAddress: withDefault({
    name: 'RATE_PER_ACCOUNT_ADDRESS',
    about: 'Points a second, in each API process, of all buyer accounts that call from one address.',
    example: '500',
    fallback: '500',
    schema: points,
  }),
  rateBurstSeconds: withDefault({
    name: 'RATE_BURST_SECONDS',
    about: 'How many seconds of a rate a caller who was quiet may use at once.',
    example: '10',
    fallback: '10',
    schema: wholeNumber(1, 3600),
  }),
};
