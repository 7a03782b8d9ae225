import type { z } from 'zod';
import type { ZodOpenApiResponsesObject } from 'zod-openapi';
import { ErrorBody, PlanGateError } from '../schemas/shared.ts';

type Schema = z.ZodType;

/** One response of the API description with a JSON body. */
export function jsonResponse(description: string, schema: Schema) {
  return { description, content: { 'application/json': { schema } } };
}

/** The header by which a gate knows that its copy of the settings is older. */
export function siteVersion({ version }: { readonly version: number }) {
  return { 'x-svc-site-version': String(version) };
}

/** The error responses of a key route; `schema` where a route has an error shape of its own. */
export function keyErrors(schema?: Schema): ZodOpenApiResponsesObject {
  const error = schema ?? ErrorBody;
  return {
    '400': jsonResponse('Malformed request', error),
    '401': jsonResponse('Missing or unrecognised key', error),
    '403': jsonResponse('Not allowed; with `upgrade` when the plan lacks API access', schema ?? ErrorBody.or(PlanGateError)),
    '503': jsonResponse('Not possible now; see Retry-After', error),
  };
}
