/** deploy/alertmanager.yml in a real Alertmanager: a page reaches the address of the secret file, and says which part of the runbook to read. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { choosePort, releasePort } from '../../sandbox/parts/ports.ts';

const { status: isMissing, stdout } = spawnSync('alertmanager', ['--version'], { encoding: 'utf8' });
/** `url_file` of a webhook is as old as 0.26; one that was built by hand says no version. */
const isTooOld = /version 0\.([01]?\d|2[0-5])\./.test(stdout ?? '');

test.skipIf(isMissing !== 0 || isTooOld)(
  'an alert is sent to the address in the secret file within seconds, with its runbook',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'alertmanager-'));
    const heard: { readonly alerts: readonly { readonly annotations: Readonly<Record<string, string>> }[] }[] = [];
    const receiver = createServer((call, answer) => {
      let text = '';
      call.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      call.once('end', () => {
        heard.push(JSON.parse(text));
        answer.end();
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    const secret = join(folder, 'alert_webhook_url');
    writeFileSync(secret, `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook?key=secret\n`);
    const shipped = readFileSync(new URL('../../deploy/alertmanager.yml', import.meta.url), 'utf8');
    const config = shipped.replace('/run/secrets/alert_webhook_url', secret).replace('group_wait: 10s', 'group_wait: 1s');
    writeFileSync(join(folder, 'alertmanager.yml'), config);
    const port = await choosePort(0);
    const args = [`--config.file=${join(folder, 'alertmanager.yml')}`, `--storage.path=${folder}`, '--cluster.listen-address='];
    const child = spawn('alertmanager', [...args, `--web.listen-address=127.0.0.1:${port}`], { stdio: 'ignore' });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    try {
      const annotations = { summary: 'a worker is away', runbook_url: 'docs/runbook.md#workerdown' };
      const alerts = [{ labels: { alertname: 'WorkerDown', severity: 'page' }, annotations }];
      const send = () =>
        fetch(`http://127.0.0.1:${port}/api/v2/alerts`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(alerts),
        }).then(
          ({ status }) => status,
          () => 0,
        );
      await expect.poll(send, { timeout: 15_000 }).toBe(200);
      await expect.poll(() => heard.length, { timeout: 15_000 }).toBeGreaterThan(0);
      expect(heard[0]?.alerts[0]?.annotations).toEqual(annotations);
    } finally {
      child.kill('SIGTERM');
      await ended;
      receiver.close();
      receiver.closeAllConnections();
      releasePort(port);
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
