/**
 * `npm run screenshots [-- --url http://127.0.0.1:8402]`: pictures of every screen of the console, light and dark, into docs/images, taken of
 * the demo site of a running sandbox (`npm start`). Fails on a screen that shows an error, asks for anything elsewhere, or makes too large a
 * picture.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Visitor } from '../test/support/browser.ts';
import { closeBrowser, openVisitor, settled } from '../test/support/browser.ts';

const FOLDER = fileURLToPath(new URL('../docs/images/', import.meta.url));
const CONSOLE = '/_svc/console';
const MOST_BYTES = 150_000;
const SCHEMES = ['light', 'dark'] as const;
const VIEWPORT = { width: 1280, height: 860 };

/** A screen: the name of its picture, and its address. */
interface Shot {
  readonly name: string;
  readonly path: string;
}

const { values } = parseArgs({ options: { url: { type: 'string', default: 'http://127.0.0.1:8402' } } });
const baseUrl = values.url.replace(/\/$/, '');
await rm(FOLDER, { recursive: true, force: true });
await mkdir(FOLDER, { recursive: true });
try {
  for (const scheme of SCHEMES) await takeAll(scheme);
} finally {
  await closeBrowser();
}

async function takeAll(colorScheme: (typeof SCHEMES)[number]): Promise<void> {
  const visitor = await openVisitor(baseUrl, { colorScheme, viewport: VIEWPORT });
  await visitor.page.goto(CONSOLE);
  await settled(visitor.page);
  await take(visitor, 'sign-in', colorScheme);
  await visitor.page.goto(`${CONSOLE}/demo`);
  await settled(visitor.page);
  for (const { name, path } of await shotsOf(visitor)) {
    await visitor.page.goto(path);
    await settled(visitor.page);
    await take(visitor, name, colorScheme);
  }
  const wrong = [...visitor.strangers, ...visitor.mishaps];
  if (wrong.length > 0) throw new Error(wrong.join('\n'));
  await visitor.close();
}

/** The screens of the menu, and those that a row of them leads to. */
async function shotsOf({ page }: Visitor): Promise<readonly Shot[]> {
  const menu = await page
    .locator('nav[aria-label="Screens"] a')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''));
  const shots = menu.map((path) => ({ name: nameOf(path), path }));
  const below = [
    { name: 'payment', from: `${CONSOLE}/earnings?by=payments&state=FINAL`, link: '.table-frame tbody a' },
    { name: 'webhook-endpoint', from: `${CONSOLE}/webhooks`, link: 'main a[href*="/webhooks/"]' },
  ];
  for (const { name, from, link } of below) {
    await page.goto(from);
    await settled(page);
    const [path] = await page.locator(link).evaluateAll((links) => links.map((one) => one.getAttribute('href') ?? ''));
    if (path !== undefined) shots.push({ name, path });
  }
  return shots;
}

function nameOf(path: string): string {
  return new URL(path, baseUrl).pathname.slice(CONSOLE.length).replaceAll('/', '-').replace(/^-/, '') || 'overview';
}

async function take({ page }: Visitor, name: string, scheme: string): Promise<void> {
  const errors = await page.locator('.notice.bad').allTextContents();
  if (errors.length > 0 && name !== 'payment') throw new Error(`${name}: ${errors.join(' ')}`);
  const picture = await page.screenshot();
  if (picture.length > MOST_BYTES) throw new Error(`${name}: ${picture.length} bytes`);
  await writeFile(`${FOLDER}${name}-${scheme}.png`, picture);
  console.log(`${name}-${scheme}.png ${Math.round(picture.length / 1_000)} KB`);
}
