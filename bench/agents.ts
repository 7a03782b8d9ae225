import { createPublicKey, sign, verify } from 'node:crypto';
import type { Outbound } from '../adapters/outbound/outbound.ts';
import type { Database } from '../db/database.ts';
import { openDirectories } from '../services/agents/directories.ts';
import type { AgentDeps } from '../services/agents/verify.ts';
import { verifyAgent } from '../services/agents/verify.ts';
import type { SigningAgent } from '../test/support/agents.ts';
import { DIRECTORY_PATH, newAgent, signedRequest } from '../test/support/agents.ts';
import { alternate } from './harness/alternate.ts';
import type { Bench } from './harness/bench.ts';
import type { Turn } from './harness/cpu.ts';
import { LIBRARY, withCpu } from './harness/cpu.ts';
import { makeFigure } from './harness/figure.ts';

const SITE = 'site.example';
const AGENTS = 50;
/** 5,000 a second of one core. */
const MOST_CPU_MS = 0.2;

/** Which agent signed a request, its directory in memory, beside the bare check of as many signatures by OpenSSL in one thread. */
export const agentsBench: Bench = {
  id: 'agents',
  title: 'Signed agents',
  run: async ({ quick }) => {
    const atMs = Date.now();
    const agents = await Promise.all(Array.from({ length: AGENTS }, newAgent));
    const requests = await Promise.all(
      Array.from({ length: quick ? 100 : 4_000 }, (_, n) => {
        const host = `bot${n % AGENTS}.agent${n % AGENTS}.example`;
        const request = { agent: agents[n % AGENTS] as SigningAgent, url: `https://${SITE}/articles/${n}`, atMs };
        return signedRequest({ ...request, field: `sig1="https://${host}"`, lifeMs: 3_600_000 });
      }),
    );
    const deps = depsWith(agents);
    const ours = (): Promise<Turn> =>
      perSecond(requests, async (request) => {
        const verdict = await verifyAgent(deps, { tenantId: 'site', hosts: [SITE], request });
        return verdict.outcome === 'verified';
      });
    const bare = bareChecks(agents[0] as SigningAgent, requests.length);
    const reference = (): Promise<Turn> => perSecond(bare.signatures, bare.check);
    for (const side of [ours, reference]) await side();
    await deps.directories.settled();
    return [
      makeFigure({
        id: 'agents.verify',
        what: 'Which agent signed a request, from memory (Ed25519)',
        unit: 'checks/s',
        referenceName: 'the bare check of node:crypto',
        rounds: await alternate({ rounds: quick ? 1 : 7, sides: { ours, reference } }),
        target: { atMost: MOST_CPU_MS, of: 'cpu' },
        notes: `one after the other; ${AGENTS} agents, signed by web-bot-auth; the fields are read, judged and checked each time; without HTTP`,
      }),
    ];
  },
};

/** Directories that are asked once: there is no database behind them, and their web is played. */
function depsWith(agents: readonly SigningAgent[]): AgentDeps {
  const database = { query: () => Promise.reject(new Error('none')) } as unknown as Database;
  const send: Outbound['send'] = async ({ url }) => {
    const index = Number(/^https:\/\/bot(\d+)\./.exec(url)?.[1]);
    const headers = { 'content-type': 'application/http-message-signatures-directory+json', 'cache-control': 'max-age=86400' };
    const body = Buffer.from(JSON.stringify({ keys: [agents[index]?.publicJwk] }));
    return { ok: true, status: url.endsWith(DIRECTORY_PATH) ? 200 : 404, headers, body, durationMs: 0 };
  };
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const newDirectories = { count: () => 0 };
  const outbound = { send, checkUrl: () => ({ ok: true }) };
  const directories = openDirectories({ database, outbound, clock: Date.now, log, newDirectories });
  return { directories, clock: Date.now, acceptTestKeys: false, patienceMs: 60_000 };
}

/** The least that a check can cost here: over text as long as what is signed, by a key that stands ready, without a way to another thread. */
function bareChecks({ jwk, publicJwk }: SigningAgent, count: number) {
  const publicKey = createPublicKey({ key: { ...publicJwk }, format: 'jwk' });
  const signatures = Array.from({ length: count }, (_, n) => {
    const text = Buffer.from(`${n} `.padEnd(400, 'a'));
    return { text, signature: sign(null, text, { key: { ...jwk }, format: 'jwk' }) };
  });
  const check = ({ text, signature }: (typeof signatures)[number]): Promise<boolean> =>
    Promise.resolve(verify(null, text, publicKey, signature));
  return { signatures, check };
}

/** Checks a second; throws when one is not good. */
function perSecond<T>(all: readonly T[], check: (one: T) => Promise<boolean>): Promise<Turn> {
  return withCpu(LIBRARY, async () => {
    const startedAt = performance.now();
    for (const one of all) if (!(await check(one))) throw new Error('a good signature was refused');
    return { value: (all.length * 1_000) / (performance.now() - startedAt), operations: all.length };
  });
}
