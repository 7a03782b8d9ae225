import { z } from 'zod';
import { listHeldLicences } from '../../../modules/licences/use/held.ts';
import { dataResult, defineTool } from '../tool.ts';
import { accountOf } from '../who.ts';

const MOST = 100;

/** list_licences: the licences over pages that the account holds, newest first; which pages each granted is told by their number. */
export const listLicencesTool = defineTool({
  name: 'list_licences',
  title: 'Licences of the account',
  description:
    'The licences over many pages that this account bought, newest first. Pages bought one by one are read again with read_held.',
  input: z.strictObject({}),
  cost: 'light',
  run: async ({ deps, who }) => {
    const held = await listHeldLicences(deps, accountOf(who));
    const licences = held.slice(0, MOST).map(({ grantedPatterns: _pages, legs: _legs, ...licence }) => licence);
    return dataResult({ licences, ...(held.length > MOST ? { truncated: true } : {}) });
  },
});
