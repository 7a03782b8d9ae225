import { ServiceError } from '../../modules/kernel/errors.ts';
import { pathOf, send } from '../handler.ts';
import type { Body } from './assets.ts';
import type { ConsoleCall } from './call.ts';

/** The page: the same for everybody, signed in or not, at the path of every screen. */
export async function sendPage(call: ConsoleCall): Promise<void> {
  const { page, policy } = call.deps.files();
  await sendBody(call, page, {
    'cache-control': 'no-cache',
    'content-security-policy': policy,
    'cross-origin-opener-policy': 'same-origin',
    'x-frame-options': 'DENY',
  });
}

/** A file of the page, which never changes under its name. Throws not_found for any other name. */
export async function sendAsset(call: ConsoleCall): Promise<void> {
  const file = call.deps.files().assets.get(pathOf(call.request));
  if (!file) throw new ServiceError('not_found', 'the console has no such file');
  await sendBody(call, file, { 'cache-control': 'public, max-age=31536000, immutable' });
}

async function sendBody(
  { request, response }: ConsoleCall,
  body: Body,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const { coding, bytes } = await body.encoded(String(request.headers['accept-encoding'] ?? ''));
  const coded = coding === null ? {} : { 'content-encoding': coding };
  send(request, response, {
    status: 200,
    headers: { 'content-type': body.type, vary: 'accept-encoding', ...coded, ...headers },
    body: bytes,
  });
}
