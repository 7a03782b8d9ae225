import { manifestOf } from '../../domain/discovery/manifest.ts';
import type { DocumentMaker } from './makers.ts';

/** The manifest of a host: what its pages cost, by their routes. */
export const makeManifest: DocumentMaker = (_deps, { tenant, host, pricing }) => {
  const present = tenant.pricings.find(({ validUntilMs }) => validUntilMs === null);
  return JSON.stringify(manifestOf({ host, pricing, lastUpdatedMs: present?.validFromMs ?? 0 }));
};
