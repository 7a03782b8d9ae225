/** What a refusal says to do next. A stranger writes it: known members in known shapes are passed on, and nothing else. */
import { z } from 'zod';
import { bodyOf } from './body.ts';
import { usdcOf } from './money.ts';

const micro = z.int().min(0).optional().catch(undefined);
const hex = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .optional()
  .catch(undefined);
const seconds = z
  .string()
  .regex(/^\d{1,20}$/)
  .optional()
  .catch(undefined);
const word = z.string().regex(/^[\w .-]{1,40}$/);

const shape = z.object({
  action: z.string().regex(/^[a-z_]{1,40}$/),
  needsMicro: micro,
  hasMicro: micro,
  network: z
    .string()
    .regex(/^[-a-z0-9]{3,8}:[-\w]{1,32}$/)
    .optional()
    .catch(undefined),
  asset: hex,
  seconds: micro,
  serverTime: micro,
  validAfter: seconds,
  validBefore: seconds,
  domain: z
    .object({ name: word, version: word, chainId: z.int().min(0), verifyingContract: z.string().regex(/^0x[0-9a-fA-F]{40}$/) })
    .optional()
    .catch(undefined),
});

/** `action` says what to do; the other members are what it takes, as docs/integrating-buyer.md lists them. Amounts in micro-USDC. */
export type NextStep = z.infer<typeof shape> & {
  /** The wallet that lacks money: our own, whatever the refusal names. */
  readonly address?: string;
};

const MAX_BYTES = 65_536;

/** The next step in the body of a refusal; null where it has none. */
export function nextStepOf(body: unknown): NextStep | null {
  const read = shape.safeParse((body as { readonly next?: unknown } | null)?.next);
  return read.success ? (JSON.parse(JSON.stringify(read.data)) as NextStep) : null;
}

/** The JSON of a refusal, of at most 64 KB; null for anything else. */
export async function refusalBodyOf(response: Response): Promise<unknown> {
  try {
    const body = await bodyOf(response, MAX_BYTES);
    return body && JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
}

/** A sentence for the steps that somebody at this machine takes; empty for the others. Begins with a space. */
export function saysOf({ action, address, network, needsMicro, hasMicro = 0, seconds, serverTime }: NextStep): string {
  if (action === 'wait' && seconds !== undefined) return ` Ask again in ${seconds} s.`;
  if (action === 'fix_clock' && serverTime !== undefined) return ` The clock of the service says ${clockOf(serverTime)}.`;
  if (action !== 'fund' || address === undefined) return '';
  const where = `${network === undefined ? '' : ` on ${network}`} to ${address}`;
  if (needsMicro === undefined) return ` Send USDC${where}.`;
  const lacksMicro = needsMicro > hasMicro ? needsMicro - hasMicro : needsMicro;
  return ` Send at least ${usdcOf(BigInt(lacksMicro))} USDC${where}.`;
}

function clockOf(epochS: number): string {
  const at = new Date(epochS * 1_000);
  return Number.isNaN(at.getTime()) ? `${epochS}` : at.toISOString();
}
