/** The host a request was sent to, without its port; null when it names none (RFC 9110 §7.2). */
export function hostOf(header: string | null): string | null {
  if (header === null || !URL.canParse(`http://${header}`)) return null;
  return new URL(`http://${header}`).hostname;
}
