/** Connecting a WordPress: the owner says yes in the console; the plugin's server exchanges the code and finishes. */
import { z } from 'zod';
import { readBearer } from '../../modules/kernel/access/bearer.ts';
import { ServiceError } from '../../modules/kernel/errors.ts';
import { COSTS } from '../../modules/kernel/rate.ts';
import { authorizeConnection, finishConnection, redeemCode } from '../../modules/operations/use/connectSite.ts';
import { readJsonBody } from '../body.ts';
import { send } from '../handler.ts';
import { parseWith } from '../schemas/parse.ts';
import type { ConsoleCall } from './call.ts';
import { letChangeIn } from './call.ts';

/** Most bytes of a body. */
const BODY_BYTES = 8_192;
/** Most letters of a code or a grant. */
const MOST_CHARS = 4_096;

const ASKED = z.object({
  tenantId: z.string().max(64),
  host: z.string().max(253),
  redirectUri: z.string().max(512),
  creditsUrl: z.string().max(512),
  state: z.string().max(128),
  codeChallenge: z.string().max(64),
  codeChallengeMethod: z.string().max(16),
});
const EXCHANGE = z.object({
  grant_type: z.literal('authorization_code'),
  code: z.string().min(1).max(MOST_CHARS),
  code_verifier: z.string().regex(/^[\w.~-]{43,128}$/),
});
const FINISH = z.object({ creditsToken: z.string().min(16).max(1_024) });

/** POST connect/authorize: a page of ours, signed in, grants what a WordPress asked for; the address that leads back to it. */
export async function answerAuthorize(call: ConsoleCall): Promise<void> {
  const { deps, request, response } = call;
  const { owner } = await letChangeIn(call, COSTS.heavy);
  const { tenantId, ...asked } = parseWith(ASKED, await readJsonBody(request, BODY_BYTES));
  send(request, response, {
    status: 200,
    body: await authorizeConnection(deps, owner, { tenantId, asked, issuer: deps.baseUrl }),
  });
}

/** POST connect/token: the plugin's server shows its code and the verifier; what it may finish with, and what its administrator confirms. */
export async function answerExchange(call: ConsoleCall): Promise<void> {
  const { deps, request, response } = call;
  countStranger(call);
  const { code, code_verifier: verifier } = parseWith(EXCHANGE, await readJsonBody(request, BODY_BYTES));
  const { grant, expiresInSeconds, account, site, host } = await redeemCode(deps, code, verifier);
  send(request, response, {
    status: 200,
    headers: { pragma: 'no-cache' },
    body: {
      access_token: grant,
      token_type: 'Bearer',
      expires_in: expiresInSeconds,
      account,
      site: { tenantId: site.tenantId, host: site.host },
      host,
    },
  });
}

/** POST connect/finish: the plugin's server, by what it got for its code; the keys, shown this once. */
export async function answerFinish(call: ConsoleCall): Promise<void> {
  const { deps, request, response } = call;
  countStranger(call);
  const grant = readBearer(request.headers.authorization, MOST_CHARS);
  if (grant === null)
    throw new ServiceError('missing_credential', 'the access_token of connect/token is needed: Authorization: Bearer <it>');
  const { creditsToken } = parseWith(FINISH, await readJsonBody(request, BODY_BYTES));
  send(request, response, { status: 201, body: await finishConnection(deps, grant, creditsToken) });
}

/** Counts a call of a server that shows no session. */
function countStranger({ deps, address }: ConsoleCall): void {
  deps.rates.count([['address', address]], COSTS.heavy);
}
