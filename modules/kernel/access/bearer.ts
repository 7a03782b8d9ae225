/**
 * The bearer credential of an Authorization header (RFC 6750 §2.1); null when there is none of that form, or one of more characters than
 * any credential that may be meant.
 */
export function readBearer(authorization: string | undefined, mostChars: number): string | null {
  const token = /^Bearer +([\x21-\x7e]+) *$/i.exec(authorization ?? '')?.[1] ?? null;
  return token !== null && token.length <= mostChars ? token : null;
}
