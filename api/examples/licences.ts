import type { OperationExamples } from './shape.ts';
import { ANN, HOST, JWS, LEGS, LICENCE_ID, NOW_MS, PAY_TO, PAYER, RESOURCE, TRANSACTION } from './values.ts';

const request = { host: HOST, scope: ['/articles/*'], terms: ['ai-input'], periodDays: 30, kind: 'read' };
const period = { from: NOW_MS, until: NOW_MS + 30 * 86_400_000 };
const granted = ['/articles/three-hands$', '/articles/one-hand$'];

/** Examples of the group Licences, accounts and key set included. */
export const licenceExamples: Readonly<Record<string, OperationExamples>> = {
  quoteLicence: {
    request,
    response: { priceMicro: 1000, patterns: ['/articles/*'], terms: ['ai-input'], period, resourceCount: 2, legs: LEGS },
  },
  proveLicense: {
    request: { signInWithX: 'eyJkb21haW4iOiJhbHBoYS5leGFtcGxlIn0=', resource: RESOURCE, slug: 'three-hands', kind: 'read' },
    response: { entitled: true, license: JWS, expiresAt: NOW_MS + 600_000 },
  },
  getLicenceToken: { response: { access_token: JWS, token_type: 'License', expires_in: 600 } },
  introspectLicenceToken: { response: { active: true, permitted: true } },
  buyLicence: { request, response: { license: JWS, jti: LICENCE_ID, priceMicro: 1000 } },
  listHeldLicences: {
    response: {
      licences: [
        {
          jti: LICENCE_ID,
          host: HOST,
          patterns: ['/articles/*'],
          grantedPatterns: granted,
          terms: ['ai-input'],
          kind: 'read',
          period,
          priceMicro: 1000,
          resourceCount: 2,
          legs: LEGS,
          settlementRef: TRANSACTION,
          settlementRefKind: 'txHash',
          boughtAt: NOW_MS,
        },
      ],
    },
  },
  openLicenceAccess: {
    parameters: { jti: LICENCE_ID },
    request: { paths: ['/articles/three-hands'] },
    response: {
      license: JWS,
      patterns: ['/articles/three-hands$'],
      expiresAt: NOW_MS + 600_000,
      periodUntil: period.until,
    },
  },
  getOfferLegs: {
    parameters: { offerId: LICENCE_ID },
    response: {
      payTo: PAY_TO,
      router: '0x1234567890abcdef1234567890abcdef12345678',
      legsHash: `0x${'3c'.repeat(32)}`,
      legs: [{ toAddress: ANN, weight: '5' }],
    },
  },
  reportUsage: {
    request: { idempotencyId: 'answer-81', licence: JWS, resource: RESOURCE, use: 'ai-input', count: 3, at: NOW_MS },
    response: { ok: true },
  },
  getSignInChallenge: {
    parameters: { address: PAYER },
    response: {
      message: `api.example wants you to sign in with your Ethereum account:\n${PAYER}\n…`,
      domain: 'api.example',
      address: PAYER,
      statement: 'Sign in to see and use your licences.',
      uri: 'https://api.example',
      version: '1',
      chainId: 'eip155:8453',
      nonce: '9f86d081884c7d659a2feaa0c55ad015',
      issuedAt: '2026-11-21T10:00:00.000Z',
      expirationTime: '2026-11-21T10:05:00.000Z',
    },
  },
  signIn: {
    request: { message: 'api.example wants you to sign in with your Ethereum account:\n…', signature: `0x${'5a'.repeat(65)}` },
    response: { access_token: JWS, token_type: 'Bearer', expires_in: 3600, accountId: LICENCE_ID },
  },
  listAccountNotices: {
    response: {
      notices: [
        {
          kind: 'licence_granted',
          jti: LICENCE_ID,
          host: HOST,
          priceMicro: 1000,
          payer: PAYER,
          nonce: `0x${'9a'.repeat(32)}`,
          error: null,
          at: NOW_MS,
        },
      ],
    },
  },
  registerClient: {
    request: { client_name: 'ExampleBot' },
    response: {
      client_id: LICENCE_ID,
      client_secret: 'svc_client_…',
      client_secret_expires_at: 0,
      client_id_issued_at: Math.floor(NOW_MS / 1_000),
      client_name: 'ExampleBot',
      token_endpoint_auth_method: 'client_secret_basic',
      grant_types: ['client_credentials'],
    },
  },
  getClientToken: { response: { access_token: JWS, token_type: 'Bearer', expires_in: 3600 } },
  getMcpResourceMetadata: {
    response: {
      resource: 'https://api.example/_svc/mcp',
      authorization_servers: ['https://api.example'],
      jwks_uri: 'https://api.example/.well-known/jwks.json',
      bearer_methods_supported: ['header'],
    },
  },
  getJwks: {
    response: {
      keys: [
        {
          kty: 'OKP',
          crv: 'Ed25519',
          x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
          kid: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
          use: 'sig',
          alg: 'EdDSA',
        },
      ],
    },
  },
};
