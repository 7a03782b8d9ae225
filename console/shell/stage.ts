import type { View } from '../core/html.ts';
import { html, useEffect, useState } from '../core/html.ts';
import { Skeleton } from '../parts/await.ts';
import { Button } from '../parts/button.ts';
import { Notice } from '../parts/panel.ts';
import type { Component, Screen } from '../screens/screen.ts';

/** What was fetched stays at hand. */
const fetched = new Map<string, Component>();

/** Draws a screen, and fetches its code first where that did not come with the page. */
export function Stage({ screen, of }: { readonly screen: Screen; readonly of: string }): View {
  const [, draw] = useState(0);
  const [failed, fail] = useState<string | null>(null);
  const { path, component } = screen;
  const ready = typeof component === 'function' ? component : fetched.get(path);
  useEffect(() => {
    if (typeof component === 'function' || fetched.has(path)) return;
    component.load().then(
      (loaded) => {
        fetched.set(path, loaded);
        draw((count) => count + 1);
      },
      () => fail(path),
    );
  }, [path]);
  if (ready) return html`<${ready} key=${of} />`;
  if (failed !== path) return html`<${Skeleton} rows=${8} />`;
  const again = html`<${Button} onClick=${() => location.reload()}>Load the page again<//>`;
  return html`<h1 class="sr">${screen.title}</h1>
    <${Notice} tone="bad" title="This screen could not be loaded" action=${again}>Look at your connection.<//>`;
}
