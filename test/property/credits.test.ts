import fc from 'fast-check';
import { expect, test } from 'vitest';
import { flattenCredits, MAX_CREDITS_DEPTH } from '../../modules/kernel/money/credits.ts';
import { legsOf } from '../../modules/pricing/rules/quote.ts';

interface Node {
  readonly authorId: string;
  readonly weight?: number;
  readonly wallet?: string;
  readonly members?: readonly Node[];
}

const wallet = fc.integer({ min: 1, max: 40 }).map((n) => `0x${n.toString(16).padStart(40, '0')}`);
const weight = fc.option(fc.oneof(fc.integer({ min: 1, max: 60 }), fc.constantFrom(0.5, 0.25, 1.75, 0.001)), {
  nil: undefined,
});
const authorId = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 8 });
const { tree } = fc.letrec<{ leaf: Node; composite: Node; tree: Node }>((tie) => ({
  tree: fc.oneof({ depthSize: 'small', maxDepth: 3, withCrossShrink: true }, tie('leaf'), tie('composite')),
  leaf: fc.record({ authorId, wallet, weight }).map(strip),
  composite: fc.record({ authorId, weight, members: fc.array(tie('tree'), { minLength: 1, maxLength: 3 }) }).map(strip),
}));
const contributors = fc.array(tree, { minLength: 1, maxLength: 5 });

function strip(node: { authorId: string; weight?: number | undefined }): Node {
  return Object.fromEntries(Object.entries(node).filter(([, value]) => value !== undefined)) as unknown as Node;
}

/** The authors of a tree; a tree whose weights no contract word can hold is left out of the property. */
function authorsOf(list: readonly Node[]) {
  try {
    return flattenCredits({ contributors: list }, 'page').authors;
  } catch (error) {
    fc.pre(!(error as Error).message.includes('too fine'));
    throw error;
  }
}

/** Shares by wallet in floating point, by plain recursion. */
function sharesOf(list: readonly Node[], share: number, into = new Map<string, number>()): Map<string, number> {
  const total = list.reduce((sum, node) => sum + (node.weight ?? 1), 0);
  for (const node of list) {
    const part = (share * (node.weight ?? 1)) / total;
    if (node.members) sharesOf(node.members, part, into);
    else into.set(node.wallet as string, (into.get(node.wallet as string) ?? 0) + part);
  }
  return into;
}

test('flattened weights give every wallet the share that the tree gives it', () => {
  fc.assert(
    fc.property(contributors, (list) => {
      const authors = authorsOf(list);
      const total = Number(authors.reduce((sum, author) => sum + author.weight, 0n));
      const found = new Map<string, number>();
      for (const author of authors) found.set(author.wallet, (found.get(author.wallet) ?? 0) + Number(author.weight) / total);
      const expected = sharesOf(list, 1);
      expect([...found.keys()].sort()).toEqual([...expected.keys()].sort());
      for (const [key, share] of expected) expect(found.get(key)).toBeCloseTo(share, 9);
    }),
  );
});

test('legs of any credits and price sum to the price, to the micro, and none is negative', () => {
  fc.assert(
    fc.property(contributors, fc.bigInt({ min: 1n, max: 10n ** 12n }), (list, price) => {
      const legs = legsOf(price, authorsOf(list));
      expect(legs.reduce((sum, leg) => sum + leg.amountMicro, 0n)).toBe(price);
      expect(legs.every((leg) => leg.amountMicro >= 0n)).toBe(true);
      expect(new Set(legs.map((leg) => leg.toAddress)).size).toBe(legs.length);
    }),
  );
});

test('scaling every weight of one level changes nothing', () => {
  fc.assert(
    fc.property(contributors, fc.integer({ min: 2, max: 50 }), (list, factor) => {
      const scaled = list.map((node) => ({ ...node, weight: (node.weight ?? 1) * 1000 * factor }));
      const thousand = list.map((node) => ({ ...node, weight: (node.weight ?? 1) * 1000 }));
      expect(authorsOf(scaled)).toEqual(authorsOf(thousand));
    }),
  );
});

test('a tree of depth 8 is accepted and one of depth 9 refused', () => {
  const leaf: Node = { authorId: 'x', wallet: `0x${'1'.repeat(40)}` };
  const nested = (depth: number): Node => (depth === 1 ? leaf : { authorId: 'group', members: [nested(depth - 1)] });
  expect(flattenCredits({ contributors: [nested(MAX_CREDITS_DEPTH)] }, 'p').authors).toHaveLength(1);
  expect(() => flattenCredits({ contributors: [nested(MAX_CREDITS_DEPTH + 1)] }, 'p')).toThrow(/nest/);
});

test('anything that is not credits is refused as invalid_parameter, never another way', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      try {
        flattenCredits(value, 'page');
      } catch (error) {
        expect(error).toMatchObject({ code: 'invalid_parameter' });
      }
    }),
  );
});
