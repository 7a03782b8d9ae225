/** What is attached to a release: the same bytes on every machine, sums that hold, and a wheel that pip takes and Python runs. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { PYTHONS } from '../support/pythons.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'release-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const release = (name: string, epoch: string): string => {
  const at = join(folder, name);
  const env = { ...process.env, SOURCE_DATE_EPOCH: epoch, NODE_OPTIONS: '' };
  execFileSync(process.execPath, ['tools/release.mjs', at], { cwd: ROOT, env, stdio: 'pipe' });
  return readFileSync(join(at, 'SHA256SUMS'), 'utf8');
};

test('two releases of the same sources have the same bytes, and their sums are those of their files', () => {
  const sums = release('first', '1795000000');
  expect(release('second', '1795000000')).toBe(sums);
  const provenance = JSON.parse(readFileSync(join(folder, 'first/provenance.json'), 'utf8'));
  const rows = sums
    .trim()
    .split('\n')
    .map((row) => row.split('  ') as [string, string]);
  expect(rows.map(([, name]) => name).filter((name) => name.endsWith('.tgz'))).toHaveLength(2);
  for (const [sum, name] of rows) {
    const body = readFileSync(join(folder, 'first', name));
    expect([name, createHash('sha256').update(body).digest('hex'), provenance.files[name].sha256]).toEqual([name, sum, sum]);
  }
  expect(provenance).toMatchObject({ sourceDateEpoch: 1_795_000_000, tools: { node: process.version } });
});

test.skipIf(PYTHONS.length === 0)(
  'the wheel has every module, with the sums that pip compares, and runs from where it is unpacked',
  () => {
    const [wheel = ''] = readdirSync(join(folder, 'first')).filter((name) => name.endsWith('.whl'));
    const program = `
import base64, csv, hashlib, io, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
wheel.extractall(sys.argv[2])
record = next(name for name in wheel.namelist() if name.endswith("/RECORD"))
for path, sum_, size in csv.reader(io.StringIO(wheel.read(record).decode())):
    body = wheel.read(path)
    digest = base64.urlsafe_b64encode(hashlib.sha256(body).digest()).rstrip(b"=").decode()
    assert path == record or (sum_ == "sha256=" + digest and int(size) == len(body)), path
sys.path.insert(0, sys.argv[2])
from content_settlement.asgi import ContentSettlement
from content_settlement.wsgi import ContentSettlement as _
print(len(wheel.namelist()), ContentSettlement.__module__)
`;
    const args = ['-I', '-c', program, join(folder, 'first', wheel), join(folder, 'unpacked')];
    const modules = readdirSync(join(ROOT, 'packages/python/src/content_settlement')).filter(
      (name) => !name.startsWith('__pycache__'),
    );
    const said = execFileSync('python3', args, { encoding: 'utf8' });
    expect(said).toBe(`${modules.length + 4} content_settlement.asgi\n`);
  },
);
