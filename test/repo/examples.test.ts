import { expect, test } from 'vitest';
import { readSources } from '../../tools/check/sources.ts';

const [guide] = readSources(/^docs\/integrating-publisher\.md$/);

test('what the guide says to add to each framework are lines of the examples, which are run', () => {
  const examples = readSources(/^examples\/(astro|django|express|fastapi|fastify|hono|next|sveltekit)\//).flatMap(({ text }) =>
    text.split('\n'),
  );
  const snippets = [...(guide?.text ?? '').matchAll(/^```(?:js|python)\n(.*?)^```$/gms)].flatMap(([, lines = '']) =>
    lines.trim().split('\n'),
  );
  expect(snippets.length).toBeGreaterThan(5);
  expect(snippets.filter((line) => !examples.includes(line))).toEqual([]);
});

test('what a buyer is shown of Python and Go are lines of the programs that bought, but for the address', () => {
  const programs = readSources(/^test\/clients\/buyers\//).flatMap(({ text }) => text.split('\n').map((line) => line.trim()));
  const [page] = readSources(/^docs\/integrating-buyer\.md$/);
  const shown = [...(page?.text ?? '').matchAll(/^```(?:python|go)\n(.*?)^```$/gms)].flatMap(([, lines = '']) =>
    lines.trim().split('\n').slice(0, -1),
  );
  expect(shown.length).toBeGreaterThan(10);
  expect(shown.map((line) => line.trim()).filter((line) => !programs.includes(line))).toEqual([]);
});
