/** A site with something on every screen of the console: real sales, a history, hostile names, and an owner who may look at it. */

import { createOwnerToken } from '../../modules/identity/use/owners/tokens.ts';
import { createTenant } from '../../modules/tenants/use/tenants.ts';
import { pepperOf } from '../../platform/tokens/pepper.ts';
import { askQuote, payFor, sellUntilDecided } from './buying.ts';
import type { Purchase, Seen } from './reports.ts';
import { insertPurchases, insertSeen } from './reports.ts';
import type { TestService, TestSite } from './service.ts';

/** Names as an attacker chooses them: of pages, agents, authors and hosts. Shown, each is the text that it is. */
export const HOSTILE = [
  '<img src=x onerror=alert(1)>',
  '"><script>alert(2)</script>',
  "' onmouseover='alert(3)",
  'javascript:alert(4)',
  '{{alert(5)}}%3Cb%3E5',
  '</title><svg onload=alert(6)>',
  '=HYPERLINK("http://evil.example","7")',
  '\u202egpj.exe\u2066 <b>8</b>',
] as const;

/** A site with everything, and one with nothing, not even a host or a key; an owner's token is for one site. */
export interface ConsoleSite {
  readonly site: TestSite;
  readonly token: string;
  readonly emptyToken: string;
  readonly paymentId: string;
}

const DAY = 86_400_000;
const hex = (n: number): string => (16 + (n % 200)).toString(16);

/** Makes two sites of one owner: one that sold, was refused and attacked for 28 days, and one where nothing happened. */
export async function createConsoleSite(service: TestService, userId: string): Promise<ConsoleSite> {
  const site = await service.site({ ownerUserId: userId });
  const bare = { hosts: [], mayLackHosts: true, ownerUserId: userId, plan: 'studio', pricing: { priceUsdc: '0.001' } } as const;
  const empty = await createTenant({ database: service.database }, bare);
  const paymentId = await sellOne(service, site);
  const now = Date.now();
  await insertPurchases(service.database, purchasesOf(site, now));
  await service.database.query(
    `update payment_state set settled_at = accepted_at + (100 + abs(hashtext(payment_id::text)) % 9000) * interval '1 millisecond'
     where tenant_id = $1 and settled_at is null and decided_at is null`,
    [site.tenantId],
  );
  await service.database.transaction((sql) => insertSeen(sql, seenOf(site, now)));
  const pepper = pepperOf(service.secrets);
  const tokenOf = ({ tenantId }: { readonly tenantId: string }) =>
    createOwnerToken({ database: service.database, pepper }, { tenantId, userId });
  const [{ token }, { token: emptyToken }] = [await tokenOf(site), await tokenOf(empty)];
  return { site, token, emptyToken, paymentId };
}

async function sellOne(service: TestService, site: TestSite): Promise<string> {
  const quote = await askQuote(service.baseUrl, site.key, 'trio');
  const payment = await payFor(await service.payer(100_000n), quote);
  const sale = await sellUntilDecided(service.baseUrl, site.key, quote, payment);
  if (sale.status !== 200) throw new Error(`not sold: ${sale.text}`);
  const [row] = await service.database.query<{ payment_id: string }>('select payment_id from payment where tenant_id = $1', [
    site.tenantId,
  ]);
  if (!row) throw new Error('no payment is stored');
  return row.payment_id;
}

function purchasesOf({ tenantId, host }: TestSite, now: number): readonly Purchase[] {
  return Array.from({ length: 90 }, (_, n) => {
    const name = HOSTILE[n % HOSTILE.length] ?? '';
    const slug = n % 3 === 0 ? name : `page-${n % 7}`;
    const wallet = `0x${hex(n).repeat(20)}`;
    return {
      tenantId,
      host: n % 9 === 0 ? name : host,
      slug,
      atMs: now - ((n * 37) % 56) * DAY * 0.5,
      steps: n % 17 === 0 ? 2 : 1,
      kind: n % 4 === 0 ? 'citation' : 'read',
      agent: n % 5 === 0 ? name : 'gptbot',
      isLicence: n % 29 === 0,
      payer: `0x${'0123456789'.charAt(n % 10).repeat(40)}`,
      legs: [{ toAddress: wallet, amountMicro: 1_000 + n * 1_237, authorId: n % 5 === 0 ? name : `author-${n % 4}` }],
    } as const;
  });
}

function seenOf({ tenantId, host }: TestSite, now: number): readonly Seen[] {
  const verdicts = ['denied', 'paid', 'served-free', 'blocked', 'payment-failed', 'denied'] as const;
  return Array.from({ length: 120 }, (_, n) => {
    const name = HOSTILE[n % HOSTILE.length] ?? '';
    const verdict = verdicts[n % verdicts.length] ?? 'denied';
    const isFree = verdict === 'served-free';
    const pretends = n % 11 === 0;
    return {
      tenantId,
      host,
      slug: n % 3 === 0 ? name : `page-${n % 7}`,
      verdict,
      classifiedAs: 'agent',
      count: 1,
      paymentId: null,
      kind: isFree ? null : 'read',
      micro: isFree ? null : 1_000 + n,
      reason: isFree ? 'no_credits' : verdict === 'payment-failed' ? 'insufficient_funds' : null,
      agent: n % 5 === 0 ? name : 'claudebot',
      agentUa: `${name} ${n}`,
      verified: pretends ? false : null,
      verifiedAgent: pretends ? name : null,
      sigInvalid: pretends ? true : null,
      atMs: now - ((n * 53) % 28) * DAY * 0.9,
    } as const;
  });
}
