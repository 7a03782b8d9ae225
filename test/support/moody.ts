/** A service that can be away in every way a service is: what stands between a site and the real one, with a mood. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * `well`: as the service is. `dead`: connections are cut. `hung`: nothing is answered. `failing`: 500. `deaf`: what is asked arrives, and the
 * answer is lost.
 */
export type Mood = 'well' | 'dead' | 'hung' | 'failing' | 'deaf';

/** A running one. */
export interface MoodyService {
  readonly url: string;
  mood: Mood;
  /** The one path that the mood is about; null: all. */
  only: string | null;
  /** Paths that were asked for. */
  readonly asked: string[];
  close(): Promise<void>;
}

/** Starts it in front of a service; where that is, is asked with each request, since one that was killed comes back elsewhere. */
export async function startMoody(service: string | (() => string)): Promise<MoodyService> {
  const asked: string[] = [];
  const moody = { mood: 'well' as Mood, only: null as string | null };
  const pass = (request: IncomingMessage, response: ServerResponse, mood: Mood): void => {
    const { method, headers, url = '/' } = request;
    const serviceUrl = typeof service === 'string' ? service : service();
    const forwarded = send(`${serviceUrl}${url}`, { method: method ?? 'GET', headers }, (answer) => {
      if (mood === 'deaf') {
        answer.resume().on('end', () => response.destroy());
        return;
      }
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    forwarded.on('error', () => response.destroy());
    request.pipe(forwarded);
  };
  const server = createServer((request, response) => {
    const path = (request.url ?? '').replace(/\?.*/, '');
    const mood = moody.only === null || moody.only === path ? moody.mood : 'well';
    asked.push(path);
    if (mood === 'dead') response.destroy();
    else if (mood === 'failing') response.writeHead(500, { 'content-type': 'text/plain' }).end('something broke');
    else if (mood !== 'hung') pass(request, response, mood);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(moody, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}
