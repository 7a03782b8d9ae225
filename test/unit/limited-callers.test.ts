import { expect, test } from 'vitest';
import { createLimitedLog } from '../../process/api/limitedCallers.ts';

function opened() {
  let nowMs = 1;
  const lines: object[] = [];
  const told = createLimitedLog({ info: (fields: object) => void lines.push(fields) }, () => nowMs);
  const pass = (ms: number): void => {
    nowMs += ms;
  };
  return { told, lines, pass };
}

test('a caller above its rate is named once a minute, by what it is limited by', () => {
  const { told, lines, pass } = opened();
  for (let call = 0; call < 5; call += 1) told('key', 'k-1');
  told('tenant', 't-1');
  expect(lines).toEqual([
    { limited: 'key', caller: 'k-1' },
    { limited: 'tenant', caller: 't-1' },
  ]);
  pass(61_000);
  told('key', 'k-1');
  expect(lines).toHaveLength(3);
});

test('a flood of callers writes sixty lines a minute and no more', () => {
  const { told, lines, pass } = opened();
  for (let address = 0; address < 500; address += 1) told('address', `10.0.0.${address}`);
  expect(lines).toHaveLength(60);
  pass(61_000);
  told('address', '10.0.1.1');
  expect(lines).toHaveLength(61);
});
