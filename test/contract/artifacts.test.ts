import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { toEventSelector, toFunctionSelector } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import splitArtifact from '../../contracts/artifacts/LegSplit.json' with { type: 'json' };
import routerArtifact from '../../contracts/artifacts/SplitRouter.json' with { type: 'json' };
import multicallArtifact from '../../contracts/artifacts/test/TestMulticall3.json' with { type: 'json' };
import tokenArtifact from '../../contracts/artifacts/test/TestUSDC.json' with { type: 'json' };
import { ARTIFACTS_FOLDER, compileContracts } from '../../contracts/build.ts';
import { multicall3Abi, routerAbi, tokenAbi } from '../../platform/chain/calls/abi.ts';
import {
  deployRouterTransaction,
  deterministicDeployer,
  implementationOf,
  routerAddress,
} from '../../platform/chain/router/split.ts';
import { splitAbi, testTokenAbi } from '../support/abi.ts';
import type { World } from './world.ts';
import { startWorld } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

interface AbiItem {
  readonly type: string;
  readonly name?: string;
}

function filesUnder(folder: string, prefix = ''): readonly string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesUnder(path, `${prefix}${name}/`) : [`${prefix}${name}`];
  });
}

/** Selectors of functions and events, sorted: equal where two ABIs describe the same contract. */
function selectors(abi: readonly unknown[]): readonly string[] {
  return (abi as readonly AbiItem[])
    .flatMap((item) => {
      if (item.type === 'function') return [`${item.name} ${toFunctionSelector(item as never)}`];
      return item.type === 'event' ? [`${item.name} ${toEventSelector(item as never)}`] : [];
    })
    .sort();
}

/** Opcodes of runtime code, push data skipped. */
function opcodes(code: string): ReadonlySet<number> {
  const bytes = Buffer.from(code.slice(2), 'hex');
  const found = new Set<number>();
  for (let at = 0; at < bytes.length; at += 1) {
    const opcode = bytes[at] ?? 0;
    found.add(opcode);
    if (opcode >= 0x60 && opcode <= 0x7f) at += opcode - 0x5f;
  }
  return found;
}

test('the committed artifacts are exactly what the sources compile to', () => {
  const compiled = compileContracts();
  expect(filesUnder(ARTIFACTS_FOLDER).toSorted()).toEqual([...compiled.keys()].toSorted());
  for (const [path, text] of compiled) expect(readFileSync(join(ARTIFACTS_FOLDER, path), 'utf8') === text, path).toBe(true);
}, 300_000);

test('the typed ABIs describe the compiled contracts', () => {
  expect(selectors(routerAbi)).toEqual(selectors(routerArtifact.abi));
  expect(selectors(splitAbi)).toEqual(selectors(splitArtifact.abi));
  const token = new Set(selectors(tokenArtifact.abi));
  for (const selector of selectors([...tokenAbi, ...testTokenAbi])) expect(token).toContain(selector);
  const multicall = new Set(selectors(multicallArtifact.abi));
  for (const selector of selectors(multicall3Abi)) expect(multicall).toContain(selector);
});

test('router and split write no storage, destroy nothing, and the split delegates nothing', () => {
  const SSTORE = 0x55;
  const TSTORE = 0x5d;
  const CALLCODE = 0xf2;
  const DELEGATECALL = 0xf4;
  const SELFDESTRUCT = 0xff;
  for (const { deployedBytecode } of [routerArtifact, splitArtifact]) {
    const used = opcodes(deployedBytecode);
    for (const opcode of [SSTORE, TSTORE, CALLCODE, DELEGATECALL, SELFDESTRUCT]) expect(used.has(opcode)).toBe(false);
  }
});

test('one transaction through the deterministic deployer installs router and implementation at their derived addresses', async () => {
  expect(world.deployment.status).toBe('success');
  expect(deployRouterTransaction().to).toBe(deterministicDeployer);
  const implementation = await world.client.readContract({
    address: routerAddress,
    abi: routerAbi,
    functionName: 'IMPLEMENTATION',
  });
  expect(implementation.toLowerCase()).toBe(implementationOf(routerAddress));
  const router = await world.client.readContract({ address: implementation, abi: splitAbi, functionName: 'ROUTER' });
  expect(router.toLowerCase()).toBe(routerAddress);
});

test('deploying a second time fails and leaves the router as it is', async () => {
  const before = await world.client.getCode({ address: routerAddress });
  const again = await world.send(deployRouterTransaction().to, deployRouterTransaction().data);
  expect(again.status).toBe('reverted');
  expect(await world.client.getCode({ address: routerAddress })).toBe(before);
});
