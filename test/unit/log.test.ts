import { expect, test } from 'vitest';
import { createLog } from '../../platform/telemetry/log.ts';
import type { Variable } from '../../process/config/variable.ts';
import { VARIABLES } from '../../process/config/variables.ts';

/** The members of `Config` that are secrets: whatever may come from a file, but networks, whose ids are logged; and a key's own file. */
const SECRETS_OF_CONFIG = [
  ...Object.entries<Variable<unknown>>(VARIABLES).flatMap(([name, { fromFile }]) => (fromFile ? [name] : [])),
  'temporalTlsClientKey',
].filter((name) => name !== 'networks');

/** A log into memory, and what it wrote. */
function memoryLog(): { readonly log: ReturnType<typeof createLog>; readonly lines: () => Record<string, unknown>[] } {
  const written: string[] = [];
  const log = createLog({ level: 'info', name: 'test', stream: { write: (line: string) => written.push(line) } });
  return { log, lines: () => written.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

test('a line is one JSON object with time, level, part, request id and message', () => {
  const { log, lines } = memoryLog();
  log.child({ requestId: 'req-1' }).info({ amountMicro: 1000n }, 'settled');
  expect(lines()).toMatchObject([{ level: 'info', name: 'test', requestId: 'req-1', amountMicro: '1000', msg: 'settled' }]);
  expect(lines()[0]?.['time']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test('an error is written with its type, message and stack, whoever logs it: our code names it as text, Temporal as what was thrown', () => {
  const { log, lines } = memoryLog();
  log.warn({ error: new TypeError('no such place') }, 'Activity failed');
  log.warn({ error: String(new TypeError('no such place')) }, 'ours');
  const error = { type: 'TypeError', message: 'no such place', stack: expect.stringContaining('log.test.ts') };
  expect(lines()).toMatchObject([{ error }, { error: 'TypeError: no such place' }]);
});

test('a line below the level is not written', () => {
  const { log, lines } = memoryLog();
  log.debug('quiet');
  expect(lines()).toEqual([]);
});

test.each([
  ['authorization'],
  ['x-payment'],
  ['payment-signature'],
  ['signature'],
  ['secret'],
  ['token'],
  ['privateKey'],
  ['quoteToken'],
  ['licenseJws'],
  ...SECRETS_OF_CONFIG.map((name): [string] => [name]),
])('the value of `%s` never reaches a line, at the top or up to two levels deep', (name) => {
  const { log, lines } = memoryLog();
  const mark = 'geheim-7f3a';
  log.info({ [name]: mark });
  log.info({ request: { [name]: mark } });
  log.info({ request: { headers: { [name]: mark } } });
  log
    .child({ requestId: 'req-2' })
    .child({ request: { [name]: mark } })
    .info('bound');
  expect(lines()).toHaveLength(4);
  expect(JSON.stringify(lines())).not.toContain(mark);
});
