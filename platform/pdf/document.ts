/** What a statement document says; every text is ready to be read, nothing is computed while drawing. */
export interface StatementDocument {
  readonly title: string;
  /** Under the title: whose statement. */
  readonly subtitle: string;
  /** What the document comes to, beside the title. */
  readonly sum: { readonly label: string; readonly value: string };
  /** At the foot of each page, after the title. */
  readonly footer: string;
  readonly generatedAt: Date;
  readonly facts: readonly Fact[];
  readonly tables: readonly DocumentTable[];
  /** Small print under the last table. */
  readonly notes: readonly string[];
  /** Said besides where a letter had to be drawn as MISSING. */
  readonly noteOfLackedLetters: string;
}

/** A label and its value; `isReference`: hexadecimal text, set narrow. */
export interface Fact {
  readonly label: string;
  readonly value: string;
  readonly isReference?: boolean;
}

/** One table; it begins on a new page when the rest of the page is too short, and is its heading and note alone without a row. */
export interface DocumentTable {
  readonly heading: string;
  readonly note: string | null;
  readonly columns: readonly DocumentColumn[];
  readonly rows: readonly (readonly string[])[];
  /** The last row, set bold under a line; null: none. */
  readonly total: readonly string[] | null;
  /** In small type, two rows side by side. */
  readonly isDense: boolean;
}

/**
 * A column; `width` is its part of the table's width. Text that is too long loses its middle, a number (`right`) nothing. A `reference`
 * is hexadecimal text, set narrow; an `address` is a page's, of which letters that no font has are percent-encoded.
 */
export interface DocumentColumn {
  readonly label: string;
  readonly width: number;
  readonly align: 'left' | 'right';
  readonly holds?: 'text' | 'reference' | 'address';
}
