import { z } from 'zod';
import { ServiceError } from '../../modules/kernel/errors.ts';
import { MAX_ROWS_LINK_HOURS, MAX_ROWS_QUERY_CHARS, makeRowsLink, ROWS_LINK_HOURS } from '../../modules/reports/use/rowsLinks.ts';
import { GRAPHQL_PATH } from '../request/path.ts';
import { pagedQuery } from '../rows/document.ts';
import { builder } from '../schema/builder.ts';
import { optional, ownerMutation, TENANT_ID } from './field.ts';

const MakeRowsLinkPayload = builder
  .objectRef<{ readonly url: string; readonly expiresAtMs: number }>('MakeRowsLinkPayload')
  .implement({
    description: 'A link to the rows of a query.',
    fields: (t) => ({
      url: t.exposeString('url', {
        description:
          'Gives the rows as NDJSON, one a line, as they are when it is fetched; anyone who has it may. A file that ends with `{"rowsAfter": …}` goes ' +
          'on with `&after=` and that text.',
      }),
      expiresAt: t.field({
        type: 'EpochMs',
        description: 'When it ends, unless the token or the ownership of who made it ends earlier.',
        resolve: ({ expiresAtMs }) => expiresAtMs,
      }),
    }),
  });

ownerMutation('makeRowsLink', {
  description:
    'A link to all rows of one list of the site as NDJSON, for whatever loads files: 100,000 rows at a time, page by page behind the scenes, one file of a ' +
    'site at a time. Again: another link; those made before go on until they end, by their time or with the token or the ownership of who made them.',
  input: builder.inputType('MakeRowsLinkInput', {
    description: 'Which rows.',
    fields: (t) => ({
      tenantId: t.id(TENANT_ID),
      query: t.string({
        required: true,
        description: `A query of one list and its nodes, such as \`{ tenant { legs { nodes { at micro } } } }\`; with its variables at most ${MAX_ROWS_QUERY_CHARS} characters.`,
      }),
      variables: t.string({ description: 'JSON text of its variables.' }),
      hours: t.int({
        description: `For how many hours it is valid, ${ROWS_LINK_HOURS} unless given and ${MAX_ROWS_LINK_HOURS} at most.`,
      }),
    }),
  }),
  schema: z.object({
    query: z.string().max(MAX_ROWS_QUERY_CHARS, 'is too long'),
    variables: optional(z.string().max(MAX_ROWS_QUERY_CHARS, 'is too long')),
    hours: optional(z.number()),
  }),
  payload: MakeRowsLinkPayload,
  change: async (deps, call, { query, variables, hours }, schema) => {
    const given = variablesOf(variables);
    pagedQuery(schema, query, given);
    const { token, expiresAtMs } = await makeRowsLink(deps, call, {
      query,
      variables: given,
      ...(hours === undefined ? {} : { hours }),
    });
    return { url: `${deps.baseUrl}${GRAPHQL_PATH}?rows=${token}`, expiresAtMs };
  },
});

function variablesOf(text: string | undefined): Record<string, unknown> {
  if (text === undefined) return {};
  const refuse = (): never => {
    throw new ServiceError('invalid_parameter', 'variables: must be the JSON text of an object', { parameter: 'variables' });
  };
  try {
    const given: unknown = JSON.parse(text);
    return given !== null && typeof given === 'object' && !Array.isArray(given) ? (given as Record<string, unknown>) : refuse();
  } catch {
    return refuse();
  }
}
