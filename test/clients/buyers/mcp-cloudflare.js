import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { withX402Client } from 'agents/x402';
import { privateKeyToAccount } from 'viem/accounts';
import { buyEach, privateKey } from './said.js';

/** The three lines of MCP clients, by the revision they speak: 1.32; 2.4 as it comes; 2.4 that asks for the newest. */
const LINES = {
  'sdk-1': [Client1, Transport1, {}],
  'client-2': [Client2, Transport2, {}],
  'client-2-auto': [Client2, Transport2, { versionNegotiation: { mode: 'auto' } }],
};

const [Client, Transport, options] = LINES[process.env.MCP_LINE];
const plain = new Client({ name: 'buyer', version: '1.0.0' }, options);
await plain.connect(new Transport(new URL(process.env.MCP_URL)));
const client = withX402Client(plain, { network: 'base-sepolia', account: privateKeyToAccount(privateKey) });
await client.listTools();
await buyEach(async (url) => {
  const result = await client.callTool(null, { name: 'buy_page', arguments: { url } });
  const page = result.content.map(({ text, resource }) => text ?? resource?.text ?? '').join('\n');
  const receipt = result._meta?.['x402/payment-response'];
  return { status: result.isError ? 402 : 200, page, receipt: receipt && btoa(JSON.stringify(receipt)) };
});
await plain.close();
