import type { RequestListener } from 'node:http';
import type { ConsoleFiles } from '../../api/console/assets.ts';
import { CONSOLE_PATH, openConsoleFiles } from '../../api/console/assets.ts';
import type { ConsoleHandlerDeps } from '../../api/console/call.ts';
import { createConsole, isConsolePath } from '../../api/console/handler.ts';
import { API_VERSION, pathOf } from '../../api/handler.ts';
import type { Outbound } from '../../platform/outbound/outbound.ts';
import { createOidcLogin } from '../../platform/tokens/oidcLogin.ts';
import type { ApiConfig } from '../config.ts';
import { signUpOf } from './signUp.ts';

const FOLDER = new URL('../../console/', import.meta.url);

/** A file of an installed package. */
function packaged(path: string): URL {
  return new URL(import.meta.resolve(path));
}

/** The console's files, with what they import by name. Throws when one cannot be read. */
export function readConsole(): ConsoleFiles {
  const packages = { preact: packaged('preact'), 'preact/hooks': packaged('preact/hooks'), htm: packaged('htm') };
  return openConsoleFiles({ folder: FOLDER, packages });
}

type Shared = Omit<ConsoleHandlerDeps, 'files' | 'demoToken' | 'login' | 'mayCreateSite' | 'signUp'> & {
  readonly outbound: Outbound;
};

function loginOf(
  { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret }: ApiConfig,
  { outbound, clock, baseUrl }: Shared,
) {
  if (issuer === undefined || clientId === undefined) return null;
  const redirectUri = `${baseUrl}${CONSOLE_PATH}/oidc/callback`;
  return createOidcLogin({ issuer, clientId, clientSecret: oidcClientSecret ?? null, redirectUri, outbound, clock });
}

/**
 * The console before the REST API; with CONSOLE=false its paths are REST's to refuse. Reading its files takes the loop for a third of a
 * second: in production that is done before the first call, and this throws when they cannot be read; elsewhere at the first visit.
 */
export function openConsole(config: ApiConfig, deps: Shared): { readonly before: (rest: RequestListener) => RequestListener } {
  if (!config.console) return { before: (rest) => rest };
  const demoToken = config.consoleDemoToken ?? null;
  const [login, signUp] = [loginOf(config, deps), signUpOf(config)];
  let files: ConsoleFiles | null = null;
  const read = (): ConsoleFiles => {
    files ??= readConsole();
    return files;
  };
  if (config.environment === 'production') read();
  const handle = createConsole({ ...deps, signUp, demoToken, login, files: read, mayCreateSite: () => signUp !== null });
  return {
    before: (rest) => (request, response) => {
      if (!isConsolePath(pathOf(request))) return rest(request, response);
      response.setHeader('svc-api-version', API_VERSION);
      void handle(request, response);
    },
  };
}
