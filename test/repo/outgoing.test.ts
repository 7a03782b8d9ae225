import { expect, test } from 'vitest';
import { readSources } from '../../tools/check/sources.ts';

/**
 * Where requests leave us: `platform/outbound` (with its connector and its handler) for every address that comes from users, `platform/chain/rpc` and
 * `platform/chain/facilitator` for nodes and facilitators the operator configured, `platform/kms` for the operator's keys. Programs that stand
 * outside the service are free, and so are
 * `api/linkPages` and `console`, whose scripts run in a browser.
 */
const MAY_SEND =
  /^platform\/(kms|outbound\/(outbound|start|pinnedConnector)|chain\/(rpc|facilitator))(\.ts$|\/)|^(console|test|bench|examples|packages|sandbox)\/|^bin\/bootstrap\.mjs$|^api\/linkPages\.ts$/;

const SENDS = [
  /(?<![.\w])fetch\(/,
  /\bhttps?\.(request|get)\(/,
  /import\s*\{[^}]*\b(request|get)\b[^}]*\}\s*from\s*'node:https?'/,
  /from\s*'undici'/,
  /\b(tls|net)\.connect\(/,
  /\bcreateRemoteJWKSet\b/,
  /new\s+(WebSocket|EventSource|XMLHttpRequest)\(/,
];

test('only the outbound adapter and the chain connection send requests', () => {
  const senders = readSources(/\.(ts|mjs|js)$/)
    .filter(({ path }) => !MAY_SEND.test(path))
    .filter(({ text }) => SENDS.some((pattern) => pattern.test(text)))
    .map(({ path }) => path);
  expect(senders).toEqual([]);
});
