/** The limits of the GraphQL endpoint; docs/graphql.md has them as a table, which a test compares with these. */

/** Levels of fields in one query. */
export const DEPTH_LIMIT = 8;
/** What one query may cost: as many values as its answer can hold at most, and more for what Postgres does for it. */
export const COST_LIMIT = 20_000;
/** What the answer to a change may cost: it is made on the event loop that quotes share, so it shows rows and settings alone. */
export const CHANGE_COST_LIMIT = 1_000;
/** What reading a row or a list costs besides its values, what a report costs, and what counting a list costs for each row of its page. */
export const ROW_COST = 5;
export const LIST_COST = 40;
export const REPORT_COST = 400;
export const COUNT_COST = 2;
/** What a price list costs: each page of a catalogue is priced at once, some tenths of a second in which the thread answers nobody else. */
export const CATALOGUE_COST = 4_000;
/** Values that one execution may come to, counted as they are resolved. No query within the cost has more; this holds if one had. */
export const VALUE_LIMIT = 20_000;
/** Bytes of an answer; long texts are counted while the query is executed. */
export const ANSWER_LIMIT_BYTES = 2_097_152;
/** How long a query may take once its turn has come, and how much longer before its thread is ended. */
export const QUERY_LIMIT_MS = 15_000;
export const GRACE_MS = 2_000;
/** How long a site whose query ended a thread has to wait. */
export const PENALTY_MS = 60_000;
/** Aliases in one query. */
export const ALIAS_LIMIT = 15;
/** Directives in one query. */
export const DIRECTIVE_LIMIT = 50;
/** Tokens of a document. */
export const TOKEN_LIMIT = 1_000;
/** Characters of a document: comments are no tokens, and documents are remembered. */
export const DOCUMENT_LIMIT_CHARS = 32_768;
/** Lines of a document: to say where an error stands takes its lines, for each place again. */
export const LINE_LIMIT = 2_000;
/** Documents that are remembered as parsed and judged, and as refused. */
export const REMEMBERED_DOCUMENTS = 200;
/** Most rows of a page, and those of a page that was not given a length. */
export const PAGE_LIMIT = 100;
export const DEFAULT_PAGE = 20;
/** Bytes of a request; variables may carry a list of pages to import. */
export const BODY_LIMIT_BYTES = 1_048_576;
/**
 * What variables may hold, which is more than any input takes: values in all (5,000 pages with all who are paid for them), members of one
 * object, levels, and characters of one text.
 */
export const VARIABLES = { values: 100_000, members: 200, levels: 16, chars: 16_384 } as const;
/** Characters of a message: those of graphql-js repeat the value that is wrong. */
export const MESSAGE_LIMIT_CHARS = 500;
/** Changes that one owner makes at once, how many more may wait, and how long: nobody's change waits for another's. */
export const CHANGES_OF_ONE = 2;
export const WAITING_LIMIT = 20;
export const WAIT_LIMIT_MS = 5_000;
