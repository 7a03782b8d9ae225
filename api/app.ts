import type { Express } from 'express';
import express from 'express';
import { ServiceError } from '../domain/errors.ts';
import { openObserver } from '../services/observe.ts';
import { openDoor, pathOf, send, sendError, stampResponse } from './door.ts';
import { openApiRoute } from './openapi.ts';
import type { ApiDeps, HandlerDeps, Route } from './route.ts';
import { healthRoute, readyRoute } from './routes/health.ts';
import { jwksRoute } from './routes/jwks.ts';
import { licenseCheckRoute } from './routes/licenseCheck.ts';
import { observeRoute } from './routes/observe.ts';
import { quoteRoute } from './routes/quote.ts';
import { verifyRoute } from './routes/verify.ts';

/** Every endpoint; the quote first, since most calls are quotes. */
const DESCRIBED: readonly Route[] = [quoteRoute, observeRoute, verifyRoute, licenseCheckRoute, jwksRoute];

/**
 * The REST door as an Express app that listens nowhere yet. Answers 404 for an unknown path and 405 with `Allow` for a wrong
 * method; every error goes through one map from kind to status. Two apps of the same deps are independent.
 */
export function createApi(deps: ApiDeps): Express {
  const handlerDeps: HandlerDeps = { ...deps, observer: openObserver(deps) };
  const routes = [...DESCRIBED, openApiRoute(DESCRIBED), healthRoute, readyRoute];
  const app = express();
  app
    .disable('x-powered-by')
    .disable('etag')
    .set('query parser', false)
    .enable('case sensitive routing')
    .enable('strict routing');
  app.use((request, response, next) => {
    stampResponse(request, response);
    next();
  });
  const byPath = Map.groupBy(routes, ({ path }) => path);
  for (const [path, atPath] of byPath) {
    const place = app.route(path);
    for (const route of atPath) place[route.method](openDoor(route, handlerDeps));
    place.all(refuseMethod(atPath));
  }
  app.use((request, response) => {
    sendError(
      deps,
      request,
      response,
      new ServiceError('not_found', 'there is nothing at this path'),
      shapeOf(routes, pathOf(request)),
    );
  });
  app.use((error: unknown, request: express.Request, response: express.Response, _next: express.NextFunction) => {
    const isClient = (error as { status?: unknown }).status === 400;
    const known = isClient ? new ServiceError('invalid_parameter', 'the path cannot be read') : error;
    sendError(deps, request, response, known, shapeOf(routes, pathOf(request)));
  });
  return app;
}

function refuseMethod(routes: readonly Route[]) {
  const methods = routes.flatMap(({ method }) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]));
  const shape = routes[0]?.errorShape ?? 'plain';
  const error = 'method_not_allowed: this path does not take this method';
  return (request: express.Request, response: express.Response): void => {
    const headers = { allow: methods.join(', '), 'x-svc-error-code': 'method_not_allowed', 'cache-control': 'no-store' };
    send(request, response, { status: 405, headers, body: shape === 'ok' ? { ok: false, error } : { error } });
  };
}

function shapeOf(routes: readonly Route[], path: string) {
  return routes.find((route) => route.path === path)?.errorShape ?? 'plain';
}
