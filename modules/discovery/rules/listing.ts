/** Entries of the public list, and which of them somebody asked for. */
import { ServiceError } from '../../kernel/errors.ts';

/** Most characters of what a site says of itself, most tags, and most characters of each, as catalogues of x402 take them. */
const MAX_SUMMARY_CHARS = 300;
export const MAX_TAGS = 5;
const MAX_TAG_CHARS = 32;

/** An entry as catalogues read it. */
export interface ListedResource {
  readonly resource: string;
  readonly type: 'http';
  readonly x402Version: 2;
  readonly accepts: readonly object[];
  /** ISO 8601. */
  readonly lastUpdated: string;
  readonly description: string;
  readonly mimeType: string;
  readonly serviceName?: string;
  readonly tags: readonly string[];
  readonly extensions: Readonly<Record<string, unknown>>;
}

/** Which entries; everything given must hold. */
export interface ListedFilter {
  readonly type?: string;
  readonly scheme?: string;
  readonly network?: string;
  readonly payTo?: string;
  /** The name of an extension. */
  readonly extensions?: string;
}

/** True for an entry that was asked for. */
export function isAskedFor(entry: ListedResource, { type, scheme, network, payTo, extensions }: ListedFilter): boolean {
  if (type !== undefined && type !== entry.type) return false;
  if (extensions !== undefined && !Object.hasOwn(entry.extensions, extensions)) return false;
  const accepts = entry.accepts as readonly Readonly<Record<string, unknown>>[];
  return accepts.some(
    (one) =>
      (scheme === undefined || one['scheme'] === scheme) &&
      (network === undefined || one['network'] === network) &&
      (payTo === undefined || String(one['payTo']).toLowerCase() === payTo.toLowerCase()),
  );
}

/** Refuses what catalogues would drop: invalid_parameter with the place. */
export function validateListing({ summary, tags }: { readonly summary: string; readonly tags: readonly string[] }): void {
  if (summary.trim() === '' || summary.length > MAX_SUMMARY_CHARS) {
    refuse('summary', `is 1 to ${MAX_SUMMARY_CHARS} characters that describe the site`);
  }
  if (tags.length > MAX_TAGS) refuse('tags', `has more than ${MAX_TAGS} entries`);
  if (new Set(tags).size !== tags.length) refuse('tags', 'must not repeat a tag');
  for (const tag of tags) {
    if (tag.length > MAX_TAG_CHARS || !/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(tag)) {
      refuse('tags', `each is 1 to ${MAX_TAG_CHARS} printable ASCII characters`);
    }
  }
}

function refuse(parameter: string, sentence: string): never {
  throw new ServiceError('invalid_parameter', `${parameter}: ${sentence}`, { parameter });
}
