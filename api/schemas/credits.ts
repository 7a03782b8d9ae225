import { z } from 'zod';
import type { ZodOpenApiSchemaObject } from 'zod-openapi';
import { MAX_AUTHOR_ID_CHARS, MAX_CREDITS_DEPTH, MAX_LEAVES, MAX_TITLE_CHARS } from '../../modules/kernel/money/credits.ts';
import { address } from './shared.ts';

const authorId = z.string().min(1).max(MAX_AUTHOR_ID_CHARS).meta({ description: 'The author’s id in earnings and statements.' });
const weight = z.exactOptional(
  z
    .number()
    .positive()
    .meta({ description: 'The share against the others beside it, at most 12 digits on either side of the point; left out: 1.' }),
);
const leaf = z
  .looseObject({ authorId, wallet: address, weight })
  .meta({ id: 'CreditsAuthor', description: 'An author with the wallet that is paid.' });
const contributor: z.ZodType = z.lazy(() => z.union([leaf, group])).meta({ id: 'CreditsContributor' });
const contributors = () => z.array(contributor).min(1).max(MAX_LEAVES);
const group = z.looseObject({ authorId, members: contributors(), weight }).meta({
  id: 'CreditsGroup',
  description: `Members who share one weight by their own weights, at most ${MAX_CREDITS_DEPTH} levels deep; no author contains itself.`,
});

const page = z
  .looseObject({ title: z.exactOptional(z.string().min(1).max(MAX_TITLE_CHARS).nullable()), contributors: contributors() })
  .meta({ id: 'CreditsPage', description: 'Who is paid for a page: at most 50 different wallets.' });
const given = z.looseObject({ free: z.literal(true) }).meta({ id: 'CreditsFree', description: 'The owner gives the page away.' });

/** What a site's credits API answers 200 with; docs/credits-api.md says the rest. */
const CreditsAnswer = z.union([given, page]).meta({
  id: 'CreditsAnswer',
  description: 'What a site’s credits API answers to `GET {creditsApiUrl}/credits/{slug}`; 404 means that nobody is credited.',
});

/** Its JSON Schema (2020-12), which stands in docs/ as a file. */
export function creditsSchema(): object {
  const { $schema, ...schema } = z.toJSONSchema(CreditsAnswer);
  return { $schema, title: 'CreditsAnswer', ...schema };
}

/** The same as components of the API description. */
export function creditsComponents(): Record<string, ZodOpenApiSchemaObject> {
  const text = JSON.stringify(z.toJSONSchema(CreditsAnswer).$defs);
  return JSON.parse(text.replaceAll('#/$defs/', '#/components/schemas/')) as Record<string, ZodOpenApiSchemaObject>;
}
