import { expect, test } from 'vitest';
import { canonicalXml } from '../../modules/kernel/xml.ts';
import { readXmlElement } from '../../platform/xml.ts';

const HOME = 'https://rslstandard.org/rsl';
const read = (text: string) => readXmlElement(text, 16_384);

test('an element is read with its namespaces, and two spellings of it are one text', () => {
  const plain =
    '<license>\n  <permits type="usage">search  ai-input</permits><accepts a="1" b="2"><![CDATA[{"x":1}]]></accepts></license>';
  const spelled = `<r:license xmlns:r="${HOME}"><!-- no word --><r:permits type='usage'>
    search ai-input </r:permits><r:accepts b="2" a="1">{&quot;x&#34;:1}</r:accepts></r:license>`;
  const [one, two] = [read(plain), read(spelled)];
  expect(one && canonicalXml(one, HOME)).toBe(two && canonicalXml(two, HOME));
  const foreign = read(plain.replace('<license', '<license xmlns="https://other.example/"'));
  expect(foreign && canonicalXml(foreign, HOME)).not.toBe(one && canonicalXml(one, HOME));
});

test('what could make work, or mean two things, is not read at all', () => {
  const bomb = Array.from({ length: 9 }, (_, n) => `<!ENTITY e${n + 1} "&e${n};&e${n};&e${n};&e${n};&e${n};&e${n};">`).join('');
  const refused = [
    '<!DOCTYPE a><a/>',
    '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>',
    `<!DOCTYPE a [<!ENTITY e0 "x">${bomb}]><a>&e9;</a>`,
    '<a>&nbsp;</a>',
    '<a>&#0;</a>',
    '<a>&#xFFFFFFFF;</a>',
    '<?xml-stylesheet href="x"?><a/>',
    '<a><?php x?></a>',
    '<a/><b/>',
    '<a>',
    '</a>',
    '<a b="1" b="2"/>',
    '<x:a/>',
    '<a b=1/>',
    'text',
    '',
    '<a>\u0001</a>',
    '<a x:b="1"/>',
    `${'<a>'.repeat(17)}${'</a>'.repeat(17)}`,
    `<a>${'x'.repeat(16_384)}</a>`,
    `<a>${'é'.repeat(8_190)}</a>`,
  ];
  for (const text of refused) expect([text.slice(0, 50), read(text)]).toEqual([text.slice(0, 50), null]);
  expect(read(`${'<a>'.repeat(16)}${'</a>'.repeat(16)}`)).not.toBeNull();
});

test('sixteen levels of quotes are compared as fast as one', () => {
  const quotes = '"'.repeat(16_000 - 16 * 7);
  const deep = read(`${'<a>'.repeat(16)}${quotes}${'</a>'.repeat(16)}`);
  expect(deep && canonicalXml(deep, HOME).length).toBeLessThan(40_000);
});
