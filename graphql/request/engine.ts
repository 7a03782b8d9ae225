import { createYoga } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import { isServiceError, ServiceError } from '../../modules/kernel/errors.ts';
import type { ReplicaReader } from '../../modules/paging/use/deps.ts';
import { Budget } from '../limits/budget.ts';
import { REMEMBERED_DOCUMENTS } from '../limits/limits.ts';
import { limitPlugins } from '../limits/plugins.ts';
import { schema } from '../schema/schema.ts';
import type { Answer } from './answer.ts';
import { answerOf, failedAnswer, refusalAnswer } from './answer.ts';
import { operationOf } from './body.ts';
import { shareConnections } from './connections.ts';
import type { GraphqlContext, GraphqlDeps, ReaderDeps, Visitor } from './context.ts';
import { siteOf } from './context.ts';
import { isDefect, publicError } from './errors.ts';
import { GRAPHQL_PATH } from './path.ts';

/** One request of somebody who was let in: plain data, so that it can be handed to another thread. */
export interface Call extends Visitor {
  /** The media type that is answered. */
  readonly accept: string;
  readonly body: Uint8Array;
}

/** Parses, validates, measures, executes and writes the answer of one request. Errors are answers. */
export type Engine = (call: Call) => Promise<Answer>;

/** Opens an engine; with `changes` for the changes of owners, without for questions. Each question begins with a budget of its own. */
export function openEngine(deps: ReaderDeps, changes: GraphqlDeps | null, newBudget = () => new Budget()): Engine {
  const shareOf = changes ? null : shareConnections(deps.reading);
  const depsFor = (visitor: Visitor, budget: Budget): ReaderDeps => {
    if (!shareOf) return deps;
    const reader = readerFor(deps, visitor);
    if (reader) ages.set(budget, reader.ageMs);
    return { ...deps, reading: shareOf(siteOf(visitor), budget, reader) };
  };
  const yoga = createYoga<Visitor & Pick<GraphqlContext, 'budget'>, GraphqlContext>({
    schema,
    graphqlEndpoint: GRAPHQL_PATH,
    context: ({ budget, ...visitor }) => ({ ...visitor, deps: depsFor(visitor, budget), changes, budget }),
    maskedErrors: { maskError: publicError },
    parserAndValidationCache: { documentCache: remembering(), errorCache: remembering() },
    graphiql: false,
    landingPage: false,
    batching: false,
    multipart: false,
    cors: false,
    logging: false,
    plugins: [...limitPlugins(), logDefects(), sayAge(), { onResultProcess: showErrors }],
  });
  return async ({ accept, body, ...visitor }) => {
    const budget = changes ? Budget.ofChange() : newBudget();
    try {
      operationOf(body);
      const init = { method: 'POST', headers: { 'content-type': 'application/json', accept }, body: new Uint8Array(body) };
      const result = await yoga.fetch(`http://localhost${GRAPHQL_PATH}`, init, { ...visitor, budget });
      const answer = answerOf(result.status, await result.text(), {
        'content-type': result.headers.get('content-type') ?? 'application/json; charset=utf-8',
      });
      budget.requireBytes(answer.body.byteLength);
      return { ...answer, cost: budget.cost };
    } catch (error) {
      if (error === budget.refusal) return { ...failedAnswer([publicError(error)]), cost: budget.cost };
      if (isServiceError(error) && error.kind !== 'defect') return refusalAnswer(error);
      deps.log.error({ requestId: visitor.requestId, err: error }, 'a request met a defect');
      return refusalAnswer(new ServiceError('internal', 'something went wrong on our side'));
    }
  };
}

/** How old what an execution read may be, by its budget, which each has one of. */
const ages = new WeakMap<Budget, () => number>();

/** Standbys for questions about sites. Those of an account are read from the primary: no mark says when it was changed last. */
function readerFor({ replicas }: ReaderDeps, { key, owner }: Visitor): ReplicaReader | undefined {
  const tenantIds = key ? [key.tenantId] : owner?.tenantIds;
  return tenantIds === undefined ? undefined : replicas?.readerOf(tenantIds);
}

/** Says how old the answer may be, wherever standbys are configured: 0 where the primary answered. */
function sayAge() {
  return {
    onExecute: ({ args }: { args: { contextValue: GraphqlContext } }) => ({
      onExecuteDone: ({ result, setResult }: { result: unknown; setResult: (result: never) => void }) => {
        const ageMs = ages.get(args.contextValue.budget)?.();
        if (ageMs === undefined) return;
        const told = result as { readonly extensions?: object };
        setResult({ ...told, extensions: { ...told.extensions, dataAgeSeconds: ageMs / 1_000 } } as never);
      },
    }),
  };
}

/** Documents by their text, and what was wrong with others: few, since each may be large. */
function remembering<T extends object>() {
  return new LRUCache<string, T>({ max: REMEMBERED_DOCUMENTS });
}

/** Errors of the document itself are said in the same form as those of fields. */
function showErrors({ result, setResult }: { result: unknown; setResult: (result: object) => void }): void {
  const { errors } = result as { errors?: readonly unknown[] };
  if (errors) setResult({ ...(result as object), errors: errors.map(publicError) });
}

function logDefects() {
  return {
    onExecute: ({ args }: { args: { contextValue: GraphqlContext } }) => ({
      onExecuteDone: ({ result }: { result: unknown }) => {
        const { deps, requestId } = args.contextValue;
        const { errors = [] } = result as { errors?: readonly { originalError?: unknown; path?: readonly unknown[] }[] };
        for (const error of errors.filter(isDefect)) {
          deps.log.error({ requestId, path: error.path?.join('.'), err: error.originalError ?? error }, 'a query met a defect');
        }
      },
    }),
  };
}
