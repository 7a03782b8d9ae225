/** CSV as RFC 4180 has it: CRLF, quotes where needed, a header row; and harmless in a spreadsheet. */

const STARTS_FORMULA = /^[=+\-@\t\r]/;
const IS_BELOW_ZERO = /^-\d+(?:\.\d+)?$/;
const NEEDS_QUOTES = /[",\r\n]/;
/** Either of them; most cells are neither, and one look says so. */
const IS_SPECIAL = /^[=+\-@\t]|[",\r\n]/;

/** Rows as CSV text, each ended by CRLF. Text that would start a formula gets an apostrophe in front (OWASP, CSV injection); a number below zero starts none. */
export function csvRows(rows: readonly (readonly string[])[]): string {
  let text = '';
  for (const row of rows) {
    let before = '';
    for (const value of row) {
      text += before + (IS_SPECIAL.test(value) ? specialCell(value) : value);
      before = ',';
    }
    text += '\r\n';
  }
  return text;
}

function specialCell(value: string): string {
  const safe = STARTS_FORMULA.test(value) && !IS_BELOW_ZERO.test(value) ? `'${value}` : value;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
