import type { Check } from '../finding.ts';
import { ok, problem, unknown, warning } from '../finding.ts';
import type { Reply } from '../visitor.ts';
import { noPage } from './offer.ts';

interface Facts {
  readonly page: string | null;
  readonly reply: Reply | null;
}

/** HEAD asks what there is. Nobody should be asked to pay for that. */
export const headCheck: Check<Facts> = {
  id: 'head',
  probe: async (world) => {
    const page = await world.page();
    return { page, reply: page === null ? null : await world.visit(page, { as: 'agent', method: 'HEAD' }) };
  },
  judge: ({ page, reply }) => {
    if (page === null || reply === null) return [noPage()];
    if (!reply.came) return [unknown('HEAD could not be tried.', 'Run this again when the site answers.')];
    if (reply.status >= 500) return [problem(`HEAD ${page} answers ${reply.status}.`, 'Look into the log of your app.')];
    if (reply.headers['payment-response'] !== undefined) return [problem('HEAD is charged.', 'Let the package answer HEAD.')];
    if (reply.status === 405) return [warning('HEAD is refused.', 'Answer HEAD as GET, without the body.')];
    return [ok(`HEAD is answered (${reply.status}) and costs nothing.`)];
  },
};
