import { createHash } from 'node:crypto';
import type { TenantSnapshot } from '../../identity/use/tenantSnapshots.ts';
import { ServiceError } from '../../kernel/errors.ts';
import type { DocumentName } from '../../kernel/pages/documents.ts';
import { findDocument } from '../../kernel/pages/documents.ts';
import type { PublisherDeps } from '../../quotes/use/deps.ts';
import type { DatedText } from './makers.ts';
import { MAKERS } from './makers.ts';
import { changedAtMs } from './manifest.ts';
import type { DocumentSite } from './site.ts';
import { findLiveSite } from './site.ts';

/** A document as it is sent; every caller gets the same bytes, made and hashed once. */
export interface ServedDocument extends MadeDocument {
  readonly contentType: string;
}

interface MadeDocument extends Pick<DatedText, 'changedAtMs'> {
  readonly bytes: Buffer;
  /** SHA-256 of the bytes, base64url. */
  readonly digest: string;
}

/** A document is made again after this long, though nothing of its site changed: prices may begin and end by the clock. */
const KEPT_MS = 30_000;

interface Kept {
  readonly made: Promise<MadeDocument | null>;
  readonly untilMs: number;
}
/** By host and name; kept with the copy of the tenant that they were made of. */
const kept = new WeakMap<TenantSnapshot, Map<string, Kept>>();

/**
 * A document of a host, from memory when it was made lately. Throws not_found (404), the same for a host nobody proved, a site that does not
 * sell now, and a document that it has not; and what making it throws.
 */
export async function readDocument(deps: PublisherDeps, host: string, name: string): Promise<ServedDocument> {
  const document = findDocument(name);
  const site = document && (await findLiveSite(deps, host));
  const made = document && site && (await textOf(deps, site, document.name));
  if (!made) throw new ServiceError('not_found', 'there is no such document');
  return { ...made, contentType: document.contentType };
}

function textOf(deps: PublisherDeps, site: DocumentSite, name: DocumentName): Promise<MadeDocument | null> {
  const ofTenant = kept.get(site.tenant) ?? new Map<string, Kept>();
  kept.set(site.tenant, ofTenant);
  const key = `${name} ${site.host}`;
  const known = ofTenant.get(key);
  const nowMs = deps.clock();
  if (known && nowMs < known.untilMs && known.untilMs - nowMs <= KEPT_MS) return known.made;
  const made = make(deps, site, name);
  ofTenant.set(key, { made, untilMs: Math.min(nowMs + KEPT_MS, site.pricing.nextChangeMs(nowMs) ?? Infinity) });
  made.catch(() => ofTenant.delete(key));
  return made;
}

/** A document with its date; one that tells prices alone is as old as they are. */
async function make(deps: PublisherDeps, site: DocumentSite, name: DocumentName): Promise<MadeDocument | null> {
  const made = await MAKERS[name](deps, site);
  if (made === null) return null;
  const dated = typeof made === 'string' ? { text: made, changedAtMs: changedAtMs(site, deps.clock()) } : made;
  const bytes = Buffer.from(dated.text);
  return { bytes, digest: createHash('sha256').update(bytes).digest('base64url'), changedAtMs: dated.changedAtMs };
}
