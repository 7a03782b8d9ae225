import { SaxesParser } from 'saxes';
import type { XmlElement, XmlNode } from '../modules/kernel/xml.ts';

const MAX_DEPTH = 16;

interface Open {
  readonly name: string;
  readonly namespace: string;
  readonly attributes: Record<string, string>;
  readonly children: XmlNode[];
}

/**
 * Reads one element as it was cut out of a document: well formed, namespaces resolved, comments left out. Null for everything else, and
 * for whatever may make work: more than `maxBytes`, a DOCTYPE, an entity but the five that XML brings, a processing instruction, more than
 * 16 levels. Linear in the length of the text.
 */
export function readXmlElement(text: string, maxBytes: number): XmlElement | null {
  if (Buffer.byteLength(text) > maxBytes) return null;
  try {
    return parse(text);
  } catch {
    return null; // the reader's words are about its own positions: nobody needs them
  }
}

function parse(text: string): XmlElement | null {
  const parser = new SaxesParser({ xmlns: true, position: false });
  const open: Open[] = [];
  let root: Open | null = null;
  const refuse = (): never => {
    throw new SyntaxError('this is no plain XML element');
  };
  parser.on('error', refuse);
  parser.on('doctype', refuse);
  parser.on('processinginstruction', refuse);
  parser.on('opentag', ({ local, uri, attributes }) => {
    if (open.length >= MAX_DEPTH) refuse();
    const kept = Object.values(attributes).filter(({ prefix, name }) => prefix !== 'xmlns' && name !== 'xmlns');
    const named = kept.map((one) => [one.uri === '' ? one.local : `{${one.uri}}${one.local}`, one.value] as const);
    const element: Open = { name: local, namespace: uri, attributes: Object.fromEntries(named), children: [] };
    open.at(-1)?.children.push(element);
    root ??= element;
    open.push(element);
  });
  parser.on('closetag', () => open.pop());
  parser.on('text', (data) => open.at(-1)?.children.push(data));
  parser.on('cdata', (data) => open.at(-1)?.children.push({ data }));
  parser.write(text).close();
  return root;
}
