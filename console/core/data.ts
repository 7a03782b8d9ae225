import { useCallback, useEffect, useRef, useState } from './html.ts';
import { call } from './http.ts';
import { Problem, problemOf } from './problem.ts';
import { BASE } from './router.ts';
import { csrfNow, onSignOut, refusalOf, sessionEnded, tenantNow, useCsrf } from './session.ts';

/** Variables of a document. `tenantId` is added where the document has it. */
export type Variables = Readonly<Record<string, unknown>>;

/** What is known of a question: `stale` shows an older answer to this very question, while a new one is under way or because it failed. */
export interface QueryOf<T> {
  readonly state: 'loading' | 'ready' | 'stale' | 'error';
  readonly data: T | null;
  /** Why the newest answer is missing, or what of it is. */
  readonly problem: Problem | null;
  /** When `data` came, in ms; null while there is none. */
  readonly fetchedAt: number | null;
  readonly reload: () => void;
}

/** Former answers, so that a screen one returns to shows at once; forgotten with the session and with each change. */
const MOST_KEPT = 40;
const kept = new Map<string, { readonly data: unknown; readonly fetchedAt: number }>();
/** Of whom and of when answers are: one that comes after a sign-out or a change is none to keep. */
let era = 0;
function forgetAll(): void {
  era += 1;
  kept.clear();
}
onSignOut(forgetAll);

/** How old an answer may get while the page is looked at. */
const FRESH_MS = 60_000;

/** When a question that failed is asked again by itself, by how often it failed. */
const RETRY_MS = [2_000, 4_000, 8_000, 15_000, 30_000] as const;

type Held<T> = Omit<QueryOf<T>, 'reload'> & { readonly key: string };

/**
 * Asks a question, again whenever its variables, the site or the day change: what "today" names moves at midnight. Meanwhile an older answer
 * stands in only if it is one to the same question; any other figure would stand below words that are not its own. Asks again by itself each
 * minute while the page is looked at, unless `isHeld`, and after a failure that passes. `document` null: nothing is asked.
 */
export function useQuery<T>(document: string | null, variables: Variables = {}, isHeld = false): QueryOf<T> {
  const asked = withTenant(document ?? '', variables);
  const key = document === null ? '' : [document, new Date().toDateString(), JSON.stringify(asked)].join('\n');
  const [held, hold] = useState<Held<T>>(() => before<T>(key, null));
  const newest = useRef(0);
  const failures = useRef(0);
  const load = useCallback(
    ({ quiet = false }: { readonly quiet?: boolean } = {}) => {
      if (document === null) return;
      const turn = ++newest.current;
      const asOf = era;
      const isOurs = (): boolean => turn === newest.current;
      // What a failure says stays in place while it is asked again unbidden.
      hold((now) => (quiet && now.key === key ? now : before<T>(key, now)));
      send<T>(document, asked).then(
        ({ data, problem }) => {
          const fetchedAt = Date.now();
          if (problem === null && asOf === era) keep(key, data, fetchedAt);
          if (!isOurs()) return;
          failures.current = 0;
          hold({ key, state: 'ready', data, problem, fetchedAt });
        },
        (error: unknown) => {
          if (!isOurs()) return;
          failures.current += 1;
          const problem = problemOf(error);
          hold((now) => ({ ...now, key, state: now.data === null ? 'error' : 'stale', problem }));
        },
      );
    },
    [key],
  );
  const csrf = useCsrf();
  useEffect(() => {
    if (csrf === null) return; // the session ended; the next one asks
    failures.current = 0;
    load();
    return () => {
      newest.current += 1;
    };
  }, [load, csrf]);
  const hasFailed = held.problem !== null && held.state !== 'ready';
  useEffect(() => {
    const isSeen = (): boolean => csrfNow() !== null && globalThis.document.visibilityState === 'visible';
    const look = (): void => {
      if (!isSeen() || Date.now() - (held.fetchedAt ?? 0) <= FRESH_MS) return;
      if (isHeld)
        hold((now) => ({ ...now })); // drawn again, since the day may have turned
      else load();
    };
    const retry = (): void => {
      if (isSeen()) load({ quiet: true });
    };
    const woken = hasFailed ? retry : look;
    const waitMs = hasFailed ? RETRY_MS[Math.min(failures.current, RETRY_MS.length) - 1] : FRESH_MS + 500;
    // A failure that does not pass is retried only when the viewer comes back to the page.
    const clock = hasFailed && !held.problem?.passes ? undefined : setTimeout(woken, waitMs);
    addEventListener('visibilitychange', woken);
    addEventListener('online', retry);
    return () => {
      clearTimeout(clock);
      removeEventListener('visibilitychange', woken);
      removeEventListener('online', retry);
    };
  }, [load, held, isHeld]);
  const shown = held.key === key ? held : before<T>(key, held);
  return {
    state: shown.state,
    data: shown.data,
    problem: shown.problem,
    fetchedAt: shown.fetchedAt,
    reload: useCallback(() => load(), [load]),
  };
}

/** A page of a list, as connections answer it. */
export interface Page<N> {
  readonly nodes: readonly N[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  readonly totalCount?: number | null;
}

/** A list that grows page by page. */
export interface ListOf<T, N> extends QueryOf<T> {
  readonly rows: readonly N[];
  readonly total: number | null;
  /** What is below the rows; null where there is no further page. */
  readonly more: More | null;
}

/** A further page of a list, and how it stands. */
export interface More {
  readonly load: () => Promise<void>;
  readonly isBusy: boolean;
  /** Why the page did not come. */
  readonly problem: Problem | null;
  /** How many rows there are in all, where that is known. */
  readonly total: number | null;
}

/** Like `useQuery`, of a document with `$after: String`: `pageOf` finds the connection in an answer. Further pages are added below. */
export function useList<T, N>(document: string | null, variables: Variables, pageOf: (data: T) => Page<N> | null): ListOf<T, N> {
  const [added, add] = useState<Added<T, N>>(NOTHING_ADDED);
  const query = useQuery<T>(document, variables, added.pages.length > 0); // else rows that somebody reads would go
  const first = query.data === null ? null : pageOf(query.data);
  const isOfThis = added.to === query.data && query.data !== null;
  const pages = first === null ? [] : [first, ...(isOfThis ? added.pages : [])];
  const last = pages.at(-1);
  const load = async (): Promise<void> => {
    const [to, sofar] = [query.data, isOfThis ? added.pages : []];
    if (isOfThis && added.isBusy) return;
    add({ to, pages: sofar, isBusy: true, problem: null });
    try {
      const asked = withTenant(document ?? '', { ...variables, after: last?.pageInfo.endCursor });
      const { data, problem } = await send<T>(document ?? '', asked);
      const next = data === null ? null : pageOf(data);
      if (next === null) throw problem ?? new Problem('internal', 'The service left the page out.');
      add({ to, pages: [...sofar, next], isBusy: false, problem: null });
    } catch (error) {
      add({ to, pages: sofar, isBusy: false, problem: problemOf(error) });
    }
  };
  const total = first?.totalCount ?? null;
  const { isBusy, problem } = isOfThis ? added : NOTHING_ADDED;
  return {
    ...query,
    rows: pages.flatMap(({ nodes }) => nodes),
    total,
    more: last?.pageInfo.hasNextPage === true ? { load, isBusy, problem, total } : null,
  };
}

interface Added<T, N> {
  /** The answer whose first page these follow. */
  readonly to: T | null;
  readonly pages: readonly Page<N>[];
  readonly isBusy: boolean;
  readonly problem: Problem | null;
}

const NOTHING_ADDED = { to: null, pages: [], isBusy: false, problem: null } as const;

/**
 * Makes a change and returns its data. A `Refusal` among the fields is thrown as a `Problem`, as is everything that stopped the call: then
 * nothing is known to have changed. Kept answers are dropped.
 */
export async function change<T>(document: string, variables: Variables = {}): Promise<T> {
  const { data, problem } = await send<T>(document, withTenant(document, variables));
  forgetAll();
  if (problem !== null) throw problem;
  for (const field of Object.values(data as Record<string, unknown>)) {
    if (isRefusal(field)) throw new Problem(field.code, field.message, { parameter: field.parameter ?? null });
  }
  return data as T;
}

/** Asks once, where no component shows the answer as it comes. Throws a `Problem` where the answer is missing, or not whole. */
export async function ask<T>(document: string, variables: Variables = {}): Promise<T> {
  const { data, problem } = await send<T>(document, withTenant(document, variables));
  if (problem !== null) throw problem;
  return data;
}

/** The address of a download; `parameters` are those of the export of the REST API. */
export function download(name: string, parameters: Readonly<Record<string, string | number | null | undefined>> = {}): string {
  const said = Object.entries({ tenantId: tenantNow(), ...parameters }).filter(
    ([, value]) => value !== null && value !== undefined && value !== '',
  );
  return `${BASE}/download/${name}?${new URLSearchParams(said.map(([key, value]) => [key, String(value)])).toString()}`;
}

/** What is known of a question before it is answered anew: an older answer to the very same, or nothing. */
function before<T>(key: string, now: Held<T> | null): Held<T> {
  const one = kept.get(key);
  if (one) return { key, state: 'stale', data: one.data as T, problem: null, fetchedAt: one.fetchedAt };
  if (now?.key === key && now.data !== null) return { ...now, state: 'stale', problem: null };
  return { key, state: 'loading', data: null, problem: null, fetchedAt: null };
}

function keep(key: string, data: unknown, fetchedAt: number): void {
  kept.delete(key);
  kept.set(key, { data, fetchedAt });
  const oldest = kept.keys().next().value;
  if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
}

function withTenant(document: string, variables: Variables): Variables {
  return document.includes('$tenantId') ? { tenantId: tenantNow(), ...variables } : variables;
}

interface Answered {
  readonly data?: unknown;
  readonly errors?: readonly {
    readonly message: string;
    readonly extensions?: { readonly reason?: string; readonly code?: string; readonly parameter?: string };
  }[];
}

async function send<T>(document: string, variables: Variables): Promise<{ readonly data: T; readonly problem: Problem | null }> {
  const { status, body, requestId } = await call('POST', '/graphql', { body: { query: document, variables }, csrf: csrfNow() });
  if (status === 401) sessionEnded();
  const { data, errors } = (body ?? {}) as Answered;
  const [error] = errors ?? [];
  const details = { requestId, parameter: error?.extensions?.parameter ?? null };
  const problem = error
    ? new Problem(error.extensions?.reason ?? error.extensions?.code ?? 'internal', error.message, details)
    : null;
  if (data !== null && data !== undefined) return { data: data as T, problem };
  throw problem ?? refusalOf(status, body, requestId);
}

function isRefusal(field: unknown): field is { readonly code: string; readonly message: string; readonly parameter?: string } {
  return (
    typeof field === 'object' && field !== null && 'code' in field && 'message' in field && typeof field.message === 'string'
  );
}
