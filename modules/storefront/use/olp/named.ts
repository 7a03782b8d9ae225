import { normaliseHost } from '../../../kernel/hosts/host.ts';
import type { XmlElement } from '../../../kernel/xml.ts';
import { isElement } from '../../../kernel/xml.ts';

/**
 * The host that a content is at: of its absolute url, or, where that is a path alone, of the resource that the license's own payment names
 * (`accepts` of x402). Null where neither names one. What it names is not believed: the license must stand in that host's document.
 */
export function hostNamed(resource: string, license: XmlElement): string | null {
  return hostOfUrl(resource) ?? hostOfUrl(resourceOf(find(find(license, 'payment'), 'accepts')));
}

function hostOfUrl(url: string): string | null {
  const host = /^https?:\/\/([A-Za-z0-9.-]{1,253})(?=[/:?#]|$)/.exec(url)?.[1];
  return host === undefined ? null : normaliseHost(host);
}

function find(parent: XmlElement | undefined, name: string): XmlElement | undefined {
  return parent?.children.filter(isElement).find((child) => child.name === name);
}

function resourceOf(accepts: XmlElement | undefined): string {
  const text = (accepts?.children ?? []).map((child) => (typeof child === 'string' ? child : 'data' in child ? child.data : ''));
  try {
    const { resource } = JSON.parse(text.join('')) as { resource?: { url?: unknown } };
    return typeof resource?.url === 'string' ? resource.url : '';
  } catch {
    return '';
  }
}
