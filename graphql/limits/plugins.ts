import { maxAliasesPlugin } from '@escape.tech/graphql-armor-max-aliases';
import { maxDirectivesPlugin } from '@escape.tech/graphql-armor-max-directives';
import { maxTokensPlugin } from '@escape.tech/graphql-armor-max-tokens';
import type { Plugin } from 'graphql-yoga';
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
