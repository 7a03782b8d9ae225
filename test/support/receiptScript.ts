/** The script of the guide with which a stranger checks a record, run as a stranger runs it: with a node of the network and nothing of ours. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A folder with the script in it. */
export interface ReceiptScript {
  /** What it says of the record at an address, or of one that is changed: its exit code, and everything it printed. */
  check(record: string | object): Promise<readonly [number, string]>;
  close(): void;
}

/** Unpacks the script of the guide. */
export function openReceiptScript(rpcUrl: string): ReceiptScript {
  const folder = mkdtempSync(join(tmpdir(), 'receipts-'));
  const [, script = ''] = /^```js\n(\/\/ node check-receipt.*?)^```$/ms.exec(readFileSync('docs/receipts.md', 'utf8')) ?? [];
  writeFileSync(join(folder, 'check-receipt.mjs'), script);
  symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'));
  let count = 0;
  const placeOf = (record: string | object): string => {
    if (typeof record === 'string') return record;
    count += 1;
    writeFileSync(join(folder, `${count}.json`), JSON.stringify(record));
    return `${count}.json`;
  };
  return {
    check: async (record) => {
      const args = ['check-receipt.mjs', placeOf(record), rpcUrl];
      const done = await promisify(execFile)(process.execPath, args, { cwd: folder }).catch((error) => error);
      return [done.code ?? 0, `${done.stdout}${done.stderr}`];
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}
