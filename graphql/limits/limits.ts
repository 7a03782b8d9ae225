/** The limits of the GraphQL door. */

/** Levels of fields in one query. */
export const DEPTH_LIMIT = 8;
/** What one query may cost; a row of a list costs one, a report ten to fifty. */
export const COST_LIMIT = 1_000;
/** Aliases in one query. */
export const ALIAS_LIMIT = 15;
/** Directives in one query. */
export const DIRECTIVE_LIMIT = 50;
/** Tokens of a document. */
export const TOKEN_LIMIT = 1_000;
/** Characters of a document: comments are no tokens, and documents are remembered. */
export const DOCUMENT_LIMIT_CHARS = 32_768;
/** Documents that are remembered as parsed and judged, and as refused. */
export const REMEMBERED_DOCUMENTS = 200;
/** Most rows of a page, and those of a page that was not given a length. */
export const PAGE_LIMIT = 100;
export const DEFAULT_PAGE = 20;
/** Bytes of a request; variables may carry a list of pages to import. */
export const BODY_LIMIT_BYTES = 1_048_576;
/** Queries that run at once, for each connection they read through; and of one caller, how many more may wait, and how long. */
export const QUERIES_PER_CONNECTION = 2;
export const WAITING_LIMIT = 20;
export const WAIT_LIMIT_MS = 5_000;
