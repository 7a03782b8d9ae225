import { randomBytes } from 'node:crypto';
import type { Database } from '../db/database.ts';
import { mintConnectKey } from '../modules/identity/use/keys/keys.ts';
import { createTenant } from '../modules/tenants/use/tenants.ts';
import type { Pepper } from '../platform/tokens/pepper.ts';
import type { Printer } from './print.ts';
import type { SandboxWeb } from './site.ts';

/** What showing a host's verification needs. */
export interface HostProofDeps {
  readonly baseUrl: string;
  readonly database: Database;
  readonly pepper: Pepper;
  readonly web: SandboxWeb;
  readonly printer: Printer;
}

/**
 * Has a new site prove a host on screen: challenge, page, check, and the key that loses its right to write by it. Throws an `Error`
 * that names the step whose outcome is not what it must be. Every call makes another site.
 */
export async function playHostProof(deps: HostProofDeps): Promise<void> {
  const { printer, database, pepper, web } = deps;
  const mark = randomBytes(3).toString('hex');
  const host = `blog-${mark}.sandbox.example`;
  printer.step(`A new publisher proves ${host}`);
  const pricing = { priceUsdc: '0.001', articlePrefixes: ['/articles/'] };
  const { tenantId } = await createTenant({ database }, { hosts: [`home-${mark}.sandbox.example`], plan: 'studio', pricing });
  const { token: key } = await mintConnectKey({ database, pepper, clock: Date.now }, { tenantId, name: 'connect' });

  const opened = await post(deps, key, '/_svc/verify-host', { host });
  expectThat(opened.status === 201, 'the challenge is not opened', opened);
  const { challenge } = opened.body as { challenge: { present: { url: string; body: string } } };
  printer.fact('challenge', `serve ${challenge.present.body}`);
  printer.fact('at', new URL(challenge.present.url).pathname);
  await setPage(web, host, new URL(challenge.present.url).pathname, challenge.present.body);
  const checked = await post(deps, key, '/_svc/verify-host/check', { host });
  printer.fact('check', `POST /_svc/verify-host/check answers ${checked.status}`);
  expectThat(checked.status === 200, 'the host is not verified', checked);
  const again = await post(deps, key, '/_svc/verify-host', { host });
  printer.fact('key', `has lost domain.manage by that: a second one answers ${again.status}`);
  expectThat(again.status === 403, 'the key may still write', again);
  const workflowId = `host:${tenantId}:${host}`;
  printer.fact('workflow', workflowId);
}

interface PostAnswer {
  readonly status: number;
  readonly body: unknown;
}

async function post({ baseUrl }: HostProofDeps, key: string, path: string, body: object): Promise<PostAnswer> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const response = await fetch(`${baseUrl}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: response.status, body: await response.json() };
}

async function setPage(web: SandboxWeb, host: string, path: string, body: string): Promise<void> {
  const page = JSON.stringify({ host, path, status: 200, headers: { 'content-type': 'text/plain' }, body });
  const { status } = await fetch(`${web.controlUrl}/pages`, { method: 'POST', body: page });
  if (status !== 200) throw new Error(`the host's page could not be set: ${status}`);
}

function expectThat(holds: boolean, sentence: string, answer: PostAnswer): void {
  if (!holds) throw new Error(`verifying a host went wrong: ${sentence} (${answer.status} ${JSON.stringify(answer.body)})`);
}
