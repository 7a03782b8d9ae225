import { z } from 'zod';
import type { PlaceKey } from '../../modules/discovery/use/list.ts';
import { NO_CONTROLS } from './shared.ts';

const MAX_OFFSET = 100_000;
const text = z.string().max(200, 'is too long');
const count = (most: number, least: number) =>
  z
    .string()
    .regex(/^\d{1,6}$/, 'must be a number')
    .transform(Number)
    .pipe(z.int().min(least, `must be at least ${least}`).max(most, `must be at most ${most}`));

const filters = {
  type: z.exactOptional(text.meta({ description: 'Only `http` is sold.' })),
  scheme: z.exactOptional(text.meta({ description: 'Only `exact` is offered.' })),
  network: z.exactOptional(text.meta({ description: 'CAIP-2 id of an accepted network.' })),
  payTo: z.exactOptional(text.meta({ description: 'Recipient.' })),
  extensions: z.exactOptional(text.meta({ description: 'Name of an extension of the entry.' })),
};

/** Query of GET /discovery/resources. */
export const ResourcesQuery = z.object({
  ...filters,
  limit: z.exactOptional(count(100, 1).meta({ description: 'Places examined, 1 to 100; 20 by default.' })),
  offset: z.exactOptional(count(MAX_OFFSET, 0).meta({ description: 'Places skipped before them.' })),
});

/** Query of GET /discovery/search. */
export const SearchQuery = z.object({
  query: z
    .string('is needed')
    .min(1, 'is empty')
    .max(200, 'is too long')
    .regex(NO_CONTROLS, 'has a control character')
    .meta({ description: 'Words, or a host.' }),
  ...filters,
  limit: z.exactOptional(count(100, 1).meta({ description: 'At most this many entries, 1 to 100; 20 by default.' })),
  cursor: z.exactOptional(z.string().max(600, 'is too long').meta({ description: 'From the previous answer.' })),
});

/** An entry of the public list. */
const ListedResource = z
  .object({
    resource: z.string().meta({ description: 'URL; `:slug` stands for any article of the route.' }),
    type: z.literal('http'),
    x402Version: z.literal(2),
    accepts: z.array(z.looseObject({})),
    lastUpdated: z.iso.datetime(),
    description: z.string(),
    mimeType: z.string(),
    serviceName: z.exactOptional(z.string()),
    tags: z.array(z.string()),
    extensions: z.looseObject({}),
  })
  .meta({ id: 'ListedResource', description: 'What a site sells. Prices are advice: the 402 of a page decides.' });

/** Body of GET /discovery/resources. */
export const ResourcesBody = z.object({
  x402Version: z.literal(2),
  items: z.array(ListedResource),
  pagination: z.object({ limit: z.int(), offset: z.int(), total: z.int() }),
});

/** Body of GET /discovery/search. */
export const SearchBody = z.object({
  x402Version: z.literal(2),
  resources: z.array(ListedResource),
  partialResults: z.boolean(),
  pagination: z.object({ limit: z.int(), cursor: z.string().nullable() }),
});

const Cursor = z.tuple([z.int().positive(), z.string().max(253), z.int().positive()]);

/** A place of the list as a cursor. */
export function writeCursor({ position, host, place }: PlaceKey): string {
  return Buffer.from(JSON.stringify([position, host, place])).toString('base64url');
}

/** The place that a cursor means; null for what is none. */
export function readCursor(cursor: string): PlaceKey | null {
  try {
    const [position, host, place] = Cursor.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')));
    return /^[a-z0-9.-]*$/.test(host) ? { position, host, place } : null;
  } catch {
    return null;
  }
}
