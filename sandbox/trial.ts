/** A web server, a name server and a customer to try a new site with, in a browser: what an owner outside of the sandbox has of his own. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import express from 'express';
import { z } from 'zod';
import { buyPage } from '../examples/buyer/buyer.ts';
import type { Hex } from '../modules/kernel/x402/payload.ts';
import { contentSettlement } from '../packages/publisher/src/express.ts';
import { isSandboxName } from '../process/sandboxWeb.ts';
import { listenOnFreePort, releasePort } from './parts/ports.ts';
import type { SandboxWeb } from './site.ts';

/** What a trial runs on: the service, the sandbox's web, and a wallet with test money. */
export interface TrialParts {
  readonly serviceUrl: string;
  readonly web: Pick<SandboxWeb, 'url' | 'controlUrl'>;
  readonly buyerKey: Hex;
}

/** A page that plays an owner's own server. */
export interface Trial {
  readonly url: string;
  close(): Promise<void>;
}

const host = z.string().toLowerCase().refine(isSandboxName, 'the sandbox plays names below sandbox.example');
const address = z.object({ host, path: z.string().startsWith('/') });
const file = address.extend({ body: z.string() });
const record = z.object({ name: z.string().min(1), value: z.string().min(1) });
const shop = z.object({ host, key: z.string().startsWith('svc_') });
const MOST_BYTES = 65_536;
/** Which host the customer means: fetch sends no `Host` of its caller's. */
const ASKED_HOST = 'x-trial-host';

/** Starts the page on 127.0.0.1, on a free port. The caller closes it. */
export async function startTrial(parts: TrialParts): Promise<Trial> {
  const keys = new Map<string, express.Express>();
  const server = createServer((request, response) => {
    const name = String(request.headers[ASKED_HOST] ?? request.headers.host).toLowerCase();
    const site = keys.get(name);
    if (site) return void site(request, response);
    answer(parts, { keys, port: () => port }, request, response).catch((error: unknown) =>
      answerJson(response, 400, { error: error instanceof Error ? error.message : String(error) }),
    );
  });
  const port: number = await listenOnFreePort(server, 0);
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          releasePort(port);
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

interface Shops {
  readonly keys: Map<string, express.Express>;
  readonly port: () => number;
}

async function answer(parts: TrialParts, shops: Shops, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST') return void response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(PAGE);
  const body = await readBody(request);
  const { web } = parts;
  switch (request.url) {
    case '/file': {
      await tell(web, 'pages', { ...file.parse(body), headers: { 'content-type': 'text/plain' } });
      return answerJson(response, 200, { says: 'Served.' });
    }
    case '/record': {
      const { name, value } = record.parse(body);
      await tell(web, 'dns', { name, txt: [value] });
      return answerJson(response, 200, { says: 'Set.' });
    }
    case '/shop': {
      const { host: name, key } = shop.parse(body);
      shops.keys.set(name, openShop(parts, name, key));
      await tell(web, 'sites', { host: name, port: shops.port() });
      return answerJson(response, 200, { says: `The package stands in front of ${name}.` });
    }
    default:
      return answerJson(response, 200, { says: await sell(parts, shops, address.parse(body)) });
  }
}

/** The package with this key in front of a host of which every address is an article. */
function openShop({ serviceUrl }: TrialParts, name: string, apiKey: string): express.Express {
  const app = express().disable('x-powered-by');
  app.use(contentSettlement({ serviceUrl, apiKey, origin: `https://${name}`, log: () => undefined }));
  app.get('/*path', (request, response) => void response.type('text/plain').send(`The whole text of ${request.path}\n`));
  return app;
}

/** Buys a page with test money; says what came of it. */
async function sell({ buyerKey }: TrialParts, shops: Shops, { host: name, path }: z.infer<typeof address>): Promise<string> {
  if (!shops.keys.has(name)) return 'No package stands in front of this host here.';
  const send: typeof fetch = (input, options) => {
    const named = new Request(input, options);
    named.headers.set(ASKED_HOST, name);
    return fetch(named);
  };
  const { status, settlement } = await buyPage(`http://127.0.0.1:${shops.port()}${path}`, buyerKey, send);
  if (status !== 200) return `The page was not sold: the answer is ${status}.`;
  return settlement === null ? 'The page was read free.' : `Sold. Transaction ${settlement.transaction}`;
}

async function tell({ controlUrl }: TrialParts['web'], what: string, body: object): Promise<void> {
  const { ok } = await fetch(`${controlUrl}/${what}`, { method: 'POST', body: JSON.stringify(body) });
  if (!ok) throw new Error("the sandbox's web did not take it");
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of request as AsyncIterable<Buffer>) {
    text += chunk.toString('utf8');
    if (text.length > MOST_BYTES) throw new Error('the body is too large');
  }
  return JSON.parse(text);
}

function answerJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

const SCRIPT = `
for (const form of document.forms) form.onsubmit = async (event) => {
  event.preventDefault();
  const said = Object.fromEntries(new FormData(form));
  const state = form.querySelector('output');
  const url = said.url ? new URL(said.url) : null;
  const body = url === null ? said : { ...said, host: url.host, path: url.pathname };
  state.textContent = 'One moment …';
  const answer = await fetch(form.getAttribute('action'), { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  const told = await answer.json();
  state.textContent = told.error ?? told.says;
};
`;

const field = (label: string, name: string, hint: string, kind = 'text'): string =>
  `<label>${label}<input name="${name}" type="${kind}" required autocomplete="off" aria-description="${hint}"></label>`;
const form = (id: string, [title, about]: readonly [string, string], fields: string, button: string): string =>
  `<form id="${id}" action="/${id}"><h2>${title}</h2><p>${about}</p>${fields}<button>${button}</button> <output role="status"></output></form>`;

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>A web server to try</title>
<style>:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}main{max-width:38rem;margin:5vh auto;padding:0 1rem}form{padding:1rem 0;border-top:1px solid #8886}h2{margin:0;font-size:1.1rem}p{margin:.2rem 0 .6rem}label,input{display:block;width:100%;box-sizing:border-box}label{margin:.5rem 0}input,button{font:inherit;padding:.3rem .5rem}</style>
<main>
<h1>A web server to try</h1>
<p>It plays the server of any host below <code>sandbox.example</code>, for a site that you set up in the console.</p>
${form('file', ['Serve a file', 'The console says which, when it asks you to prove a host.'], field('Address', 'url', 'as the console shows it', 'url') + field('Text', 'body', 'as the console shows it'), 'Serve it')}
${form('record', ['Set a DNS record', 'Another way to prove a host.'], field('Name', 'name', 'of the record') + field('Value', 'value', 'of the record'), 'Set it')}
${form('shop', ['Put the package in front', 'Every address of the host is an article then.'], field('Host', 'host', 'the host of your site') + field('Key', 'key', 'the key that the console showed once'), 'Start')}
${form('sale', ['Send a customer', 'An agent with test money buys a page.'], field('Page', 'url', 'its address', 'url'), 'Buy it')}
</main>
<script>${SCRIPT}</script>
</html>
`;
