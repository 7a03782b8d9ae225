import { createHash } from 'node:crypto';
import type { Sql } from '../../../db/database.ts';
import type { Networks } from '../../../platform/chain/network.ts';
import type { LicenceSigner } from '../../../platform/tokens/jws.ts';
import { ServiceError } from '../../kernel/errors.ts';
import type { EvidenceRef } from '../../kernel/payment/state.ts';
import { didOf, publicResourceOf, recordUrl } from '../../kernel/receipt.ts';
import { settlementRefKind } from '../../webhooks/rules/event.ts';
import type { PaymentRecord, RecordTransfer, SoldFacts } from '../rules/record.ts';
import { recordOf } from '../rules/record.ts';
import type { PublicPayment } from '../store/records.ts';
import { findPublicPayment, listTransfersBeside } from '../store/records.ts';

/** What reading records needs; `database` has connections that no payment waits for. */
export interface RecordDeps {
  readonly database: Sql;
  readonly networks: Pick<Networks, 'find'>;
  readonly baseUrl: string;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * The public record of a payment; of one that moved nothing, that of the payment which paid for it. Throws not_found, the same for an id
 * that nobody has, for a payment that is not settled or was a test's, and where the owner shows none: a guess learns nothing.
 * Throws database_unavailable.
 */
export async function readRecord(deps: RecordDeps, id: string): Promise<PaymentRecord> {
  const found = await findShownPayment(deps.database, id);
  const { payment } = found;
  const evidence = transactionOf(payment);
  const transfers = evidence ? await transfersOf(deps, found, evidence) : [];
  const network = deps.networks.find(payment.network);
  const sold = soldOf(deps, found);
  const { payer: from, payTo: to, amountMicro: value, validAfter, validBefore, nonce, signature } = payment;
  return recordOf(
    {
      receipt: {
        version: 1,
        network: payment.network,
        resourceUrl: sold.resourceUrl,
        payer: payment.payer,
        issuedAt: Math.floor((payment.decidedAt ?? payment.at).getTime() / 1000),
        ...(evidence ? { transaction: evidence.txHash } : {}),
      },
      id: payment.paymentId,
      url: recordUrl(deps.baseUrl, payment.paymentId),
      isFinal: payment.facts.state === 'final',
      sold,
      transfers,
      authorization: { from, to, value, validAfter, validBefore, nonce, signature },
      domain: network && { name: network.assetName, version: network.assetVersion },
      answer: found.answer,
    },
    (text) => createHash('sha256').update(text).digest('hex'),
  );
}

/** The payment of a record; throws as `readRecord`. */
export async function findShownPayment(sql: Sql, id: string): Promise<PublicPayment> {
  const found = UUID.test(id) ? await findPublicPayment(sql, id) : null;
  if (!found) throw new ServiceError('not_found', 'there is no receipt with this id');
  return found;
}

/** Where a payment is on chain; null where its rail names a transfer of its own in place of a transaction. */
function transactionOf({ facts: { evidence }, mode }: PublicPayment['payment']): EvidenceRef | null {
  return evidence && settlementRefKind(evidence.txHash, mode) === 'txHash' ? evidence : null;
}

async function transfersOf(
  { database }: RecordDeps,
  { payment: { network, asset, payTo, legWords, decidedAt, at }, blockTime }: PublicPayment,
  { txHash, logIndex: own }: EvidenceRef,
): Promise<readonly RecordTransfer[]> {
  const place = {
    network,
    txHash,
    asset,
    position: own,
    split: legWords === null ? null : payTo,
    at: blockTime ?? decidedAt ?? at,
  };
  const found = await listTransfersBeside(database, place);
  return found.map(({ position, ...transfer }) => ({
    ...transfer,
    role: position === own ? 'payment' : transfer.to === payTo ? 'beside' : 'payout',
  }));
}

/**
 * The record as a compact JWS in our name, by the key that signs now: it is signed again at each reading, so that it outlives the key that
 * signed the receipt. Throws signing_key_unavailable.
 */
export function signRecord(
  { signer, baseUrl }: { readonly signer: LicenceSigner; readonly baseUrl: string },
  record: PaymentRecord,
): Promise<string> {
  const { kid } = signer.current();
  return signer.sign(kid, record, { kid: `${didOf(baseUrl)}#${kid}` });
}

function soldOf({ baseUrl }: RecordDeps, { payment, legs, licence }: PublicPayment): SoldFacts {
  const { host, kind, amountMicro, network, asset, payTo } = payment;
  const resourceUrl = publicResourceOf(payment, baseUrl);
  return { host, resourceUrl, kind, amountMicro, network, asset, payTo, legs, licence };
}
