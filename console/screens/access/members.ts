import type { Page } from '../../core/data.ts';
import { change, useList } from '../../core/data.ts';
import type { View } from '../../core/html.ts';
import { html, useState } from '../../core/html.ts';
import { Await, Empty } from '../../parts/await.ts';
import { Button, Copy } from '../../parts/button.ts';
import { Dialog } from '../../parts/dialog.ts';
import { Field } from '../../parts/field.ts';
import { Badge, Notice, Panel } from '../../parts/panel.ts';
import type { Column } from '../../parts/table.ts';
import { Table } from '../../parts/table.ts';
import type { Member } from './documents.ts';
import {
  ERASE_MEMBER_DOCUMENT,
  INVITE_DOCUMENT,
  MEMBERS_DOCUMENT,
  REMOVE_MEMBER_DOCUMENT,
  REVOKE_INVITATION_DOCUMENT,
} from './documents.ts';

interface Answer {
  readonly tenant: { readonly members: Page<Member> };
}

/** What may be done to somebody on the roster. */
type Act = 'withdraw' | 'remove' | 'erase';

/** Where an invitation is accepted: the token stands behind the #, which no server sees. */
function invitationLink(token: string): string {
  return `${location.origin}/_svc/members/accept#${token}`;
}

/** Authors on the roster: invite, send the link again, take back, remove, erase. */
export function Members(): View {
  const list = useList<Answer, Member>(MEMBERS_DOCUMENT, {}, ({ tenant }) => tenant.members);
  const [invited, setInvited] = useState<{ readonly email: string; readonly token: string } | null>(null);
  const [asking, ask] = useState<{ readonly authorId: string; readonly email: string } | null>(null);
  const [acting, act] = useState<{ readonly what: Act; readonly member: Member } | null>(null);
  const invite = html`<${Button} kind="primary" onClick=${() => ask({ authorId: '', email: '' })}>Invite an author<//>`;
  const onInvited = (email: string, token: string): void => {
    setInvited({ email, token });
    list.reload();
  };
  return html`${invited ? html`<${Invited} ...${invited} onDone=${() => setInvited(null)} />` : null}
    <${Panel} flush title="Members" about="Authors who agreed to be listed. Who is paid stands in the credits of pages, on this list or not." actions=${invite}>
      <${Await} of=${list} empty=${() => list.rows.length === 0} nothing=${html`<${Empty} title="Nobody yet">Invite the authors whose pages you sell.<//>`}>
        ${() => html`<${Table} label="Members" columns=${columns(ask, (what, member) => act({ what, member }))} rows=${list.rows} keyOf=${({ authorId }: Member) => authorId} more=${list.more} />`}
      <//>
    <//>
    <${Invite} of=${asking} onClose=${() => ask(null)} onInvited=${onInvited} />
    <${Confirmed} of=${acting} onClose=${() => act(null)} onDone=${list.reload} />`;
}

function Invited({
  email,
  token,
  onDone,
}: {
  readonly email: string;
  readonly token: string;
  readonly onDone: () => void;
}): View {
  return html`<${Notice} tone="accent" title=${`${email} is invited`} action=${html`<${Button} onClick=${onDone}>Close<//>`}>
    <p>An e-mail with this link is on its way, where this service has a mail server. You may hand the link over yourself; it works once, for seven days.</p>
    <p class="secret"><code>${invitationLink(token)}</code> <${Copy} text=${invitationLink(token)} label="Copy the link" /></p>
  <//>`;
}

function columns(again: (member: Member) => void, act: (what: Act, member: Member) => void): readonly Column<Member>[] {
  return [
    { head: 'Author', isName: true, cell: ({ authorId }) => authorId },
    { head: 'E-mail', width: 'late', cell: ({ email }) => email },
    { head: 'State', cell: (member) => html`<${State} of=${member} />` },
    {
      head: html`<span class="sr">Actions</span>`,
      align: 'end',
      cell: (member) => html`<div class="row-actions">
        ${member.inviteToken === null ? null : html`<${Copy} text=${invitationLink(member.inviteToken)} label=${`Copy the link for ${member.authorId}`} />`}
        ${member.accepted ? null : html`<${Button} kind="quiet" label=${`Invite again: ${member.authorId}`} onClick=${() => again(member)}>Invite again<//>`}
        ${member.inviteToken === null ? null : html`<${Button} kind="quiet" label=${`Take back the invitation of ${member.authorId}`} onClick=${() => act('withdraw', member)}>Take back<//>`}
        ${member.inviteToken === null ? html`<${Button} kind="quiet" label=${`Remove ${member.authorId}`} onClick=${() => act('remove', member)}>Remove<//>` : null}
        <${Button} kind="quiet" label=${`Erase ${member.authorId}`} onClick=${() => act('erase', member)}>Erase<//>
      </div>`,
    },
  ];
}

function State({ of: { accepted, inviteToken } }: { readonly of: Member }): View {
  if (accepted) return html`<${Badge} tone="good">Accepted<//>`;
  return inviteToken === null ? html`<${Badge} tone="warn">Invitation ended<//>` : html`<${Badge} tone="accent">Invited<//>`;
}

function Invite({
  of: asking,
  onClose,
  onInvited,
}: {
  readonly of: { readonly authorId: string; readonly email: string } | null;
  readonly onClose: () => void;
  readonly onInvited: (email: string, token: string) => void;
}): View {
  const [typed, type] = useState<{ readonly authorId?: string; readonly email?: string }>({});
  const [authorId, email] = [typed.authorId ?? asking?.authorId ?? '', typed.email ?? asking?.email ?? ''];
  const close = (): void => {
    type({});
    onClose();
  };
  const run = async (): Promise<void> => {
    const { inviteMember } = await change<{ readonly inviteMember: { readonly inviteToken: string } }>(INVITE_DOCUMENT, {
      authorId: authorId.trim(),
      email: email.trim(),
    });
    onInvited(email.trim(), inviteMember.inviteToken);
  };
  const disabled = authorId.trim() === '' || email.trim() === '';
  return html`<${Dialog} title="Invite an author" open=${asking !== null} onClose=${close} confirm=${{ label: 'Invite', disabled, run }}>
    <p>The author gets a link to a page with one button. An earlier invitation of the same author ends.</p>
    <${Field} label="Author" value=${authorId} onInput=${(text: string) => type({ ...typed, authorId: text })} hint="As the credits of pages name the author." required />
    <${Field} label="E-mail" type="email" value=${email} onInput=${(text: string) => type({ ...typed, email: text })} hint="At most three invitations a day go to an address." required />
  <//>`;
}

const ACTS: Readonly<
  Record<Act, { readonly document: string; readonly title: string; readonly label: string; readonly effects: readonly string[] }>
> = {
  withdraw: {
    document: REVOKE_INVITATION_DOCUMENT,
    title: 'Take back the invitation of',
    label: 'Take it back',
    effects: ['The link that was sent works no more.', 'You may invite again.'],
  },
  remove: {
    document: REMOVE_MEMBER_DOCUMENT,
    title: 'Remove',
    label: 'Remove',
    effects: ['The author is on the roster no more.', 'Credits and earnings stay as they are: pages go on paying the author.'],
  },
  erase: {
    document: ERASE_MEMBER_DOCUMENT,
    title: 'Erase',
    label: 'Erase',
    effects: [
      'Roster, invitations and the audit log say no more who this was: e-mail address and user are gone for good.',
      'Earnings stay, under the id that the credits give.',
    ],
  },
};

function Confirmed({
  of: acting,
  onClose,
  onDone,
}: {
  readonly of: { readonly what: Act; readonly member: Member } | null;
  readonly onClose: () => void;
  readonly onDone: () => void;
}): View {
  if (acting === null) return null;
  const { document, title, label, effects } = ACTS[acting.what];
  const run = async (): Promise<void> => {
    await change(document, { authorId: acting.member.authorId });
    onDone();
  };
  return html`<${Dialog} title=${`${title} ${acting.member.authorId}?`} open=${true} onClose=${onClose} confirm=${{ label, kind: 'danger', run }}>
    <ul class="effects">${effects.map((effect) => html`<li key=${effect}>${effect}</li>`)}</ul>
  <//>`;
}
