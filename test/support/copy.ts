const LETTERS: Record<string, string> = {
  '\b': 'b',
  '\f': 'f',
  '\n': 'n',
  '\r': 'r',
  '\t': 't',
  '\v': 'v',
  '\\': '\\',
  ',': ',',
};

/** A row in COPY's text format with commas, as PostgreSQL's manual has it, and its line feed. */
export function copiedRow(row: readonly (string | null)[]): string {
  const cells = row.map((cell) =>
    cell === null ? '\\N' : cell.replace(/[\b\f\n\r\t\v\\,]/g, (letter) => `\\${LETTERS[letter]}`),
  );
  return `${cells.join(',')}\n`;
}
