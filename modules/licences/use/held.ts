import type { Database } from '../../../db/database.ts';
import { legBody } from '../../../platform/chain/offer.ts';
import { microToJson } from '../../kernel/money/money.ts';
import { exactPattern } from '../../kernel/pages/scope.ts';
import type { LicenceRecord } from '../store/licences.ts';
import { listLicences } from '../store/licences.ts';

/** A held licence as the API shows it; times in epoch milliseconds. */
export interface HeldLicenceBody {
  readonly jti: string;
  readonly host: string;
  readonly patterns: readonly string[];
  readonly grantedPatterns: readonly string[];
  readonly terms: readonly string[];
  readonly kind: string;
  readonly period: { readonly from: number; readonly until: number };
  readonly priceMicro: number;
  readonly resourceCount: number;
  readonly legs: readonly { readonly toAddress: string; readonly amountMicro: number }[];
  readonly settlementRef: string | null;
  readonly settlementRefKind: 'txHash' | 'none';
  readonly boughtAt: number;
}

/** The licences of an account, newest first, ended ones included; revoked ones are no longer held. */
export async function listHeldLicences(
  { database }: { readonly database: Database },
  accountId: string,
): Promise<HeldLicenceBody[]> {
  return (await listLicences(database, accountId)).map(heldBody);
}

function heldBody(licence: LicenceRecord): HeldLicenceBody {
  return {
    jti: licence.jti,
    host: licence.host,
    patterns: licence.patterns,
    grantedPatterns: licence.paths.map(exactPattern),
    terms: licence.terms,
    kind: licence.kind,
    period: { from: licence.periodFrom.getTime(), until: licence.periodUntil.getTime() },
    priceMicro: microToJson(licence.priceMicro),
    resourceCount: licence.paths.length,
    legs: licence.legs.map(legBody),
    settlementRef: licence.txHash,
    settlementRefKind: licence.txHash === null ? 'none' : 'txHash',
    boughtAt: licence.boughtAt.getTime(),
  };
}
