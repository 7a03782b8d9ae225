/** A real Chromium for the console: one of a process, which reaches nothing but the service under test. */
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import chromium from '@sparticuz/chromium';
import axe from 'axe-core';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { chromium as playwright } from 'playwright-core';

const { devDependencies } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly devDependencies: Readonly<Record<string, string>>;
};
const version = devDependencies['@sparticuz/chromium'];

/** A window of the browser, signed in to nothing; what went wrong in it is written down. */
export interface Visitor {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Addresses elsewhere that a page asked for; none was reached. */
  readonly strangers: string[];
  /** What a page threw, refused by its policy, or asked people in a box of its own: none of it is ours. */
  readonly mishaps: string[];
  close(): Promise<void>;
}

/** No sandbox of its own: it may run where there are no namespaces, and reads our pages alone. No name leads anywhere. */
const ARGUMENTS = [
  '--no-sandbox',
  '--no-zygote',
  '--disable-gpu',
  '--font-render-hinting=none',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
] as const;

let shared: Promise<Browser> | null = null;

/** The browser of this process; it ends with it, or with `closeBrowser`. */
function browser(): Promise<Browser> {
  shared ??= installed().then((executablePath) => playwright.launch({ executablePath, args: [...ARGUMENTS] }));
  return shared;
}

/** Ends the browser. */
export async function closeBrowser(): Promise<void> {
  const open = shared;
  shared = null;
  await (await open)?.close();
}

/** Opens a window that reaches `baseUrl` and nothing else. */
export async function openVisitor(baseUrl: string, options: BrowserContextOptions = {}): Promise<Visitor> {
  const context = await (await browser()).newContext({ baseURL: baseUrl, reducedMotion: 'reduce', ...options });
  const [strangers, mishaps]: [string[], string[]] = [[], []];
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${baseUrl}/`) && !url.startsWith('data:')) strangers.push(url);
  });
  page.on('pageerror', (error) => mishaps.push(String(error)));
  page.on('dialog', (dialog) => {
    mishaps.push(`a box says ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('console', (message) => {
    const text = message.text();
    if (/content security policy|trusted ?type|integrity|mixed content/i.test(text)) mishaps.push(text);
  });
  return { page, context, strangers, mishaps, close: () => context.close() };
}

/** Waits until everything a screen asked for has come; what it looks like where that never happens is in the error. */
export async function settled(page: Page): Promise<void> {
  await page.locator('main').waitFor();
  const isCalm = () => document.querySelector('[aria-busy="true"], .skeleton') === null;
  await page.waitForFunction(isCalm, null, { polling: 50 }).catch(async (error: Error) => {
    throw new Error(`${page.url()} is still busy: ${await page.locator('main').innerHTML()}`, { cause: error });
  });
}

/** What axe-core finds wrong in a page, whatever still loads in it, a line each; by one of its rules alone where that is named. */
export async function audited(page: Page, rule?: string): Promise<readonly string[]> {
  await page.evaluate(`${axe.source}; void 0`);
  const options = { resultTypes: ['violations'], ...(rule === undefined ? {} : { runOnly: [rule] }) };
  const found = await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`);
  const { violations } = found as axe.AxeResults;
  return violations.flatMap(({ id, help, nodes }) => nodes.map(({ html }) => `${id}: ${help}: ${html.slice(0, 160)}`));
}

/** The browser's program: unpacked once a machine, whole or not at all. */
async function installed(): Promise<string> {
  const folder = join(tmpdir(), `content-settlement-chromium-${version}`);
  if (!existsSync(folder)) {
    const before = process.env['TMPDIR'];
    const making = await mkdtemp(`${folder}-`);
    process.env['TMPDIR'] = making;
    try {
      await chromium.executablePath();
    } finally {
      if (before === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = before;
    }
    await rename(making, folder).catch(() => rm(making, { recursive: true }));
  }
  return join(folder, 'chromium');
}
