import { ServiceError } from '../../domain/errors.ts';

/** Room for exports: each holds a database connection for as long as its client reads. */
export interface ExportSlots {
  /**
   * Takes a place for the key of a site; returns what gives it back (again: nothing). Throws throttled (429) while an export of the
   * key is on its way or its site has the places it may have, and overloaded (503) when this process has no room for anybody. `isDrawn`:
   * a document, which takes a thread; of those a site has one at a time.
   */
  take(asker: { readonly keyId: string; readonly tenantId: string }, how?: { readonly isDrawn: boolean }): () => void;
}

/** Places of one process: `most` at once, one a key, half of them a site, so that no site holds all. */
export function createExportSlots(most = 4): ExportSlots {
  const mostOfSite = Math.max(1, Math.floor(most / 2));
  /** By the keys that export. */
  const taken = new Map<string, { readonly tenantId: string; readonly isDrawn: boolean }>();
  return {
    take: ({ keyId, tenantId }, { isDrawn } = { isDrawn: false }) => {
      const ofSite = [...taken.values()].filter((one) => one.tenantId === tenantId);
      const isDrawing = isDrawn && ofSite.some((one) => one.isDrawn);
      if (taken.has(keyId) || isDrawing || ofSite.length >= mostOfSite) {
        throw new ServiceError('throttled', 'another export is running; try again when it has finished', {
          retryAfterSeconds: 2,
        });
      }
      if (taken.size >= most) {
        throw new ServiceError('overloaded', 'too many exports are running; try again in a moment', {
          retryAfterSeconds: 2,
        });
      }
      taken.set(keyId, { tenantId, isDrawn });
      let isBack = false;
      return () => {
        if (!isBack) taken.delete(keyId);
        isBack = true;
      };
    },
  };
}
