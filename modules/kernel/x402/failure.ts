import type { FailureReason } from '../errors.ts';

/**
 * Turns what others say went wrong into our five reasons: the x402 reference's codes, a facilitator's, and reverts of the
 * token and of our router. The raw text is always stored beside the reason.
 */

const TABLE: Readonly<Record<FailureReason, readonly string[]>> = {
  insufficient_funds: [
    'insufficient_funds',
    'invalid_exact_evm_insufficient_balance',
    'permit2_insufficient_balance',
    'invalid_batch_settlement_evm_insufficient_balance',
  ],
  authorization_invalid: [
    'authorization_invalid',
    'invalid_payment',
    'payment_expired',
    'duplicate_settlement',
    'eip6492_factory_not_allowed',
    'extension_echo_mismatch',
    'no_matching_payment_requirements',
    'no matching payment requirements',
    'invalid_exact_evm_nonce_already_used',
    'invalid_exact_evm_payload_undeployed_smart_wallet',
    'invalid_exact_evm_payload_authorization_valid_before',
    'invalid_exact_evm_payload_authorization_valid_after',
    'invalid_exact_evm_payload_authorization_value',
    'invalid_exact_evm_payload_authorization_value_too_low',
    'invalid_exact_evm_payload_authorization_typed_data_message',
    'invalid_exact_evm_payload_signature_address',
    'invalid_exact_evm_payload_authorization_from_address_kyt',
    'invalid_exact_evm_payload_authorization_to_address_kyt',
    'invalid_exact_evm_authorization_value',
  ],
  malformed_payment: [
    'malformed_payment',
    'invalid_payload',
    'invalid_x402_version',
    'unsupported_payload_type',
    'invalid_exact_evm_failed_to_parse_signature',
    'invalid_erc20_approval_extension_format',
    'erc20_approval_tx_parse_failed',
    'erc20_approval_tx_invalid_calldata',
    'invalid_eip2612_extension_format',
  ],
  network_unsupported: [
    'network_unsupported',
    'invalid_network',
    'invalid_scheme',
    'unsupported_scheme',
    'invalid_exact_evm_network_mismatch',
    'invalid_exact_evm_scheme',
    'invalid_exact_evm_eip3009_not_supported',
    'asset_not_deployed_contract',
    'asset_not_supported',
    'permit2_proxy_not_deployed',
  ],
  settlement_failed: [
    'settlement_failed',
    'invalid_payment_requirements',
    'invalid_exact_evm_missing_eip712_domain',
    'invalid_exact_evm_transaction_failed',
    'invalid_exact_evm_transaction_simulation_failed',
    'permit2_simulation_failed',
    'invalid_exact_evm_transfer_event_mismatch',
    'invalid_transaction_state',
    'smart_wallet_deployment_failed',
    'erc20_approval_tx_failed',
    'erc20_approval_broadcast_failed',
    'unexpected_verify_error',
    'unexpected_settle_error',
  ],
};

const BY_CODE = new Map(
  Object.entries(TABLE).flatMap(([reason, codes]) => codes.map((code) => [code, reason as FailureReason] as const)),
);

/** In order: the first that fits wins. */
const RULES: readonly (readonly [RegExp, FailureReason])[] = [
  [/insufficient_(?:balance|funds)$/, 'insufficient_funds'],
  [/_network(?:_mismatch|_unsupported)?$|_scheme$|^no facilitator registered/, 'network_unsupported'],
  [/_(?:payload_type|format)$|failed_to_parse/, 'malformed_payment'],
  [/(?:_simulation_failed|_transaction_failed|_tx_failed)$/, 'settlement_failed'],
  [/^(?:invalid_)?permit2_|^eip2612_|^erc20_approval_/, 'authorization_invalid'],
  [/_mismatch$|_signature$|expired$|nonce|_valid_(?:before|after)$|_kyt$/, 'authorization_invalid'],
];

/**
 * Our reason for a code of the reference or of another facilitator: table, then suffix rule, default `settlement_failed`
 * (the lists of others grow). `settlement_pending` is no failure: ask before calling.
 */
export function reasonOf(raw: string): FailureReason {
  const code = raw.trim().toLowerCase();
  const known = BY_CODE.get(code);
  if (known) return known;
  if (code.startsWith('no matching payment requirements')) return 'authorization_invalid';
  return RULES.find(([pattern]) => pattern.test(code))?.[1] ?? 'settlement_failed';
}

const ERROR_STRING = '0x08c379a0';

/** Custom errors by selector: of OpenZeppelin's token, of EIP-3009 tokens, of our router. Names, as stored. */
const ERRORS_BY_SELECTOR: Readonly<Record<string, readonly [string, FailureReason]>> = {
  '0xe450d38c': ['ERC20InsufficientBalance', 'insufficient_funds'],
  '0xf4d678b8': ['InsufficientBalance', 'insufficient_funds'],
  '0xec442f05': ['ERC20InvalidReceiver', 'settlement_failed'],
  '0x8baa579f': ['InvalidSignature', 'authorization_invalid'],
  '0xf645eedf': ['ECDSAInvalidSignature', 'authorization_invalid'],
  '0xd78bce0c': ['ECDSAInvalidSignatureS', 'authorization_invalid'],
  '0xfce698f7': ['ECDSAInvalidSignatureLength', 'authorization_invalid'],
  '0xe44287cd': ['PayerIsPayTo', 'authorization_invalid'],
  '0x5274afe7': ['SafeERC20FailedOperation', 'settlement_failed'],
  '0xdd629f86': ['NotEnoughGas', 'settlement_failed'],
};

/** Revert texts of USDC and its relatives. A blocked party and a paused token are not the authorization's fault. */
const TEXTS: readonly (readonly [RegExp, FailureReason])[] = [
  [/blacklist|blocked|frozen|paused/i, 'settlement_failed'],
  [/exceeds balance|insufficient (?:balance|funds)/i, 'insufficient_funds'],
  [
    /authorization is|invalid signature|ecrecover|used or canceled|expired|not yet valid|caller must be the payee/i,
    'authorization_invalid',
  ],
];

/**
 * Reason and readable raw text of a revert: its data (`0x…`), the 4 bytes an event of our router kept, or its text. What is
 * not known, and what is empty (out of gas), is `settlement_failed`.
 */
export function diagnoseRevert(revert: string): { readonly reason: FailureReason; readonly raw: string } {
  if (!/^0x[0-9a-fA-F]*$/.test(revert)) return diagnoseText(revert);
  const data = revert.toLowerCase();
  if (data.length < 10 || /^0x0*$/.test(data)) return { reason: 'settlement_failed', raw: 'reverted without data' };
  const selector = data.slice(0, 10);
  if (selector === ERROR_STRING && data.length > 138) return diagnoseText(errorString(data));
  const known = ERRORS_BY_SELECTOR[selector];
  return known ? { raw: known[0], reason: known[1] } : { raw: selector, reason: 'settlement_failed' };
}

function diagnoseText(text: string): { readonly reason: FailureReason; readonly raw: string } {
  return { raw: text, reason: TEXTS.find(([pattern]) => pattern.test(text))?.[1] ?? 'settlement_failed' };
}

/** The text of `Error(string)` data, printable characters only, at most 200 (a token chooses it freely). */
function errorString(data: string): string {
  const length = Number(BigInt(`0x${data.slice(74, 138)}`) % 1_000n);
  const bytes = (data.slice(138, 138 + 2 * length).match(/../g) ?? []).map((byte) => Number.parseInt(byte, 16));
  return String.fromCharCode(...bytes.filter((byte) => byte >= 0x20 && byte < 0x7f)).slice(0, 200);
}
