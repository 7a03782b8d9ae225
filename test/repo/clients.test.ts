import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { renderClients } from '../clients/document.ts';

const PAGE = readFileSync('test/clients/README.md', 'utf8');
const AWAY = { node: 'away', python: 'away', go: 'away', 'go-x402': 'away', supertab: 'away', 'supertab-python': 'away' };

test('test/clients/README.md has a row for every client that is held, in its version, and each that ran has paid every author', () => {
  expect(renderClients(AWAY, new Set(), PAGE)).toBe(PAGE);
  const verdicts = [...PAGE.matchAll(/^\| .* \| (\w[\w ]*)[^|]* \| \[.*\) \|$/gm)].map(([, verdict]) => verdict);
  expect(verdicts.filter((verdict) => verdict === 'yes').length).toBeGreaterThan(10);
  expect(verdicts.filter((verdict) => verdict === 'no')).toEqual([]);
});
