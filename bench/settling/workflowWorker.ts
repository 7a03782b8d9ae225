/**
 * The reference, in a process of its own: a worker that settles every payment in a workflow of its own, with one transaction each,
 * in as few steps as that takes (a row, signed bytes, sent; receipt, row), without any check. Arguments: one JSON of `WorkerInput`.
 * Says `ready` when it runs; ends with its parent.
 */

import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { NativeConnection, Runtime, Worker } from '@temporalio/worker';
import pg from 'pg';
import { privateKeyToAccount } from 'viem/accounts';
import { planBatch } from '../../chain/calls/calldata.ts';
import { waitForReceipt } from '../../chain/evidence/receipts.ts';
import type { Network } from '../../chain/network.ts';
import { baseSepoliaNetwork } from '../../chain/presets.ts';
import { createRpc } from '../../chain/rpc/rpc.ts';
import { localSigner } from '../../chain/signature/signer.ts';
import { sendRaw, signTransaction, transactionCount } from '../../chain/transaction.ts';
import type { Hex } from '../../domain/x402/payload.ts';
import { decodeTransfer } from './buyers.ts';

/** What the worker is told. */
export interface WorkerInput {
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly databaseUrl: string;
  readonly rpcUrl: string;
  readonly router: Hex;
  readonly relayerKey: Hex;
}

/** The two steps of a payment. */
export interface EachActivities {
  send(input: { readonly transfer: string }): Promise<{ readonly paymentId: string; readonly hash: Hex }>;
  confirm(input: { readonly paymentId: string; readonly hash: Hex }): Promise<void>;
}

async function createActivities(input: WorkerInput, network: Network): Promise<EachActivities> {
  const pool = new pg.Pool({ connectionString: input.databaseUrl, max: 10 });
  await pool.query(
    'create table if not exists each_payment (payment_id uuid primary key, raw text, hash text, settled_at timestamptz)',
  );
  const rpc = createRpc(network);
  const relayer = privateKeyToAccount(input.relayerKey).address.toLowerCase() as Hex;
  let nonce = await transactionCount(rpc, relayer, 'latest');
  const fees = { maxFeePerGasWei: 5_000_000_000n, maxPriorityFeePerGasWei: 1_000_000n };
  return {
    send: async ({ transfer }) => {
      const { authorization, signature } = decodeTransfer(transfer);
      const paymentId = randomUUID();
      const item = { paymentId, authorization, signature, payTo: authorization.to, words: null, payerKind: 'plain' } as const;
      const { to, data, gasLimit } = planBatch([item], network);
      const request = { chainId: network.chainId, nonce: nonce++, to, data, gasLimit, fees };
      const { raw, hash } = await signTransaction(localSigner(input.relayerKey), request);
      await pool.query('insert into each_payment (payment_id, raw, hash) values ($1, $2, $3)', [paymentId, raw, hash]);
      const sent = await sendRaw(rpc, raw);
      if (sent.kind !== 'accepted') throw new Error(`${sent.kind}: ${sent.detail}`);
      return { paymentId, hash };
    },
    confirm: async ({ paymentId, hash }) => {
      const receipt = await waitForReceipt(rpc, [hash], { timeoutMs: 8_000, pollMs: 10 });
      if (receipt?.status !== 'success') throw new Error('not settled');
      await pool.query('update each_payment set settled_at = now() where payment_id = $1', [paymentId]);
    },
  };
}

async function main(input: WorkerInput): Promise<void> {
  Runtime.install({ shutdownSignals: [] });
  const network = baseSepoliaNetwork({ rpcUrls: [input.rpcUrl], router: input.router });
  const activities = await createActivities(input, network);
  const connection = await NativeConnection.connect({ address: input.address });
  const worker = await Worker.create({
    connection,
    namespace: input.namespace,
    taskQueue: input.taskQueue,
    activities: { ...activities },
    workflowsPath: fileURLToPath(new URL('workflow.ts', import.meta.url)),
    maxCachedWorkflows: 1_000,
  });
  process.stdin.resume().once('close', () => process.exit(0));
  const running = worker.run();
  process.stdout.write('ready\n');
  await running;
}

const argument = process.argv[2];
if (process.argv[1] === fileURLToPath(import.meta.url) && argument !== undefined) await main(JSON.parse(argument) as WorkerInput);
