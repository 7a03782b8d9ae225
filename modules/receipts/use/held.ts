import type { Database, Sql } from '../../../db/database.ts';
import type { Rpc } from '../../../platform/chain/rpc/rpc.ts';
import { isSignedByKey } from '../../../platform/chain/signature/message.ts';
import type { CodeWallets } from '../../identity/use/accounts/codeWallets.ts';
import { isSignature } from '../../identity/use/accounts/signIn.ts';
import { ServiceError } from '../../kernel/errors.ts';
import { heldMessage, isAsSent } from '../rules/answer.ts';
import { listAnswers, writeHeld } from '../store/answers.ts';
import { findShownPayment } from './record.ts';

/** What it needs: `reading` has connections that no payment waits for. */
export interface HeldDeps {
  readonly database: Database;
  readonly reading: Sql;
  readonly rpc: Pick<Rpc, 'networkId'>;
  readonly codeWallets: CodeWallets;
}

/** What a buyer says: the SHA-256, in hex, of the page it holds, and the wallet's signature of `heldMessage`. */
export interface HeldWord {
  readonly sha256: string;
  readonly signature: string;
}

/** The word that stands. `isAsSent`: the site says that it sent this page; null: the site said nothing. */
export interface Held {
  readonly id: string;
  readonly sha256: string;
  readonly heldAtMs: number;
  readonly isAsSent: boolean | null;
}

/**
 * Notes which page the payer of a payment says it holds, once: its wallet signs the sentence, so that neither the site nor a stranger who has the id
 * can say it. What bounds the cost: one look by the id, then the signature by key; a contract is asked only where one has paid, in the turns of wallets
 * with code, `from` as one caller; and a row a payment at most. The same word again gives the first answer. Throws not_found as the record does,
 * invalid_parameter for a licence's, unknown_credential for what the payer did not sign, conflict where it said another page before, overloaded,
 * chain_unavailable and database_unavailable.
 */
export async function noteHeld(deps: HeldDeps, id: string, word: HeldWord, from: string): Promise<Held> {
  const { payment } = await findShownPayment(deps.reading, id);
  const { paymentId, payer, payerKind, network, purpose } = payment;
  if (purpose !== 'page') throw new ServiceError('invalid_parameter', 'this receipt is of a licence, for which no page was sent');
  const message = heldMessage(paymentId, word.sha256);
  const { sha256, signature } = word;
  const isSigned =
    isSignature(signature) &&
    (isSignedByKey({ address: payer, message, signature }) ||
      (payerKind === 'contract' &&
        network === deps.rpc.networkId &&
        (await deps.codeWallets.confirms(from, { address: payer, message, signature }))));
  if (!isSigned) {
    const sentence = `the wallet that paid, ${payer}, must sign this message (EIP-191): ${message}`;
    throw new ServiceError('unknown_credential', sentence, { next: { action: 'fix_request' } });
  }
  const said = { sha256, signature };
  await writeHeld(deps.database, payment, said);
  const answer = (await listAnswers(deps.database, payment.tenantId, [paymentId])).get(paymentId);
  if (!answer?.held) throw new Error('what a buyer said was not written');
  if (answer.held.sha256 !== sha256) {
    throw new ServiceError(
      'conflict',
      `the payer said before that it holds the SHA-256 ${answer.held.sha256}: the first word stands`,
    );
  }
  return { id: paymentId, sha256, heldAtMs: answer.held.atMs, isAsSent: isAsSent(answer, sha256) };
}
