import type { OperationExamples } from './shape.ts';
import { ASSET, HOST, LEGS, LICENCE_ID, NOW_MS, PAY_TO, PAYER, RESOURCE, TRANSACTION } from './values.ts';

const DID = 'did:web:api.example';
const KEY = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', use: 'sig', alg: 'EdDSA' } as const;
const KID = 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k';
const DIGEST = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
const HELD = `I hold the page of the receipt ${LICENCE_ID} with the SHA-256 ${DIGEST}. This signature moves no money.`;
const [asset, payTo] = [ASSET.toLowerCase(), PAY_TO];
const place = { transaction: TRANSACTION, blockNumber: 41_200_007, blockHash: `0x${'b1'.repeat(32)}`, blockTime: NOW_MS };

/** Examples of the group Receipts. */
export const receiptExamples: Readonly<Record<string, OperationExamples>> = {
  getReceipt: {
    parameters: { jti: LICENCE_ID, format: 'json' },
    response: {
      version: 1,
      network: 'eip155:8453',
      resourceUrl: RESOURCE,
      payer: PAYER,
      issuedAt: NOW_MS / 1000,
      transaction: TRANSACTION,
      id: LICENCE_ID,
      url: `https://api.example/_svc/receipts/${LICENCE_ID}`,
      status: 'final',
      sells: 'page',
      kind: 'read',
      host: HOST,
      amountMicro: 1000,
      currency: 'USDC',
      asset,
      payTo,
      legs: LEGS,
      transfers: [
        { role: 'payment', ...place, logIndex: 12, from: PAYER, to: payTo, amountMicro: 1000 },
        ...LEGS.map((leg, index) => ({
          role: 'payout',
          ...place,
          logIndex: 13 + index,
          from: payTo,
          to: leg.toAddress,
          amountMicro: leg.amountMicro,
        })),
      ],
      authorization: {
        from: PAYER,
        to: payTo,
        value: '1000',
        validAfter: '0',
        validBefore: '1795341900',
        nonce: `0x${'4d'.repeat(32)}`,
        signature: `0x${'5e'.repeat(65)}`,
      },
      domain: { name: 'USD Coin', version: '2', chainId: 8453, verifyingContract: asset },
      terms: { sha256: DIGEST, document: '{"version":1,"sells":"page"}' },
      body: { sha256: DIGEST, bytes: 18_432 },
      answer: { outcome: 'delivered', lostAt: null, servedAgain: 0, bodyAgain: null },
      held: { sha256: DIGEST, message: HELD, signature: `0x${'5f'.repeat(65)}`, heldAt: NOW_MS + 2_000, isAsSent: true },
    },
  },
  noteServedBodies: {
    request: [{ receiptId: LICENCE_ID, sha256: DIGEST, bytes: 18_432, at: NOW_MS, outcome: 'delivered' }],
    response: { noted: 1 },
  },
  sayHeld: {
    parameters: { jti: LICENCE_ID },
    request: { sha256: DIGEST, signature: `0x${'5f'.repeat(65)}` },
    response: { id: LICENCE_ID, sha256: DIGEST, heldAt: NOW_MS + 2_000, isAsSent: true },
  },
  getDidDocument: {
    response: {
      '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/suites/jws-2020/v1'],
      id: DID,
      verificationMethod: [{ id: `${DID}#${KID}`, type: 'JsonWebKey2020', controller: DID, publicKeyJwk: { ...KEY, kid: KID } }],
      assertionMethod: [`${DID}#${KID}`],
    },
  },
};
