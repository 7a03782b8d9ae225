/** What the key of this machine spent, and what it may still spend. */
import type { Envelope } from './envelope/envelope.ts';
import { periodAt } from './envelope/envelope.ts';
import { usdcOf } from './money.ts';
import type { Wallet } from './paying/client.ts';

const SHOWN = 20;

/** Sums in USDC. Whatever was signed counts, until the period ends. */
export async function spendingOf({ ledger: file, envelope: read, signer, now }: Wallet) {
  const envelope = read();
  const span = periodAt(envelope.period, now());
  return file.hold(async ({ ledger }) => {
    const payments = ledger.payments(span.fromMs, span.untilMs);
    const { totalMicro } = ledger.spent(span, '');
    const hosts = new Map<string, bigint>();
    for (const { host, amountMicro } of payments) hosts.set(host, (hosts.get(host) ?? 0n) + amountMicro);
    return {
      address: signer.address,
      envelope: shownEnvelope(envelope),
      periodEndsAt: new Date(span.untilMs).toISOString(),
      spentUsdc: usdcOf(totalMicro),
      leftUsdc: usdcOf(envelope.totalMicro > totalMicro ? envelope.totalMicro - totalMicro : 0n),
      byHost: [...hosts].map(([host, micro]) => ({ host, spentUsdc: usdcOf(micro) })),
      newest: payments.slice(-SHOWN).map(({ url, amountMicro, state, transaction, atMs }) => ({
        url,
        usdc: usdcOf(amountMicro),
        state,
        transaction,
        at: new Date(atMs).toISOString(),
      })),
    };
  });
}

function shownEnvelope({ period, stop, totalMicro, hostMicro, pageMicro, approveAboveMicro }: Envelope) {
  const shown = (micro: bigint | null): string | null => (micro === null ? null : usdcOf(micro));
  const limits = {
    total: shown(totalMicro),
    perHost: shown(hostMicro),
    perPage: shown(pageMicro),
    approveAbove: shown(approveAboveMicro),
  };
  return { period, ...limits, stop };
}
