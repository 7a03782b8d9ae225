/** The settlement service, by its REST: licences over many pages, and the keys that receipts are signed with. */
import { bodyOf } from '../body.ts';
import { AgentError } from '../errors.ts';
import type { NextStep } from '../nextStep.ts';
import { nextStepOf, saysOf } from '../nextStep.ts';
import type { Wallet } from '../paying/client.ts';
import { addressOf } from '../paying/purchase.ts';

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 1024 * 1024;

/** A service, and how it is asked. */
export interface Service {
  readonly url: string;
  readonly send: typeof fetch;
}

/** The service at an address; `wrong_usage` where none is named. */
export function serviceAt(url: string | undefined, send: typeof fetch = fetch): Service {
  if (!url) throw new AgentError('wrong_usage', 'Which service is it? Set CONTENT_SETTLEMENT_SERVICE to its address.');
  return { url: addressOf(url).href.replace(/\/+$/, ''), send };
}

/** A wallet, and what it signed to pay in this call; null: nothing. */
interface Paying {
  readonly address: string;
  readonly amountMicro: () => bigint | null;
}

/** What a call answers, as JSON of at most 1 MB; `service_failed` for anything but 2xx, with the `next` that the service says. */
export async function askService(
  service: Service,
  path: string,
  asked: {
    readonly body?: unknown;
    readonly token?: string;
    readonly send?: typeof fetch;
    /** What the wallet pays with: what a refusal says of money is about that. */
    readonly paying?: Paying;
  } = {},
): Promise<Readonly<Record<string, unknown>>> {
  const { body, token, send = service.send } = asked;
  const response = await send(`${service.url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: unknown) => {
    if (error instanceof AgentError) throw error;
    throw new AgentError('service_failed', 'The service does not answer.');
  });
  const value = await jsonOf(response);
  if (response.ok) return value;
  const says = typeof value['error'] === 'string' ? value['error'].replace(/[^\x20-\x7e]/g, ' ').slice(0, 300) : '';
  const told = nextStepOf(value);
  const next = told && asked.paying ? fundingOf(told, asked.paying) : told;
  const sentence = `The service answers ${response.status}${says === '' ? '' : `: ${says}`}.${next ? saysOf(next) : ''}`;
  throw new AgentError('service_failed', sentence, { status: response.status, ...(next ? { next } : {}) });
}

/** What the wallet lacks, by what it signed: whatever the service says is needed, nobody is told to send more than that. */
function fundingOf({ needsMicro, ...told }: NextStep, { address, amountMicro }: Paying): NextStep {
  if (told.action !== 'fund') return { ...told, ...(needsMicro === undefined ? {} : { needsMicro }) };
  const signed = amountMicro();
  return { ...told, address, ...(signed === null ? {} : { needsMicro: Number(signed) }) };
}

async function jsonOf(response: Response): Promise<Readonly<Record<string, unknown>>> {
  const body = await bodyOf(response, MAX_BYTES);
  if (body === null) throw new AgentError('service_failed', 'The service answers more than 1 MB.');
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    if (typeof value === 'object' && value !== null) return value as Readonly<Record<string, unknown>>;
  } catch {
    // Said below.
  }
  throw new AgentError('service_failed', `The service answers ${response.status} with something that is not JSON.`);
}

/** A token of the wallet's account, good for an hour. Signs a message of the service itself alone. */
export async function signIn(service: Service, { signer }: Wallet): Promise<string> {
  const { message, domain } = await askService(service, `/_svc/accounts/challenge?address=${signer.address}`);
  const { host, protocol } = new URL(service.url);
  // What another service gave out would sign us in there; a service on this machine names the address it will have.
  const isItsOwn = domain === host || protocol === 'http:';
  if (
    typeof message !== 'string' ||
    typeof domain !== 'string' ||
    !isItsOwn ||
    !message.startsWith(`${domain} wants you to sign in`)
  )
    throw new AgentError('service_failed', 'The service asks for a signature that is not for itself.');
  const { access_token: token } = await askService(service, '/_svc/accounts/token', {
    body: { message, signature: await signer.signMessage({ message }) },
  });
  if (typeof token !== 'string') throw new AgentError('service_failed', 'The service gives no token.');
  return token;
}
