import { ServiceError } from '../../domain/errors.ts';

/** Whose key takes a file. */
export interface Exporter {
  readonly keyId: string;
  readonly tenantId: string;
}

/** Room for exports: each that has begun holds a database connection for as long as its client reads. */
export interface ExportSlots {
  /**
   * Notes an export of a key of a site, which may then wait for its turn. Throws throttled (429) while another of the key is on its way, or its
   * site has as many as it may have, waiting or begun; and overloaded (503) when this process has no room for anybody.
   */
  take(asker: Exporter): ExportSlot;
}

/** An export on its way. */
export interface ExportSlot {
  /** Takes a place of the process, now that nothing is waited for any more. Throws overloaded (503) when there is none. Again: nothing. */
  begin(): void;
  /** Gives back what it holds. Again: nothing. */
  giveBack(): void;
}

/** Places of one process: `most` have begun at once. One a key and half of them a site are on their way, so that no site holds all. */
export function createExportSlots(most = 4): ExportSlots {
  const mostOfSite = Math.max(1, Math.floor(most / 2));
  /** The sites of the keys whose export is on its way, by key; and the keys of those that have begun. */
  const onTheirWay = new Map<string, string>();
  const begun = new Set<string>();
  const requireRoom = (): void => {
    if (begun.size < most) return;
    throw new ServiceError('overloaded', 'too many exports are running; try again in a moment', { retryAfterSeconds: 2 });
  };
  return {
    take: ({ keyId, tenantId }) => {
      const ofSite = [...onTheirWay.values()].filter((one) => one === tenantId);
      if (onTheirWay.has(keyId) || ofSite.length >= mostOfSite) {
        throw new ServiceError('throttled', 'another export is running; try again when it has finished', {
          retryAfterSeconds: 2,
        });
      }
      requireRoom();
      onTheirWay.set(keyId, tenantId);
      let isBack = false;
      return {
        begin: () => {
          if (isBack || begun.has(keyId)) return;
          requireRoom();
          begun.add(keyId);
        },
        giveBack: () => {
          if (isBack) return;
          isBack = true;
          onTheirWay.delete(keyId);
          begun.delete(keyId);
        },
      };
    },
  };
}
