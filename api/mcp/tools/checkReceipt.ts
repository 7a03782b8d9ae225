import { z } from 'zod';
import { checkReceipt } from '../../../modules/receipts/use/check.ts';
import { MAX_LICENCE_CHARS } from '../inputs.ts';
import { dataResult, defineTool } from '../tool.ts';

/** check_receipt: what a receipt says, and whether one of our keys signed it. */
export const checkReceiptTool = defineTool({
  name: 'check_receipt',
  title: 'Check a receipt',
  description:
    'Whether a receipt (JWS) was signed by this service, and what it says: who paid for what, when, by which transaction.',
  input: z.strictObject({ jws: z.string().min(1).max(MAX_LICENCE_CHARS) }),
  cost: 'light',
  run: async ({ deps }, { jws }) => dataResult({ ...(await checkReceipt(deps, jws)) }),
});
