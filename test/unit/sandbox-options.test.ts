import { expect, test } from 'vitest';
import { START_HELP } from '../../sandbox/help.mjs';
import { readOptions } from '../../sandbox/options.ts';

test('without arguments the sandbox keeps its data in .sandbox and tries the default ports', () => {
  const options = readOptions([], {}, '/checkout');
  expect(options).toMatchObject({ folder: '/checkout/.sandbox', exit: false, fresh: false, history: true });
  expect(readOptions(['--no-history'], {}, '/checkout')).toMatchObject({ history: false });
  expect(options.ports).toMatchObject({ api: 8402, temporal: 7233, temporalUi: 8233, chain: 8545 });
});

test('ports are overridden by the environment, 0 for any', () => {
  expect(readOptions(['--exit'], { PORT: '0', CHAIN_PORT: '9000' }, '/checkout').ports).toMatchObject({ api: 0, chain: 9000 });
});

test.each(['-1', '65536', 'http', '80a'])('PORT=%s is refused by name', (port) => {
  expect(() => readOptions([], { PORT: port }, '/checkout')).toThrow(/^PORT must be a port/);
});

test('each option that the help names is taken', () => {
  const named = [...START_HELP.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, name = '']) => name);
  expect(named).toEqual(['--exit', '--fresh', '--no-history', '--folder', '--build-temporal', '--help']);
  for (const name of named.slice(0, 3)) expect(() => readOptions([name], {}, '/checkout')).not.toThrow();
});

test('an unknown argument is refused, with what lists the known ones', () => {
  expect(() => readOptions(['--fersh'], {}, '/checkout')).toThrow(
    /^Unknown option '--fersh'; npm start -- --help lists the options$/,
  );
});
