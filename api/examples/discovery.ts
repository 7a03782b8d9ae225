import type { OperationExamples } from './shape.ts';
import { HOST, PAY_TO } from './values.ts';

const entry = {
  resource: `https://${HOST}/articles/:slug`,
  type: 'http',
  x402Version: 2,
  accepts: [
    {
      scheme: 'exact',
      amount: '3000',
      network: 'eip155:8453',
      asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      extra: { name: 'USD Coin', version: '2' },
      payTo: PAY_TO,
      maxTimeoutSeconds: 300,
    },
  ],
  lastUpdated: '2026-11-22T21:00:00.000Z',
  description: 'Essays about bridges',
  mimeType: 'text/html',
  serviceName: HOST,
  tags: ['bridges'],
  extensions: {},
};

/** Examples of the group Discovery. */
export const discoveryExamples: Readonly<Record<string, OperationExamples>> = {
  listResources: {
    parameters: { network: 'eip155:8453', limit: '20', offset: '0' },
    response: { x402Version: 2, items: [entry], pagination: { limit: 20, offset: 0, total: 1 } },
  },
  searchResources: {
    parameters: { query: 'bridges', limit: '20' },
    response: { x402Version: 2, resources: [entry], partialResults: false, pagination: { limit: 20, cursor: null } },
  },
};
