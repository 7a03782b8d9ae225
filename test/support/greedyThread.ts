/** A thread that answers with what it was asked, runs for ever when asked to `loop`, and takes all its memory when asked to `eat`. */
import { parentPort } from 'node:worker_threads';
import { serve } from '../../graphql/thread/serve.ts';

const eaten: string[][] = [];

if (parentPort) {
  serve(
    parentPort,
    async ({ body }) => {
      const asked = Buffer.from(body).toString();
      if (asked === 'wait') await new Promise((resolve) => setTimeout(resolve, 500));
      while (asked === 'loop');
      while (asked === 'eat') eaten.push(Array.from({ length: 10_000 }, (_, n) => `${n} of ${eaten.length}`));
      return { status: 200, headers: {}, body: new TextEncoder().encode(asked) };
    },
    async () => undefined,
  );
}
