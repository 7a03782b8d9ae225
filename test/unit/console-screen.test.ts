import { expect, test } from 'vitest';
import { screenOf } from '../../modules/identity/use/console/providerSignIn.ts';

test('a text that is no screen is refused in the time it takes to read it', () => {
  // Read in one way only: where parts could be cut anywhere, each letter more doubled the time, on the thread that answers quotes.
  const before = process.threadCpuUsage();
  for (const part of ['a', '~', 'a.', 'a/']) expect(screenOf(`/${part.repeat(28)}!`)).toBe('/');
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(1_000);
});

test('a screen is parts with single slashes between them, one at the end at most, and filters', () => {
  for (const screen of ['/', '/a', '/a/', '/a/b', '/a/b/', '/a?', '/a/b-_~.c/d?x=1&y=%20', '/?window=last7']) {
    expect(screenOf(screen)).toBe(screen);
  }
  for (const none of ['/a//b', '//a', '/a/.', '/a/../b', '/.a', '/a/b//', '/a b', '/a?x#y']) expect(screenOf(none)).toBe('/');
});
