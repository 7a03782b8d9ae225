import type PDFDocument from 'pdfkit';
import type { Ink } from './ink.ts';
import { packObjects } from './packed.ts';

/** What an element is (ISO 32000-2 §14.8.4). */
export type Tag = 'H1' | 'H2' | 'L' | 'LI' | 'Lbl' | 'LBody' | 'P' | 'Table' | 'TD' | 'TH' | 'TR';

/** What a cell of a table's head is the head of. */
export type Scope = 'Column' | 'Row';

/** The structure of a document: what those hear who have it read to them, in the order in which it is drawn. */
export interface Tags {
  /** An element that is made of the elements drawn meanwhile, on any page. */
  group(tag: Tag, draw: () => void): void;
  /** An element that is drawn here and holds no other; `draw` stays on this page. Null: an empty one. */
  leaf(tag: Tag, draw: (() => void) | null, scope?: Scope): void;
  /** What is no part of the text: lines, and what each page says again. */
  aside(draw: () => void): void;
}

/** What pdfkit has of pages and of the catalog. */
type Pdf = InstanceType<typeof PDFDocument> & {
  readonly page: { readonly dictionary: { readonly id: number; readonly data: Record<string, unknown> } };
  readonly _root: { readonly data: Record<string, unknown> };
  endMarkings(): void;
};

/** An element on its way. */
interface Open {
  readonly id: number;
  readonly kids: number[];
}

/**
 * Tags a document (ISO 32000-2 §14.7): all that is drawn is in `group`, `leaf` or `aside` from then on. In place of pdfkit's own structure,
 * which keeps every element in memory and writes it as an object of its own.
 */
export function tagged(given: InstanceType<typeof PDFDocument>, ink: Ink): Tags {
  const pdf = given as Pdf;
  const objects = packObjects(given);
  const root = objects.reserve();
  const whole: Open = { id: objects.reserve(), kids: [] };
  let current = whole;
  /** By page, the element of each piece of its content. */
  const pages = new Map<object, number[]>();
  const piecesOf = ({ dictionary }: Pdf['page']): number[] => {
    const before = pages.get(dictionary);
    if (before) return before;
    dictionary.data.StructParents = pages.size;
    const pieces: number[] = [];
    pages.set(dictionary, pieces);
    return pieces;
  };
  pdf._root.data.MarkInfo = { Marked: true };
  pdf.endMarkings = () => {
    objects.write(whole.id, `<</S/Document/P ${root} 0 R/K${references(whole.kids)}>>`);
    const parents = [...pages.values()].map((pieces, n) => {
      const id = objects.reserve();
      objects.write(id, references(pieces));
      return `${n} ${id} 0 R`;
    });
    const tree = `<</Nums[${parents.join(' ')}]>>`;
    objects.write(root, `<</Type/StructTreeRoot/K ${whole.id} 0 R/ParentTree ${tree}/ParentTreeNextKey ${parents.length}>>`);
    objects.finish();
    pdf._root.data.StructTreeRoot = referenceTo(root);
  };
  return {
    group: (tag, draw) => {
      const outer = current;
      current = { id: objects.reserve(), kids: [] };
      outer.kids.push(current.id);
      draw();
      objects.write(current.id, `<</S/${tag}/P ${outer.id} 0 R/K${references(current.kids)}>>`);
      current = outer;
    },
    leaf: (tag, draw, scope) => {
      const id = objects.reserve();
      current.kids.push(id);
      const head = `<</S/${tag}/P ${current.id} 0 R${scope ? `/A<</O/Table/Scope/${scope}>>` : ''}`;
      if (draw === null) return void objects.write(id, `${head}>>`);
      const pieces = piecesOf(pdf.page);
      const place = pieces.push(id) - 1;
      ink.open(`/${tag} <</MCID ${place}>> BDC`);
      draw();
      ink.close();
      objects.write(id, `${head}/Pg ${pdf.page.dictionary.id} 0 R/K ${place}>>`);
    },
    aside: (draw) => {
      ink.open('/Artifact BMC');
      draw();
      ink.close();
    },
  };
}

function references(ids: readonly number[]): string {
  return `[${ids.map((id) => `${id} 0 R`).join(' ')}]`;
}

/** A reference as pdfkit writes one of its own: any object of no class it knows is written as its text. */
function referenceTo(id: number): object {
  return { [Symbol.toStringTag]: 'Reference', toString: () => `${id} 0 R` };
}
