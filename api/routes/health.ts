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

/** GET /readyz: database, Temporal and chain answer this process, and the database takes writes; 503 names those that do not. */
export const readyRoute: PublicRoute = {
  method: 'get',
  path: '/readyz',
  access: 'public',
  handle: async ({ deps }) => {
    const entries = await Promise.all(
      Object.entries(deps.readiness).map(async ([name, check]) => [name, (await answers(check)) ? 'ok' : 'failed'] as const),
    );
    const ok = entries.every(([, state]) => state === 'ok');
    const headers = { 'cache-control': 'no-store', ...(ok ? {} : { 'retry-after': '2' }) };
    return { status: ok ? 200 : 503, headers, body: { ok, checks: Object.fromEntries(entries) } };
  },
};

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
