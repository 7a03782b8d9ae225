import type { Database } from '../../../db/database.ts';
import { microToJson } from '../../kernel/money/money.ts';
import type { NoticeKind } from '../rules/purchaseNews.ts';
import type { NoticeRecord } from '../store/notices.ts';
import { listNotices } from '../store/notices.ts';

/** A notice as the API shows it; `at` in epoch milliseconds. */
export interface NoticeBody {
  readonly kind: NoticeKind;
  /** The licence that was granted or taken back; null in every other case. */
  readonly jti: string | null;
  readonly host: string;
  readonly priceMicro: number;
  /** Payer and nonce of the payment: its sender has no other name for it. */
  readonly payer: string;
  readonly nonce: string;
  /** Why it failed, as a refused purchase says it; null in every other case. */
  readonly error: string | null;
  readonly at: number;
}

const MOST = 100;

/** What an account was told of its purchases, the newest hundred, newest first. Throws in an outage. */
export async function listAccountNotices(
  { database }: { readonly database: Database },
  accountId: string,
): Promise<NoticeBody[]> {
  return (await listNotices(database, accountId, MOST)).map(noticeBody);
}

function noticeBody({ kind, paymentId, host, priceMicro, payer, nonce, reason, sentence, at }: NoticeRecord): NoticeBody {
  const jti = kind === 'licence_granted' || kind === 'licence_taken_back' ? paymentId : null;
  const error = kind === 'purchase_failed' ? `${reason ?? 'settlement_failed'}: ${sentence ?? 'nothing was paid'}` : null;
  return { kind, jti, host, priceMicro: microToJson(priceMicro), payer, nonce, error, at: at.getTime() };
}
