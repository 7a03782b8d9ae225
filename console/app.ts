import { html, render } from './core/html.ts';
import { startRouter } from './core/router.ts';
import { loadSession } from './core/session.ts';
import { SCREENS } from './screens/index.ts';
import { Shell } from './shell/shell.ts';

/** Where the page begins: the address is read, the session asked for, the shell drawn. */
startRouter(SCREENS.map(({ path }) => path));
const root = document.getElementById('app');
if (root) {
  root.replaceChildren();
  render(html`<${Shell} screens=${SCREENS} />`, root);
}
void loadSession();
