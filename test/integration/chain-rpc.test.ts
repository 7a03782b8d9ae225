import type { RequestListener, Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { receiptOf, waitForReceipt } from '../../platform/chain/evidence/receipts.ts';
import { readSights } from '../../platform/chain/evidence/sight.ts';
import type { Rpc } from '../../platform/chain/rpc/rpc.ts';
import { createRpc, isEvmRefusal, RpcError } from '../../platform/chain/rpc/rpc.ts';
import { sendRaw } from '../../platform/chain/transaction.ts';
import type { TestChain } from '../support/parts.ts';
import { startTestChain } from '../support/parts.ts';
import { newWallet, testNetwork } from '../support/payments.ts';

let chain: TestChain;
const open: (Rpc | Server)[] = [];
beforeAll(async () => {
  chain = await startTestChain({}, { blockTimeSeconds: null });
});
afterAll(() => chain.stop());
afterEach(async () => {
  for (const one of open.splice(0)) {
    if ('closeAllConnections' in one) one.closeAllConnections();
    await one.close();
  }
});

const LOOKS: Readonly<Record<string, unknown>> = {
  eth_chainId: '0x14a34',
  eth_getBlockByNumber: { number: '0x1', hash: `0x${'22'.repeat(32)}`, timestamp: '0xffffffff' },
};

/** A node that looks well and fails in its own way at what it is asked; counts how often it was asked. */
async function brokenNode(listener: RequestListener): Promise<{ readonly url: string; asked: number }> {
  const node = { url: '', asked: 0 };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method } = JSON.parse(Buffer.concat(chunks).toString()) as { method: string };
      if (method in LOOKS) return answer({ result: LOOKS[method] })(request, response);
      node.asked += 1;
      listener(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(server);
  node.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return node;
}

/** Waits for no node longer than 3 s: time enough for one that answers, on any machine. */
function rpcTo(...rpcUrls: string[]): Rpc {
  const rpc = createRpc({ id: 'eip155:84532', rpcUrls }, { timeoutMs: 3_000 });
  open.push(rpc);
  return rpc;
}

const answer =
  (body: object): RequestListener =>
  (_, response) =>
    response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }));

test.each<[string, RequestListener]>([
  ['hangs', () => {}],
  ['cuts the connection', (_, response) => response.destroy()],
  ['answers 500', (_, response) => response.writeHead(500).end('oops')],
  ['answers 429', (_, response) => response.writeHead(429).end('{"error":{"code":-32005}}')],
  ['redirects', (_, response) => response.writeHead(302, { location: 'http://127.0.0.1:1' }).end()],
  ['answers HTML', (_, response) => response.end('<html>')],
  ['answers neither result nor error', answer({})],
  ['says that a limit is exceeded', answer({ error: { code: -32005, message: 'limit exceeded' } })],
  ['does not know the method', answer({ error: { code: -32601, message: 'the method does not exist' } })],
])('a node that %s is asked once; the next one answers; without one it is chain_unavailable', async (_, listener) => {
  const node = await brokenNode(listener);
  expect(await rpcTo(node.url, chain.rpcUrl).request('eth_gasPrice', [])).toMatch(/^0x/);
  expect(node.asked).toBe(1);
  await expect(rpcTo(node.url).request('eth_gasPrice', [])).rejects.toMatchObject({
    code: 'chain_unavailable',
    details: { retryAfterSeconds: 5 },
  });
  expect(node.asked).toBe(2);
});

test('an address with a secret is never part of an error', async () => {
  const error: unknown = await rpcTo('http://user:secret@127.0.0.1:1/key-12345')
    .request('eth_chainId', [])
    .catch((reason: unknown) => reason);
  expect(String(error)).not.toMatch(/secret|12345/);
});

test('what a node answers as an error is no outage, and no other node is asked', async () => {
  const refusing = await brokenNode(answer({ error: { code: 3, message: 'execution reverted', data: '0x08c379a0' } }));
  const error: unknown = await rpcTo(refusing.url, chain.rpcUrl)
    .request('eth_estimateGas', [])
    .catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(RpcError);
  expect(error).toMatchObject({ code: 3, data: '0x08c379a0' });
  expect(isEvmRefusal(error)).toBe(true);
});

test('reads treat a node without the block as an outage, never as an answer about a payment', async () => {
  const behind = await brokenNode(answer({ error: { code: -32000, message: 'header not found' } }));
  const rpc = rpcTo(behind.url);
  const network = testNetwork(chain);
  const hash = `0x${'11'.repeat(32)}` as const;
  await expect(receiptOf(rpc, hash)).rejects.toMatchObject({ code: 'chain_unavailable' });
  const ask = { payer: newWallet(), nonce: hash, hashes: [], sinceBlock: null };
  await expect(readSights(rpc, network, [ask], { atSafe: true })).rejects.toMatchObject({ code: 'chain_unavailable' });
  await expect(waitForReceipt(rpc, [hash], { timeoutMs: 50 })).rejects.toMatchObject({ code: 'chain_unavailable' });
});

test('waiting ends early when it is aborted, without an error', async () => {
  const rpc = rpcTo(chain.rpcUrl);
  const signal = AbortSignal.abort();
  expect(await waitForReceipt(rpc, [`0x${'11'.repeat(32)}`], { timeoutMs: 60_000, signal })).toBeNull();
});

test.each([
  ['already known', 'known'],
  ['ALREADY_EXISTS: already known', 'known'],
  ['nonce too low: next nonce 5, tx nonce 4', 'nonce_too_low'],
  ['replacement transaction underpriced', 'replacement_underpriced'],
  ['transaction underpriced: tip needed 1, tip permitted 0', 'replacement_underpriced'],
  ['max fee per gas less than block base fee', 'replacement_underpriced'],
  ['insufficient funds for gas * price + value: balance 0', 'relayer_broke'],
  ['exceeds block gas limit', 'refused'],
  ['transaction gas limit too high (cap: 16777216, tx: 20000000)', 'refused'],
  ['intrinsic gas too low', 'refused'],
  ['invalid sender', 'refused'],
  ['txpool is full', 'unavailable'],
  ['something nobody has heard of', 'unavailable'],
])('the answer "%s" to a transaction means %s', async (message, kind) => {
  const node = await brokenNode(answer({ error: { code: -32000, message } }));
  expect(await sendRaw(rpcTo(node.url), '0x02')).toEqual({ kind, detail: message });
});
