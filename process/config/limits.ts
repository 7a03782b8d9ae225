import { z } from 'zod';
import { json } from './parsers.ts';

/** One member of LIMITS. */
export interface Limit<T> {
  /** One sentence for an operator: what it limits, with the unit. */
  readonly about: string;
  /** What the value must be; `must be …` in an error. */
  readonly wanted: string;
  /** What holds when it is not set, as JSON holds it. */
  readonly fallback: number | string;
  readonly schema: z.ZodType<T>;
}

/** A whole number between `min` and `max`, both allowed. */
function whole(min: number, max: number): Pick<Limit<number>, 'wanted' | 'schema'> {
  return { wanted: `a whole number from ${min} to ${max}`, schema: z.int().min(min).max(max) };
}

/** Points a second; the largest lifts the limit. */
const points = whole(1, 1_000_000);
/** Text, since a number of JSON holds no more than 0.009 of a coin exactly. */
const wei: Pick<Limit<bigint>, 'wanted' | 'schema'> = {
  wanted: 'a whole number of wei as text',
  schema: z
    .string()
    .regex(/^\d{1,30}$/)
    .transform(BigInt),
};
/** Nothing can be paid with less than a micro. */
const price: Pick<Limit<bigint>, 'wanted' | 'schema'> = {
  wanted: 'a whole number from 1 to 1000000000',
  schema: z.int().min(1).max(1_000_000_000).transform(BigInt),
};
const share: Pick<Limit<number>, 'wanted' | 'schema'> = { wanted: 'a number from 0 to 1', schema: z.number().min(0).max(1) };

/** The numbers that an operator may tune and need not set. Each is a member of `Config`, too. */
export const LIMITS = {
  priceFloorMicro: { ...price, about: 'The lowest price of anything that is not free, in micro-USDC.', fallback: 1_000 },
  settleWaitMs: {
    ...whole(100, 60_000),
    about: 'How long a call waits for its payment to be decided before it answers settlement_pending, in milliseconds.',
    fallback: 20_000,
  },
  relayerInFlight: { ...whole(1, 64), about: 'Unmined transactions one relayer key may have at once.', fallback: 4 },
  gasBudgetWeiPerDay: {
    ...wei,
    about:
      'Gas that one tenant may cost per day, in wei; at most half of it for paying out splits. On Base, the default, 0.05 of the native currency, buys 50,000 sales to one author at a base fee of 0.01 gwei, and 120 at the fee cap of 5 gwei: it limits what a site can make you spend, at any fee.',
    fallback: '50000000000000000',
  },
  networkGasBudgetWeiPerDay: {
    ...wei,
    about:
      'Gas that the relayer keys of one network may cost per day for all sites together, in wei of the first network’s coin; at most half of it for paying out splits. At the default, one coin, twenty sites can spend all of their own. Payments of the network get 503 until the next day; an alert tells of half.',
    fallback: '1000000000000000000',
  },
  ratePerAddress: {
    ...points,
    about:
      'Points per second, in each API process, for one address without a credential. Light calls cost 1 point, medium ones 4 (legs of an offer), heavy ones 10 (licence quotes, sign-in).',
    fallback: 50,
  },
  rateOfRefused: {
    ...points,
    about: 'Wrong credentials per second that one address may present to an API process.',
    fallback: 10,
  },
  ratePerKey: {
    ...points,
    about:
      'Points per second, in each API process, for one publisher key or owner: quotes, observations and licence checks cost 1, payments 4, reports and GraphQL 10, exports 20, statements as PDF 50. A GraphQL query also counts a hundredth of its cost, at least 10, against a separate rate of this size, which all keys of a site share. 200 are 17 million quotes a day, or 50 payments a second.',
    fallback: 200,
  },
  ratePerTenant: {
    ...points,
    about: 'Points per second, in each API process, for all keys of one site together.',
    fallback: 500,
  },
  ratePerAccount: {
    ...points,
    about: 'Points per second, in each API process, for one buyer account: its lists cost 1, buying and opening access 10.',
    fallback: 50,
  },
  ratePerAccountAddress: {
    ...points,
    about: 'Points per second, in each API process, for all buyer accounts that call from one address.',
    fallback: 500,
  },
  rateBurstSeconds: { ...whole(1, 3_600), about: 'How many seconds of a rate an idle caller may use at once.', fallback: 10 },
  databasePoolSize: {
    ...whole(1, 500),
    about: 'Connections to Postgres per process, in addition to those of reports and of GraphQL.',
    fallback: 10,
  },
  reportPoolSize: {
    ...whole(5, 100),
    about: 'Connections to Postgres per API process for REST reports and exports; up to four exports hold one each.',
    fallback: 6,
  },
  graphqlPoolSize: {
    ...whole(1, 50),
    about: 'Connections to Postgres per API process for GraphQL, in addition to all others.',
    fallback: 2,
  },
  eventWindowMs: {
    ...whole(100, 3_600_000),
    about:
      'How long settled payments are gathered into one settlement.completed event, in milliseconds; windows are closed by runs of a minute at least.',
    fallback: 300_000,
  },
  sweepIntervalMs: {
    ...whole(1_000, 600_000),
    about: 'How often payments without a live workflow are picked up, in milliseconds; a run of the schedule looks five times.',
    fallback: 5_000,
  },
  reconcileIntervalMs: {
    ...whole(1_000, 3_600_000),
    about: 'How often the ledger is compared with the chain, in milliseconds; rounded up to a whole second.',
    fallback: 60_000,
  },
  metricsIntervalMs: {
    ...whole(100, 600_000),
    about: 'How often the worker reads the figures in the database, in milliseconds.',
    fallback: 10_000,
  },
  traceRatio: {
    ...share,
    about: 'Share of new traces that are kept; a caller’s sampling decision is followed.',
    fallback: 1,
  },
  drainNoticeMs: {
    ...whole(0, 30_000),
    about: 'How long /readyz answers 503 after SIGTERM before the API stops taking calls, in milliseconds.',
    fallback: 2_000,
  },
  hostChecksPerHour: { ...whole(1, 100_000), about: 'Host checks that an account may request per hour.', fallback: 30 },
  hostChecksPerHost: {
    ...whole(1, 1_000_000),
    about: 'Host checks that may be requested for one host name in total, until it is proven.',
    fallback: 50,
  },
  hostCheckGapMs: {
    ...whole(0, 3_600_000),
    about: 'Minimum time between two requested checks of a host, in milliseconds.',
    fallback: 2_000,
  },
  hostFirstCheckMs: {
    ...whole(100, 3_600_000),
    about: 'From opening a challenge to its first automatic check, in milliseconds.',
    fallback: 60_000,
  },
  selfSignUpSites: { ...whole(1, 1_000), about: 'Sites that one owner may have, closed ones included.', fallback: 5 },
  selfSignUpSitesPerDay: { ...whole(1, 100_000), about: 'Sites that all owners together may add per day.', fallback: 100 },
  keepWebhooksDays: {
    ...whole(7, 3_660),
    about: 'Days for which events, deliveries, attempts and alert e-mail are kept. Undelivered events stay longer.',
    fallback: 90,
  },
  keepUserAgentsDays: {
    ...whole(8, 3_660),
    about: 'Days after which User-Agents as they were sent are replaced by `removed`; the name an agent is counted under stays.',
    fallback: 90,
  },
  keepSignInsDays: {
    ...whole(1, 3_660),
    about: 'Days for which keys, clients and tokens are kept after they were revoked or ended, as hashes.',
    fallback: 90,
  },
} as const satisfies Readonly<Record<string, Limit<unknown>>>;

/** The name of a limit. */
export type LimitName = keyof typeof LIMITS;
/** Every limit, those that are not set at their default. */
export type Limits = { readonly [K in LimitName]: z.output<(typeof LIMITS)[K]['schema']> };

/** The text of LIMITS; every member that is unknown or out of its range is told, with its default. */
export const limits: z.ZodType<Limits, string> = json(
  z.record(z.string(), z.unknown(), 'must be a JSON object').transform((given, context): Limits => {
    const problems = Object.keys(given)
      .filter((name) => !Object.hasOwn(LIMITS, name))
      .map((name) => `has no member ${JSON.stringify(name.slice(0, 40))}: .env.example lists them`);
    const values: Record<string, unknown> = {};
    for (const [name, { schema, wanted, fallback }] of Object.entries<Limit<unknown>>(LIMITS)) {
      const read = schema.safeParse(Object.hasOwn(given, name) ? given[name] : fallback);
      if (!read.success) problems.push(`${name} must be ${wanted} (default ${fallback})`);
      values[name] = read.data;
    }
    if (problems.length > 0) context.addIssue({ code: 'custom', message: problems.join('; ') });
    return values as Limits;
  }),
);

/** The variable that held a member before 0.1.0: SETTLE_WAIT_MS for settleWaitMs. */
export function formerNameOf(limit: string): string {
  return limit.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}
