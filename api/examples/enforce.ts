import { DEFAULT_CLASSES } from '../../modules/gate/rules/visitors.ts';
import type { OperationExamples } from './shape.ts';
import {
  ANN,
  ASSET,
  BOB,
  CYD,
  HOST,
  JWS,
  LEGS,
  LICENCE_ID,
  NOW_MS,
  PAY_TO,
  PAYER,
  RESOURCE,
  SLUG,
  TRANSACTION,
} from './values.ts';

/** The thumbprint of a key. */
const KEY_ID = 'poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U';

const quote = {
  price: 1000,
  currency: 'USDC',
  kind: 'read',
  slug: SLUG,
  title: 'Three hands',
  host: HOST,
  resource: RESOURCE,
  payTo: PAY_TO,
  payees: [
    { authorId: 'ann', wallet: ANN, share: 0.5 },
    { authorId: 'bob', wallet: BOB, share: 0.3 },
    { authorId: 'cyd', wallet: CYD, share: 0.2 },
  ],
  legs: LEGS.map((leg, index) => ({
    ...leg,
    role: index === 0 ? 'author' : 'coauthor',
    authorId: ['ann', 'bob', 'cyd'][index],
  })),
  network: 'eip155:8453',
  asset: ASSET,
  extra: { name: 'USD Coin', version: '2' },
  maxTimeoutSeconds: 300,
  quoteId: 'q_5f0c1b6e6d3a',
  issuedAt: NOW_MS,
  expiresAt: NOW_MS + 600_000,
  quoteToken: 'v1.eyJ0IjoiLi4uIn0.bWFj',
};

const challenge = {
  host: HOST,
  token: 'x4Jm2v9Qk8sT1yB7nR5cW0aZ3eLhUoPiDgFjKqXtMvE',
  method: 'well-known',
  present: {
    url: `https://${HOST}/.well-known/svc-challenge/x4Jm2v9Qk8sT1yB7nR5cW0aZ3eLhUoPiDgFjKqXtMvE`,
    body: 'x4Jm2v9Qk8sT1yB7nR5cW0aZ3eLhUoPiDgFjKqXtMvE',
    contentType: 'text/plain',
  },
  verifiedAt: null,
  routingVerifiedAt: null,
  capability: 'code',
  codeArtifact: 'npm',
};

const manifest = {
  x402Version: 2,
  humansReadFree: true,
  resources: [`https://${HOST}/articles/*`],
  payment: { schemes: ['exact'], quoteUrl: 'https://api.example/_svc/quote' },
  license: { issuer: 'https://api.example', jwksUrl: 'https://api.example/.well-known/jwks.json' },
};

/** Examples of the group Enforce. */
export const enforceExamples: Readonly<Record<string, OperationExamples>> = {
  verifyAgent: {
    request: {
      request: {
        method: 'GET',
        url: RESOURCE,
        headers: {
          'signature-agent': 'sig1="https://bot.example"',
          'signature-input': `sig1=("@authority" "signature-agent";key="sig1");created=${NOW_MS / 1_000};keyid="${KEY_ID}";tag="web-bot-auth"`,
          signature: 'sig1=:c2lnbmF0dXJl:',
        },
      },
    },
    response: {
      outcome: 'verified',
      agent: {
        url: 'https://bot.example/.well-known/http-message-signatures-directory',
        type: 'directory',
        host: 'bot.example',
        keyid: KEY_ID,
        label: 'sig1',
        covered: ['@authority', 'signature-agent'],
        created: NOW_MS / 1_000,
        expires: NOW_MS / 1_000 + 300,
        operator: 'Bot Inc.',
        purpose: 'search',
        key: { kty: 'OKP', crv: 'Ed25519', x: 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs' },
      },
      observed: { verified: true, verifiedAgent: 'bot.example' },
      cacheSeconds: 300,
    },
  },
  getQuote: {
    parameters: {
      resource: RESOURCE,
      slug: SLUG,
      kind: 'read',
      agent: 'reader.example',
      category: 'assistant',
      terms: 'ai-input',
    },
    response: quote,
  },
  getQuotes: {
    request: { pages: [{ resource: RESOURCE }, { slug: SLUG, kind: 'citation' }], agent: 'reader.example', terms: ['ai-input'] },
    response: {
      quotes: [
        { state: 'priced', quote },
        {
          state: 'refused',
          code: 'agent_refused',
          error: 'agent_refused: the owner of this site refuses this page to this agent',
        },
      ],
    },
  },
  verifyPayment: {
    request: {
      payment: 'eyJ4NDAyVmVyc2lvbiI6MiwicGF5bG9hZCI6e30sImFjY2VwdGVkIjp7fX0=',
      legs: quote.legs,
      quote: { price: quote.price, kind: 'read', resource: RESOURCE, quoteToken: quote.quoteToken },
      resource: RESOURCE,
      agent: { ua: 'ReaderBot/1.0', verified: true, verifiedAgent: 'reader.example' },
    },
    response: {
      ok: true,
      settlementRef: TRANSACTION,
      payer: PAYER,
      responseHeader: 'eyJzdWNjZXNzIjp0cnVlfQ==',
      licenseJws: JWS,
      chargedMicro: '1000',
      receiptId: LICENCE_ID,
    },
  },
  observe: {
    request: {
      resource: RESOURCE,
      slug: SLUG,
      verdict: 'denied',
      classifiedAs: 'agent',
      kind: 'read',
      priceMicro: 1000,
      agent: { ua: 'ReaderBot/1.0' },
    },
    response: { ok: true, accepted: 1 },
  },
  checkLicense: { request: { license: JWS, resource: RESOURCE, slug: SLUG, kind: 'read' }, response: { entitled: true } },
  getEnforceConfig: {
    parameters: { resource: RESOURCE },
    response: {
      enforcement: {
        articlePrefixes: ['/articles/'],
        gateScope: { mode: 'prefixes' },
        forms: ['.md', '.txt', '.json', '.html', '.htm', '/index.html', '/index.md', '/amp', '/print', '/feed'],
        seoAllowlist: ['googlebot', 'bingbot'],
        crawlerPolicy: { allow: [], charge: ['readerbot'], block: ['scraperbot'] },
        visitorClasses: DEFAULT_CLASSES,
        licenseIdentity: 'https://api.example',
        manifest,
      },
      manifest,
      version: 7,
    },
  },
  getEnforceStatus: {
    response: {
      hosts: [
        {
          host: HOST,
          mode: 'in_app',
          confidence: 'high',
          basedOn: ['inapp_quote', 'observe'],
          lastCheckedAt: '2026-11-21T10:00:00.000Z',
          keyRejectedAt: null,
          nextAction: 'none',
          attention: false,
          tracks: { ownership: 'verified', routing: 'none' },
        },
      ],
      attention: false,
    },
  },
  openHostChallenge: { request: { host: HOST, method: 'well-known' }, response: { challenge } },
  listHostChallenges: { response: { challenges: [challenge] } },
  checkHost: { request: { host: HOST }, response: { verified: true, host: HOST } },
};
