import { maxAliasesPlugin } from '@escape.tech/graphql-armor-max-aliases';
import { maxDirectivesPlugin } from '@escape.tech/graphql-armor-max-directives';
import { maxTokensPlugin } from '@escape.tech/graphql-armor-max-tokens';
import type { Plugin } from 'graphql-yoga';
import { ALIAS_LIMIT, DIRECTIVE_LIMIT, TOKEN_LIMIT } from './limits.ts';

/** What refuses a document before anything of it runs; depth and cost are the schema's (graphql/builder.ts). */
export function limitPlugins(): Plugin[] {
  return [
    maxTokensPlugin({ n: TOKEN_LIMIT }),
    maxAliasesPlugin({ n: ALIAS_LIMIT }),
    maxDirectivesPlugin({ n: DIRECTIVE_LIMIT }),
  ] as Plugin[];
}
