/** Spellings of the path `/articles/solo` that servers take for it: slashes repeated or escaped, letters escaped. */
export const SPELLINGS_OF_SOLO = [
  '/articles//solo',
  '//articles/solo',
  '///articles////solo//',
  '/articles/%2Fsolo',
  '/articles/%2fsolo/',
  '//articles/%73olo',
  '/%61rticles/s%6Flo',
  '/articles/solo/?page=2',
] as const;
