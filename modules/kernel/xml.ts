/** XML as a tree: what is printed, and what two spellings of the same element are compared by. */

/** Text that is printed as a CDATA section; compared as the text it holds. */
export interface XmlData {
  readonly data: string;
}

/** What stands in an element. */
export type XmlNode = XmlElement | XmlData | string;

/** An element. Its name has no prefix; `namespace` is empty where none was declared. */
export interface XmlElement {
  readonly name: string;
  readonly namespace?: string;
  /** By local name, or `{namespace}name`; without declarations of namespaces. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlNode[];
}

/** An element with its attributes, those that are null left out. */
export function xml(
  name: string,
  attributes: Readonly<Record<string, string | null>> = {},
  children: readonly XmlNode[] = [],
): XmlElement {
  const given = Object.entries(attributes).filter((entry): entry is [string, string] => entry[1] !== null);
  return { name, attributes: Object.fromEntries(given), children };
}

/** Prints an element, two spaces a level: attributes in double quotes, as clients that read with regular expressions expect. */
export function printXml(element: XmlElement, indent = ''): string {
  const { name, children } = element;
  const attributes = Object.entries(element.attributes).map(([key, value]) => ` ${key}="${escapeXml(value)}"`);
  const opened = `${indent}<${name}${attributes.join('')}`;
  if (children.length === 0) return `${opened}/>`;
  const isText = children.every((child) => !isElement(child));
  const lines = children.map((child) => (isElement(child) ? printXml(child, `${indent}  `) : textOf(child)));
  return isText ? `${opened}>${lines.join('')}</${name}>` : `${opened}>\n${lines.join('\n')}\n${indent}</${name}>`;
}

/**
 * One text for all spellings of an element: attributes in one order, white space at the ends dropped and runs of it one space, CDATA as
 * text. An element of `home` and one of no namespace are the same: a part that was cut out of its document declares none.
 */
export function canonicalXml(element: XmlElement, home: string): string {
  return JSON.stringify(canonical(element, home));
}

/** Written out once, at the end: what is written at each level would grow with every level around it. */
function canonical({ name, namespace = '', attributes, children }: XmlElement, home: string): readonly unknown[] {
  const told = Object.entries(attributes)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => [key, value.trim()]);
  const inside: unknown[] = [];
  let text = '';
  const endText = (): void => {
    const plain = text.replace(/[ \t\r\n]+/g, ' ').trim();
    if (plain !== '') inside.push(plain);
    text = '';
  };
  for (const child of children) {
    if (isElement(child)) {
      endText();
      inside.push(canonical(child, home));
    } else text += typeof child === 'string' ? child : child.data;
  }
  endText();
  return [namespace === home ? '' : namespace, name, told, inside];
}

/** True for an element, not for text. */
export function isElement(node: XmlNode): node is XmlElement {
  return typeof node !== 'string' && 'children' in node;
}

function textOf(node: XmlData | string): string {
  return typeof node === 'string' ? escapeXml(node) : `<![CDATA[${node.data.replaceAll(']]>', ']]]]><![CDATA[>')}]]>`;
}

/** Text as it stands in XML, between tags or in an attribute of double quotes. */
export function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
