/** The page that an invitation's e-mail leads to; its script runs in the author's browser. */
import { createHash } from 'node:crypto';

/** The token stays behind the `#`, which no server or log sees, and is used by a click alone: mail scanners open links, too. */
const SCRIPT = `
const [button, state] = [document.querySelector('button'), document.querySelector('output')];
const inviteToken = location.hash.slice(1);
if (inviteToken === '') { button.disabled = true; state.textContent = 'This link is not complete. Copy all of it from the e-mail.'; }
button.onclick = async () => {
  button.disabled = true;
  state.textContent = 'One moment …';
  const answer = await fetch('/_svc/members/accept', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ inviteToken }) }).catch(() => null);
  if (answer?.ok) { history.replaceState(null, '', location.pathname); state.textContent = 'Thank you. You are on the list of authors.'; return; }
  const isOver = answer?.status === 404 || answer?.status === 400;
  state.textContent = isOver ? 'This invitation was used before, was replaced, or has ended. Ask for a new one.' : 'This did not work. Please try again in a minute.';
  button.disabled = isOver;
};
`;
/** The page, the same for everybody. */
export const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>Invitation</title>
<style>:root{color-scheme:light dark;font:1.1rem/1.6 system-ui,sans-serif}main{max-width:32rem;margin:12vh auto;padding:0 1.5rem}button{font:inherit;padding:.5rem 1.5rem}output{display:block;margin-top:1rem}</style>
<main>
<h1>You are invited</h1>
<p>A site wants to list you among its authors. Authors are paid when software reads their pages.</p>
<button type="button">Accept</button>
<output role="status"></output>
<noscript><p>This page needs JavaScript: it reads the invitation from the address.</p></noscript>
</main>
<script>${SCRIPT}</script>
</html>
`;
const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const STYLE = /<style>(.*)<\/style>/.exec(PAGE)?.[1] ?? '';
/** What it is served with: only its own script and style run, and it talks to us alone. */
export const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': `default-src 'none'; script-src ${hashOf(SCRIPT)}; style-src ${hashOf(STYLE)}; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'referrer-policy': 'no-referrer',
};
