import type { PublicRoute } from '../route.ts';

/** How long one part may take to answer before it counts as failed. */
const CHECK_TIMEOUT_MS = 2_000;

/** GET /healthz: this process is alive. */
export const healthRoute: PublicRoute = {
  method: 'get',
  path: '/healthz',
  access: 'public',
  handle: async () => ({ status: 200, headers: { 'cache-control': 'no-store' }, body: { ok: true } }),
};

/**
 * GET /readyz: database, Temporal and at least one network answer this process, and the database takes writes; 503 names those that do
 * not. Of several networks it says which answer.
 */
export const readyRoute: PublicRoute = {
  method: 'get',
  path: '/readyz',
  access: 'public',
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
