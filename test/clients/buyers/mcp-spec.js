/** A client of the specification alone: JSON-RPC by hand, the offer from the tool's result, the payment as an object in `_meta`. */
import { randomBytes } from 'node:crypto';
import { privateKeyToAccount } from 'viem/accounts';
import { buyEach, privateKey } from './said.js';

const TRANSFER = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
};
const account = privateKeyToAccount(privateKey);

async function callTool(id, url, meta) {
  const params = { name: 'buy_page', arguments: { url }, ...(meta === undefined ? {} : { _meta: meta }) };
  const answer = await fetch(process.env.MCP_URL, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params }),
  });
  const text = await answer.text();
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream');
  const messages = isStream ? [...text.matchAll(/^data: ?(\{.*\})$/gm)].map(([, data]) => data) : [text];
  const message = messages.map((data) => JSON.parse(data)).find((one) => one.id === id);
  if (message?.result === undefined) throw new Error(`no result: ${answer.status} ${text}`);
  return message.result;
}

async function pay({ resource, accepts: [accepted], extensions }) {
  const { amount, payTo, asset, network, maxTimeoutSeconds, extra } = accepted;
  const authorization = {
    from: account.address,
    to: payTo,
    value: amount,
    validAfter: '0',
    validBefore: String(Math.floor(Date.now() / 1_000) + maxTimeoutSeconds),
    nonce: `0x${randomBytes(32).toString('hex')}`,
  };
  const signature = await account.signTypedData({
    domain: { ...extra, chainId: Number(network.split(':')[1]), verifyingContract: asset },
    types: TRANSFER,
    primaryType: 'TransferWithAuthorization',
    message: authorization,
  });
  return { x402Version: 2, resource, accepted, payload: { signature, authorization }, extensions };
}

await buyEach(async (url) => {
  const offered = await callTool(1, url);
  const offer = offered.structuredContent;
  if (!offered.isError || JSON.stringify(offer) !== JSON.stringify(JSON.parse(offered.content[0].text))) {
    throw new Error(`no offer, or two different ones: ${JSON.stringify(offered)}`);
  }
  const result = await callTool(2, url, { 'x402/payment': await pay(offer) });
  const page = result.content.map(({ text, resource }) => text ?? resource?.text ?? '').join('\n');
  const receipt = result._meta?.['x402/payment-response'];
  return { status: result.isError ? 402 : 200, page, receipt: receipt && btoa(JSON.stringify(receipt)) };
});
