import { encodeErrorResult, parseAbi, toFunctionSelector } from 'viem';
import { expect, test } from 'vitest';
import { FAILURE_REASONS } from '../../modules/kernel/errors.ts';
import { diagnoseRevert, reasonOf } from '../../modules/kernel/x402/failure.ts';
import { routerAbi } from '../../platform/chain/calls/abi.ts';
import { splitAbi } from '../support/abi.ts';

test.each([
  ['insufficient_funds', 'invalid_exact_evm_insufficient_balance'],
  ['insufficient_funds', 'invalid_batch_settlement_evm_insufficient_balance'],
  ['authorization_invalid', 'invalid_exact_evm_signature'],
  ['authorization_invalid', 'invalid_exact_evm_payload_signature'],
  ['authorization_invalid', 'invalid_exact_evm_payload_recipient_mismatch'],
  ['authorization_invalid', 'invalid_exact_evm_recipient_mismatch'],
  ['authorization_invalid', 'invalid_exact_evm_payload_authorization_valid_before'],
  ['authorization_invalid', 'invalid_exact_evm_payload_authorization_value_mismatch'],
  ['authorization_invalid', 'invalid_exact_evm_nonce_already_used'],
  ['authorization_invalid', 'invalid_exact_evm_token_name_mismatch'],
  ['authorization_invalid', 'permit2_deadline_expired'],
  ['authorization_invalid', 'invalid_permit2_spender'],
  ['authorization_invalid', 'eip2612_spender_not_permit2'],
  ['authorization_invalid', 'erc20_approval_tx_wrong_spender'],
  ['authorization_invalid', 'No matching payment requirements'],
  ['malformed_payment', 'invalid_payload'],
  ['malformed_payment', 'invalid_exact_evm_failed_to_parse_signature'],
  ['malformed_payment', 'invalid_batch_settlement_evm_payload_type'],
  ['malformed_payment', 'invalid_eip2612_extension_format'],
  ['network_unsupported', 'invalid_exact_evm_network_mismatch'],
  ['network_unsupported', 'invalid_upto_evm_network_mismatch'],
  ['network_unsupported', 'invalid_upto_evm_scheme'],
  ['network_unsupported', 'permit2_proxy_not_deployed'],
  ['network_unsupported', 'No facilitator registered for scheme exact'],
  ['settlement_failed', 'invalid_exact_evm_transaction_simulation_failed'],
  ['settlement_failed', 'permit2_simulation_failed'],
  ['settlement_failed', 'invalid_exact_evm_transfer_event_mismatch'],
  ['settlement_failed', 'erc20_approval_tx_failed'],
  ['settlement_failed', 'unexpected_settle_error'],
  ['settlement_failed', 'a code nobody has heard of'],
  ['settlement_failed', ''],
])('%s is our reason for %s', (reason, raw) => {
  expect(reasonOf(raw)).toBe(reason);
});

test('our own reasons map to themselves', () => {
  for (const reason of FAILURE_REASONS) expect(reasonOf(reason)).toBe(reason);
});

const text = (message: string) =>
  encodeErrorResult({ abi: parseAbi(['error Error(string)']), errorName: 'Error', args: [message] });

test.each([
  ['insufficient_funds', 'ERC20: transfer amount exceeds balance'],
  ['authorization_invalid', 'FiatTokenV2: authorization is used or canceled'],
  ['authorization_invalid', 'FiatTokenV2: authorization is expired'],
  ['authorization_invalid', 'FiatTokenV2: authorization is not yet valid'],
  ['authorization_invalid', 'FiatTokenV2: invalid signature'],
  ['settlement_failed', 'Blacklistable: account is blacklisted'],
  ['settlement_failed', 'Pausable: paused'],
  ['settlement_failed', 'something else'],
])('%s is the reason of a revert with "%s", as data and as text', (reason, message) => {
  expect(diagnoseRevert(text(message))).toEqual({ reason, raw: message });
  expect(diagnoseRevert(message)).toEqual({ reason, raw: message });
});

test('custom errors are named, whole or as the four bytes that an event keeps', () => {
  const errors = parseAbi([
    'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
    'error PayerIsPayTo()',
  ]);
  const payer = `0x${'11'.repeat(20)}` as const;
  const data = encodeErrorResult({ abi: errors, errorName: 'ERC20InsufficientBalance', args: [payer, 1n, 2n] });
  expect(diagnoseRevert(data)).toEqual({ reason: 'insufficient_funds', raw: 'ERC20InsufficientBalance' });
  expect(diagnoseRevert(data.slice(0, 10))).toEqual({ reason: 'insufficient_funds', raw: 'ERC20InsufficientBalance' });
  expect(diagnoseRevert(encodeErrorResult({ abi: errors, errorName: 'PayerIsPayTo' }))).toMatchObject({ raw: 'PayerIsPayTo' });
  expect(diagnoseRevert('0x12345678')).toEqual({ reason: 'settlement_failed', raw: '0x12345678' });
});

test('every error of router and split without arguments has the selector the table knows, or is ours to see', () => {
  for (const item of [...routerAbi, ...splitAbi]) {
    if (item.type !== 'error') continue;
    const selector = toFunctionSelector(`${item.name}(${item.inputs.map(({ type }) => type).join(',')})`);
    const { raw } = diagnoseRevert(selector);
    expect([item.name, selector]).toContain(raw);
  }
});

test('a revert without data, and data that lies about its length, are settlement_failed and never throw', () => {
  for (const revert of ['', '0x', '0x00000000', '0x08c379a0', `0x08c379a0${'ff'.repeat(64)}`, `0x08c379a0${'ff'.repeat(100)}`]) {
    expect(diagnoseRevert(revert).reason).toBe('settlement_failed');
  }
});

test('what a token writes into its revert is cut to 200 printable characters', () => {
  const { raw } = diagnoseRevert(text(`a\u0000\n${'x'.repeat(500)}`));
  expect(raw).toMatch(/^ax+$/);
  expect(raw.length).toBeLessThanOrEqual(200);
});
