import { describeService } from '../../api/app.ts';
import { STATUS_BY_KIND } from '../../api/errors.ts';
import { SCOPES } from '../../modules/kernel/access/key.ts';
import type { ErrorCode } from '../../modules/kernel/errors.ts';
import { ERROR_CODES, FAILURE_REASONS, kindOf } from '../../modules/kernel/errors.ts';
import { markdownTable } from './markdownTable.ts';

/** What this page reads of the OpenAPI document. */
interface Operation {
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly Readonly<Record<string, unknown>>[];
}
interface Described {
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, unknown>>;
}

/** `docs/specification.md`: the API as built, from the OpenAPI document and the closed lists. The same text every time. */
export function renderSpecification(): string {
  const described = describeService('/') as unknown as Described;
  return `${[
    HEAD.replace('VERSION', described.info.version),
    '## Operations\n',
    ...operationTables(described),
    '## Errors\n',
    ERRORS,
    markdownTable(['Status', 'Kind', 'Codes'], errorRows()),
    `Reasons of a failed payment that the audit counts:\n${FAILURE_REASONS.map((reason) => `\`${reason}\``).join(', ')}.\n`,
    '## Scopes\n',
    `A publisher key carries some of ${SCOPES.map((scope) => `\`${scope}\``).join(', ')}.\n${SCOPE_RULES}\n`,
    '## Events\n',
    `Two types: ${Object.keys(described.webhooks)
      .map((type) => `\`${type}\``)
      .join(', ')}. [Webhooks](webhooks.md) has headers, signatures and retries.`,
  ].join('\n')}\n`;
}

const HEAD = `<!-- Written by \`npm run generate\`; edit tools/check/specification.ts. -->
# The API as built

Version VERSION. Bodies, parameters, headers and statuses in full: [openapi.json](../openapi.json), served at \`GET /_svc/openapi.json\`.
What we chose where a choice was open: [decisions](decisions.md). The admin surface: [GraphQL](graphql.md).

- Money is an integer number of micro-USDC; a formatted amount beside it is never parsed.
- Times are epoch milliseconds on the API and seconds inside a licence.
- A credential is checked before the body: without one the answer is 401, never a 400 about the body.
- A key belongs to one site, and reads and settles for that site alone.
- Each answer carries \`x-request-id\` and \`svc-api-version\`; each error its code in \`x-svc-error-code\`.
`;

const ERRORS = `The body is \`{error, next}\` ([what to do next](integrating-buyer.md#what-to-do-next)), with \`upgrade: true\` where the plan is what is missing, with \`ok: false\` in front at \`verify\` and \`observe\`, and
\`{verified: false, reason}\` where a host is not proven. A client that accepts \`application/problem+json\` gets RFC 9457. 429 and 503 carry \`Retry-After\`.
`;

const SCOPE_RULES = `The plan is checked separately: API access begins with the plan \`studio\`. \`domain.manage\` comes with the connection key
alone, and ends with the first proof.`;

const CREDENTIALS: Readonly<Record<string, string>> = {
  publisherKey: 'publisher key',
  buyerAccount: 'buyer account',
  signInWithX: 'signed message',
};

/** One table for each tag, in the order of the document. */
function operationTables({ paths }: Described): readonly string[] {
  const byTag = new Map<string, string[][]>();
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { summary = '', tags = [], security = [] }] of Object.entries(methods)) {
      const tag = tags[0] ?? 'Others';
      const who = security.flatMap((way) => Object.keys(way)).map((name) => CREDENTIALS[name] ?? name);
      const row = [`\`${method.toUpperCase()} ${path}\``, summary, who.join(' or ') || 'none'];
      byTag.set(tag, [...(byTag.get(tag) ?? []), row]);
    }
  }
  return [...byTag].map(([tag, rows]) => `### ${tag}\n\n${markdownTable(['Call', 'What', 'Credential'], rows)}`);
}

function errorRows(): readonly string[][] {
  const byKind = Map.groupBy(ERROR_CODES, (code: ErrorCode) => kindOf(code));
  return [...byKind].map(([kind, codes]) => [String(STATUS_BY_KIND[kind]), kind, codes.map((code) => `\`${code}\``).join(', ')]);
}
