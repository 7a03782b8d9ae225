import fc from 'fast-check';
import { expect, test } from 'vitest';
import { planLines } from '../../domain/documentLines.ts';

test('however many authors there are, a document keeps to its lines, and leaves out only what has no room', () => {
  const most = 10_000;
  fc.assert(
    fc.property(fc.oneof(fc.integer({ min: 0, max: 40_000 }), fc.integer({ min: 0, max: 2_100 })), (authors) => {
      const { listed, detailed, lines } = planLines(authors, most);
      const used = 3 + listed + 3 * detailed + lines;
      expect(used).toBe(most);
      expect(lines).toBeGreaterThanOrEqual(detailed);
      expect(detailed).toBeLessThanOrEqual(listed);
      expect(listed).toBe(Math.min(authors, most - 3));
      if (detailed < listed) expect(lines).toBeLessThan(detailed + 4);
    }),
  );
});

test.each([
  [0, { listed: 0, detailed: 0, lines: 9_997 }],
  [1, { listed: 1, detailed: 1, lines: 9_993 }],
  [1_999, { listed: 1_999, detailed: 1_999, lines: 2_001 }],
  [2_000, { listed: 2_000, detailed: 1_999, lines: 2_000 }],
  [9_997, { listed: 9_997, detailed: 0, lines: 0 }],
  [50_000, { listed: 9_997, detailed: 0, lines: 0 }],
])('%i authors', (authors, plan) => expect(planLines(authors, 10_000)).toEqual(plan));
