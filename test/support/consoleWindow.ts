/** A service with a site that has everything, behind a line that can be cut, and a window of a browser before its sign-in. */
import type { Visitor } from './browser.ts';
import { closeBrowser, openVisitor, settled } from './browser.ts';
import type { ConsoleSite } from './consoleSite.ts';
import { createConsoleSite } from './consoleSite.ts';
import type { CutProxy } from './proxy.ts';
import { startProxy } from './proxy.ts';
import type { TestService } from './service.ts';
import { CALM, startTestService } from './service.ts';

export const CONSOLE = '/_svc/console';
/** A zone whose clocks changed within the history, so that days have 23 to 25 hours. */
export const TIME_ZONE = 'Europe/Berlin';

/** The service, its site, and who looks at it. */
export interface ConsoleWindow {
  readonly service: TestService;
  readonly line: CutProxy;
  readonly baseUrl: string;
  readonly world: ConsoleSite;
  readonly visitor: Visitor;
  /** A screen of the main site, with everything on it. */
  readonly open: (path: string, query?: Readonly<Record<string, string>>) => Promise<void>;
  stop(): Promise<void>;
}

/** Starts all of it for an owner. */
export async function startConsoleWindow(owner: string): Promise<ConsoleWindow> {
  // Its own: sales of the history are rows alone, which no chain knows.
  const service = await startTestService({ apis: 0, environment: CALM });
  // The console lives under its own address alone, so that this must be known before the API starts; and its line can be cut.
  let port = 0;
  const line = await startProxy(() => port);
  const baseUrl = `http://127.0.0.1:${line.port}`;
  const api = await service.startApi({ PUBLIC_BASE_URL: baseUrl });
  port = Number(new URL(api.url).port);
  const world = await createConsoleSite(service, owner);
  const visitor = await openVisitor(baseUrl, { timezoneId: TIME_ZONE });
  return {
    service,
    line,
    baseUrl,
    world,
    visitor,
    open: async (path, query = {}) => {
      const search = new URLSearchParams({ site: world.site.tenantId, ...query }).toString();
      await visitor.page.goto(`${CONSOLE}${path === '/' ? '' : path}?${search}`);
      await settled(visitor.page);
    },
    stop: async () => {
      await closeBrowser();
      await line.close();
      await service.stop();
    },
  };
}
