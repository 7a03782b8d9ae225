/** For Fastify: `app.register(contentSettlement())`, once, on the app itself. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { contentSettlement as forNode } from './express.ts';
import type { PublisherOptions } from './options.ts';

/** What is used of a Fastify app, so that this package need not depend on Fastify. */
interface FastifyApp {
  readonly version?: string;
  readonly initialConfig?: { readonly useSemicolonDelimiter?: boolean };
  addHook(
    name: 'onRequest',
    hook: (
      request: { readonly raw: IncomingMessage },
      reply: { readonly raw: ServerResponse },
      done: (error?: Error) => void,
    ) => void,
  ): unknown;
  addHook(name: 'onClose', hook: () => Promise<void>): unknown;
}

/** A plugin of Fastify. Its hooks hold for every route of the app that it is registered on, whichever came first. */
export type FastifyGate = (app: FastifyApp, options: unknown, done: (error?: Error) => void) => void;

/** What `fastify-plugin` sets: hooks of this plugin belong to the app around it, and not to a scope of their own. */
const OF_THE_APP = { [Symbol.for('skip-override')]: true, [Symbol.for('fastify.display-name')]: 'content-settlement' };

/**
 * Makes the plugin; `classify` and `kind` get Node's own request (`request.raw`). Reports that wait leave when the app closes. Throws TypeError for
 * options that cannot be used; the app does not start where it takes `;` for the beginning of the query, as Fastify 4 does unless told.
 */
export function contentSettlement(options: PublisherOptions<IncomingMessage> = {}): FastifyGate {
  const gate = forNode(options);
  const plugin: FastifyGate = (app, _options, done) => {
    // `/articles/trio;x` would be the page `trio` there, and is another one here and for the service.
    const { version = '', initialConfig: { useSemicolonDelimiter = /^[1-4]\./.test(version) } = {} } = app;
    if (useSemicolonDelimiter) {
      return done(
        new TypeError(
          'content-settlement: create the app with useSemicolonDelimiter: false, else pages are read free behind a ";"',
        ),
      );
    }
    app.addHook('onRequest', (request, reply, next) => gate(request.raw, reply.raw, next as (error?: unknown) => void));
    app.addHook('onClose', () => gate.flush());
    done();
  };
  return Object.assign(plugin, OF_THE_APP);
}
