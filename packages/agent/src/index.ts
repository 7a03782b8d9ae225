/** `@content-settlement/agent`: reads paid pages within an envelope, with a key that stays on this machine. */
import { join } from 'node:path';
import type { Envelope } from './envelope/envelope.ts';
import { readEnvelope } from './envelope/file.ts';
import { homeOf } from './home.ts';
import { signerOf, signerOfFile } from './keys.ts';
import { openLedger } from './ledger/file.ts';
import type { Wallet } from './paying/client.ts';
import type { PayingOptions } from './paying/fetch.ts';
import { payingWith } from './paying/fetch.ts';

export type { Envelope } from './envelope/envelope.ts';
// biome-ignore lint/performance/noBarrelFile: the one entry of the package
export { parseEnvelope } from './envelope/envelope.ts';
export type { AgentErrorCode } from './errors.ts';
export { AgentError } from './errors.ts';

/** Where keys, limits and the ledger are. Each is in the folder of this machine's owner unless told. */
export interface Budget extends PayingOptions {
  /** Folder of `key`, `envelope.json` and `ledger.jsonl`; `~/.content-settlement` unless told. */
  readonly home?: string;
  /** The key in hex, instead of the file `key`. */
  readonly privateKey?: string;
  /** Limits, instead of the file `envelope.json`; in micro-USDC. */
  readonly envelope?: Envelope;
  readonly now?: () => number;
}

/**
 * A `fetch` that pays within a budget, over `@x402/fetch`. All processes with the same `home` share one ledger, and never spend more than
 * the envelope together. See docs/agent-tool.md for its errors.
 */
export function payingFetch(budget: Budget = {}): typeof fetch {
  return payingWith(openWallet(budget), budget);
}

/** The wallet of a budget. Throws `no_key` or `key_unreadable`. */
export function openWallet({ home = homeOf({}), privateKey, envelope, now = Date.now }: Budget): Wallet {
  return {
    signer: privateKey === undefined ? signerOfFile(join(home, 'key')) : signerOf(privateKey),
    ledger: openLedger(join(home, 'ledger.jsonl')),
    envelope: () => envelope ?? readEnvelope(join(home, 'envelope.json')),
    now,
  };
}
