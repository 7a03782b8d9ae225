import { randomBytes } from 'node:crypto';
import type { Check } from '../finding.ts';
import { ok, problem, unknown, warning } from '../finding.ts';
import type { Reply } from '../visitor.ts';

interface Facts {
  readonly path: string;
  readonly agent: Reply;
  readonly person: Reply;
}

/** What is answered for a page that there is not? */
export const missingPageCheck: Check<Facts> = {
  id: 'missing-page',
  probe: async (world) => {
    const prefix = (await world.config())?.articlePrefixes[0] ?? '/';
    const path = `${prefix}no-such-page-${randomBytes(6).toString('hex')}`;
    return { path, agent: await world.visit(path, { as: 'agent' }), person: await world.visit(path, { as: 'person' }) };
  },
  judge: ({ agent, person }) => {
    if (!agent.came || !person.came)
      return [unknown('A page that does not exist could not be asked for.', 'Run this again when the site answers.')];
    const broken = [agent, person].find(({ status }) => status >= 500);
    if (broken)
      return [
        problem(`A page that does not exist answers ${broken.status}.`, 'Answer 404: an error is asked for again and again.'),
      ];
    if (person.status === 402)
      return [problem('A person gets a 402 for a page that does not exist.', "Leave `charge` at 'agents'.")];
    if (agent.status === 402 && person.status === 200) {
      return [
        warning(
          'A page that does not exist answers 200 and has a price: an agent can buy it.',
          'Answer 404 for pages that do not exist; such an answer is never charged.',
        ),
      ];
    }
    if (agent.status === 402) return [ok('A page that does not exist is offered, and costs nothing: it answers 404.')];
    return [ok(`A page that does not exist answers ${agent.status}, free.`)];
  },
};
