import { flag, priceFloor, wei, wholeNumber } from '../parsers.ts';
import { withDefault } from '../variable.ts';

/** Points a second; the largest lifts the limit. */
const points = wholeNumber(1, 1_000_000);

/** Money, time and load. */
export const limits = {
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
      'Accepts svc_test_ keys, in production too: publishers try their integration with them. Their settlements are mock and never count as money; we sign their licences, marked settlementRefKind: mock.',
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
    about:
      'How long settled payments are gathered into one settlement.completed event, in milliseconds; windows are closed by runs of a minute at least.',
    example: '300000',
    fallback: '300000',
    schema: wholeNumber(100, 3_600_000),
  }),
  reconcileIntervalMs: withDefault({
    name: 'RECONCILE_INTERVAL_MS',
    about: 'How often the ledger is compared with the chain, in milliseconds; rounded up to a whole second.',
    example: '60000',
    fallback: '60000',
    schema: wholeNumber(1_000, 3_600_000),
  }),
  sweepIntervalMs: withDefault({
    name: 'SWEEP_INTERVAL_MS',
    about: 'How often payments without a live workflow are picked up, in milliseconds; a run of the schedule looks five times.',
    example: '5000',
    fallback: '5000',
    schema: wholeNumber(1_000, 600_000),
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
      'Gas that one tenant may cost per day, in wei; at most half of it for paying out splits. On Base, the default, 0.05 of the native currency, buys 50,000 sales to one author at a base fee of 0.01 gwei, and 120 at the fee cap of 5 gwei: it limits what a site can make you spend, at any fee.',
    example: '50000000000000000',
    fallback: '50000000000000000',
    schema: wei,
  }),
  networkGasBudgetWeiPerDay: withDefault({
    name: 'NETWORK_GAS_BUDGET_WEI_PER_DAY',
    about:
      'Gas that the relayer keys of one network may cost per day for all sites together, in wei of the first network’s coin; at most half of it for paying out splits. At the default, one coin, twenty sites can spend all of their own. Payments of the network get 503 until the next day; an alert tells of half.',
    example: '1000000000000000000',
    fallback: '1000000000000000000',
    schema: wei,
  }),
  ratePerAddress: withDefault({
    name: 'RATE_PER_ADDRESS',
    about:
      'Points per second, in each API process, for one address without a credential. Light calls cost 1 point, medium ones 4 (legs of an offer), heavy ones 10 (licence quotes, sign-in).',
    example: '50',
    fallback: '50',
    schema: points,
  }),
  rateOfRefused: withDefault({
    name: 'RATE_OF_REFUSED',
    about: 'Wrong credentials per second that one address may present to an API process.',
    example: '10',
    fallback: '10',
    schema: points,
  }),
  ratePerKey: withDefault({
    name: 'RATE_PER_KEY',
    about:
      'Points per second, in each API process, for one publisher key or owner: quotes, observations and licence checks cost 1, payments 4, reports and GraphQL 10, exports 20, statements as PDF 50. A GraphQL query also counts a hundredth of its cost, at least 10, against a separate rate of this size, which all keys of a site share. 200 are 17 million quotes a day, or 50 payments a second.',
    example: '200',
    fallback: '200',
    schema: points,
  }),
  ratePerTenant: withDefault({
    name: 'RATE_PER_TENANT',
    about: 'Points per second, in each API process, for all keys of one site together.',
    example: '500',
    fallback: '500',
    schema: points,
  }),
  ratePerAccount: withDefault({
    name: 'RATE_PER_ACCOUNT',
    about: 'Points per second, in each API process, for one buyer account: its lists cost 1, buying and opening access 10.',
    example: '50',
    fallback: '50',
    schema: points,
  }),
  ratePerAccountAddress: withDefault({
    name: 'RATE_PER_ACCOUNT_ADDRESS',
    about: 'Points per second, in each API process, for all buyer accounts that call from one address.',
    example: '500',
    fallback: '500',
    schema: points,
  }),
  rateBurstSeconds: withDefault({
    name: 'RATE_BURST_SECONDS',
    about: 'How many seconds of a rate an idle caller may use at once.',
    example: '10',
    fallback: '10',
    schema: wholeNumber(1, 3600),
  }),
};
