/**
 * A publisher that sells its articles through the settlement service, by its REST API alone.
 * Run it: SVC_URL=… SVC_API_KEY=… ORIGIN=https://alpha.example PORT=8404 node examples/publisher/publisher.ts
 */
import type { Request, Response } from 'express';
import express from 'express';

export interface PublisherOptions {
  /** Base address of the settlement service, and a publisher key of this site. */
  readonly serviceUrl: string;
  readonly apiKey: string;
  /** The public address of this site, whatever address a proxy passes requests to. */
  readonly origin: string;
  /** Makes the page; throws when it cannot be made. */
  readonly render: (slug: string) => Promise<string>;
}

export function createPublisher({ serviceUrl, apiKey, origin, render }: PublisherOptions) {
  async function callService(path: string, body?: unknown) {
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
      callService('/_svc/observe', { resource, slug, verdict, classifiedAs: 'agent', agent, priceMicro }).catch(() => null);
    response.vary('authorization').vary('payment-signature').vary('x-payment').set('cache-control', 'private, no-store');

    // A reader who paid a moment ago shows the licence it got.
    const licence = /^License (\S+)$/i.exec(request.get('authorization') ?? '')?.[1];
    if (licence && (await callService('/_svc/license/check', { license: licence, resource, slug })).body?.entitled) {
      await observe('agent-reread');
      return response.type('html').send(await render(slug));
    }

    const quoted = await callService(`/_svc/quote?build=402&resource=${encodeURIComponent(resource)}`);
    if (quoted.status === 204) {
      const page = await render(slug);
      await observe('served-free');
      return response.type('html').send(page);
    }
    if (quoted.status !== 200) return waitAndRetry(response, quoted.headers.get('retry-after'));
    const { x402, ...quote } = quoted.body;

    const payment = readPayment(request);
    if (payment === null) {
      await observe('denied', quote.price);
      return sendOffer(response, x402);
    }
    if (payment === 'contradictory') return sendOffer(response, x402, 'authorization_invalid: two different payments in one request');

    // The page comes first: nobody is charged for a page that cannot be delivered.
    const page = await render(slug).catch(() => null);
    if (page === null) {
      await observe('unservable', quote.price);
      return response.status(500).send('This page cannot be shown now. You were not charged.');
    }
    const verified = await callService('/_svc/verify', { payment, legs: quote.legs, quote, resource, agent });
    for (const name of ['payment-response', 'x-payment-response']) {
      const value = verified.headers.get(name);
      if (value !== null) response.set(name, value);
    }
    if (verified.status === 200) return response.set('x-licence', verified.body.licenseJws).type('html').send(page);
    // Not decided yet, or not possible now: never an offer, or the buyer would sign and pay a second time.
    const isPending = verified.headers.get('x-svc-error-code') === 'settlement_pending';
    if (isPending || verified.status !== 402) return waitAndRetry(response, verified.headers.get('retry-after'));
    return sendOffer(response, x402, verified.body.error);
  }

  return express()
    .disable('x-powered-by')
    .get('/articles/:slug', (request, response, next) => {
      sellArticle(request, response).catch((error: Error) => (error.name === 'PageNotFound' ? next() : waitAndRetry(response, null)));
    });
}

/** The payment of a request; a client that sends both headers means one payment. */
function readPayment(request: Request): string | null {
  const [first, second] = ['payment-signature', 'x-payment'].map((name) => request.get(name));
  if (!first || !second || first === second) return first || second || null;
  const signatures = [first, second].map((header) => {
    try {
      return JSON.parse(Buffer.from(header, 'base64').toString('utf8')).payload.signature;
    } catch {
      return undefined;
    }
  });
  return signatures[0] !== undefined && signatures[0] === signatures[1] ? first : 'contradictory';
}

/** 402 for both generations of clients: header for x402 v2, body for v1. */
function sendOffer(response: Response, offer: { header: string; body: object }, error?: string) {
  const v2 = JSON.parse(Buffer.from(offer.header, 'base64').toString('utf8'));
  const header = error === undefined ? offer.header : Buffer.from(JSON.stringify({ ...v2, error })).toString('base64');
  return response
    .status(402)
    .set('payment-required', header)
    .json(error === undefined ? offer.body : { ...offer.body, error });
}

function waitAndRetry(response: Response, retryAfter: string | null) {
  return response.status(503).set('retry-after', retryAfter ?? '5').send('Please try again shortly, with the same payment.');
}

/** Thrown by `render` for a page that does not exist. */
export class PageNotFound extends Error {
  override readonly name = 'PageNotFound';
}

if (import.meta.main) {
  const { SVC_URL = '', SVC_API_KEY = '', ORIGIN = '', PORT = '8404' } = process.env;
  const render = async (slug: string) => `<!doctype html><title>${encodeURIComponent(slug)}</title><p>The whole article.</p>`;
  createPublisher({ serviceUrl: SVC_URL, apiKey: SVC_API_KEY, origin: ORIGIN, render }).listen(Number(PORT), '127.0.0.1');
}
