/** Facilitators that speak the x402 HTTP interface on 127.0.0.1: the official one, and one that lies as a test tells it. */
import type { IncomingMessage, Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { x402Facilitator } from '@x402/core/facilitator';
import type { Hex } from '../../modules/kernel/x402/payload.ts';
import type { Facilitator, FacilitatorSettings } from '../../platform/chain/facilitator.ts';
import { createFacilitator } from '../../platform/chain/facilitator.ts';
import { createOutbound } from '../../platform/outbound/outbound.ts';

/** What POST /settle carries. */
export interface SettleBody {
  readonly x402Version: number;
  readonly paymentPayload: { readonly payload: SettlePayload } & Readonly<Record<string, unknown>>;
  readonly paymentRequirements: Readonly<Record<string, unknown>>;
}

/** The payer's part of it. */
export interface SettlePayload {
  readonly signature: Hex;
  readonly authorization: {
    readonly from: Hex;
    readonly to: Hex;
    readonly value: string;
    readonly validAfter: string;
    readonly validBefore: string;
    readonly nonce: Hex;
  };
}

/** An answer: a status with JSON, or silence until the server stops. */
export type Answer = { readonly status?: number; readonly json: unknown } | 'silence';

/** A facilitator under test. Change `settle` and `status` at will; `asked` counts the calls of /settle by nonce. */
export interface TestFacilitator {
  readonly url: string;
  readonly statusUrl: string;
  readonly asked: Map<string, number>;
  settle: (body: SettleBody) => Promise<Answer> | Answer;
  status: (id: string) => Answer;
  supported: () => Answer;
  readonly authorizations: (string | undefined)[];
  stop(): Promise<void>;
}

/** Starts one that supports Base Sepolia and answers `settle` as told; until told, it refuses everything. */
export async function startFacilitator(settle?: TestFacilitator['settle']): Promise<TestFacilitator> {
  const server = createServer((request, response) => {
    const answer = async (): Promise<Answer> => {
      own.authorizations.push(request.headers.authorization);
      if (request.url === '/supported') return own.supported();
      if (request.url?.startsWith('/transfers/')) return own.status(decodeURIComponent(request.url.slice('/transfers/'.length)));
      const body = JSON.parse(await textOf(request)) as SettleBody;
      const { nonce } = body.paymentPayload.payload.authorization;
      own.asked.set(nonce, (own.asked.get(nonce) ?? 0) + 1);
      return own.settle(body);
    };
    answer().then(
      (given) => {
        if (given === 'silence') return;
        response.writeHead(given.status ?? 200, { 'content-type': 'application/json' });
        response.end(typeof given.json === 'string' ? given.json : JSON.stringify(given.json));
      },
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  const url = await listenOn(server);
  const own: TestFacilitator = {
    url,
    statusUrl: `${url}/transfers/{id}`,
    asked: new Map(),
    settle: settle ?? (() => ({ json: { success: false, errorReason: 'unexpected_settle_error', transaction: '' } })),
    status: () => ({ status: 404, json: {} }),
    supported: () => ({
      json: { kinds: [{ x402Version: 2, scheme: 'exact', network: 'eip155:84532' }], extensions: [], signers: {} },
    }),
    authorizations: [],
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return own;
}

/** Puts the official facilitator behind the server. */
export function playOfficial(official: x402Facilitator): TestFacilitator['settle'] {
  type Payload = Parameters<x402Facilitator['settle']>;
  return async ({ paymentPayload, paymentRequirements }) => {
    const settled = await official.settle(paymentPayload as unknown as Payload[0], paymentRequirements as unknown as Payload[1]);
    return { json: settled };
  };
}

/** Our client of a facilitator under test, through the service's own client for other servers. */
export function clientOf(settings: Partial<FacilitatorSettings> & { readonly url: string }): Facilitator {
  const outbound = createOutbound({ allowLoopback: true });
  return createFacilitator((request) => outbound.send(request), { token: null, statusUrl: null, ...settings });
}

function listenOn(server: Server): Promise<string> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  });
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
