/** Signing in at the identity provider. People see these answers: what went wrong leads back to the page, by its code alone. */

import type { ProviderDeps } from '../../modules/identity/use/console/providerSignIn.ts';
import { AWAY_MS, comeBack, leaveForProvider, screenOf } from '../../modules/identity/use/console/providerSignIn.ts';
import { COSTS } from '../../modules/kernel/rate.ts';
import { asServiceError } from '../errors.ts';
import { send } from '../handler.ts';
import { searchOf } from '../query.ts';
import { CONSOLE_PATH } from './assets.ts';
import type { ConsoleCall } from './call.ts';
import { missing } from './call.ts';
import { keep } from './sessionRoutes.ts';

/** GET oidc/start: to the provider; `return` names the screen to come back to. */
export async function answerStart(call: ConsoleCall): Promise<void> {
  const deps = providerOf(call);
  await orBack(call, async () => {
    const screen = screenOf(new URLSearchParams(searchOf(call.request)).get('return'));
    const { url, kept } = await leaveForProvider(deps, screen);
    call.response.appendHeader('set-cookie', call.flow.write(kept, AWAY_MS / 1_000));
    return url;
  });
}

/** GET oidc/callback: from the provider, with a session or without. What the browser kept is used up either way. */
export async function answerCallback(call: ConsoleCall): Promise<void> {
  const deps = providerOf(call);
  await orBack(call, async () => {
    call.response.appendHeader('set-cookie', call.flow.clear);
    const { session, screen } = await comeBack(deps, call.flow.read(call.request), new URLSearchParams(searchOf(call.request)));
    await keep(call, session);
    return `${CONSOLE_PATH}${screen === '/' ? '' : screen}`;
  });
}

/** Counts the call, then leads on; or back to the page, which says what the code means. A call above its rate is refused as everywhere. */
async function orBack(call: ConsoleCall, work: () => Promise<string>): Promise<void> {
  const { deps, request, response, address } = call;
  deps.rates.count([['address', address]], COSTS.heavy);
  let location: string;
  try {
    location = await work();
  } catch (error) {
    const known = asServiceError(error);
    if (known.kind === 'defect') throw error;
    if (known.kind === 'unavailable') deps.log.warn({ code: known.code }, 'nobody can sign in at the identity provider');
    location = `${CONSOLE_PATH}?refused=${known.code}`;
  }
  send(request, response, { status: location.startsWith(CONSOLE_PATH) ? 303 : 302, headers: { location } });
}

function providerOf({ deps }: ConsoleCall): ProviderDeps {
  const { login, secretBox } = deps;
  return login === null ? missing('no identity provider is configured') : { ...deps, login, secretBox };
}
