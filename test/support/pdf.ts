/** Reads what a PDF of ours says. */
import { inflateSync } from 'node:zlib';

/** The text a PDF shows, as far as its streams are deflated and its strings are hexadecimal. */
export function textOf(pdf: Buffer): string {
  const parts: string[] = [];
  const raw = pdf.toString('latin1');
  for (const match of raw.matchAll(/stream\r?\n/g)) {
    const start = match.index + match[0].length;
    const end = raw.indexOf('endstream', start);
    const content = inflated(pdf.subarray(start, end));
    for (const [, list] of content.matchAll(/\[([^\]]*)\] TJ/g)) {
      parts.push(
        [...(list ?? '').matchAll(/<([0-9a-f]*)>/gi)].map(([, hex]) => Buffer.from(hex ?? '', 'hex').toString('latin1')).join(''),
      );
    }
  }
  return parts.join(' ');
}

function inflated(bytes: Buffer): string {
  try {
    return inflateSync(bytes).toString('latin1');
  } catch {
    return '';
  }
}
