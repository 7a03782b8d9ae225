import type { Variable } from './variable.ts';
import { GROUPS } from './variables.ts';

const OPENING = `# The environment of the service. Copy to .env and set what your process needs; \`npm start\` and \`npm test\` need nothing of this.
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
  const shown =
    variable.fallback === undefined ? `# ${variable.name}=${variable.example}` : `${variable.name}=${variable.fallback}`;
  const file = variable.fromFile ? [`# ${variable.name}_FILE=/run/secrets/${variable.name.toLowerCase()}`] : [];
  return [comment(variable.about), shown, ...file].join('\n');
}

/** The text of `.env.example`: every variable with its sentence, and its default or an example. */
export function renderEnvExample(): string {
  const groups = Object.entries(GROUPS).map(([heading, variables]) =>
    [`## ${heading}`, ...Object.values(variables as Record<string, Variable<unknown>>).map(renderVariable)].join('\n\n'),
  );
  return `${[OPENING, ...groups].join('\n\n')}\n`;
}
