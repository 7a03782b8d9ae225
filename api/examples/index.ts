import type { ZodOpenApiOperationObject } from 'zod-openapi';
import { discoveryExamples } from './discovery.ts';
import { enforceExamples } from './enforce.ts';
import { licenceExamples } from './licences.ts';
import { receiptExamples } from './receipts.ts';
import { reportExamples } from './reports.ts';
import type { OperationExamples } from './shape.ts';
import { spendingExamples } from './spending.ts';

/** Examples by operationId; `test/unit/openapi-examples.test.ts` holds each against the schema it illustrates. */
export const EXAMPLES: Readonly<Record<string, OperationExamples>> = {
  ...enforceExamples,
  ...licenceExamples,
  ...receiptExamples,
  ...reportExamples,
  ...discoveryExamples,
  ...spendingExamples,
};

/** What one answer is good for in a next call (OpenAPI links), by operationId. */
const LINKS: Readonly<Record<string, Readonly<Record<string, object>>>> = {
  openHostChallenge: { check: { operationId: 'checkHost', requestBody: { host: '$request.body#/host' } } },
  listHeldLicences: { open: { operationId: 'openLicenceAccess', parameters: { jti: '$response.body#/licences/0/jti' } } },
  getEarnings: { nextPage: { operationId: 'getEarnings', parameters: { cursor: '$response.body#/nextCursor' } } },
  searchResources: { nextPage: { operationId: 'searchResources', parameters: { cursor: '$response.body#/pagination/cursor' } } },
  getAudit: { nextPage: { operationId: 'getAudit', parameters: { cursor: '$response.body#/nextCursor' } } },
};

/** The operation with its examples and links in place: those of its body, its 2xx answer and its parameters. */
export function illustrate(operation: ZodOpenApiOperationObject): ZodOpenApiOperationObject {
  const { request, response } = EXAMPLES[operation.operationId ?? ''] ?? {};
  const links = LINKS[operation.operationId ?? ''];
  const responses = Object.entries(operation.responses).map(([status, answer]) => {
    if (!status.startsWith('2') || !answer || !('description' in answer)) return [status, answer];
    return [status, { ...answer, ...withExample(answer.content, response), ...(links ? { links } : {}) }];
  });
  const { requestBody } = operation;
  const body = requestBody ? { requestBody: { ...requestBody, ...withExample(requestBody.content, request) } } : {};
  return { ...operation, ...body, responses: Object.fromEntries(responses) };
}

type Content = Readonly<Record<string, object | undefined>> | undefined;

function withExample(content: Content, example: unknown): object {
  const json = content?.['application/json'];
  return json === undefined || example === undefined ? {} : { content: { ...content, 'application/json': { ...json, example } } };
}

/** Puts the examples of parameters into a finished description. */
export function illustrateParameters(operation: { operationId?: string; parameters?: unknown }): void {
  const values = EXAMPLES[operation.operationId ?? '']?.parameters ?? {};
  for (const parameter of (operation.parameters ?? []) as { name?: string; example?: string }[]) {
    const value = values[parameter.name ?? ''];
    if (value !== undefined) parameter.example = value;
  }
}
