import { z } from 'zod';
import type { Address } from '../../modules/kernel/money/legs.ts';
import type { Network } from '../../platform/chain/network.ts';
import { PRESETS, presetNetwork } from '../../platform/chain/presets.ts';
import { json } from './parsers.ts';

const address = z
  .string('must be an address')
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be a 0x-prefixed 20-byte address')
  .transform((value) => value.toLowerCase() as Address);
const wei = z
  .string('must be a string of digits')
  .regex(/^\d{1,30}$/, 'must be a whole number of wei, as a string')
  .transform(BigInt);
const micro = z
  .string('must be a string of digits')
  .regex(/^\d{1,18}$/, 'must be a whole number of micro-USDC, as a string')
  .transform(BigInt);
const rpcUrls = z.array(z.url({ protocol: /^https?$/, error: 'must be an http or https URL' })).min(1, 'needs at least one URL');
const confirmations = z
  .array(
    z.strictObject({
      belowMicro: z.union([
        z
          .string()
          .regex(/^\d{1,18}$/)
          .transform(BigInt),
        z.null(),
      ]),
      blocks: z.int().min(1).max(1000),
    }),
  )
  .min(1);

/** What every network may set over its defaults. */
const settings = {
  rpcUrls,
  router: address,
  asset: z.exactOptional(address),
  assetName: z.exactOptional(z.string().min(1)),
  assetVersion: z.exactOptional(z.string().min(1)),
  blockTimeMs: z.exactOptional(z.int().min(1).max(600_000)),
  confirmations: z.exactOptional(confirmations),
  maxFeePerGasWei: z.exactOptional(wei),
  priorityFeePerGasWei: z.exactOptional(wei),
  nativePriceMicro: z.exactOptional(micro),
  secondSourceFromMicro: z.exactOptional(micro),
  finality: z.exactOptional(
    z.union([z.enum(['safe', 'finalized']), z.int().min(1).max(10_000)], 'must be safe, finalized or a number of blocks'),
  ),
  dataFeeWeiPerByte: z.exactOptional(wei),
  blockNumberFrom: z.exactOptional(z.enum(['multicall3', 'arbsys'], 'must be multicall3 or arbsys')),
  settler: z.exactOptional(z.enum(['relayer', 'facilitator'], 'must be relayer or facilitator')),
};

const preset = z.strictObject({ id: z.string(), ...settings });
const complete = z
  .strictObject({
    ...settings,
    id: z.string().regex(/^eip155:[1-9]\d{0,15}$/, 'must be a CAIP-2 id such as eip155:8453'),
    v1Name: z.union([z.string().min(1), z.null()]),
    asset: address,
    assetName: z.string().min(1),
    assetVersion: z.string().min(1),
    blockTimeMs: z.int().min(1).max(600_000),
    confirmations,
    maxFeePerGasWei: wei,
    priorityFeePerGasWei: wei,
  })
  .transform((given): Network => ({ ...given, chainId: Number(given.id.slice('eip155:'.length)) }));

/** Picks the shape by the id, so that an error speaks of the shape that was meant. */
const network = z
  .looseObject({ id: z.string('must be a CAIP-2 id') }, 'must be an object')
  .transform((value, context): Network => {
    const shape = Object.hasOwn(PRESETS, value.id) ? preset.transform(({ id, ...given }) => presetNetwork(id, given)) : complete;
    const read = shape.safeParse(value);
    if (read.success) return read.data;
    for (const { message, path } of read.error.issues) context.addIssue({ code: 'custom', message, path: [...path] });
    return z.NEVER;
  });

/**
 * The networks we settle on, the cheapest first: offers show them in this order. Those with a preset need only `id`, `rpcUrls` and
 * `router`; any other one states everything. Each may stand once.
 */
export const networks: z.ZodType<readonly Network[], string> = json(
  z
    .array(network, 'must be a list of networks')
    .min(1, 'needs at least one network')
    .refine((list) => new Set(list.map(({ id }) => id)).size === list.length, 'a network stands twice'),
);
