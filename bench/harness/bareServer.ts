/**
 * The reference of HTTP figures, in a process of its own: `node:http` that answers every request with the same text, as long as
 * its first argument says, after taking in the body when there is one. Tells its address on its first line; ends with its parent.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const text = JSON.stringify({ text: '' });
const body = Buffer.from(JSON.stringify({ text: 'x'.repeat(Math.max(0, Number(process.argv[2] ?? 0) - text.length)) }));
const headers = { 'content-type': 'application/json; charset=utf-8', 'content-length': body.length };
const server = createServer((request, response) => {
  const answer = (): void => void response.writeHead(200, headers).end(body);
  if (request.method === 'GET') answer();
  else request.resume().once('end', answer);
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
process.stdin.resume().once('close', () => process.exit(0));
