/** A relayer key that stays in a key management service: the same bytes as a local one, and a service that is away costs nobody money. */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseTransaction } from 'viem';
import { generatePrivateKey } from 'viem/accounts';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { flushSplits } from '../../modules/settlement/use/relayer/flush.ts';
import { signReplacement } from '../../platform/chain/gas/replacement.ts';
import type { Signer } from '../../platform/chain/signature/signer.ts';
import { localSigner, openRemoteSigner, signedOutside } from '../../platform/chain/signature/signer.ts';
import { openAwsKey } from '../../platform/kms/aws.ts';
import { openGcpKey } from '../../platform/kms/gcp.ts';
import { attempt, look, mine, sendAll, spend, stateOf, sweep } from '../support/faults.ts';
import { checkInvariants } from '../support/invariants.ts';
import type { TestKms } from '../support/kms.ts';
import { startKms } from '../support/kms.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { newAuthors, newPayer, paymentFor, startSettlement, termsFor } from '../support/settlement.ts';

const KEY = generatePrivateKey();
const ARN = 'arn:aws:kms:eu-central-1:111122223333:key/0a1b2c3d-0000-4000-8000-000000000000';
const VERSION = 'projects/p/locations/l/keyRings/r/cryptoKeys/k/cryptoKeyVersions/1';

let kms: TestKms;
let world: SettlementWorld;
let signer: Signer;
/** Milliseconds of each signature that was asked for, as the signer saw them. */
const took: number[] = [];
const gifts = new Map<string, bigint>();
beforeAll(async () => {
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' });
  kms = await startKms(KEY);
  signer = await openRemoteSigner(await openAwsKey(ARN, { endpoint: kms.url }), (ms) => took.push(ms));
  world = await startSettlement({ automine: true, runBatches: false, waitMs: 50, signers: [signer] });
  await mine(world, 5);
});
afterEach(() => {
  kms.mood = 'well';
  kms.onSign = async () => undefined;
});
afterAll(async () => {
  await checkInvariants(world, { gifts });
  await world.close();
  await kms.close();
});

const openGcp = () => openGcpKey(VERSION, { endpoint: kms.url, token: async () => 'test' }).then((key) => openRemoteSigner(key));
const openAws = () => openAwsKey(ARN, { endpoint: kms.url }).then((key) => openRemoteSigner(key));
const digest = `0x${'5a'.repeat(32)}` as const;

async function taken(slug: string, authors = newAuthors(1n, 2n)) {
  const terms = termsFor(world, authors, { slug });
  const payment = await paymentFor(world, await newPayer(world), terms);
  expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  return payment;
}
const sent = () =>
  world.database.query<{ raw: `0x${string}`; nonce: string }>(
    "select '0x' || encode(raw, 'hex') as raw, nonce from relayer_transaction order by nonce, attempt",
  );
const nextNonce = (change: number) => world.database.query('update relayer set next_nonce = next_nonce + $1', [change]);

test.each([
  ['AWS KMS', openAws],
  ['Cloud KMS', openGcp],
])('%s signs as the same key does here, whichever half of the curve its s is in', async (_name, open) => {
  const [remote, local] = [await open(), localSigner(KEY)];
  expect(remote.address).toBe(local.address);
  for (const mood of ['well', 'high s'] as const) {
    kms.mood = mood;
    expect(await remote.sign(digest), mood).toEqual(await local.sign(digest));
  }
});

test.each([
  ['AWS KMS', openAws],
  ['Cloud KMS', openGcp],
])('no process starts with a key of %s that cannot sign', async (_name, open) => {
  for (const [mood, kind] of [
    ['another key', 'refused'],
    ['nonsense', 'refused'],
    ['error', 'away'],
  ] as const) {
    kms.mood = mood;
    await expect(open(), mood).rejects.toMatchObject({ kind });
  }
});

test('a payment settles with bytes that a local key would have signed, and no transaction of ours is open while the key is asked', async () => {
  const open: unknown[] = [];
  kms.onSign = async () => {
    open.push(
      ...(await world.database.query(
        "select query from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'",
      )),
    );
  };
  const authors = newAuthors(1n, 2n);
  const payment = await taken('kept', authors);
  const before = kms.asked();
  await look(world, await sendAll(world));
  expect([kms.asked() - before, open]).toEqual([1, []]);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'settled' });
  for (const { raw } of await sent()) {
    const { maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = parseTransaction(raw);
    const fees = { maxFeePerGasWei: maxFeePerGas, maxPriorityFeePerGasWei: maxPriorityFeePerGas };
    expect((await signReplacement(localSigner(KEY), raw, fees)).raw).toBe(raw);
  }
  const split = (await world.database.query<{ pay_to: string }>('select pay_to from split'))[0]?.pay_to ?? '';
  await spend(world, (await newPayer(world)).address, split, 99_999n);
  for (const { wallet, weight } of authors) gifts.set(wallet, 33_333n * weight);
  expect([await flushSplits(world.deps, world.network.id), open]).toEqual([1, []]);
  await mine(world);
});

test('a signature made for a nonce that was taken meanwhile is not used for another one', async () => {
  const payment = await taken('moved');
  let asked = 0;
  kms.onSign = async () => {
    asked += 1;
    if (asked <= 2) await nextNonce(asked === 1 ? 1 : -1);
  };
  const batchId = await sendAll(world);
  await look(world, batchId);
  expect(asked).toBe(2);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'settled' });
});

test('while the service hangs or fails payments wait, one alert is raised, and afterwards each is charged once', async () => {
  const payment = await taken('waiting');
  const before = (await sent()).length;
  const alerts = async () =>
    (await world.database.query("select 1 from operator_alert where kind = 'relayer_signer' and resolved_at is null")).length;
  for (const mood of ['hang', 'error'] as const) {
    kms.mood = mood;
    const asked = took.length;
    await sendAll(world);
    await sendAll(world);
    // Of two rounds one asks at most: the key rests. It gives up after 1.5 s; four times that is told apart from no limit, 10 s, on a busy machine too.
    const waited = took.slice(asked);
    expect(waited.length, mood).toBeLessThanOrEqual(1);
    expect(Math.max(0, ...waited), mood).toBeLessThan(6_000);
    expect([await stateOf(world, payment), (await sent()).length, await alerts()]).toMatchObject([
      { state: 'accepted' },
      before,
      1,
    ]);
  }
  kms.mood = 'well';
  const isSent = async (): Promise<boolean> => {
    await sendAll(world);
    return (await stateOf(world, payment))?.state === 'broadcast';
  };
  await expect.poll(isSent, { interval: 250 }).toBe(true);
  await sweep(world, 3);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'final' });
  expect((await sent()).length).toBe(before + 1);
});

test('work that wants one signature after another has the time of one for all of them, however often it may try', async () => {
  const slow = await openAws();
  kms.onSign = () => sleep(900);
  const before = kms.asked();
  let wanted = 0;
  const work = (key: Signer) => key.sign(`0x${String(++wanted).padStart(64, '0')}`);
  await expect(signedOutside(slow, work)).rejects.toThrow(/no answer within/);
  expect(kms.asked() - before).toBeLessThanOrEqual(2);
});
