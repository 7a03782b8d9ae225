import { remembered } from '../../platform/pacing/remembered.ts';
import type { ApiDeps, PublicRoute } from '../route.ts';

/** How long one part may take to answer before it counts as failed. */
const CHECK_TIMEOUT_MS = 2_000;
/** How long it is remembered what became of asking a part. */
const ANSWER_LIFE_MS = 1_000;

/** GET /healthz: this process is alive, and which release it is. */
export const healthRoute: PublicRoute = {
  method: 'get',
  path: '/healthz',
  access: 'public',
  isForProbes: true,
  handle: async ({ deps: { version } }) => ({
    status: 200,
    headers: { 'cache-control': 'no-store' },
    body: { ok: true, ...(version === undefined ? {} : { version }) },
  }),
};

/**
 * GET /readyz: database, Temporal and at least one network answer this process, and the database takes writes; 503 names those that do
 * not. Of several networks it says which answer.
 */
export const readyRoute: PublicRoute = {
  method: 'get',
  path: '/readyz',
  access: 'public',
  isForProbes: true,
  handle: async ({ deps }) => {
    const [checks, networks] = await Promise.all([resultsOf(deps.readiness), resultsOf(deps.networkChecks ?? {})]);
    const ok = Object.values(checks).every((state) => state === 'ok');
    const told = Object.keys(networks).length > 1 ? { networks } : {};
    const headers = { 'cache-control': 'no-store', ...(ok ? {} : { 'retry-after': '2' }) };
    return { status: ok ? 200 : 503, headers, body: { ok, checks, ...told } };
  },
};

async function resultsOf(checks: Readonly<Record<string, () => Promise<void>>>): Promise<Record<string, 'ok' | 'failed'>> {
  const entries = Object.entries(checks).map(async ([name, check]) => [name, (await answers(check)) ? 'ok' : 'failed'] as const);
  return Object.fromEntries(await Promise.all(entries));
}

/**
 * The checks of a process, those of other parts asked once a second, however often /readyz is: anybody may ask it. What the process knows
 * of itself it says at once.
 */
export function rememberReadiness(readiness: ApiDeps['readiness']): ApiDeps['readiness'] {
  const { database, temporal, chain, ...own } = readiness;
  return { ...own, ...rememberChecks({ database, temporal, chain }) };
}

/** Checks that run once a second at most; callers meanwhile get the last result. */
export function rememberChecks<Name extends string>(
  checks: Readonly<Record<Name, () => Promise<void>>>,
): Readonly<Record<Name, () => Promise<void>>> {
  const asked = (check: () => Promise<void>): (() => Promise<void>) => {
    const ask = remembered(() => answers(check), ANSWER_LIFE_MS);
    return async () => {
      if (!(await ask())) throw new Error('the part does not answer');
    };
  };
  const entries = Object.entries<() => Promise<void>>(checks).map(([name, check]) => [name, asked(check)]);
  return Object.fromEntries(entries) as Readonly<Record<Name, () => Promise<void>>>;
}

async function answers(check: () => Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), CHECK_TIMEOUT_MS);
  });
  const asked = check().then(
    () => true,
    () => false,
  );
  const result = await Promise.race([asked, late]);
  clearTimeout(timer);
  return result;
}
