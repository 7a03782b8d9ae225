/** The headers of every operation in the API description, in one place: what a client sends besides a body, and what it reads besides one. */
import { z } from 'zod';
import type { ZodOpenApiOperationObject, ZodOpenApiResponseObject } from 'zod-openapi';
import type { Route } from './route.ts';

/** A response header that several operations have; it stands among the components. */
const shown = (id: string, description: string) => z.string().meta({ description, header: { id } });
/** A response header that some answers of a status have. */
const mayShow = (description: string) => z.exactOptional(z.string()).meta({ description });
/** A request header; it stands among the components. */
const sent = (name: string, description: string) => ({
  [name]: z.exactOptional(z.string()).meta({ description, param: { id: name } }),
});

/** What makes a payment's repetition harmless; verify and purchases take it. */
export const IDEMPOTENCY_KEY = sent(
  'Idempotency-Key',
  'Identifies one payment of this caller, 1 to 255 printable characters; the same key never makes a second payment.',
);
/** What a payment travels in; without either a purchase answers its offer. */
export const PAYMENT = {
  ...sent('PAYMENT-SIGNATURE', 'The signed payment, x402 version 2: base64 of its JSON.'),
  ...sent('X-PAYMENT', 'The signed payment, x402 version 1: base64 of its JSON.'),
};
const SIGN_IN = sent(
  'SIGN-IN-WITH-X',
  'A signed sign-in message (CAIP-122) as base64, valid for one call; replaces a bearer token.',
);
const IF_NONE_MATCH = sent('If-None-Match', 'An ETag of an earlier answer: 304 when nothing has changed since.');

const SETTLED = 'How the payment was settled, x402 version 2: base64 of its JSON.';
const SETTLED_V1 = 'The same under the name of x402 version 1.';
const RESPONSE = shown('PAYMENT-RESPONSE', SETTLED);
const RESPONSE_V1 = shown('X-PAYMENT-RESPONSE', SETTLED_V1);
const ETAG = shown('ETag', 'Names these bytes; for If-None-Match.');
const WAIT = 'Whole seconds to wait before retrying.';
const RETRY_AFTER = shown('Retry-After', WAIT);
const ERROR_CODE = shown('X-SVC-Error-Code', 'The code that `error` begins with, out of a closed list.');
const OFFER = 'The offer, x402 version 2: base64 of its JSON. Absent if nothing has to be paid again.';

/** The operation of a route with the headers it takes and gives. */
export function withHeaders({ operation, access }: Route): ZodOpenApiOperationObject | undefined {
  if (!operation) return undefined;
  const isTagged = operation.responses['304'] !== undefined;
  const own = operation.requestParams?.header;
  const given = own instanceof z.ZodObject ? own.shape : {};
  const header = { ...given, ...(access === 'account' ? SIGN_IN : {}), ...(isTagged ? IF_NONE_MATCH : {}) };
  const pays = 'Idempotency-Key' in header;
  const responses = Object.entries(operation.responses).map(([status, response]) => {
    const headers = headersOf(status, { isTagged, pays });
    return [status, withResponseHeaders(response as ZodOpenApiResponseObject, headers)];
  });
  const params = { ...operation.requestParams, ...(Object.keys(header).length === 0 ? {} : { header: z.object(header) }) };
  return {
    ...operation,
    ...(Object.keys(params).length === 0 ? {} : { requestParams: params }),
    responses: Object.fromEntries(responses),
  };
}

type Headers = Readonly<Record<string, z.ZodType>>;

function headersOf(status: string, { isTagged, pays }: { readonly isTagged: boolean; readonly pays: boolean }): Headers {
  const settled = { 'PAYMENT-RESPONSE': RESPONSE, 'X-PAYMENT-RESPONSE': RESPONSE_V1 };
  const tried = { 'PAYMENT-RESPONSE': mayShow(SETTLED), 'X-PAYMENT-RESPONSE': mayShow(SETTLED_V1), 'Retry-After': mayShow(WAIT) };
  return {
    ...(isTagged && (status === '200' || status === '304') ? { ETag: ETAG } : {}),
    ...(pays && status === '200' ? settled : {}),
    ...(pays && status === '402' ? { ...tried, 'PAYMENT-REQUIRED': mayShow(OFFER) } : {}),
    ...(status === '429' || status === '503' ? { 'Retry-After': RETRY_AFTER } : {}),
    ...(status >= '400' ? { 'X-SVC-Error-Code': ERROR_CODE } : {}),
  };
}

function withResponseHeaders(response: ZodOpenApiResponseObject, headers: Headers): ZodOpenApiResponseObject {
  const { headers: own } = response;
  const all = { ...(own instanceof z.ZodObject ? own.shape : {}), ...headers };
  return Object.keys(all).length === 0 ? response : { ...response, headers: z.object(all) };
}
