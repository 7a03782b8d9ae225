/** Where the keyboard is after something that held it is gone. */

/** Whether nothing has the focus that anybody chose: a browser leaves it at the page when its element goes. */
function isLost(): boolean {
  const now = document.activeElement;
  return now === null || now === document.body || now.id === 'main' || !isShown(now);
}

function isShown(element: Element): boolean {
  return element.isConnected && element.getClientRects().length > 0;
}

/**
 * Gives the focus back to where it was before a dialog, when what is drawn has settled; to the screen where that place is gone. Stays with it:
 * a row that a change takes away a second later hands the focus to the screen, too.
 */
export function giveBackFocus(to: Element | null): void {
  setTimeout(() => {
    if (!isLost()) return;
    if (to instanceof HTMLElement && isShown(to)) {
      to.focus();
      watch(to);
    } else document.getElementById('main')?.focus({ preventScroll: true });
  });
}

/** What has the focus may go with what comes next: a chosen order draws its own table anew. Then the screen has it. */
export function keepFocus(): void {
  const now = document.activeElement;
  if (now instanceof HTMLElement && !isLost()) watch(now);
}

function watch(element: HTMLElement): void {
  const seen = new MutationObserver(() => {
    if (element.isConnected) return;
    seen.disconnect();
    if (isLost()) document.getElementById('main')?.focus({ preventScroll: true });
  });
  seen.observe(document.body, { childList: true, subtree: true });
  document.addEventListener('focusin', ({ target }) => target !== element && seen.disconnect(), { once: true });
}
