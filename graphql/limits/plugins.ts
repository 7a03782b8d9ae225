import { maxAliasesPlugin } from '@escape.tech/graphql-armor-max-aliases';
import { maxDirectivesPlugin } from '@escape.tech/graphql-armor-max-directives';
import { maxTokensPlugin } from '@escape.tech/graphql-armor-max-tokens';
import { getOperationAST } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Turns } from '../../services/turns.ts';
import type { GraphqlContext } from '../context.ts';
import { publicError } from '../errors.ts';
import { introspectionLimit } from './introspection.ts';
import { ALIAS_LIMIT, DIRECTIVE_LIMIT, TOKEN_LIMIT } from './limits.ts';

/**
 * What refuses a document before anything of it runs; depth and cost are the schema's (graphql/builder.ts). Aliases of `__typename`
 * count like any other: each is one more value in every row.
 */
export function limitPlugins(): Plugin[] {
  return [
    maxTokensPlugin({ n: TOKEN_LIMIT }),
    maxAliasesPlugin({ n: ALIAS_LIMIT, allowList: [] }),
    maxDirectivesPlugin({ n: DIRECTIVE_LIMIT }),
    { onValidate: ({ addValidationRule }) => addValidationRule(introspectionLimit) },
  ] as Plugin[];
}

/** Has queries wait for their turn, each caller for its own; changes do not wait, so that a key can be revoked whatever is asked. */
export function turnPlugin(turns: Turns): Plugin {
  return {
    onExecute: ({ args, executeFn, setExecuteFn }) => {
      if (getOperationAST(args.document, args.operationName)?.operation !== 'query') return;
      const { key, owner } = args.contextValue as unknown as GraphqlContext;
      setExecuteFn(async (given) => {
        let leave: () => void;
        try {
          leave = await turns.enter(key?.keyId ?? owner?.userId ?? '');
        } catch (error) {
          return { errors: [publicError(error)] };
        }
        try {
          return await executeFn(given);
        } finally {
          leave();
        }
      });
    },
  };
}
