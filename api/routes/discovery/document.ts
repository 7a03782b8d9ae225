import { z } from 'zod';
import { readDocument } from '../../../modules/discovery/use/documents.ts';
import { DOCUMENTS, shownAs } from '../../../modules/kernel/pages/documents.ts';
import { answerOfTag } from '../../etag.ts';
import type { PublicRoute } from '../../route.ts';
import { ErrorBody } from '../../schemas/shared.ts';
import { jsonResponse } from '../responses.ts';

const CACHE = 'public, max-age=60, stale-if-error=86400';

/** GET /_svc/discovery/{host}/{document}: a document about a host that sells through us. One 404 for whatever there is not. */
export const discoveryDocumentRoute: PublicRoute = {
  method: 'get',
  path: '/_svc/discovery/:host/:document',
  access: 'public',
  isForPages: true,
  operation: {
    operationId: 'getSiteDocument',
    tags: ['Discovery'],
    summary: 'A public document of a site',
    description: 'The same bytes as at the address of the site itself, where its gate serves them. Has an `ETag`.',
    security: [],
    requestParams: {
      path: z.object({ host: z.string(), document: z.enum(Object.keys(DOCUMENTS)) }),
    },
    responses: {
      '200': { description: 'The document, in its own media type' },
      '304': { description: 'The same as the `If-None-Match` of the request names' },
      '404': jsonResponse('No such host, site or document', ErrorBody),
      '503': jsonResponse('Not possible now; see Retry-After', ErrorBody),
    },
  },
  handle: async ({ deps, params, header }) => {
    const document = await readDocument(deps, params['host'] ?? '', params['document'] ?? '');
    const { bytes: body, digest, contentType, changedAtMs } = document;
    const answer = answerOfTag(header, { etag: `"${digest}"`, body }, CACHE);
    const headers = {
      ...answer.headers,
      ...(answer.status === 200 ? { 'content-type': shownAs(contentType, header('accept')) } : {}),
      vary: 'Accept',
      'last-modified': new Date(changedAtMs).toUTCString(),
    };
    return { ...answer, headers };
  },
};
