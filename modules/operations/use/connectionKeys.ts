import { createHash } from 'node:crypto';

/** Room for `, proof` is left under the 100 of a key's name. */
const MOST_CHARS = 80;
const DIGEST_CHARS = 16;

/**
 * What the keys of a WordPress are called: of the site, and for the proof of its host. A long name ends in its digest: cut off alone, it would be the
 * name of another WordPress, too, whose keys would end with this one's.
 */
export function keyNames(whole: string): { readonly key: string; readonly proof: string } {
  const digest = createHash('sha256').update(whole).digest('hex').slice(0, DIGEST_CHARS);
  const key = whole.length <= MOST_CHARS ? whole : `${whole.slice(0, MOST_CHARS - DIGEST_CHARS - 1)} ${digest}`;
  return { key, proof: `${key}, proof` };
}
