import { useCallback, useEffect, useRef, useState } from './html.ts';
import { call } from './http.ts';
import { Problem, problemOf } from './problem.ts';
import { BASE } from './router.ts';
import { csrfNow, onSignOut, refusalOf, sessionEnded, tenantNow } from './session.ts';

/** Variables of a document. `tenantId` is added where the document has it. */
export type Variables = Readonly<Record<string, unknown>>;

/** What is known of a question: `stale` shows an answer of before, while a new one is under way or because it failed. */
export interface QueryOf<T> {
  readonly state: 'loading' | 'ready' | 'stale' | 'error';
  readonly data: T | null;
  /** Why the newest answer is missing, or what of it is. */
  readonly problem: Problem | null;
  /** When `data` came, in ms; null while there is none. */
  readonly fetchedAt: number | null;
  readonly reload: () => void;
}

/** Answers of before, so that a screen one comes back to is there at once; forgotten with the session. */
const MOST_KEPT = 40;
const kept = new Map<string, { readonly data: unknown; readonly fetchedAt: number }>();
onSignOut(() => kept.clear());

/** How old an answer may be when the page is looked at again. */
const FRESH_MS = 60_000;

type Held<T> = Omit<QueryOf<T>, 'reload'> & { readonly key: string };

/**
 * Asks a question, again whenever its variables or the site change. While another answer of the same site is on its way, the one
 * before is shown as stale; of another site nothing is. `document` null: nothing is asked.
 */
export function useQuery<T>(document: string | null, variables: Variables = {}): QueryOf<T> {
  const asked = withTenant(document ?? '', variables);
  const key = document === null ? '' : `${document}\n${JSON.stringify(asked)}`;
  const [held, hold] = useState<Held<T>>(() => before<T>(key, null));
  const newest = useRef(0);
  const ask = useCallback(() => {
    if (document === null) return;
    const turn = ++newest.current;
    const isOurs = (): boolean => turn === newest.current;
    hold((now) => before<T>(key, now));
    send<T>(document, asked).then(
      ({ data, problem }) => {
        const fetchedAt = Date.now();
        keep(key, data, fetchedAt);
        if (isOurs()) hold({ key, state: 'ready', data, problem, fetchedAt });
      },
      (error: unknown) => {
        if (!isOurs()) return;
        const problem = problemOf(error);
        hold((now) => (now.data === null ? { ...now, key, state: 'error', problem } : { ...now, state: 'stale', problem }));
      },
    );
  }, [key]);
  useEffect(() => {
    ask();
    return () => {
      newest.current += 1;
    };
  }, [ask]);
  useEffect(() => {
    const look = (): void => {
      if (globalThis.document.visibilityState === 'visible' && Date.now() - (held.fetchedAt ?? 0) > FRESH_MS) ask();
    };
    addEventListener('visibilitychange', look);
    return () => removeEventListener('visibilitychange', look);
  }, [ask, held.fetchedAt]);
  const shown = held.key === key ? held : before<T>(key, held);
  return { state: shown.state, data: shown.data, problem: shown.problem, fetchedAt: shown.fetchedAt, reload: ask };
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
  /** Asks for the next page; null where there is none, or while it is on its way. */
  readonly more: (() => void) | null;
}

/** Like `useQuery`, of a document with `$after: String`: `pageOf` finds the connection in an answer. Further pages are added below. */
export function useList<T, N>(document: string | null, variables: Variables, pageOf: (data: T) => Page<N> | null): ListOf<T, N> {
  const query = useQuery<T>(document, variables);
  const [added, add] = useState<{ readonly to: T | null; readonly pages: readonly Page<N>[]; readonly busy: boolean }>(
    NOTHING_ADDED,
  );
  const first = query.data === null ? null : pageOf(query.data);
  const isOfThis = added.to === query.data && query.data !== null;
  const pages = first === null ? [] : [first, ...(isOfThis ? added.pages : [])];
  const last = pages.at(-1);
  const load = async (): Promise<void> => {
    const [to, sofar] = [query.data, isOfThis ? added.pages : []];
    add({ to, pages: sofar, busy: true });
    try {
      const { data } = await send<T>(
        document ?? '',
        withTenant(document ?? '', { ...variables, after: last?.pageInfo.endCursor }),
      );
      const next = data === null ? null : pageOf(data);
      add({ to, pages: next === null ? sofar : [...sofar, next], busy: false });
    } catch {
      add({ to, pages: sofar, busy: false });
    }
  };
  const hasMore = last?.pageInfo.hasNextPage === true && !(isOfThis && added.busy);
  return {
    ...query,
    rows: pages.flatMap(({ nodes }) => nodes),
    total: first?.totalCount ?? null,
    more: hasMore ? () => void load() : null,
  };
}

const NOTHING_ADDED = { to: null, pages: [], busy: false } as const;

/**
 * Makes a change and returns its data. A `Refusal` among the fields is thrown as a `Problem`, as is everything that stopped the call: then
 * nothing is known to have changed. Answers of before are forgotten.
 */
export async function change<T>(document: string, variables: Variables = {}): Promise<T> {
  const { data, problem } = await send<T>(document, withTenant(document, variables));
  kept.clear();
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

function before<T>(key: string, now: Held<T> | null): Held<T> {
  const one = kept.get(key);
  if (one) return { key, state: 'stale', data: one.data as T, problem: null, fetchedAt: one.fetchedAt };
  if (now?.data && isOneQuestion(now.key, key)) return { ...now, key, state: 'stale', problem: null };
  return { key, state: 'loading', data: null, problem: null, fetchedAt: null };
}

/** Whether two keys are of one document and one site: only then may the answer to one stand in for the other. */
function isOneQuestion(one: string, other: string): boolean {
  const [document, variables] = cut(one);
  const [otherDocument, otherVariables] = cut(other);
  return document === otherDocument && variables['tenantId'] === otherVariables['tenantId'];
}

function cut(key: string): readonly [string, Record<string, unknown>] {
  const at = key.lastIndexOf('\n');
  return at < 0 ? [key, {}] : [key.slice(0, at), JSON.parse(key.slice(at + 1)) as Record<string, unknown>];
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
