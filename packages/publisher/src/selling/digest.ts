/** The digest of a page as its reader holds it: of the bytes without their content coding, whichever coding they travel in. */
import { decodedPage } from './decoded.ts';

/** What is told of a page; `field` is the value of `Unencoded-Digest` (draft-ietf-httpbis-unencoded-digest, beside RFC 9530). */
export interface PageDigest {
  /** In lower-case hex. */
  readonly sha256: string;
  readonly bytes: number;
  readonly field: string;
}

/** The digest of a whole page; null for an empty one, and where its coding cannot be undone here. Never rejects. */
export async function digestOf(chunks: readonly Uint8Array[], encoding?: string): Promise<PageDigest | null> {
  try {
    const decoded = await decodedPage([...chunks], encoding);
    const page = decoded && joined(decoded);
    if (!page?.length) return null;
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', page));
    const sha256 = [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
    return { sha256, bytes: page.length, field: `sha-256=:${btoa(String.fromCharCode(...digest))}:` };
  } catch {
    return null;
  }
}

function joined(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const page = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    page.set(chunk, at);
    at += chunk.length;
  }
  return page;
}
