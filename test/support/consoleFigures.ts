/** Reads figures off a screen of the console, each without loss, as screen readers hear it. */
import type { Page } from 'playwright-core';
import { difference } from '../../console/core/format.ts';

/** An amount as the console says it without loss: `1,234.500000 USDC`. */
export function usdc(micro: number | string): string {
  const digits = BigInt(micro).toString().replace('-', '').padStart(7, '0');
  return `${BigInt(micro) < 0n ? '−' : ''}${Number(digits.slice(0, -6)).toLocaleString('en-US')}.${digits.slice(-6)} USDC`;
}

/** A count as the console says it without loss. */
export const whole = (n: number): string => n.toLocaleString('en-US');
/** `1 payment`, `1,200 payments`. */
export const payments = (n: number): string => `${whole(n)} payment${n === 1 ? '' : 's'}`;

/** How a figure changed, as it stands beside it; null where there was nothing before. */
export const changed = (now: number, before: number): string | null => difference(now, before)?.text ?? null;

/** What a page shows. */
export function figuresOf(page: Page) {
  const box = (label: string) =>
    page.locator('.figure').filter({ has: page.locator('dt', { hasText: new RegExp(`^${label}$`) }) });
  const textOf = async (inside: ReturnType<Page['locator']>): Promise<string | null> =>
    (await inside.count()) > 0 ? inside.first().textContent() : null;
  return {
    /** What a figure says. */
    figure: async (label: string): Promise<string | null> =>
      (await textOf(box(label).locator('.value .sr'))) ?? (await box(label).locator('.value').textContent()),
    /** How it differs from before; null: nothing is said. */
    change: (label: string): Promise<string | null> => textOf(box(label).locator('.change')),
    /** What stands below it. */
    note: async (label: string): Promise<string> => ((await textOf(box(label).locator('.note'))) ?? '').trim(),
    /** Rows of a table by their heads; a name that leads on is what its link is of. */
    table: (label: string): Promise<Readonly<Record<string, string>>[]> =>
      page
        .locator('.table-frame')
        .and(page.getByRole('region', { name: label, exact: true }))
        .locator('tbody tr')
        .evaluateAll((all) =>
          all.map((row) => {
            const heads = [...(row.closest('table')?.querySelectorAll('thead th') ?? [])].map((head) => head.textContent ?? '');
            const cells = [...row.children].map((cell) => {
              const link = cell.tagName === 'TH' ? cell.querySelector('a') : null;
              return (link?.getAttribute('title') ?? (link ?? cell.querySelector('.sr') ?? cell).textContent ?? '').trim();
            });
            return Object.fromEntries(heads.map((head, at) => [head, cells[at] ?? '']));
          }),
        ),
    /** Lines of a ranking: what each is of, what is noted, and its figure. */
    ranking: (label: string): Promise<string[][]> =>
      page
        .getByRole('list', { name: label, exact: true })
        .locator('.bar')
        .evaluateAll((all) =>
          all.map((bar) => [
            bar.getAttribute('title') ?? bar.querySelector('.name')?.textContent ?? '',
            bar.querySelector('.note')?.textContent ?? '',
            (bar.querySelector('.exact .sr') ?? bar.querySelector('.exact'))?.textContent ?? '',
          ]),
        ),
    /** Stretches of a chart, as its table tells them. */
    trend: (): Promise<string[][]> =>
      page
        .locator('.trend table tbody tr')
        .evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent ?? ''))),
  };
}
