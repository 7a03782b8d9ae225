import { ServiceError } from '../../domain/errors.ts';

/** Room for exports: each holds a database connection for as long as its client reads. */
export interface ExportSlots {
  /** Takes a place for the key; returns what gives it back (again: nothing). Throws overloaded (503 with Retry-After). */
  take(keyId: string): () => void;
}

/** Places of one process: `most` at once, one a key (reference: performance §2.6). */
export function createExportSlots(most = 4): ExportSlots {
  const taken = new Set<string>();
  return {
    take: (keyId) => {
      if (taken.has(keyId) || taken.size >= most) {
        throw new ServiceError('overloaded', 'another export is on its way; ask again when it is done', { retryAfterSeconds: 2 });
      }
      taken.add(keyId);
      return () => taken.delete(keyId);
    },
  };
}
