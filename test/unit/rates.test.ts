import { expect, test } from 'vitest';
import { openNewDirectories } from '../../modules/gate/use/agents/newDirectories.ts';
import { ServiceError } from '../../modules/kernel/errors.ts';
import type { Holder, RateLimits } from '../../platform/pacing/rates.ts';
import { holderOfKey, openRates } from '../../platform/pacing/rates.ts';

const LIMITS: RateLimits = {
  perSecond: { address: 10, refused: 2, key: 10, tenant: 15, account: 5, account_address: 8 },
  burstSeconds: 1,
};

/** Rates whose clock stands still unless it is moved, and what they refused. */
function stage() {
  const time = { nowMs: 1_000 };
  const refused: string[] = [];
  const metrics = {
    count: (_name: string, _by?: number, labels?: Readonly<Record<string, string>>) => void refused.push(labels?.['by'] ?? ''),
  };
  const rates = openRates({ limits: LIMITS, clock: () => time.nowMs, metrics });
  const count = (holder: Holder, cost = 1): number => {
    try {
      rates.count(holder, cost);
      return 0;
    } catch (error) {
      expect((error as ServiceError).code).toBe('throttled');
      return (error as ServiceError).details.retryAfterSeconds ?? -1;
    }
  };
  const asked: string[] = [];
  /** Shows a credential that is of this holder, or wrong; or of a holder that may not do this. */
  const present = async (
    token: string,
    outcome: Holder | ServiceError,
    { address = 'here', isWhole, of = [] }: { address?: string; isWhole?: true; of?: Holder } = {},
  ): Promise<string> => {
    const letIn = () => {
      asked.push(token);
      return outcome instanceof ServiceError ? Promise.reject(outcome) : Promise.resolve(outcome);
    };
    return await rates
      .present({ token, address, cost: 1, ...(isWhole && { isWhole }) }, letIn, (holder) => holder ?? of)
      .then(
        () => 'in',
        (error: ServiceError) => error.code,
      );
  };
  return { time, refused, rates, count, asked, present };
}

const UNKNOWN = new ServiceError('unknown_credential', 'no');
const key = (keyId: string, tenantId = 'site') => holderOfKey({ keyId, tenantId });

test('a key has its own points, and with the other keys of its site those of the site', () => {
  const { count, refused } = stage();
  for (let call = 0; call < 10; call++) expect(count(key('a'))).toBe(0);
  expect(count(key('a'))).toBe(1);
  for (let call = 0; call < 5; call++) expect(count(key('b'))).toBe(0);
  expect(count(key('b'))).toBe(1);
  expect(count(key('c', 'other'))).toBe(0);
  expect(refused).toEqual(['key', 'tenant']);
});

test('what a key was refused is not counted for its site', () => {
  const { count } = stage();
  for (let call = 0; call < 100; call++) count(key('a'));
  for (let call = 0; call < 5; call++) expect(count(key('b'))).toBe(0);
});

test('the time to wait is told in whole seconds, and is enough', () => {
  const { count, time } = stage();
  count([['address', 'x']], 10);
  expect(count([['address', 'x']], 10)).toBe(1);
  time.nowMs += 1_000;
  expect(count([['address', 'x']], 10)).toBe(0);
});

test('wrong credentials count for the address that shows them, and right ones do not', async () => {
  const { present, refused } = stage();
  for (let call = 0; call < 8; call++) expect(await present(`right ${call}`, key(`k${call}`))).toBe('in');
  expect(await present('wrong 1', UNKNOWN)).toBe('unknown_credential');
  expect(await present('wrong 2', UNKNOWN)).toBe('unknown_credential');
  expect(await present('wrong 3', UNKNOWN)).toBe('throttled');
  expect(refused).toEqual(['refused']);
  expect(await present('wrong 4', UNKNOWN, { address: 'elsewhere' })).toBe('unknown_credential');
});

test('a key that was let in goes on, whatever a neighbour of its address gets wrong', async () => {
  const { present } = stage();
  await present('right', key('k'));
  for (let call = 0; call < 5; call++) await present(`wrong ${call}`, UNKNOWN);
  expect(await present('new', key('n'))).toBe('throttled');
  expect(await present('right', key('k'))).toBe('in');
});

test('a key over its rate is refused before it is looked up; a dead one counts for its address from then on', async () => {
  const { present, rates } = stage();
  await present('right', key('k'));
  for (let call = 0; call < 9; call++) await present('right', key('k'));
  let isAsked = false;
  const ask = () => {
    isAsked = true;
    return Promise.resolve(key('k'));
  };
  await expect(rates.present({ token: 'right', address: 'here', cost: 1 }, ask, () => [])).rejects.toThrow('too many calls');
  expect(isAsked).toBe(false);
  const [dead, again] = [stage(), [] as string[]];
  await dead.present('once', key('k'));
  for (let call = 0; call < 4; call++) again.push(await dead.present('once', UNKNOWN));
  expect(again).toEqual(['unknown_credential', 'unknown_credential', 'unknown_credential', 'throttled']);
});

test('many first calls of one key at once are one question; an outage is nobody’s fault', async () => {
  const { present } = stage();
  const together = Array.from({ length: 8 }, () => present('right', key('k')));
  expect(await Promise.all(together)).toEqual(together.map(() => 'in'));
  const outage = new ServiceError('database_unavailable', 'away');
  for (let call = 0; call < 6; call++) expect(await present(`token ${call}`, outage)).toBe('database_unavailable');
  expect(await present('wrong', UNKNOWN)).toBe('unknown_credential');
});

test('many calls at once of one wrong credential are as many questions as its address may get wrong, on every endpoint', async () => {
  const { present, asked } = stage();
  for (const isWhole of [undefined, true] as const) {
    const address = `of ${String(isWhole)}`;
    const options = isWhole ? { address, isWhole } : { address };
    const together = await Promise.all(Array.from({ length: 50 }, () => present(`wrong ${address}`, UNKNOWN, options)));
    expect(together.filter((answer) => answer === 'unknown_credential')).toHaveLength(2);
    expect(together.filter((answer) => answer === 'throttled')).toHaveLength(48);
    expect(asked.splice(0)).toHaveLength(2);
  }
});

test('many first calls at once while the database is away are one question, and the next is asked again', async () => {
  const { present, asked } = stage();
  const outage = new ServiceError('database_unavailable', 'away');
  const together = await Promise.all(Array.from({ length: 8 }, () => present('right', outage)));
  expect([new Set(together), asked.length]).toEqual([new Set(['database_unavailable']), 1]);
  expect(await present('right', key('k'))).toBe('in');
});

test('who takes as long as he likes keeps no other call of his credential waiting', async () => {
  const { rates, present } = stage();
  const slow = Promise.withResolvers<Holder>();
  const first = rates.present(
    { token: 'right', address: 'here', cost: 1, isWhole: true },
    () => slow.promise,
    () => key('k'),
  );
  expect(await present('right', key('k'))).toBe('in');
  slow.resolve(key('k'));
  await first;
});

test('a key that may not do this counts as the key of its site that it is, not for its neighbours', async () => {
  const { present, refused } = stage();
  const gated = new ServiceError('plan_gate', 'not in the plan');
  const answers: string[] = [];
  for (let call = 0; call < 12; call++) answers.push(await present('gated', gated, { of: key('gated') }));
  expect(answers).toEqual([...Array.from({ length: 11 }, () => 'plan_gate'), 'throttled']);
  expect(await present('wrong', UNKNOWN)).toBe('unknown_credential');
  // Ten of the site's fifteen points are gone, and its other keys have the rest, whatever they were refused first.
  await present('other', new ServiceError('scope_missing', 'no'), { of: key('other') });
  for (let call = 0; call < 5; call++) expect(await present('other', key('other'))).toBe('in');
  expect(await present('other', key('other'))).toBe('throttled');
  expect(refused).toEqual(['key', 'tenant']);
});

test('an account counts for the address of each call, not for the one where it was seen first', async () => {
  const { present, refused } = stage();
  const account = (name: string): Holder => [['account', name]];
  const call = (name: string, address: string) => present(name, account(name), { address });
  for (const name of ['a', 'b', 'c']) {
    expect(await call(name, 'shared')).toBe('in');
    for (let again = 0; again < 4; again++) await call(name, 'elsewhere');
  }
  // Eight points an address: three are gone at the one, all at the other.
  for (let fresh = 0; fresh < 5; fresh++) expect(await call(`fresh ${fresh}`, 'shared')).toBe('in');
  expect(await call('late', 'shared')).toBe('throttled');
  expect(new Set(refused)).toEqual(new Set(['account_address']));
});

test('a flood of addresses gives no key its points back, and the memory has an end', () => {
  const { count } = stage();
  for (let call = 0; call < 10; call++) count(key('a'));
  for (let flood = 0; flood < 60_000; flood++) count([['address', `flood ${flood}`]]);
  expect(count(key('a'))).toBe(1);
  // The bucket of an address is gone after 50,000 others: who has so many may make 50,000 times what one may.
  expect(count([['address', 'flood 59999']], 10)).toBe(1);
  expect(count([['address', 'flood 0']], 10)).toBe(0);
});

test('a call that is not refused for its rate waits for its turn, and is not counted where that is too far away', () => {
  const { time, rates, count } = stage();
  const queue = () => rates.queue(['key', 'again'], 5, 1_000);
  expect([queue(), queue(), queue(), queue(), queue(), queue()]).toEqual([0, 0, 500, 1_000, null, null]);
  time.nowMs += 500;
  expect([queue(), queue()]).toEqual([1_000, null]);
  expect(count(key('another'))).toBe(0);
});

test('a clock that is set back by an hour keeps nobody waiting for that hour', () => {
  let nowMs = 10_000_000;
  const directories = openNewDirectories(() => nowMs);
  for (let n = 0; n < 30; n++) expect(directories.count('site', `bot${n}.example`)).toBe(0);
  nowMs -= 3_600_000;
  const waitMs = directories.count('site', 'bot30.example');
  expect([waitMs > 0, waitMs <= 10_000]).toEqual([true, true]);
  nowMs += 10_000;
  expect(directories.count('site', 'bot30.example')).toBe(0);
});
