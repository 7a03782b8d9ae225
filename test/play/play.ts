/** `npm run cluster -- --play`: everything that breaks, one after another, while buyers buy; judged by the chain at the end. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { balanceOf } from '../../sandbox/balances.ts';
import type { SandboxOptions } from '../../sandbox/options.ts';
import { callChain } from '../../sandbox/parts/chain.ts';
import type { PreparedChain } from '../../sandbox/parts/chain-setup.ts';
import type { Printer } from '../../sandbox/print.ts';
import { AUTHORS } from '../../sandbox/publishers.ts';
import type { Service, ServiceProcesses, Topology } from '../../sandbox/topology.ts';
import { wrongClock } from '../support/clusterFaults.ts';
import type { RpcProxy } from '../support/rpc-proxy.ts';
import { startRpcProxy } from '../support/rpc-proxy.ts';
import type { Act, Stage } from './acts.ts';
import { judgePlay, quantile } from './judge.ts';
import type { Trickle } from './trickle.ts';
import { PURSE_MICRO, startTrickle } from './trickle.ts';

/** What of `cluster.json` a play needs. */
interface Contract {
  readonly baseUrl: string;
  readonly databaseUrl: string;
  readonly chain: PreparedChain & { readonly rpcUrl: string };
  readonly publishers: { readonly alpha: { readonly keys: Readonly<Record<string, string>> } };
  readonly cluster: ServiceProcesses;
}

/** A play: the topology that it needs, and what is to be done once everything runs. */
export interface Play {
  readonly topology: Topology;
  /** Resolves with the status to end with: 0 when all is as it must be. */
  run(shown: { readonly contractFile: string; readonly publisherUrl: string }): Promise<number>;
}

const AT_ONCE = 12;
const PAUSE_MS = 4_000;
const CALM_MS = 3_000;
const REST_LIMIT_MS = 120_000;

/** Prepares a play of these acts on a cluster's topology: the service gets two RPC URLs, both through lines that can be broken. */
export function preparePlay(topology: Topology, options: SandboxOptions, acts: readonly Act[], printer: Printer): Play {
  let lines: readonly [RpcProxy, RpcProxy] | null = null;
  let service: Service | null = null;
  let superUrl = '';
  const { say } = printer;
  return {
    topology: {
      ...topology,
      startTemporal: (start) => {
        void start.postgres.then((postgres) => {
          superUrl = postgres.superUrl;
        });
        return topology.startTemporal(start);
      },
      startService: async (start) => {
        const [network] = JSON.parse(start.environment['NETWORKS'] ?? '[]') as { readonly rpcUrls: readonly string[] }[];
        const target = network?.rpcUrls[0] ?? '';
        const [first, second] = [await startRpcProxy(target), await startRpcProxy(target)];
        lines = [first, second];
        start.lifetime.onEnd(start.stage - 1, async () => {
          await Promise.all([first.close(), second.close()]);
        });
        const NETWORKS = JSON.stringify([{ ...network, rpcUrls: [first.url, second.url] }]);
        service = await topology.startService({ ...start, environment: { ...start.environment, NETWORKS } });
        return service;
      },
    },
    run: async ({ contractFile, publisherUrl }) => {
      const read = (): Contract => JSON.parse(readFileSync(contractFile, 'utf8')) as Contract;
      if (lines === null || service === null) throw new Error('the service did not start');
      const stage = stageOf({ options, read, lines, service, superUrl });
      return playActs({ acts, stage, read, publisherUrl, service, say });
    },
  };
}

interface StageParts {
  readonly options: SandboxOptions;
  readonly read: () => Contract;
  readonly lines: readonly [RpcProxy, RpcProxy];
  readonly service: Service;
  readonly superUrl: string;
}

function stageOf({ options, read, lines, service, superUrl }: StageParts): Stage {
  const holdFile = join(options.folder, 'hold');
  return {
    lines,
    pids: () => read().cluster.pids,
    readiness: () =>
      Promise.all(
        read().cluster.apis.map((url) =>
          fetch(`${url}/readyz`, { signal: AbortSignal.timeout(3_000) }).then(
            ({ status }) => status,
            () => 0,
          ),
        ),
      ),
    head: async () => Number(await callChain<string>(read().chain.rpcUrl, 'eth_blockNumber', [])),
    hold: (isHeld) => (isHeld ? writeFileSync(holdFile, '') : rmSync(holdFile, { force: true })),
    readOnly: async (isReadOnly) => {
      const client = new pg.Client({ connectionString: superUrl, options: '-c default_transaction_read_only=off' });
      await client.connect();
      await client.query(
        `alter system ${isReadOnly ? 'set default_transaction_read_only = on' : 'reset default_transaction_read_only'}`,
      );
      await client.query('select pg_reload_conf()');
      await client.end();
    },
    addWrongApi: async (offsetMs) => {
      if (service.cluster === undefined) throw new Error('a play needs a cluster');
      const api = await service.cluster.startApi(wrongClock(offsetMs));
      service.cluster.proxy.add(api.url);
      return () => api.stop();
    },
  };
}

interface Running {
  readonly acts: readonly Act[];
  readonly stage: Stage;
  readonly read: () => Contract;
  readonly publisherUrl: string;
  readonly service: Service;
  readonly say: (line: string) => void;
}

async function playActs({ acts, stage, read, publisherUrl, service, say }: Running): Promise<number> {
  const { chain } = read();
  const before = await ledgerOf(read());
  const trickle = startTrickle({ publisherUrl, chain, atOnce: AT_ONCE, pauseMs: PAUSE_MS });
  await sleep(CALM_MS);
  for (const act of acts) {
    const began = performance.now();
    const [first, firstError] = [trickle.purchases.length, trickle.errors.length];
    const seen = new Set<string>();
    const stopLooking = lookForAlerts(read().cluster.places['alerts'], seen);
    await act.play(stage);
    await sleep(CALM_MS);
    await stopLooking();
    const alerts = read().cluster.places['alerts'] === undefined ? null : seen;
    const times = trickle.purchases.slice(first).map(({ tookMs }) => tookMs);
    const shown = { seconds: (performance.now() - began) / 1_000, times, errors: trickle.errors.slice(firstError), alerts };
    say(lineOf(act, shown));
  }
  await trickle.stop();
  const wrong = judgePlay({
    ...(await figuresOf(read(), trickle, before)),
    defects: service.cluster?.proxy.answered(500) ?? 0,
  });
  const sold = trickle.purchases.length;
  say(
    `${sold} purchases of ${trickle.buyers.length} buyers: ${wrong.length === 0 ? 'ledger, chain and buyers agree' : 'NOT WELL'}`,
  );
  for (const sentence of wrong) say(sentence);
  return wrong.length === 0 ? 0 : 1;
}

interface ActFigures {
  readonly seconds: number;
  /** Of purchases that ended meanwhile, ms. */
  readonly times: readonly number[];
  readonly errors: readonly string[];
  /** Null: nothing judged them. */
  readonly alerts: ReadonlySet<string> | null;
}

/** One line: what, how long, what buyers saw, which alerts fired, and in brackets those that would have, in time. */
function lineOf({ what }: Act, { seconds, times, errors, alerts }: ActFigures): string {
  const counted = Map.groupBy(errors, (error) => error);
  const shown = [...counted].map(([error, list]) => `${error}×${list.length}`).join(' ') || 'none';
  const [middle, slow] = [quantile(times, 0.5), quantile(times, 0.95)].map((ms) => (ms / 1_000).toFixed(1));
  const told = alerts === null ? 'not judged' : [...alerts].sort().join(', ') || 'none';
  const bought = `${String(times.length).padStart(3)} bought  p50 ${middle} s  p95 ${slow} s`;
  return `${what.padEnd(56)} ${seconds.toFixed(0).padStart(3)} s  ${bought}  errors ${shown}  alerts ${told}`;
}

/** Collects the alerts of Prometheus, in brackets while they do not fire yet; the returned function ends it. Without an address it does nothing. */
function lookForAlerts(page: string | undefined, seen: Set<string>): () => Promise<void> {
  let isOver = page === undefined;
  const look = async (): Promise<void> => {
    while (!isOver) {
      const answer = await fetch(new URL('/api/v1/alerts', page)).catch(() => null);
      const { data } = answer?.ok ? ((await answer.json()) as PrometheusAlerts) : { data: { alerts: [] } };
      for (const { labels, state } of data.alerts) seen.add(state === 'firing' ? labels.alertname : `(${labels.alertname})`);
      await sleep(1_000);
    }
  };
  const looking = look();
  return () => {
    isOver = true;
    return looking;
  };
}

interface PrometheusAlerts {
  readonly data: { readonly alerts: readonly { readonly labels: { readonly alertname: string }; readonly state: string }[] };
}

/** What authors have, on the chain and in legs. */
async function ledgerOf(contract: Contract) {
  const rows = await ask<{ to_address: string; micro: string }>(
    contract,
    'select to_address, sum(amount_micro) as micro from leg group by to_address',
  );
  const legs = new Map(rows.map(({ to_address: address, micro }) => [address, BigInt(micro)]));
  const wallets = Object.values(AUTHORS);
  const balances = await Promise.all(wallets.map((wallet) => balanceOf(contract.chain, wallet)));
  return wallets.map((address, at) => ({ address, balance: balances[at] ?? 0n, legs: legs.get(address.toLowerCase()) ?? 0n }));
}

type Ledger = Awaited<ReturnType<typeof ledgerOf>>;

/** Reads everything that is judged, once it has come to rest. */
async function figuresOf(contract: Contract, trickle: Trickle, before: Ledger) {
  const deadline = performance.now() + REST_LIMIT_MS;
  let exceptions = await openOf(contract);
  while (exceptions.length > 0 && performance.now() < deadline) {
    await sleep(1_000);
    exceptions = await openOf(contract);
  }
  const after = await ledgerOf(contract);
  const balances = await Promise.all(trickle.buyers.map(({ address }) => balanceOf(contract.chain, address)));
  const twice = await ask<{ payer: string; nonce: string }>(
    contract,
    "select payer, nonce from payment where mode = 'live' and state in ('settled', 'final') group by payer, nonce having count(*) > 1",
  );
  return {
    buyers: trickle.buyers.map((buyer, at) => ({ ...buyer, startMicro: PURSE_MICRO, balanceMicro: balances[at] ?? 0n })),
    authors: after.map(({ address, balance, legs }, at) => ({
      address,
      gotMicro: balance - (before[at]?.balance ?? 0n),
      legsMicro: legs - (before[at]?.legs ?? 0n),
    })),
    unserved: trickle.purchases.flatMap(({ unserved }) => unserved ?? []),
    settledTwice: twice.map(({ payer, nonce }) => `${payer} ${nonce}`),
    exceptions,
  };
}

/** Payments that are undecided, and legs that reconciliation does not find on the chain. */
async function openOf(contract: Contract): Promise<string[]> {
  const open = await ask<{ payment_id: string; state: string }>(
    contract,
    "select payment_id, state from payment where state in ('accepted', 'broadcast', 'held', 'review')",
  );
  const headers = { authorization: `Bearer ${contract.publishers.alpha.keys['all']}` };
  const answer = await fetch(`${contract.baseUrl}/_svc/earnings/reconciliation`, { headers }).catch(() => null);
  if (answer?.status !== 200) return [`reconciliation answers ${answer?.status ?? 'nothing'}`];
  const report = (await answer.json()) as {
    readonly outstanding: { readonly legs: number };
    readonly exceptions: readonly { readonly slug: string; readonly reason: string; readonly toAddress: string }[];
  };
  return [
    ...open.map(({ payment_id: id, state }) => `payment ${id} is ${state}`),
    ...report.exceptions.map(({ slug, reason, toAddress }) => `${slug}: ${reason} (${toAddress})`),
    ...(report.outstanding.legs > report.exceptions.length ? [`${report.outstanding.legs} legs are outstanding`] : []),
  ];
}

async function ask<Row>(contract: Contract, statement: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: contract.databaseUrl });
  await client.connect();
  try {
    return (await client.query(statement)).rows as Row[];
  } finally {
    await client.end();
  }
}
