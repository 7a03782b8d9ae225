import type { IncomingMessage, RequestListener } from 'node:http';
import express from 'express';
import { openObserver } from '../modules/gate/use/observe.ts';
import { ServiceError } from '../modules/kernel/errors.ts';
import { createExportSlots } from '../platform/pacing/exportSlots.ts';
import { openHeavyWork } from '../platform/pacing/heavy.ts';
import { createAddressReader } from './address.ts';
import { answerPreflight, showToPages } from './cors.ts';
import { methodAnswer } from './errors.ts';
import { answerUnrouted, createHandler, pathOf, send, wantsProblem } from './handler.ts';
import { mcpRoute } from './mcp/route.ts';
import { olpIntrospectRoute } from './olp/introspect.ts';
import { olpKeyRoute } from './olp/key.ts';
import { olpTokenRoute } from './olp/token.ts';
import { describeApi, openApiRoute } from './openapi.ts';
import { bodiesRoute } from './receipts/bodies.ts';
import { didRoute } from './receipts/did.ts';
import { heldRoute } from './receipts/held.ts';
import { recordRoute } from './receipts/record.ts';
import type { ApiDeps, ErrorShape, HandlerDeps, Route } from './route.ts';
import type { Handler } from './router.ts';
import { createRouter } from './router.ts';
import { challengeRoute, signInRoute } from './routes/accounts/accounts.ts';
import { listAlertsRoute, setAlertsRoute } from './routes/accounts/alerts.ts';
import { decideApprovalRoute, listApprovalsRoute } from './routes/accounts/approvals.ts';
import { readBudgetRoute, setBudgetRoute } from './routes/accounts/budget.ts';
import { listAgentKeysRoute, mintAgentKeyRoute, revokeAgentKeyRoute } from './routes/accounts/keys.ts';
import { accountNoticesRoute } from './routes/accounts/notices.ts';
import { mcpResourceRoute, oauthMetadataRoute, oauthTokenRoute } from './routes/accounts/oauth.ts';
import { registerClientRoute } from './routes/accounts/register.ts';
import { spendingCsvRoute, spendingRoute } from './routes/accounts/spending.ts';
import { serviceCatalogRoute } from './routes/discovery/catalog.ts';
import { discoveryDocumentRoute } from './routes/discovery/document.ts';
import { listResourcesRoute, searchResourcesRoute } from './routes/discovery/list.ts';
import { agentsVerifyRoute } from './routes/gate/agentsVerify.ts';
import { enforceConfigRoute } from './routes/gate/enforceConfig.ts';
import { enforceStatusRoute } from './routes/gate/enforceStatus.ts';
import { observeRoute } from './routes/gate/observe.ts';
import { quoteRoute } from './routes/gate/quote.ts';
import { quotesRoute } from './routes/gate/quotes.ts';
import { verifyRoute } from './routes/gate/verify.ts';
import { healthRoute, readyRoute, rememberChecks, rememberReadiness } from './routes/health.ts';
import { jwksRoute } from './routes/jwks.ts';
import { licencesAccessRoute } from './routes/licences/access.ts';
import { licencesBuyRoute } from './routes/licences/buy.ts';
import { licenseCheckRoute } from './routes/licences/check.ts';
import { licencesHeldRoute } from './routes/licences/held.ts';
import { licencesLegsRoute } from './routes/licences/legs.ts';
import { licenseProofRoute } from './routes/licences/proof.ts';
import { licencesQuoteRoute } from './routes/licences/quote.ts';
import { usageRoute } from './routes/licences/usage.ts';
import { auditRoute } from './routes/reports/audit.ts';
import { earningsRoute } from './routes/reports/earnings.ts';
import { exportCsvRoute } from './routes/reports/exportCsv.ts';
import { exportPdfRoute } from './routes/reports/exportPdf.ts';
import { exportZipRoute } from './routes/reports/exportZip.ts';
import { reconciliationRoute } from './routes/reports/reconciliation.ts';
import { statementLinkRoute, statementPageRoute } from './routes/reports/statementLink.ts';
import { statementsRoute } from './routes/reports/statements.ts';
import { membersRoute } from './routes/tenant/members.ts';
import { acceptInvitationRoute, invitationPageRoute } from './routes/tenant/membersAccept.ts';
import { tenantsSelfRoute } from './routes/tenant/tenantsSelf.ts';
import { listHostsRoute, openHostRoute } from './routes/tenant/verifyHost.ts';
import { checkHostRoute } from './routes/tenant/verifyHostCheck.ts';

/** Exports of buyer accounts at once. */
const ACCOUNT_EXPORTS = 16;

/** Every endpoint; the quote first, since most calls are quotes. */
export const DESCRIBED: readonly Route[] = [
  quoteRoute,
  quotesRoute,
  observeRoute,
  verifyRoute,
  licenseCheckRoute,
  licenseProofRoute,
  agentsVerifyRoute,
  licencesQuoteRoute,
  licencesBuyRoute,
  licencesHeldRoute,
  licencesAccessRoute,
  licencesLegsRoute,
  usageRoute,
  challengeRoute,
  signInRoute,
  accountNoticesRoute,
  readBudgetRoute,
  setBudgetRoute,
  listApprovalsRoute,
  decideApprovalRoute,
  listAgentKeysRoute,
  mintAgentKeyRoute,
  revokeAgentKeyRoute,
  spendingRoute,
  spendingCsvRoute,
  listAlertsRoute,
  setAlertsRoute,
  oauthTokenRoute,
  registerClientRoute,
  oauthMetadataRoute,
  mcpResourceRoute,
  enforceConfigRoute,
  enforceStatusRoute,
  tenantsSelfRoute,
  membersRoute,
  acceptInvitationRoute,
  reconciliationRoute,
  earningsRoute,
  statementsRoute,
  exportCsvRoute,
  exportPdfRoute,
  exportZipRoute,
  statementLinkRoute,
  auditRoute,
  openHostRoute,
  listHostsRoute,
  checkHostRoute,
  jwksRoute,
  discoveryDocumentRoute,
  serviceCatalogRoute,
  listResourcesRoute,
  searchResourcesRoute,
  olpTokenRoute,
  olpIntrospectRoute,
  olpKeyRoute,
  didRoute,
  recordRoute,
  bodiesRoute,
  heldRoute,
];

/** The paths of all routes, as they are written. */
export const ROUTE_PATHS: readonly string[] = [
  ...DESCRIBED,
  openApiRoute(DESCRIBED),
  invitationPageRoute,
  statementPageRoute,
  mcpRoute,
  healthRoute,
  readyRoute,
].map(({ path }) => path);

/** The API description of every endpoint, as it is served and as it is committed (`openapi.json`). */
export function describeService(baseUrl: string): object {
  return describeApi([...DESCRIBED, openApiRoute(DESCRIBED)], baseUrl);
}

/**
 * The REST API, listening nowhere yet: an Express app behind a router that takes calls of plain paths past it (`withRouter`, true
 * unless told). Answers 404 for an unknown path and 405 with `Allow` for a wrong method; every error goes through one map from
 * kind to status. Two APIs of the same deps are independent.
 */
export function createApi(deps: ApiDeps, { withRouter = true } = {}): RequestListener {
  const handlerDeps: HandlerDeps = {
    ...deps,
    observer: openObserver(deps),
    heavy: deps.heavy ?? openHeavyWork({ connections: { reports: deps.reports.database.pool.options.max, questions: 1 } }),
    accountExports: createExportSlots(ACCOUNT_EXPORTS),
    addressOf: deps.addressOf ?? createAddressReader([]),
    readiness: rememberReadiness(deps.readiness),
    networkChecks: rememberChecks(deps.networkChecks ?? {}),
  };
  const routes = [
    ...DESCRIBED,
    openApiRoute(DESCRIBED),
    invitationPageRoute,
    statementPageRoute,
    mcpRoute,
    healthRoute,
    readyRoute,
  ];
  const app = express();
  app
    .disable('x-powered-by')
    .disable('etag')
    .set('query parser', false)
    .enable('case sensitive routing')
    .enable('strict routing');
  const routed = routes.map((route) => {
    const handler = createHandler(route, handlerDeps);
    return { ...route, handler: route.isForPages ? showToPages(handler) : handler };
  });
  const byPath = Map.groupBy(routed, ({ path }) => path);
  // A path with a parameter would answer for one that is written out, with methods that are not its own.
  for (const [path, atPath] of [...byPath].sort(([a], [b]) => Number(a.includes(':')) - Number(b.includes(':')))) {
    const expressRoute = app.route(path);
    const unrouted = (handler: Handler): Handler => answerUnrouted(handlerDeps, () => atPath[0]?.errorShape ?? 'plain', handler);
    for (const { method, handler } of atPath) expressRoute[method](handler);
    if (atPath.some(({ isForPages }) => isForPages)) expressRoute.options(unrouted(answerPreflight(methodsAt(atPath))));
    expressRoute.all(unrouted(refuseMethod(atPath)));
  }
  const shapeAt = (request: IncomingMessage): ErrorShape => shapeOf(routes, pathOf(request));
  app.use(
    answerUnrouted(handlerDeps, shapeAt, () => {
      throw new ServiceError('not_found', 'there is nothing at this path');
    }),
  );
  app.use((error: unknown, request: express.Request, response: express.Response, _next: express.NextFunction) => {
    const isClient = (error as { status?: unknown }).status === 400;
    const refuse = (): never => {
      throw isClient ? new ServiceError('invalid_parameter', 'the path cannot be read') : error;
    };
    void answerUnrouted(handlerDeps, shapeAt, refuse)(request, response);
  });
  return withRouter ? createRouter(routed, app) : app;
}

function methodsAt(routes: readonly Route[]): readonly string[] {
  return routes.flatMap(({ method }) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]));
}

function refuseMethod(routes: readonly Route[]): Handler {
  const allowed = [...methodsAt(routes), ...(routes.some(({ isForPages }) => isForPages) ? ['OPTIONS'] : [])];
  const shape = routes[0]?.errorShape ?? 'plain';
  return (request, response) => send(request, response, methodAnswer(allowed, shape, wantsProblem(request)));
}

function shapeOf(routes: readonly Route[], path: string) {
  return routes.find((route) => route.path === path)?.errorShape ?? 'plain';
}
