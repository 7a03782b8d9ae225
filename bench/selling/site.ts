/**
 * A publisher's site on Express, in a process of its own: pages of 8 KB, with the publisher's package in front of them (`selling`) or without
 * (`plain`). Tells its address on its first line, and for each line it is sent the microseconds of CPU it took until then; ends with its parent.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import express from 'express';
import { contentSettlement } from '../../packages/publisher/src/express.ts';

const [how] = process.argv.slice(2);
const page = `<!doctype html><title>An article</title><p>${'A sentence of it. '.repeat(455)}</p>`;
const app = express();
if (how === 'selling') app.use(contentSettlement());
app.get('/articles/:slug', (_request, response) => void response.send(page));
const server = createServer(app);
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
const asked = createInterface({ input: process.stdin });
asked.on('line', () => {
  const { user, system } = process.cpuUsage();
  process.stdout.write(`${user + system}\n`);
});
asked.once('close', () => process.exit(0));
