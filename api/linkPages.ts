/** Pages that links in e-mails lead to. Their scripts run in an author's browser. */
import { createHash } from 'node:crypto';

/** A page, the same bytes for everybody, and what it is served with. */
export interface LinkPage {
  readonly page: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The token stays behind the `#`, which no server or log sees, and is used by a click alone: mail scanners open links, too. */
const HEAD = `
const [button, state] = [document.querySelector('button'), document.querySelector('output')];
const token = location.hash.slice(1);
if (token === '') { button.disabled = true; state.textContent = 'This link is not complete. Copy all of it from the e-mail.'; }
const send = (path, body) => fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }).catch(() => null);
const isOver = (answer) => answer?.status === 404 || answer?.status === 400;
`;

const INVITATION = `
button.onclick = async () => {
  button.disabled = true;
  state.textContent = 'One moment …';
  const answer = await send('/_svc/members/accept', { inviteToken: token });
  if (answer?.ok) { history.replaceState(null, '', location.pathname); state.textContent = 'Thank you. You are on the list of authors.'; return; }
  state.textContent = isOver(answer) ? 'This invitation was used before, was replaced, or has ended. Ask for a new one.' : 'This did not work. Please try again in a minute.';
  button.disabled = isOver(answer);
};
`;

/** Anybody can write a link, so that its words are shown only when the service has said that it signed them; a month is figures. */
const STATEMENT = `
const said = (() => {
  try { return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(token.split('.')[1].replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0)))); } catch { return null; }
})();
const month = /^(\\d{4})-(\\d{2})$/.exec(said?.svc?.month ?? '');
if (month) {
  const name = new Date(Number(month[1]), Number(month[2]) - 1, 1).toLocaleDateString('en-GB', { month: 'long', year: 'numeric' });
  document.querySelector('h1').textContent = 'Your statement of ' + name;
}
button.onclick = async () => {
  button.disabled = true;
  state.textContent = 'One moment …';
  const answer = await send('/_svc/statement', { token });
  if (answer?.ok) {
    const file = Object.assign(document.createElement('a'), { href: URL.createObjectURL(await answer.blob()), download: 'statement-' + (month ? month[0] : 'month') + '.pdf' });
    file.click();
    document.querySelector('main p').textContent = [said?.sub, said?.svc?.host].filter(Boolean).join(' · ');
    state.textContent = 'The statement is in your downloads.';
    button.disabled = false;
    return;
  }
  state.textContent = isOver(answer) ? 'This link has ended, or is not complete. Ask the publisher for a new one.' : 'This did not work. Please try again in a minute.';
  button.disabled = isOver(answer);
};
`;

const STYLE =
  ':root{color-scheme:light dark;font:1.0625rem/1.6 system-ui,sans-serif;background:light-dark(#f6f7f9,#14161a);color:light-dark(#1b1f27,#e8eaee)}' +
  'main{max-width:30rem;margin:12vh auto;padding:2rem;background:light-dark(#fff,#1d2026);border:1px solid light-dark(#dfe3e8,#33373f);border-radius:12px}' +
  'h1{margin:0 0 .5rem;font-size:1.5rem;line-height:1.25;text-wrap:balance}p{margin:0 0 1.5rem;overflow-wrap:anywhere}' +
  'button{font:inherit;font-weight:600;padding:.5rem 1.25rem;border:0;border-radius:8px;background:light-dark(#1f54d6,#8fb0ff);color:light-dark(#fff,#0d1320);cursor:pointer}' +
  'button:disabled{opacity:.55;cursor:default}output{display:block;margin-top:1rem;min-height:1.6em}' +
  '@media(max-width:36rem){main{margin:1rem;padding:1.25rem}}@media(forced-colors:active){button{border:1px solid}}';

/** The page that an invitation's e-mail leads to. */
export const INVITATION_PAGE = linkPage({
  title: 'Invitation',
  heading: 'You are invited',
  about: 'A site wants to list you among its authors. Authors are paid when software reads their pages.',
  button: 'Accept',
  script: INVITATION,
});

/** The page that the link to an author's statement leads to. Before the service has accepted the link, it shows nothing of it but a month. */
export const STATEMENT_PAGE = linkPage({
  title: 'Statement',
  heading: 'Your statement',
  about: 'What a publisher’s pages earned you.',
  button: 'Download the PDF',
  script: STATEMENT,
});

function linkPage(of: {
  readonly title: string;
  readonly heading: string;
  readonly about: string;
  readonly button: string;
  readonly script: string;
}): LinkPage {
  const script = `${HEAD}${of.script}`;
  const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>${of.title}</title>
<style>${STYLE}</style>
<main>
<h1>${of.heading}</h1>
<p>${of.about}</p>
<button type="button">${of.button}</button>
<output role="status"></output>
<noscript><p>This page needs JavaScript: it reads the address that you opened.</p></noscript>
</main>
<script>${script}</script>
</html>
`;
  const csp = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(STYLE)}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    // Only its own script and style run, and it talks to us alone.
    'content-security-policy': csp.join('; '),
    'referrer-policy': 'no-referrer',
  };
  return { page, headers };
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
