import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { alternate } from '../../bench/harness/alternate.ts';
import { ownCpu, withCpu } from '../../bench/harness/cpu.ts';
import { makeFigure } from '../../bench/harness/figure.ts';

const GIVEN = { id: 'some.figure', what: 'something', unit: 'req/s', referenceName: 'something else' } as const;

test.skipIf(process.platform !== 'linux')(
  'the CPU of a process is counted with that of what it started, also after that ended',
  async () => {
    const spin = 'const end = process.cpuUsage().user + 120_000; while (process.cpuUsage().user < end);';
    const parent = `require('node:child_process').spawnSync(process.execPath, ['-e', ${JSON.stringify(spin)}]); console.log('done'); setInterval(() => {}, 1_000)`;
    const child = spawn(process.execPath, ['-e', parent], { stdio: ['ignore', 'pipe', 'ignore'] });
    onTestFinished(async () => {
      child.kill();
      await once(child, 'exit');
    });
    const { value, cpu } = await withCpu({ worker: [child.pid as number] }, async () => {
      await once(child.stdout, 'data');
      return { value: 7, operations: 4 };
    });
    expect(value).toBe(7);
    expect(cpu?.worker).toBeGreaterThan(25);
  },
);

test('the chain and the client are not what is compared', () => {
  expect(ownCpu({ api: 1, worker: 2, postgres: 3, temporal: 4, chain: 5, client: 6 })).toBe(10);
  expect(ownCpu({ reference: 15, chain: 3 })).toBe(15);
});

test('a target of CPU is judged by what an operation takes, whatever the clock says', async () => {
  const rounds = await alternate({
    rounds: 1,
    sides: {
      ours: async () => ({ value: 10, cpu: { api: 1.5, postgres: 0.5, client: 9 } }),
      reference: async () => ({ value: 100, cpu: { reference: 16, chain: 3 } }),
    },
  });
  expect(makeFigure({ ...GIVEN, rounds, target: { atLeast: 7, of: 'cpuRatio' } })).toMatchObject({
    ratio: 0.1,
    reached: true,
    target: '≥ 7 × a CPU second',
    cpu: { ours: { api: 1.5, postgres: 0.5, client: 9 }, reference: { reference: 16, chain: 3 } },
  });
  expect(makeFigure({ ...GIVEN, rounds, target: { atLeast: 7, of: 'wholeCpuRatio' } })).toMatchObject({
    reached: false,
    target: '≥ 7 × a CPU second, all parts',
    cpuRatio: { withChainAndClient: 19 / 11, withoutChainAndClient: 8 },
  });
  expect(makeFigure({ ...GIVEN, rounds, target: { atMost: 1.9, of: 'cpu' } })).toMatchObject({ reached: false });
  expect(makeFigure({ ...GIVEN, rounds, target: null })).toMatchObject({ target: null, reached: null });
});

test('where the system does not tell CPU, a target of it is not judged', async () => {
  const rounds = await alternate({ rounds: 1, sides: { ours: async () => 1, reference: async () => 2 } });
  expect(makeFigure({ ...GIVEN, rounds, target: { atMost: 1, of: 'cpu' } })).toMatchObject({ ratio: 0.5, reached: null });
});
