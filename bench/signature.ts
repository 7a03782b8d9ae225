import { recoverTypedDataAddress } from 'viem';
import { baseSepoliaNetwork } from '../chain/presets.ts';
import { recoverPayer } from '../chain/signature/signature.ts';
import { alternate } from './harness/alternate.ts';
import type { Bench } from './harness/bench.ts';
import type { Turn } from './harness/cpu.ts';
import { LIBRARY, withCpu } from './harness/cpu.ts';
import { makeFigure } from './harness/figure.ts';
import type { SignedTransfer } from './settling/buyers.ts';
import { newBuyer, signTransfer } from './settling/buyers.ts';

const NETWORK = baseSepoliaNetwork({ rpcUrls: ['http://127.0.0.1:1'], router: `0x${'1'.repeat(40)}` });
const TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

/** Who signed an authorization: `recoverPayer` beside viem's general recovery of typed data. */
export const signatureBench: Bench = {
  id: 'signature',
  title: 'Signatures',
  run: async ({ quick }) => {
    const transfers = Array.from({ length: quick ? 50 : 2_000 }, () => {
      return signTransfer(NETWORK, newBuyer(), `0x${'2'.repeat(40)}`, 1_000n);
    });
    const few = transfers.slice(0, quick ? 10 : 400);
    const ours = (): Promise<Turn> =>
      perSecond(transfers, async (one) => recoverPayer(NETWORK, one.authorization, one.signature));
    const reference = (): Promise<Turn> => perSecond(few, async (one) => (await recoverWithViem(one)).toLowerCase());
    if (!quick) for (const side of [ours, reference]) await side();
    return [
      makeFigure({
        id: 'signature.recover',
        what: 'The payer of an EIP-3009 authorization',
        unit: 'checks/s',
        referenceName: 'viem recoverTypedDataAddress',
        rounds: await alternate({ rounds: quick ? 1 : 7, sides: { ours, reference } }),
        target: { atLeast: 15 },
        notes: 'one thread; each signature of another key, high s and odd v refused besides',
      }),
    ];
  },
};

function recoverWithViem({ authorization, signature }: SignedTransfer): Promise<string> {
  const { chainId, asset, assetName: name, assetVersion: version } = NETWORK;
  return recoverTypedDataAddress({
    domain: { name, version, chainId, verifyingContract: asset },
    types: TYPES,
    primaryType: 'TransferWithAuthorization',
    message: authorization,
    signature,
  });
}

/** Checks a second; throws when one does not find the signer. */
function perSecond(transfers: readonly SignedTransfer[], check: (one: SignedTransfer) => Promise<string | null>): Promise<Turn> {
  return withCpu(LIBRARY, async () => {
    const startedAt = performance.now();
    for (const one of transfers) if ((await check(one)) !== one.authorization.from) throw new Error('the signer was not found');
    return { value: (transfers.length * 1000) / (performance.now() - startedAt), operations: transfers.length };
  });
}
