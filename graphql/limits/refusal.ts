import type { ASTNode } from 'graphql';
import { GraphQLError } from 'graphql';
import type { ErrorCode } from '../../modules/kernel/errors.ts';

/** What a query can have too much of. */
export type Limit =
  | 'aliases'
  | 'bytes'
  | 'change'
  | 'cost'
  | 'depth'
  | 'directives'
  | 'introspection'
  | 'memory'
  | 'time'
  | 'tokens'
  | 'values'
  | 'way_back';

const REASON: ErrorCode = 'query_limit';

/** How much was asked for, where it can be told, and how much may be. */
interface Amounts {
  readonly asked?: number;
  readonly most?: number;
  readonly node?: ASTNode;
}

/** The refusal of a query that goes beyond a limit: reason `query_limit`, and which limit, for programs to read. */
export function limitRefusal(limit: Limit, sentence: string, { asked, most, node }: Amounts = {}): GraphQLError {
  return new GraphQLError(sentence, {
    ...(node ? { nodes: node } : {}),
    extensions: {
      code: limit === 'time' ? 'TIMEOUT' : 'BAD_USER_INPUT',
      reason: REASON,
      limit,
      ...(asked === undefined ? {} : { asked }),
      ...(most === undefined ? {} : { most }),
    },
  });
}

const OF_A_DOCUMENT =
  /^(?:Syntax Error: )?(?<what>Aliases|Directives|Token) limit of (?<most>\d+) exceeded(?:, found (?<asked>\d+))?/;
const LIMIT_BY_WORD: Readonly<Record<string, Limit>> = { Aliases: 'aliases', Directives: 'directives', Token: 'tokens' };

/** The refusal that a library meant when it said that a document has too many aliases, directives or tokens; null for other errors. */
export function documentRefusal({ message }: GraphQLError): GraphQLError | null {
  const { what, most, asked } = OF_A_DOCUMENT.exec(message)?.groups ?? {};
  const limit = LIMIT_BY_WORD[what ?? ''];
  if (limit === undefined) return null;
  const found = asked === undefined ? {} : { asked: Number(asked) };
  return limitRefusal(limit, `this document has too many ${limit}: ${most} are allowed`, { most: Number(most), ...found });
}
