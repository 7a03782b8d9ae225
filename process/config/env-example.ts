import type { Limit } from './limits.ts';
import { LIMITS } from './limits.ts';
import type { Variable } from './variable.ts';
import { GROUPS, VARIABLES } from './variables.ts';

const OPENING = `# The environment of the service. With containers copy to .env; without them these lines stand in common.env, api.env
# and worker.env (docs/going-live.md). Set what your process needs; \`npm start\` and \`npm test\` need nothing of this.
# A line that is commented out shows an example or the default. Written by \`npm run generate\` from process/config/variables.ts.`;

const WIDTH = 130;

/** A sentence as lines of a comment. */
function comment(sentence: string): string {
  const lines = [''];
  for (const word of sentence.split(' ')) {
    const line = `${lines.at(-1)} ${word}`;
    if (line.length < WIDTH) lines[lines.length - 1] = line;
    else lines.push(` ${word}`);
  }
  return lines.map((line) => `#${line}`).join('\n');
}

function renderVariable(variable: Variable<unknown>): string {
  const { name, about, example, fallback, fromFile } = variable;
  const isLimits = variable === VARIABLES.limits;
  const shown = fallback === undefined || isLimits ? `# ${name}=${quoted(example)}` : `${name}=${fallback}`;
  const file = fromFile ? [`# ${name}_FILE=/run/secrets/${name.toLowerCase()}`] : [];
  return [comment(about), shown, ...file, ...(isLimits ? ['', renderLimits()] : [])].join('\n');
}

/** JSON keeps its quotes in a file that a shell or systemd reads. */
function quoted(example: string): string {
  return example.includes('"') ? `'${example}'` : example;
}

/** Each member of LIMITS with its default, what it may be, and its sentence. */
function renderLimits(): string {
  const lines = Object.entries<Limit<unknown>>(LIMITS).map(([name, { about, fallback, wanted }]) =>
    comment(`${name} (${JSON.stringify(fallback)}; ${wanted}): ${about}`),
  );
  return lines.join('\n');
}

/** The text of `.env.example`: every variable with its sentence, and its default or an example. */
export function renderEnvExample(): string {
  const groups = Object.entries(GROUPS).map(([heading, variables]) =>
    [`## ${heading}`, ...Object.values(variables as Record<string, Variable<unknown>>).map(renderVariable)].join('\n\n'),
  );
  return `${[OPENING, ...groups].join('\n\n')}\n`;
}
