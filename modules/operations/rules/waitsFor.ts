import type { PaymentState } from '../../kernel/payment/state.ts';

/** What is known of a payment that is not decided. */
export interface Undecided {
  readonly state: PaymentState;
  /** A look at the chain decided nothing of it. */
  readonly wasLookedAt: boolean;
  /** The batch that carries it; null before it was claimed. */
  readonly batch: {
    readonly kind: 'settle' | 'flush' | 'facilitator';
    readonly state: 'open' | 'mined' | 'safe';
    readonly relayer: string;
    readonly nonce: string;
    /** Its newest bytes; null: a facilitator has them, or none are written. */
    readonly txHash: string | null;
    /** Seconds since they went out; null: no node has taken them. */
    readonly sentSeconds: number | null;
  } | null;
}

/** What is known of the network that it goes to. */
export interface Surroundings {
  /** Kinds of its open alerts. */
  readonly alerts: ReadonlySet<string>;
  /** It has relayer keys, and each is paused. */
  readonly isPaused: boolean;
}

/** What a payment waits for, and what an operator does about it. */
export interface Wait {
  readonly waitsFor: string;
  /** A command, or where the runbook goes on. */
  readonly next: string;
}

/** Of a payment that nothing of ours carries, by what is open on its network: the first that holds explains it. */
const UNSENT: readonly (readonly [kind: string, waitsFor: string, next: string])[] = [
  [
    'relayer_balance',
    'gas: a relayer key lacks coin for a batch',
    'admin relayer list; send coin to the address (RelayerGasLow)',
  ],
  ['relayer_signer', 'a signature: the key management service of a relayer key does not sign', 'docs/keys.md, Keys in a KMS'],
  ['relayer_nonce_suspect', 'a nonce: a node counts more transactions of a relayer key than we sent', 'docs/keys.md, the nonce'],
  ['facilitator_locked_out', 'the facilitator, which refuses our credentials', 'correct FACILITATOR_TOKEN'],
];

/** What an undecided payment waits for, as far as its rows and the open alerts of its network tell; a decided one waits for nothing. */
export function waitOf(payment: Undecided, around: Surroundings): Wait {
  const { state, batch, wasLookedAt } = payment;
  if (state === 'held') {
    return {
      waitsFor: 'the payment ahead of it: the same payer buys the same thing',
      next: 'admin payment find --payer <payer>',
    };
  }
  if (state === 'review') {
    return {
      waitsFor: 'a person: ten minutes after its authorization ended nothing proves it either way',
      next: 'admin payment recheck <id>; at last admin payment close-review <id>',
    };
  }
  return batch === null || state === 'accepted' ? waitUnsent(wasLookedAt, around) : waitSent(batch, around);
}

function waitUnsent(wasLookedAt: boolean, { alerts, isPaused }: Surroundings): Wait {
  if (isPaused)
    return { waitsFor: 'a relayer key: every one of the network is paused', next: 'admin relayer list; admin relayer add' };
  const known = UNSENT.find(([kind]) => alerts.has(kind));
  if (known) return { waitsFor: known[1], next: known[2] };
  if (wasLookedAt || alerts.has('evidence_disputed')) {
    return {
      waitsFor: 'a second RPC node: one alone refuses it, or its nonce is used and no log shows how',
      next: 'admin doctor; compare the nodes (RpcNodeAway, RpcNodesDisagree)',
    };
  }
  return { waitsFor: 'a batch: no worker, no RPC node, or no room in the relayer queue', next: 'admin doctor' };
}

function waitSent(batch: NonNullable<Undecided['batch']>, { alerts }: Surroundings): Wait {
  const { kind, state, relayer, nonce, txHash, sentSeconds } = batch;
  if (kind === 'facilitator') {
    return {
      waitsFor: 'the facilitator, or the transfer that it promised',
      next: 'ask the facilitator with admin payment show <id>',
    };
  }
  const of = `nonce ${nonce} of ${relayer}`;
  if (state !== 'open')
    return { waitsFor: `a look at its transaction, which is mined (${of})`, next: 'admin doctor (workers, nodes)' };
  if (txHash === null || sentSeconds === null) {
    return { waitsFor: `a node that takes its signed bytes (${of})`, next: 'admin doctor; admin payment rebroadcast <id>' };
  }
  const waitsFor = `a block with ${txHash} (${of}), sent ${sentSeconds} s ago`;
  if (alerts.has('relayer_stuck'))
    return { waitsFor: `${waitsFor}, at the highest fee we offer`, next: 'raise maxFeePerGasWei, or wait' };
  return { waitsFor, next: 'admin payment rebroadcast <id>; at last admin relayer void-nonce' };
}
