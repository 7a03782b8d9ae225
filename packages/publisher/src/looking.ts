/**
 * Looks at what the site itself answers before a page is offered for money. What that costs a site is bounded: an address that proved to be a page
 * is not looked at again for ten minutes, and at most 64 unpaid looks wait at once; above it pages are offered unseen.
 */
import type { Answer } from './answers.ts';
import type { Asked } from './core/aside.ts';
import { ACKNOWLEDGEMENT_BYTES, isAcknowledgement, mayBePage, nameOf } from './core/aside.ts';
import { Lru } from './core/lru.ts';
import type { Page } from './knowing/pages.ts';
import type { Sale } from './selling/sale.ts';
import { HELD_BYTES } from './selling/sale.ts';

const KNOWN_MS = 600_000;
const KNOWN = 5_000;
const AT_ONCE = 64;
/** Bytes of an answer that are kept until it is known whether it is a page. */
export const LOOK_BYTES = ACKNOWLEDGEMENT_BYTES;

/** A look at one answer. */
export interface Look {
  /** What is looked at has the name or the method of no page. */
  readonly isAside: boolean;
  /** True where the site is asked for the whole of it, whatever part its reader wants. */
  readonly asksWhole: boolean;
  /** False for the head of what is no page for certain: it goes out untouched. */
  mayBePage(status: number, type: string): boolean;
  /** Hears of the answer; gives what goes out instead if it is a page. `abandon` ends a look. */
  readonly sale: Sale;
}

/** What is to be looked at. */
export interface Looking {
  readonly page: Page;
  readonly method: string;
  /** True where the address or the method is no page's: then only a document is one, or what was seen as a page before. */
  readonly isAside: boolean;
  /** What goes out instead of the page, and null to let it out after all. Never rejects. */
  readonly instead: () => Promise<Answer | null>;
  /** Hears that the site's own answer went out. */
  readonly onOwn: () => void;
}

/** Opens looks. */
export interface Looks {
  /** Null where none is needed or none is possible: the page may be offered unseen. */
  open(looking: Looking): Look | null;
}

/**
 * A look for an answer of ours where the site has none: a 404, or the page that it shows at every address, for none of ours is HTML. Its own goes
 * out untouched, and is never waited for by ours. Nothing is sold, and nothing counted. `ours` null: the site's answer goes out. Must not reject.
 */
export function unlessSiteHas(ours: () => Promise<Answer | null>): Look {
  return {
    isAside: true,
    asksWhole: false,
    mayBePage: (status, type) => status === 404 || (status === 200 && /^text\/html\b/i.test(type)),
    sale: {
      finish: async () => {
        const answer = await ours();
        return answer === null ? { act: 'unservable', headers: {} } : { act: 'answer', answer };
      },
      hold: () => true,
      abandon: () => undefined,
    },
  };
}

/** Opens it. */
export function openLooks({ now }: { readonly now: () => number }): Looks {
  const pages = new Lru<number>(KNOWN);
  const nameOfPage = ({ resource, form }: Page): string => (form === null ? resource : `${resource} ${form}`);
  const isKnown = (page: Page): boolean => (pages.get(nameOfPage(page)) ?? Number.NEGATIVE_INFINITY) > now() - KNOWN_MS;
  const askedAs = ({ page, method, isAside }: Pick<Looking, 'page' | 'method' | 'isAside'>): Asked => {
    if (method !== 'GET' && method !== 'HEAD') return 'method';
    return isAside && !isKnown(page) ? nameOf(page.path) : 'page';
  };
  let waiting = 0;
  let heldBytes = 0;
  return {
    open: ({ page, method, isAside, instead, onOwn }) => {
      if (!isAside && (isKnown(page) || waiting >= AT_ONCE)) return null;
      if (!isAside) waiting += 1;
      let isOpen = true;
      let ownBytes = 0;
      const end = (isPage: boolean): void => {
        if (isOpen && !isAside) waiting -= 1;
        if (isOpen) heldBytes -= ownBytes;
        if (isOpen && !isPage) onOwn();
        isOpen = false;
      };
      const isPage = ({ bytes, chunks }: Parameters<Sale['finish']>[0]): boolean => {
        if (method === 'HEAD') return true;
        return bytes > 0 && (!isAside || isKnown(page) || !isAcknowledgement(chunks));
      };
      return {
        isAside,
        mayBePage: (status, type) =>
          mayBePage({ status, type }, page.form === null ? askedAs({ page, method, isAside }) : 'form', page.path),
        asksWhole: true,
        sale: {
          finish: async (made) => {
            const answer = isPage(made) ? await instead() : null;
            if (answer !== null && method === 'GET') pages.set(nameOfPage(page), now());
            end(answer !== null);
            return answer === null ? { act: 'unservable', headers: {} } : { act: 'answer', answer };
          },
          hold: (bytes) => {
            if (isOpen) ownBytes += bytes;
            if (isOpen) heldBytes += bytes;
            return heldBytes <= HELD_BYTES;
          },
          abandon: () => end(false),
        },
      };
    },
  };
}
