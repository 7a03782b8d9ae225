/** One payment with all that is known of it. */
export const PAYMENT_DOCUMENT = `query payment($tenantId: ID, $paymentId: ID!) {
  tenant(tenantId: $tenantId) {
    payment(paymentId: $paymentId) {
      paymentId state micro slug title host resource kind purpose mode network payer payTo agentUa nonce attempts settler
      acceptedAt decidedAt reviewClosedAt reason rawReason sentence x402Version validBefore
      evidence { txHash blockNumber blockTime finalAt explorerUrl network }
      batch { batchId workflowId relayer nonce state createdAt closedAt txHashes }
      crossings { crossingId sequence micro at recordedAt agent legs { toAddress authorId role share micro } }
      licence { jti until revokedAt pages }
      successor { paymentId state }
      answer { outcome lostAt servedAgain heldSha256 isHeldAsSent }
      observations { observationId verdict agent verified sigInvalid at reason }
    }
  }
}`;

/** The answer of `PAYMENT_DOCUMENT`. */
export interface Payment {
  readonly paymentId: string;
  readonly state: string;
  readonly micro: string;
  readonly slug: string;
  readonly title: string | null;
  readonly host: string;
  readonly resource: string;
  readonly kind: string;
  readonly purpose: string;
  readonly mode: string;
  readonly network: string;
  readonly payer: string;
  readonly payTo: string;
  readonly agentUa: string | null;
  readonly nonce: string;
  readonly attempts: number;
  readonly settler: string;
  readonly acceptedAt: number;
  readonly decidedAt: number | null;
  readonly reviewClosedAt: number | null;
  readonly reason: string | null;
  readonly rawReason: string | null;
  readonly sentence: string | null;
  readonly x402Version: number;
  readonly validBefore: string;
  readonly evidence: {
    readonly txHash: string;
    readonly blockNumber: string | null;
    readonly blockTime: number | null;
    readonly finalAt: number | null;
    readonly explorerUrl: string | null;
    readonly network: string;
  } | null;
  readonly batch: {
    readonly batchId: string;
    readonly workflowId: string | null;
    readonly relayer: string;
    readonly nonce: string;
    readonly state: string;
    readonly createdAt: number;
    readonly closedAt: number | null;
    readonly txHashes: readonly string[];
  } | null;
  readonly crossings: readonly {
    readonly crossingId: string;
    readonly sequence: number;
    readonly micro: string;
    readonly at: number;
    readonly recordedAt: number;
    readonly agent: string;
    readonly legs: readonly Leg[];
  }[];
  readonly licence: {
    readonly jti: string;
    readonly until: number;
    readonly revokedAt: number | null;
    readonly pages: number;
  } | null;
  readonly successor: { readonly paymentId: string; readonly state: string } | null;
  readonly answer: {
    readonly outcome: 'DELIVERED' | 'LOST' | null;
    readonly lostAt: number | null;
    readonly servedAgain: number;
    readonly heldSha256: string | null;
    readonly isHeldAsSent: boolean | null;
  } | null;
  readonly observations:
    | readonly {
        readonly observationId: string;
        readonly verdict: string;
        readonly agent: string;
        readonly verified: boolean | null;
        readonly sigInvalid: boolean | null;
        readonly at: number;
        readonly reason: string | null;
      }[]
    | null;
}

/** What one wallet got of a sale. */
export interface Leg {
  readonly toAddress: string;
  readonly authorId: string | null;
  readonly role: string;
  readonly share: number;
  readonly micro: string;
}
