/**
 * Is the signature the payer's? A key's is recovered locally, without any RPC; otherwise the payer may be a wallet with code
 * (ERC-1271), which is asked under a gas cap, because it is foreign code (safety 9, 12).
 */
import { decodeFunctionResult, encodeFunctionData, parseAbi } from 'viem/utils';
import type { Address } from '../../../modules/kernel/money/legs.ts';
import type { PaymentRefusal } from '../../../modules/kernel/x402/authorization.ts';
import type { ParsedPayment } from '../../../modules/kernel/x402/payload.ts';
import { findAccountsWithCode } from '../calls/codeSize.ts';
import { readCall } from '../calls/multicall.ts';
import { CONTRACT_AUTH_GAS, transferGas } from '../gas/gas.ts';
import type { Network } from '../network.ts';
import { askEach, isDecided, QUORUM } from '../rpc/quorum.ts';
import type { Rpc } from '../rpc/rpc.ts';
import { chainUnavailable, hasOthers, isEvmRefusal, quantity } from '../rpc/rpc.ts';
import { authorizationDigest, recoverPayer } from './signature.ts';

/** How a payment is sent: `plain` keys share batches; payers with code have batches and a gas cap of their own. */
export type PayerKind = 'plain' | 'contract';

/** The outcome of checking one signature. */
export type SignatureCheck = { readonly ok: true; readonly payerKind: PayerKind } | ({ readonly ok: false } & PaymentRefusal);

const walletAbi = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)']);
const VALID = '0x1626ba7e';
const RAW_SIGNATURE = 'invalid_exact_evm_signature';

/**
 * Checks the signature of a payment whose shape and terms are right. ERC-6492 is refused (off by decision). An EIP-7702
 * account that signed with its own key is `plain` here; the precheck sees its code and corrects the kind. `hasCode`: who asks
 * for many callers at once. Throws ServiceError `chain_unavailable` in an outage.
 */
export async function checkSignature(
  rpc: Rpc,
  network: Network,
  payment: Pick<ParsedPayment, 'authorization' | 'signature' | 'erc6492'>,
  hasCode: (rpc: Rpc, account: Address) => Promise<boolean> = asksAlone,
): Promise<SignatureCheck> {
  const { authorization, signature } = payment;
  if (payment.erc6492) return refused('eip6492_factory_not_allowed', 'wallets that are not deployed yet cannot pay');
  if (recoverPayer(network, authorization, signature) === authorization.from) return { ok: true, payerKind: 'plain' };
  if (!(await hasCode(rpc, authorization.from)))
    return refusedBy(network, "the signature is not the payer's under the token's EIP-712 domain");
  return (await walletAgrees(rpc, network, payment))
    ? { ok: true, payerKind: 'contract' }
    : refusedBy(network, "the payer's wallet does not confirm the signature under the token's EIP-712 domain");
}

/**
 * The same of a payment that we hold: its answer may be a page that was paid for, and nothing on chain proves this signature. Where there are
 * several URLs, two nodes must confirm a wallet of code. Throws `chain_unavailable` while the one that does is the only one that answers, too.
 */
export async function checkSignatureByTwo(
  rpc: Rpc,
  network: Network,
  payment: Pick<ParsedPayment, 'authorization' | 'signature' | 'erc6492'>,
): Promise<SignatureCheck> {
  if (!hasOthers(rpc)) return checkSignature(rpc, network, payment);
  const isEnough = (soFar: readonly SignatureCheck[]): boolean => isDecided(soFar.filter(({ ok }) => ok).length, soFar.length);
  const checks = await askEach(rpc, (node) => checkSignature(node, network, payment), isEnough);
  const [refusal] = checks.filter(({ ok }) => !ok);
  const confirmed = checks.filter(({ ok }) => ok);
  if (confirmed.length >= QUORUM && confirmed[0]) return confirmed[0];
  if (!refusal) throw chainUnavailable(rpc.networkId, 'a second node');
  return refusal;
}

async function asksAlone(rpc: Rpc, account: Address): Promise<boolean> {
  return (await findAccountsWithCode(rpc, [account])).has(account);
}

async function walletAgrees(
  rpc: Rpc,
  network: Network,
  { authorization, signature }: Pick<ParsedPayment, 'authorization' | 'signature'>,
): Promise<boolean> {
  const hash = `0x${Buffer.from(authorizationDigest(network, authorization)).toString('hex')}` as const;
  const data = encodeFunctionData({ abi: walletAbi, functionName: 'isValidSignature', args: [hash, signature] });
  try {
    const answer = await readCall(rpc, { to: authorization.from, data, gas: quantity(transferGas(CONTRACT_AUTH_GAS, data)) });
    // A bytes4 is the first 4 bytes of one whole word: anything else is not a yes.
    return (
      answer.length >= 66 && decodeFunctionResult({ abi: walletAbi, functionName: 'isValidSignature', data: answer }) === VALID
    );
  } catch (error) {
    if (isEvmRefusal(error) || (error instanceof Error && error.name.startsWith('Abi'))) return false;
    throw error;
  }
}

function refused(raw: string, sentence: string): SignatureCheck {
  return { ok: false, reason: 'authorization_invalid', raw, sentence };
}

/** Most signatures that do not fit were made for another domain: for the token of another chain, or by another name of it. */
function refusedBy({ assetName: name, assetVersion: version, chainId, asset }: Network, sentence: string): SignatureCheck {
  const domain = { name, version, chainId: Number(chainId), verifyingContract: asset };
  return { ok: false, reason: 'authorization_invalid', raw: RAW_SIGNATURE, sentence, next: { action: 'fix_domain', domain } };
}
