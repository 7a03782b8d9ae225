import { ask } from '../../core/data.ts';
import { Problem } from '../../core/problem.ts';
import type { SiteSettings } from './documents.ts';
import { SETTINGS_DOCUMENT } from './documents.ts';

/** The settings as they are now. */
export async function settingsNow(): Promise<SiteSettings> {
  const { tenant } = await ask<{ tenant: SiteSettings | null }>(SETTINGS_DOCUMENT);
  if (tenant === null) throw new Problem('not_found', 'There is no such site any more.');
  return tenant;
}
