/**
 * The reference in a process of its own: the official facilitator with one key. Arguments: one JSON of `OfficialInput`. Says `ready`, then
 * takes lines of encoded transfers and answers each with the milliseconds of every payment; ends with its parent.
 */
import { createInterface } from 'node:readline';
import type { Hex } from '../../modules/kernel/x402/payload.ts';
import { baseSepoliaNetwork } from '../../platform/chain/presets.ts';
import { decodeTransfer } from './buyers.ts';
import { createOfficial, settleOfficially, workThrough } from './official.ts';

/** What the process is told. */
export interface OfficialInput {
  readonly rpcUrl: string;
  readonly router: Hex;
  readonly relayerKey: Hex;
  /** Payments that it has on their way at once. */
  readonly parallel: number;
}

const { rpcUrl, router, relayerKey, parallel } = JSON.parse(process.argv[2] ?? '{}') as OfficialInput;
const network = baseSepoliaNetwork({ rpcUrls: [rpcUrl], router });
const official = createOfficial(rpcUrl, relayerKey);
process.stdin.once('close', () => process.exit(0));
process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  const transfers = (JSON.parse(line) as string[]).map(decodeTransfer);
  const times = await workThrough(transfers, parallel, (transfer) => settleOfficially(official, network, transfer));
  process.stdout.write(`${JSON.stringify(times)}\n`);
}
