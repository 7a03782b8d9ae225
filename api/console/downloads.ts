/** Files of a site for its owner: those of the REST exports, to the byte; the CSV after a byte order mark, since a spreadsheet opens it. */

import { ownerKey } from '../../modules/identity/use/owners/authenticate.ts';
import { ownedTenant } from '../../modules/identity/use/owners/ownedTenant.ts';
import type { Plan } from '../../modules/kernel/access/key.ts';
import { COSTS } from '../../modules/kernel/rate.ts';
import { describeTenant } from '../../modules/tenants/use/self.ts';
import { goneOf } from '../../platform/pacing/disconnected.ts';
import { pathOf, sendAnswer } from '../handler.ts';
import { readQuery, searchOf } from '../query.ts';
import { answerCsv, exportCsvRoute } from '../routes/reports/exportCsv.ts';
import { answerPdf, exportPdfRoute } from '../routes/reports/exportPdf.ts';
import { answerZip, exportZipRoute } from '../routes/reports/exportZip.ts';
import type { ConsoleCall } from './call.ts';
import { letSessionIn, missing } from './call.ts';
import { requireOwnReading } from './ownPage.ts';

const FILES = {
  'earnings.csv': { route: exportCsvRoute, answer: answerCsv },
  'statement.pdf': { route: exportPdfRoute, answer: answerPdf },
  'statements.zip': { route: exportZipRoute, answer: answerZip },
} as const;

/**
 * GET download/<file>: an attachment. `tenantId` names the site, the other parameters are those of the REST export. Counts as an export does,
 * for its owner, who has one on its way at a time; places are those of REST. Throws what the export throws.
 */
export async function answerDownload(call: ConsoleCall): Promise<void> {
  const { deps, request, response } = call;
  requireOwnReading(request);
  const name = pathOf(request).split('/').at(-1) ?? '';
  if (!Object.hasOwn(FILES, name)) return missing('the console has no such file');
  const { route, answer } = FILES[name as keyof typeof FILES];
  const cost = COSTS[route.cost ?? 'file'];
  const { owner } = await letSessionIn(call, cost);
  deps.rates.count([['key', ownerKey(owner)]], cost); // whatever session he comes with
  const { tenantId: named, search } = splitSite(searchOf(request));
  const params = readQuery(search, route);
  const { id: tenantId, hosts, plan } = await describeTenant(deps, ownedTenant(owner, named));
  const site = { tenantId, hosts, plan: plan as Plan | null, keyId: ownerKey(owner) };
  await sendAnswer(request, response, await answer(deps, site, params, { gone: goneOf(request), hasMark: true }));
}

/** The site that a download is of, and the parameters of the export. */
function splitSite(search: string): { readonly tenantId: string | undefined; readonly search: string } {
  const params = new URLSearchParams(search);
  const tenantId = params.get('tenantId') ?? undefined;
  params.delete('tenantId');
  return { tenantId, search: params.toString() };
}
