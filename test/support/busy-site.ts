/** A site with twenty days of purchases and observations, the same in every run, for tests that ask both APIs of it. */
import { expect } from 'vitest';
import { EXAMPLES } from '../../graphql/schema/examples.ts';
import { startTestGraphql } from './graphql.ts';
import type { Purchase, Seen } from './reports.ts';
import { insertPurchases, insertSeen } from './reports.ts';

/** Milliseconds. */
export const DAY = 86_400_000;
/** How far back the rows reach, milliseconds. */
export const SPAN = 20 * DAY;
/** Who is paid. */
export const WALLETS = ['a1', 'b2', 'c3'].map((pair) => `0x${pair.repeat(20)}`);
const AGENTS = ['gptbot', 'other', 'agents.example'];
const VERDICTS = ['served-free', 'agent-reread', 'denied', 'blocked', 'paid', 'payment-failed', 'unservable'];
const REASONS = ['insufficient_funds', 'authorization_invalid', 'malformed_payment', 'network_unsupported', 'settlement_failed'];

/** Starts both APIs on a site of two hosts; the caller stops `graph`. */
export async function startBusySite() {
  const graph = await startTestGraphql();
  const hosts = ['one.parity.example', 'two.parity.example'];
  const site = await graph.api.site({ hosts });
  const nowMs = Date.now();
  let seed = 7;
  const pick = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
  const place = () => ({ tenantId: site.tenantId, host: hosts[pick(2)] as string, atMs: nowMs - pick(SPAN) });
  const purchases = Array.from(
    { length: 300 },
    (): Purchase => ({
      ...place(),
      slug: ['solo', 'trio', 'long/way'][pick(3)] as string,
      kind: pick(4) === 0 ? 'citation' : 'read',
      steps: 1 + (pick(9) === 0 ? 1 : 0),
      legs: [
        { toAddress: WALLETS[pick(2)] as string, amountMicro: 1_000 + pick(5_000), authorId: 'ann' },
        ...(pick(2) ? [{ toAddress: WALLETS[2] as string, amountMicro: 10 + pick(90) }] : []),
        ...(pick(3) ? [] : [{ toAddress: `0x${'f9'.repeat(20)}`, amountMicro: 7, role: 'platform' as const }]),
      ],
    }),
  );
  await insertPurchases(graph.api.deps.database, purchases);
  const seen = Array.from({ length: 400 }, (): Seen => {
    const verdict = VERDICTS[pick(VERDICTS.length)] as string;
    return {
      ...place(),
      slug: ['solo', 'trio'][pick(2)] as string,
      verdict,
      classifiedAs: pick(3) ? 'agent' : 'human',
      kind: 'read',
      count: 1,
      micro: 1_000 + pick(900),
      reason: verdict === 'payment-failed' ? (REASONS[pick(5)] as string) : null,
      paymentId: null,
      agent: AGENTS[pick(3)] as string,
      agentUa: 'Agent/1',
      verified: pick(2) === 0,
      verifiedAgent: null,
      sigInvalid: pick(9) === 0,
    };
  });
  await insertSeen(graph.api.deps.database, seen);
  return { graph, site, hosts, nowMs };
}

/** What asks a busy site the questions of docs/graphql.md, and its rows plain SQL, where `$1` is the site. */
export function askedOf({ graph, site }: Awaited<ReturnType<typeof startBusySite>>) {
  return {
    // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
    ask: async (name: string): Promise<any> => {
      const { query } = EXAMPLES.find((example) => example.name === name)!;
      const { data, errors } = await graph.ask(site.key, query);
      expect(errors, name).toEqual([]);
      return data.tenant;
    },
    sql: (statement: string): Promise<Record<string, unknown>[]> => graph.api.deps.database.query(statement, [site.tenantId]),
  };
}
