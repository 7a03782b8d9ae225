import { maxAliasesPlugin } from '@escape.tech/graphql-armor-max-aliases';
import { maxDirectivesPlugin } from '@escape.tech/graphql-armor-max-directives';
import { maxTokensPlugin } from '@escape.tech/graphql-armor-max-tokens';
import type { ExecutionArgs, FragmentDefinitionNode, GraphQLError } from 'graphql';
import { getOperationAST, getVariableValues, Kind } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { GraphqlContext } from '../request/context.ts';
import { publicError } from '../request/errors.ts';
import type { Budget } from './budget.ts';
import { COST_ONLY } from './costOnly.ts';
import { introspectionLimit } from './introspection.ts';
import { ALIAS_LIMIT, CHANGE_COST_LIMIT, COST_LIMIT, DEPTH_LIMIT, DIRECTIVE_LIMIT, TOKEN_LIMIT } from './limits.ts';
import type { Part } from './measure.ts';
import { measure } from './measure.ts';
import { limitRefusal } from './refusal.ts';

/**
 * What refuses a document before anything of it runs, and then measures what will run. Aliases of `__typename` count like any other:
 * each is one more value in every row.
 */
export function limitPlugins(): Plugin[] {
  return [
    maxTokensPlugin({ n: TOKEN_LIMIT }),
    maxAliasesPlugin({ n: ALIAS_LIMIT, allowList: [] }),
    maxDirectivesPlugin({ n: DIRECTIVE_LIMIT }),
    { onValidate: ({ addValidationRule }) => addValidationRule(introspectionLimit) },
    costPlugin(),
  ] as Plugin[];
}

const UNMEASURED = { cost: 0, most: COST_LIMIT, dearest: [], isOnlyAsked: false } as const;

/** What a query costs at most, and why it is refused; null where it may run. */
export function judge({
  schema,
  document,
  operationName,
  variableValues,
  contextValue,
}: Pick<ExecutionArgs, 'schema' | 'document' | 'operationName' | 'variableValues' | 'contextValue'>): {
  readonly cost: number;
  readonly most: number;
  readonly dearest: readonly Part[];
  /** True when nothing is to be executed. */
  readonly isOnlyAsked: boolean;
  readonly refusal: GraphQLError | null;
} {
  const operation = getOperationAST(document, operationName);
  const root = operation && schema.getRootType(operation.operation);
  if (!operation || !root) return { ...UNMEASURED, refusal: null }; // execution says what is missing
  const fragments: Record<string, FragmentDefinitionNode> = {};
  for (const part of document.definitions) if (part.kind === Kind.FRAGMENT_DEFINITION) fragments[part.name.value] = part;
  // Each error repeats the whole value it stands in: one is enough, and execution, which would look for 50, never sees such variables.
  const errorOptions = { maxErrors: 1, hideSuggestions: true };
  const { coerced, errors } = getVariableValues(schema, operation.variableDefinitions ?? [], variableValues ?? {}, errorOptions);
  if (coerced === undefined) return { ...UNMEASURED, refusal: publicError(errors[0]) };
  const isChange = operation.operation === 'mutation';
  const caller = contextValue as GraphqlContext | undefined;
  const nowMs = caller?.deps.clock() ?? Date.now();
  const most = isChange ? CHANGE_COST_LIMIT : COST_LIMIT;
  const measured = measure({ schema, fragments, variables: coerced, isChange, nowMs, caller }, operation.selectionSet, root);
  const { cost, depth, wayBack, list, dearest } = measured;
  const isOnlyAsked = operation.directives?.some(({ name }) => name.value === COST_ONLY.name) ?? false;
  const told = { cost, most, dearest, isOnlyAsked };
  if (depth > DEPTH_LIMIT) {
    const sentence = `this query is ${depth} levels deep; ${DEPTH_LIMIT} are allowed`;
    return { ...told, refusal: limitRefusal('depth', sentence, { asked: depth, most: DEPTH_LIMIT }) };
  }
  if (wayBack) {
    const { type, node } = wayBack;
    const sentence = `a query must not go back up: below this ${type}, a list leads to ${type} again; ask for it in a separate query`;
    return { ...told, refusal: limitRefusal('way_back', sentence, { node }) };
  }
  if (list) {
    const sentence = `a mutation returns rows and settings; ${list.name.value} is a list or a report: ask for it in a query`;
    return { ...told, refusal: limitRefusal('change', sentence, { node: list }) };
  }
  if (cost <= most) return { ...told, refusal: null };
  const sentence = `this ${operation.operation} costs ${cost}; ${most} are allowed: ask for shorter pages or fewer lists`;
  return { ...told, refusal: limitRefusal('cost', sentence, { asked: cost, most }) };
}

/** Refuses what costs too much, says in `extensions.cost` what a query costs, and ends what takes more than its budget. */
function costPlugin(): Plugin {
  return {
    onExecute: ({ args, executeFn, setExecuteFn }) => {
      const { cost, most, dearest, isOnlyAsked, refusal } = judge(args as unknown as ExecutionArgs);
      const extensions = { cost: { total: cost, most, left: Math.max(0, most - cost), dearest } };
      setExecuteFn(async (given) => {
        if (refusal) return { errors: [refusal], extensions };
        if (isOnlyAsked) return { data: null, extensions };
        const { budget } = args.contextValue as unknown as GraphqlContext;
        budget.cost = cost;
        const result = await inTime(budget, async () => executeFn(given));
        return budget.refusal ? { errors: [budget.refusal], extensions } : { ...result, extensions };
      });
    },
  };
}

/** What `execute` comes to, or nothing once time is up; what still runs then meets the budget with its next value. */
async function inTime(budget: Budget, execute: () => Promise<object>): Promise<object> {
  if (budget.leftMs === Number.POSITIVE_INFINITY) return await execute();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<object>((resolve) => {
    timer = setTimeout(() => {
      budget.refuseTime();
      resolve({});
    }, budget.leftMs);
  });
  try {
    return await Promise.race([execute(), late]);
  } finally {
    clearTimeout(timer);
  }
}
