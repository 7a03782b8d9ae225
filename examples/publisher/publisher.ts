/**
 * A publisher that sells its articles through the settlement service, by its REST API alone (docs/integrating-publisher.md).
 * SVC_URL=… SVC_API_KEY=… ORIGIN=https://alpha.example PORT=8404 npx node examples/publisher/publisher.ts
 */
import type { Request, Response } from 'express';
import express from 'express';

/** `render` gives the page, null for one that does not exist, and throws when it cannot be made. */
export interface PublisherOptions {
  readonly serviceUrl: string;
  readonly apiKey: string;
  /** The site's public address, whatever address a proxy passes requests to. */
  readonly origin: string;
  readonly render: (slug: string) => Promise<string | null>;
}

/** Agents that run in web pages of other origins. The stock clients send the last of the allowed headers, an answer's, with a request. */
const FOR_BROWSERS = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': 'authorization, payment-signature, x-payment, access-control-expose-headers',
  'access-control-expose-headers': 'payment-required, payment-response, x-payment-response, x-licence, retry-after',
};

export function createPublisher({ serviceUrl, apiKey, origin, render }: PublisherOptions) {
  async function call(path: string, body?: object) {
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const answer = await fetch(`${serviceUrl}${path}`, { ...sent, headers, signal: AbortSignal.timeout(30_000) });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, body: text === '' ? null : JSON.parse(text) };
  }

  async function sellArticle(request: Request<{ slug: string }>, response: Response): Promise<unknown> {
    const { slug } = request.params;
    const resource = `${origin}/articles/${encodeURIComponent(slug)}`;
    const agent = { ua: request.get('user-agent') ?? '' };
    const observe = (verdict: string, priceMicro?: number) =>
      call('/_svc/observe', { resource, slug, verdict, classifiedAs: 'agent', agent, priceMicro }).catch(() => null);
    const send = (page: string | null) => (page === null ? response.status(404).send('No such page.') : response.send(page));
    response.set({ 'cache-control': 'private, no-store' });

    // 1. A reader who has paid a moment ago shows the licence it got.
    const license = /^License (\S+)$/i.exec(request.get('authorization') ?? '')?.[1];
    if (license && (await call('/_svc/license/check', { license, resource, slug })).body.entitled) {
      await observe('agent-reread');
      return send(await render(slug));
    }
    // 2. What does it cost? 204: nothing.
    const quoted = await call(`/_svc/quote?build=402&resource=${encodeURIComponent(resource)}`);
    if (quoted.status === 204) {
      await observe('served-free');
      return send(await render(slug));
    }
    if (quoted.status !== 200) return waitAndRetry(response, quoted.headers);
    const { x402, ...quote } = quoted.body;
    const payment = request.get('payment-signature') ?? request.get('x-payment');
    if (!payment) {
      await observe('denied', quote.price);
      return sendOffer(response, x402);
    }
    if (isContradictory(request)) return sendOffer(response, x402, 'authorization_invalid: two payments in one request');
    // 3. The page comes before the money: nobody is charged for a page that cannot be delivered.
    const page = await render(slug).catch(() => null);
    if (page === null) {
      await observe('unservable', quote.price);
      return response.status(500).send('This page cannot be shown now. You were not charged.');
    }
    // 4. Settle, and tell the buyer what happened.
    const verified = await call('/_svc/verify', { payment, legs: quote.legs, quote, resource, agent });
    for (const name of ['payment-response', 'x-payment-response']) response.set(name, verified.headers.get(name) ?? []);
    if (verified.status === 200) return response.set('x-licence', verified.body.licenseJws).send(page);
    // Undecided, or not possible now: never an offer, or the buyer signs and pays a second time.
    const isPending = verified.headers.get('x-svc-error-code') === 'settlement_pending';
    if (isPending || verified.status !== 402) return waitAndRetry(response, verified.headers);
    return sendOffer(response, x402, verified.body.error);
  }

  return express()
    .disable('x-powered-by')
    .use((_request, response, next) => {
      response.set(FOR_BROWSERS);
      next();
    })
    .get('/articles/:slug', (request, response) => sellArticle(request, response).catch(() => waitAndRetry(response)));
}

/** 402 for both generations of clients: x402 v2 reads the header, v1 the body. */
function sendOffer(response: Response, { header, body }: { header: string; body: object }, error = 'Payment required') {
  const v2 = { ...JSON.parse(Buffer.from(header, 'base64').toString()), error };
  response.set('payment-required', Buffer.from(JSON.stringify(v2)).toString('base64'));
  return response.status(402).json({ ...body, error });
}

function waitAndRetry(response: Response, headers?: Headers) {
  response.set('retry-after', headers?.get('retry-after') ?? '5');
  return response.status(503).send('Please try again shortly, with the same payment.');
}

/** Some wallets send both headers; they must hold one and the same payment. */
function isContradictory(request: Request): boolean {
  const [v2, v1] = [request.get('payment-signature'), request.get('x-payment')];
  if (v2 === undefined || v1 === undefined || v1 === v2) return false;
  const signatureOf = (text: string) => JSON.parse(Buffer.from(text, 'base64').toString()).payload.signature;
  try {
    return signatureOf(v1) !== signatureOf(v2);
  } catch {
    return true;
  }
}

if (import.meta.main) {
  const { SVC_URL = '', SVC_API_KEY = '', ORIGIN = '', PORT = '8404' } = process.env;
  const render = async (slug: string) => `<!doctype html><title>${encodeURIComponent(slug)}</title><p>The whole article.</p>`;
  createPublisher({ serviceUrl: SVC_URL, apiKey: SVC_API_KEY, origin: ORIGIN, render }).listen(Number(PORT), '127.0.0.1');
}
