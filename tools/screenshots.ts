/**
 * `npm run screenshots [-- --url http://127.0.0.1:8402]`: pictures of every screen of the console, light and dark, into docs/images, taken of
 * the demo site of a running sandbox (`npm start`). Fails on a screen that shows an error, asks for anything elsewhere, or makes too large a
 * picture.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import type { Visitor } from '../test/support/browser.ts';
import { closeBrowser, openVisitor, settled } from '../test/support/browser.ts';

const FOLDER = fileURLToPath(new URL('../docs/images/', import.meta.url));
const CONSOLE = '/_svc/console';
const MOST_BYTES = 150_000;
const SCHEMES = ['light', 'dark'] as const;
const VIEWPORT = { width: 1280, height: 760 };
const PHONE = { width: 390, height: 760 };
/** Letters that the fonts of a bare machine have not: those of Chinese and Japanese. */
const RARE = /[\u3000-\u30ff\u3400-\u9fff]/gu;
const RARE_FONT = new URL('../node_modules/@fontsource-variable/noto-sans-jp/', import.meta.url);

/** A screen: the name of its picture, and its address. */
interface Shot {
  readonly name: string;
  readonly path: string;
  readonly isPhone?: true;
  /** A heading further down, where the picture begins. */
  readonly from?: string;
  /** A button that is pressed before. */
  readonly press?: string;
}

/** Views of screens that have several. */
const VIEWS: readonly Shot[] = [
  { name: 'overview-phone', path: CONSOLE, isPhone: true },
  { name: 'licences-offering', path: `${CONSOLE}/licences?view=offering` },
  { name: 'pages-prices', path: `${CONSOLE}/pages?view=prices` },
  { name: 'pages-rules', path: `${CONSOLE}/pages?view=rules`, press: 'Add a rule' },
  { name: 'settings-more', path: `${CONSOLE}/settings`, from: 'Alert rules' },
];

const { values } = parseArgs({ options: { url: { type: 'string', default: 'http://127.0.0.1:8402' } } });
const baseUrl = values.url.replace(/\/$/, '');
try {
  await (await openVisitor(baseUrl, { colorScheme: 'light', viewport: VIEWPORT })).page.goto(CONSOLE); // the pictures stay where there is no console
  await rm(FOLDER, { recursive: true, force: true });
  await mkdir(FOLDER, { recursive: true });
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
  for (const { name, path, isPhone, from, press } of [...(await shotsOf(visitor)), ...VIEWS]) {
    await visitor.page.setViewportSize(isPhone ? PHONE : VIEWPORT);
    await visitor.page.goto(path);
    await settled(visitor.page);
    if (press !== undefined) await visitor.page.getByRole('button', { name: press }).click();
    if (from !== undefined)
      await visitor.page.getByRole('heading', { name: from }).evaluate((heading) => {
        heading.scrollIntoView({ block: 'start' });
        scrollBy(0, -28);
      });
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
  await addRareLetters(page);
  const picture = await page.screenshot();
  if (picture.length > MOST_BYTES) throw new Error(`${name}: ${picture.length} bytes`);
  await writeFile(`${FOLDER}${name}-${scheme}.png`, picture);
  console.log(`${name}-${scheme}.png ${Math.round(picture.length / 1_000)} KB`);
}

/** Gives a page the letters of its text that the machine may have no font for: the pieces of one that have them. */
async function addRareLetters(page: Page): Promise<void> {
  const letters = new Set(((await page.locator('body').textContent()) ?? '').match(RARE) ?? []);
  if (letters.size === 0) return;
  const css = await readFile(new URL('index.css', RARE_FONT), 'utf8');
  const faces = css.matchAll(/url\(\.\/(?<file>[^)]+)\)[^;]*;\s*unicode-range: (?<range>[^;]+);/g);
  for (const { groups: { file = '', range = '' } = {} } of faces) {
    const found = [...letters].map((letter) => letter.codePointAt(0) ?? 0).filter((letter) => isWithin(range, letter));
    if (found.length === 0) continue;
    const only = found.map((letter) => `U+${letter.toString(16)}`).join(',');
    const bytes = (await readFile(new URL(file, RARE_FONT))).toString('base64');
    await page.evaluate(
      `new FontFace('rare', Uint8Array.from(atob('${bytes}'), (c) => c.charCodeAt(0)), { unicodeRange: '${only}', weight: '100 900' })
        .load().then((face) => void document.fonts.add(face))`,
    );
  }
  await page.evaluate(`(() => {
    const { style } = document.documentElement;
    style.setProperty('--font', 'rare, ' + getComputedStyle(document.documentElement).getPropertyValue('--font'));
  })()`);
}

/** Whether `unicode-range` names a letter. */
function isWithin(range: string, letter: number): boolean {
  return range.split(',').some((part) => {
    const [from = '', to = from] = part.trim().replace('U+', '').split('-');
    return Number.parseInt(from, 16) <= letter && letter <= Number.parseInt(to, 16);
  });
}
