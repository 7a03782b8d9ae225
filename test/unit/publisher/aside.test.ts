import { expect, test } from 'vitest';
import { mayBePage, nameOf } from '../../../packages/publisher/src/core/aside.ts';

const isSold = (path: string, type: string): boolean => mayBePage({ status: 200, type }, nameOf(path), path);

test.each(['/articles/ping', '/articles/heartbeat', '/blog/2026/metrics', '/docs/health-check', '/articles/what-is-node.js'])(
  'an article may be called %s, and is sold in every form',
  (path) => {
    for (const type of ['application/json', 'text/html', 'text/plain', 'application/octet-stream', ''])
      expect([type, isSold(path, type)]).toEqual([type, true]);
  },
);

test.each(['/ping', '/heartbeat', '/healthz', '/metrics', '/api/ping', '/blog/feed.json', '/ads.txt'])(
  'what %s answers to programs is theirs, and a document there is sold',
  (path) => {
    expect(['application/json', 'text/plain', 'text/html'].map((type) => isSold(path, type))).toEqual([false, false, true]);
  },
);
