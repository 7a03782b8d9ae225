import { z } from 'zod';
import { ServiceError } from '../../../modules/kernel/errors.ts';
import { readHeld } from '../../../modules/storefront/use/pages/held.ts';
import { MAX_LICENCE_CHARS, pageKind, pageUrl } from '../inputs.ts';
import { relayedResult } from '../read.ts';
import { dataResult, defineTool } from '../tool.ts';

/** read_held: a page again that was paid for before; never charges. */
export const readHeldTool = defineTool({
  name: 'read_held',
  title: 'Read a bought page again',
  description:
    'Reads a page again that this account bought, or that a licence in its hands covers. Without an account, hand in the licence. Never charges.',
  input: z.strictObject({ url: pageUrl, kind: pageKind, license: z.exactOptional(z.string().min(1).max(MAX_LICENCE_CHARS)) }),
  cost: 'heavy',
  run: async (call, { url, kind, license }) => {
    const { deps, who, address } = call;
    const account = who.kind === 'account' ? { accountId: who.account.accountId, address } : null;
    const by = license === undefined ? account : { licence: license, address };
    if (!by) throw new ServiceError('missing_credential', 'send the licence of the page, or call with the token of an account');
    const held = await readHeld(deps, { url, kind, by });
    if (!held.held) return dataResult({ url, kind, state: 'not_held' });
    const expires = held.expiresAtMs === null ? {} : { expiresAt: held.expiresAtMs };
    return relayedResult(call, { url, kind, state: 'held', license: held.license, ...expires }, held.relay);
  },
});
