/** The body of an answer, of at most so many bytes, inflated; null for a longer one, whose connection is cut. Throws as the connection does. */
export async function bodyOf(response: Response, mostBytes: number): Promise<Buffer<ArrayBuffer> | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    // Leaving the loop closes the connection.
    if (size > mostBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
