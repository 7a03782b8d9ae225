/** The judgement of a play: what the chain and the ledger say, beside what buyers were told. Pure. */

/** One buyer's account of himself, and the chain's; micro. */
export interface BuyerFigures {
  readonly address: string;
  readonly startMicro: bigint;
  readonly balanceMicro: bigint;
  /** What each success said that it charged. */
  readonly chargedMicro: readonly bigint[];
}

/** One author; micro. */
export interface AuthorFigures {
  readonly address: string;
  /** What the chain shows that he got during the play. */
  readonly gotMicro: bigint;
  /** What the ledger's legs of the play say. */
  readonly legsMicro: bigint;
}

/** Everything that a play is judged by. */
export interface PlayFigures {
  readonly buyers: readonly BuyerFigures[];
  readonly authors: readonly AuthorFigures[];
  /** Purchases that ended otherwise than with the page, in the buyer's words. */
  readonly unserved: readonly string[];
  /** Authorizations (payer, nonce) with more than one settled payment. */
  readonly settledTwice: readonly string[];
  /** Open legs by reconciliation, and payments that are neither settled nor refused. */
  readonly exceptions: readonly string[];
  /** Answers of the service with status 500. */
  readonly defects: number;
}

/** What is wrong, a sentence each; none when all is as it must be. */
export function judgePlay(figures: PlayFigures): readonly string[] {
  const { buyers, authors, unserved, settledTwice, exceptions, defects } = figures;
  const charged = buyers.flatMap(({ address, startMicro, balanceMicro, chargedMicro }) => {
    const told = chargedMicro.reduce((sum, one) => sum + one, 0n);
    const paid = startMicro - balanceMicro;
    return paid === told ? [] : [`buyer ${address} paid ${paid} micro and was told ${told}`];
  });
  const received = authors.flatMap(({ address, gotMicro, legsMicro }) =>
    gotMicro === legsMicro ? [] : [`author ${address} got ${gotMicro} micro, and the legs say ${legsMicro}`],
  );
  return [
    ...(buyers.some(({ chargedMicro }) => chargedMicro.length > 0) ? [] : ['nobody bought anything: nothing is proven']),
    ...charged,
    ...received,
    ...unserved.map((one) => `a buyer was not served: ${one}`),
    ...settledTwice.map((one) => `settled more than once: ${one}`),
    ...exceptions.map((one) => `ledger and chain differ: ${one}`),
    ...(defects > 0 ? [`${defects} answers with status 500`] : []),
  ];
}

/** The value below which so much of a list lies (0.5: the middle); 0 for an empty one. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}
