/**
 * A receiver of webhooks: verifies, answers at once, does the work once for each event.
 *
 *   WEBHOOK_SECRET=whsec_… node examples/webhook-receiver/receiver.ts
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WebhookEvent } from './verification.ts';
import { verifyWebhook, WebhookVerificationError } from './verification.ts';

const secret = process.env['WEBHOOK_SECRET'] ?? '';
if (secret === '') throw new Error('set WEBHOOK_SECRET to the secret that was shown when the endpoint was made');
const MAX_BYTES = 1_048_576;

/** Event ids that were taken already; keep them with your data, so that they outlive this process. */
const seen = new Set<string>();

function take(event: WebhookEvent): void {
  if (seen.has(event.eventId)) return;
  seen.add(event.eventId);
  console.log(event.type, event.eventId, JSON.stringify(event.data));
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > MAX_BYTES) request.destroy();
    else chunks.push(chunk);
  });
  request.on('end', () => {
    try {
      const event = verifyWebhook(Buffer.concat(chunks), request.headers['svc-signature']?.toString(), secret);
      response.writeHead(204).end();
      take(event);
    } catch (error) {
      response.writeHead(error instanceof WebhookVerificationError ? 400 : 500).end();
    }
  });
});
server.listen(Number(process.env['PORT'] ?? 0), '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
});
