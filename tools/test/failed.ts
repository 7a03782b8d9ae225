/** A test that failed, and the message of its first error. */
export interface FailedTest {
  readonly path: string;
  readonly name: string;
  readonly message: string;
}

const MAX_MESSAGE_CHARS = 300;

/** A line for each failed test, at the end of a long output; nothing where none failed. */
export function failedLines(tests: readonly FailedTest[]): string[] {
  return tests.map(
    ({ path, name, message }) => `failed: ${path} > ${name}: ${message.split('\n')[0]?.slice(0, MAX_MESSAGE_CHARS)}`,
  );
}
